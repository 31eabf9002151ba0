"""From the bytes of a body to UTF-8, by what they are, then by what the server and the page say they are.

In: a body and the charset of its Content-Type, if any. Out: `Decoded`. Called by `weft.parse.page`.
"""

import codecs
import re

import msgspec
from resiliparse.parse.encoding import detect_encoding  # type: ignore[import-untyped]

from .charsets import known

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"""<(?:meta|\?xml)\b[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_META_REACH = 4096  # bytes; browsers look at 1,024, but later declarations are common
_SAMPLE = 1 << 16  # bytes looked at by the detector
_WIDE_REACH = 1024  # bytes that show by their zeros whether a body is UTF-16
_MIDDLE = 1024  # bytes beyond ASCII
_ASCII = bytes(range(128))
_EVERY_BYTE = bytes(range(256))
# Shares of the bytes beyond ASCII that may fail before a charset is taken for a lie.
_STRAY = 0.05
_MIXED = 0.25  # for UTF-8 where a label names it: as many good sequences as bad ones are no accident
_WESTERN = "cp1252"
_LATIN = frozenset(  # other charsets of accented letters
    [
        *("iso8859_2", "iso8859_3", "iso8859_4", "iso8859_10", "iso8859_13", "iso8859_14", "iso8859_15", "iso8859_16"),
        *("cp1250", "cp1254", "cp1257", "cp1258", "mac_roman"),
    ]
)
_FOREIGN_WORD = re.compile(rb"[\x80-\xff]{4,}")
_FOREIGN = 0.25  # share of the bytes beyond ASCII in such words; in Big5 half of the second bytes are ASCII
_FOREIGN_BYTES = 6  # different ones: rows of arrows or hard spaces are no words
# The detector takes EUC-KR for UTF-8. Charset, runs of its common characters, the share of the bytes beyond ASCII that
# they hold at least: half of Japanese is kana; the rows of common Hangul lie within those of common Han.
_ASIAN = (
    ("euc_jp", re.compile(rb"(?:[\xa4\xa5][\xa1-\xf6]){2,}"), 0.2),
    ("cp932", re.compile(rb"(?:\x82[\x9f-\xf1]|\x83[\x40-\x96]){2,}"), 0.2),
    ("cp949", re.compile(rb"(?:[\xb0-\xc8][\xa1-\xfe]){2,}"), 0.7),
    ("big5hkscs", re.compile(rb"(?:[\xa4-\xc6][\x40-\x7e\xa1-\xfe]){2,}"), 0.7),
    ("gb18030", re.compile(rb"(?:[\xb0-\xd7][\xa1-\xfe]){2,}"), 0.7),
)


class Decoded(msgspec.Struct, frozen=True):
    """A body as UTF-8, and the charset it was written in."""

    html: bytes
    charset: str


def decode(body: bytes, declared: str | None = None) -> Decoded:
    """UTF-8 if the bytes are; else the first of declared, named in the page and detected that fits."""
    for bom, charset in _BOMS:
        if body.startswith(bom):
            rest = body[len(bom) :]
            return Decoded(rest if charset == "utf-8" else _utf8(rest, charset), charset)
    # Before UTF-8: Cyrillic or Greek in UTF-16 has no byte beyond ASCII.
    if b"\x00" in body[:_WIDE_REACH] and (order := wide(body[:_WIDE_REACH])):
        return Decoded(_utf8(body, order), order)
    named = _META.search(body, 0, _META_REACH)
    labels = [declared or "", named[1].decode("ascii", "replace") if named else ""]
    charsets = [charset for charset in map(known, labels) if charset]
    # ISO-2022-JP is pure ASCII on the wire: only its label tells.
    if "iso2022_jp" in charsets and b"\x1b" in body:
        return Decoded(_utf8(body, "iso2022_jp"), "iso2022_jp")
    if _is_utf8(body, sure="utf-8" in charsets):
        return Decoded(body, "utf-8")
    return _best(body, charsets)


def wide(sample: bytes) -> str:
    """UTF-16 without a BOM shows itself by zeros that stand in every other byte only."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) < max(8, len(sample) // 8) or min(even, odd) * 16 > max(even, odd):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _is_utf8(body: bytes, sure: bool) -> bool:
    """Whether the bytes are UTF-8. Where the label says so, too, a look at the first that are not ASCII is enough."""
    if sure and len(body) > 2 * _SAMPLE:
        body = _first_beyond(body)
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body cut in the middle of a character is still UTF-8.
        return len(body) > 64 and error.start >= len(body) - 3
    return True


