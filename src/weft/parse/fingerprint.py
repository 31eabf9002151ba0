"""Fingerprints of a page, computed in the parsers: of its body, of its text, and one that near texts nearly share.

Normal form of a text, by which two texts are the same: NFKC, then full case folding, then characters that show nothing
(soft hyphen, zero-width characters, byte order mark) removed, then every run of white space a single space, none at
the ends. Punctuation and accents count.
"""

import unicodedata
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

_INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_GRAM: Final = 8  # characters; shorter ones are shared by unrelated texts of a language, which brings them nearer
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_VOTERS: Final = 1 << 22  # characters: more take 100 bytes of memory each, and 13 million of them a second
_STEPS: Final = [(width, np.uint64(pow(0xD6E8FEB86659FD93, width, 1 << 64))) for width in (1, 2, 4)]
_LANES: Final = np.uint64(0x0101010101010101)  # the lowest bit of each byte
_MOST_IN_LANE: Final = 255  # ones that a byte can count


class Fingerprints(NamedTuple):
    """Of one text."""

    digest: bytes  # 16 bytes, of the normal form
    simhash: int  # 64 bits


def fingerprints(text: str) -> Fingerprints:
    """Both at the price of one normalisation."""
    normal = normalised(text)
    return Fingerprints(xxhash.xxh3_128_digest(normal.encode("utf-8", "surrogatepass")), _simhash(normal))


def text_digest(text: str) -> bytes:
    """Equal for texts with the same normal form; 16 bytes."""
    return xxhash.xxh3_128_digest(normalised(text).encode("utf-8", "surrogatepass"))


def body_digest(body: bytes) -> bytes:
    """Of the decoded body, byte for byte; 16 bytes."""
    return xxhash.xxh3_128_digest(body)


def simhash(text: str) -> int:
    """64 bits; texts that differ in few places differ in few bits (3 or fewer: the same text, for most purposes)."""
    return _simhash(normalised(text))


def normalised(text: str) -> str:
    """The normal form defined above."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    for character in _INVISIBLE:  # most texts have none: six looks are faster than one expression or translation
        if character in folded:
            folded = folded.replace(character, "")
    return " ".join(folded.split())


def _simhash(normal: str) -> int:
    """Each run of 8 characters votes with the bits of its hash; characters, so that Chinese needs no words."""
    if not normal:
        return 0
    points = np.frombuffer(normal[:_VOTERS].encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    if len(points) < _GRAM:
        points = np.pad(points, (0, _GRAM - len(points)))
    hashes = points
    for width, power in _STEPS:  # a polynomial over 2, then 4, then 8 characters, each from two of the size before
        hashes = hashes[:-width] * power + hashes[width:]
    grams = len(hashes)
    # the sum alone has weak low bits: two rounds of multiply and shift spread it over all 64
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MULTIPLIER
    hashes ^= hashes >> np.uint64(29)
    hashes *= _MULTIPLIER
    hashes ^= hashes >> np.uint64(32)
    return int.from_bytes(np.packbits(_votes(hashes) * 2 > grams, bitorder="little").tobytes(), "little")


def _votes(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """How many hashes have each of the 64 bits: eight bits at a time, one in each byte, added before any overflows."""
    starts = np.arange(0, len(hashes), _MOST_IN_LANE)
    votes = np.empty((8, 8), np.int64)  # byte of the hash × bit of the byte
    for bit in range(8):
        sums = np.add.reduceat((hashes >> np.uint64(bit)) & _LANES, starts)
        votes[:, bit] = sums.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8).sum(0, dtype=np.int64)
    return votes.ravel()
