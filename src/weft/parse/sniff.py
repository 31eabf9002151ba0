"""From the bytes of a body to UTF-8, by what they are, then by what the server and the page say they are.

In: a body and the charset of its Content-Type, if any. Out: `Decoded`. Called by `weft.parse.page`.
"""

import codecs
import re

import msgspec
from resiliparse.parse.encoding import detect_encoding  # type: ignore[import-untyped]

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"""<(?:meta|\?xml)\b[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_META_REACH = 4096  # bytes; browsers look at 1,024, but later declarations are common
_SAMPLE = 1 << 16  # bytes looked at by the detector
_TOLERATED = 0.005  # share of bytes a charset may fail on before it is taken for a lie
# What pages call a charset is often a subset of what they use (WHATWG Encoding, section 4.2).
_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "big5": "big5hkscs",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "windows-31j": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "x-euc-jp": "euc_jp",
    "x-mac-cyrillic": "mac_cyrillic",
    "utf-16": "utf-8",  # bytes without a BOM in which this could be read are not UTF-16
    "utf-16le": "utf-8",
    "utf-16be": "utf-8",
}
# Decoders that are not charsets of text; and UTF-7, which no browser accepts.
_NOT_CHARSETS = frozenset(
    [
        "base64",
        "bz2",
        "hex",
        "idna",
        "mbcs",
        "oem",
        "punycode",
        "quopri",
        "raw_unicode_escape",
        "rot13",
        "rot_13",
        "undefined",
        "unicode_escape",
        "utf_7",
        "uu",
        "zlib",
    ]
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
    named = _META.search(body, 0, _META_REACH)
    labels = [declared or "", named[1].decode("ascii", "replace") if named else ""]
    charsets = [charset for charset in map(known, labels) if charset]
    # ISO-2022-JP is pure ASCII on the wire: only its label tells.
    if "iso2022_jp" in charsets and b"\x1b" in body:
        return Decoded(_utf8(body, "iso2022_jp"), "iso2022_jp")
    if _is_utf8(body, sure="utf-8" in charsets):
        return Decoded(body, "utf-8")
    if b"\x00" in body[:64] and not charsets:
        wide = _wide(body)
        if wide:
            return Decoded(_utf8(body, wide), wide)
    return _best(body, charsets)


def known(label: str) -> str:
    """Python's name of a charset label; empty if it is none."""
    label = label.strip().strip("\"'").lower()
    label = _SUPERSETS.get(label, label)
    if not label or len(label) > 40 or "\x00" in label:
        return ""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    name = name.replace("-", "_") if name != "utf-8" else name
    return "" if name in _NOT_CHARSETS or name.endswith("_codec") else name


def _best(body: bytes, charsets: list[str]) -> Decoded:
    """The first charset that fails on few bytes; the detector is asked when no label fits."""
    for charset in charsets:
        text = body.decode(charset, "replace")
        if text.count("\ufffd") - body.count(b"\xef\xbf\xbd") <= _TOLERATED * len(body):
            return Decoded(text.encode("utf-8", "replace"), charset)
    detected = known(detect_encoding(body[:_SAMPLE]) or "") or "cp1252"
    return Decoded(_utf8(body, detected), detected)


def _is_utf8(body: bytes, sure: bool) -> bool:
    """Whether the bytes are UTF-8. Where the label says so, too, a look at the beginning is enough."""
    if sure and len(body) > 2 * _SAMPLE:
        body = body[:_SAMPLE]
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body cut in the middle of a character is still UTF-8.
        return len(body) > 64 and error.start >= len(body) - 3
    return True


def _wide(body: bytes) -> str:
    """UTF-16 without a BOM shows itself by zeros in every other byte."""
    sample = body[:64]
    if sample[1::2].count(0) > 24:
        return "utf-16-le"
    return "utf-16-be" if sample[0::2].count(0) > 24 else ""


def _utf8(body: bytes, charset: str) -> bytes:
    return body.decode(charset, "replace").encode("utf-8", "replace")