def _first_beyond(body: bytes) -> bytes:
    """The first sample with bytes beyond ASCII; empty if there are none."""
    samples = (body[start : start + _SAMPLE] for start in range(0, len(body), _SAMPLE))
    return next((sample for sample in samples if not sample.isascii()), b"")


def _best(body: bytes, charsets: list[str]) -> Decoded:
    """The first charset that fails on few bytes, UTF-8 before all others: Latin-1 can never fail."""
    beyond = body.translate(None, _ASCII)
    if _WESTERN in charsets:
        charsets = _before_western(body, charsets)
    candidates = charsets if _is_hopeless(beyond) else ["utf-8", *charsets]
    for charset in dict.fromkeys(candidates):
        tolerated = _MIXED if charset == "utf-8" and charset in charsets else _STRAY
        text = _text(body, charset)
        if text.count("\ufffd") - _marks(body, charset) <= tolerated * len(beyond):
            return Decoded(text.encode("utf-8", "replace"), charset)
    detected = _detected(body)
    return Decoded(_utf8(body, detected), detected)


def _before_western(body: bytes, charsets: list[str]) -> list[str]:
    """These charsets, before them any that says more than Latin-1, which servers name for whatever they send.

    Where none but UTF-8 stands beside it, the one that words of another script look like.
    """
    others = [charset for charset in charsets if charset != _WESTERN]
    if not _is_foreign(body):
        return [*(charset for charset in others if charset in _LATIN), *charsets]
    if set(others) <= {"utf-8"}:
        others.append(_detected(body))
    return [*others, *charsets]


def _is_foreign(body: bytes) -> bool:
    """Whether there are words of bytes beyond ASCII only: accented letters of the West stand between others."""
    sample = _first_beyond(body)
    words = b"".join(_FOREIGN_WORD.findall(sample))
    return len(set(words)) >= _FOREIGN_BYTES and len(words) >= _FOREIGN * len(sample.translate(None, _ASCII))


def _is_hopeless(beyond: bytes) -> bool:
    """A quick look at the middle: whole pages of Chinese should not be tried in vain."""
    middle = beyond[len(beyond) // 2 :][:_MIDDLE]
    failures = middle.decode("utf-8", "replace").count("\ufffd") - _marks(middle, "utf-8")
    return failures > _MIXED * len(middle) + 3


def _marks(body: bytes, charset: str) -> int:
    """Replacement characters that somebody before us wrote: they are no failures."""
    mark = "\ufffd".encode(charset, "ignore")
    return body.count(mark) if mark else 0


def _detected(body: bytes) -> str:
    """The charset that the bytes look like; they are known to be no UTF-8."""
    sample = _first_beyond(body)
    detected = known(detect_encoding(sample) or "")
    return detected if detected not in ("", "utf-8") else _asian(sample) or "cp1252"


def _asian(sample: bytes) -> str:
    """The charset of East Asia whose common characters these are."""
    beyond = len(sample.translate(None, _ASCII))
    for charset, common, share in _ASIAN:
        held = len(b"".join(common.findall(sample)).translate(None, _ASCII))
        if held >= share * beyond and _text(sample, charset).count("\ufffd") <= _STRAY * beyond:
            return charset
    return ""


def _text(body: bytes, charset: str) -> str:
    """What is no character becomes U+FFFD. With a table that says so: a codec takes 100 ns for each that it has not."""
    table = _EVERY_BYTE.decode(charset, "replace")
    if len(table) == len(_EVERY_BYTE) and table[128:].strip("\ufffd"):  # a character a byte, not UTF-8 or ISO-2022
        return codecs.charmap_decode(body, "strict", table)[0]
    return body.decode(charset, "replace")


def _utf8(body: bytes, charset: str) -> bytes:
    return _text(body, charset).encode("utf-8", "replace")
