"""Counts of character kinds per block, the same for every script: how long a text is, and whether it is sentences.

In: the texts of a page's blocks. Out: one row of counts per block. Called by `weft.parse.features`.
"""

import unicodedata
from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class Kind(IntEnum):
    """What a character is."""

    SPACE = 0
    UPPER = 1
    DIGIT = 2
    STOP = 3  # ends a sentence
    PAUSE = 4  # comma, colon, semicolon
    QUOTE = 5  # quotes, brackets, hyphens
    SYMBOL = 6  # separators and signs that menus use
    LINE = 7
    # Which letters a text is made of tells languages apart: from here on kinds count as length, and as nothing else.
    LOWER = 8
    CASELESS = 9  # letters and marks of scripts without case
    IDEOGRAPH = 10  # Han and kana: about one and a half to a word
    SYLLABLE = 11  # Hangul


KINDS = len(Kind)
_STOPS = ".!?。！？…‼⁇⁈⁉؟۔।॥።፧።｡．։༎༏။៕។"
_PAUSES = ",;:،؛，、；：､፣፤፥·"
# Characters per word, by kind: makes lengths comparable between scripts.
_WORD_SHARE = np.zeros(KINDS, np.float32)
_WORD_SHARE[[Kind.LOWER, Kind.UPPER, Kind.CASELESS, Kind.DIGIT]] = 1 / 5
_WORD_SHARE[Kind.IDEOGRAPH] = 1 / 1.6
_WORD_SHARE[Kind.SYLLABLE] = 1 / 2.5
_TABLE_SIZE = 1 << 16


@cache
def _tables() -> tuple[bytes, npt.NDArray[np.uint8]]:
    """Kinds of single bytes and of the whole basic plane; characters beyond count as the last entry, an ideograph."""
    table = np.array([_kind(chr(code)) for code in range(_TABLE_SIZE)], dtype=np.uint8)
    table[-1] = Kind.IDEOGRAPH
    return table[:256].tobytes(), table


def _kind(character: str) -> Kind:
    code = ord(character)
    if character == "\n":
        return Kind.LINE
    if character in _STOPS:
        return Kind.STOP
    if character in _PAUSES:
        return Kind.PAUSE
    if 0x3040 <= code <= 0x30FF or 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF:
        return Kind.IDEOGRAPH
    if 0xAC00 <= code <= 0xD7A3:
        return Kind.SYLLABLE
    return _KIND_OF_CATEGORY.get(unicodedata.category(character), Kind.SYMBOL)


_KIND_OF_CATEGORY = {
    "Ll": Kind.LOWER,
    "Lu": Kind.UPPER,
    "Lt": Kind.UPPER,
    "Lo": Kind.CASELESS,
    "Lm": Kind.CASELESS,
    "Mn": Kind.CASELESS,
    "Mc": Kind.CASELESS,
    "Nd": Kind.DIGIT,
    "Nl": Kind.DIGIT,
    "No": Kind.DIGIT,
    "Zs": Kind.SPACE,
    "Cc": Kind.SPACE,
    "Cf": Kind.SPACE,
    "Cs": Kind.SPACE,
    "Co": Kind.SYMBOL,
    "Pi": Kind.QUOTE,
    "Pf": Kind.QUOTE,
    "Ps": Kind.QUOTE,
    "Pe": Kind.QUOTE,
    "Pd": Kind.QUOTE,
    "Po": Kind.QUOTE,
}


def count(
    texts: list[str], lengths: npt.NDArray[np.int64]
) -> tuple[Floats, npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Counts by `Kind` and text, and the kinds of each text's first and last character. No text may be empty."""
    many = len(texts)
    kinds = _kinds("".join(texts))
    slots = np.repeat(np.arange(0, KINDS * many, KINDS), lengths)  # of the type that bincount wants
    slots += kinds
    counts = np.bincount(slots, minlength=KINDS * many).reshape(many, KINDS)
    ends = lengths.cumsum()
    return counts.T.astype(np.float32, order="C"), kinds[ends - lengths], kinds[ends - 1]


def _kinds(text: str) -> npt.NDArray[np.uint8]:
    """The kind of each character. For ASCII a translation of bytes is the fastest."""
    ascii_kinds, table = _tables()
    if text.isascii():
        return np.frombuffer(text.encode("ascii").translate(ascii_kinds), np.uint8)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return table.take(codes, mode="clip")


def words(counts: Floats) -> Floats:
    """About how many words each text has, whatever its script."""
    return np.asarray(np.einsum("k,kt->t", _WORD_SHARE, counts), np.float32)
