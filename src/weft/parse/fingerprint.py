"""Fingerprints of a page, computed in the parsers: of its body, of its text, and one that near texts nearly share.

Normal form of a text, by which two texts are the same: NFKC, then full case folding, then characters that show nothing
(soft hyphen, zero-width characters, byte order mark) removed, then every run of white space a single space, none at
the ends. Punctuation and accents count.
"""

import re
import unicodedata
from typing import Final, NamedTuple

import numpy as np
import xxhash

_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")  # str.translate takes sixteen times as long
_GRAM: Final = 8  # characters; shorter ones are shared by unrelated texts of a language, which brings them nearer
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_STEPS: Final = [(width, np.uint64(pow(0xD6E8FEB86659FD93, width, 1 << 64))) for width in (1, 2, 4)]
_BITS: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int64)


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
    return " ".join(_INVISIBLE.sub("", folded).split())


def _simhash(normal: str) -> int:
    """Each run of 8 characters votes with the bits of its hash; characters, so that Chinese needs no words."""
    if not normal:
        return 0
    points = np.frombuffer(normal.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
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
    octets = hashes.view(np.uint8).reshape(-1, 8)
    votes = np.concatenate([np.bincount(octets[:, place], minlength=256) @ _BITS for place in range(8)])
    return int.from_bytes(np.packbits(votes * 2 > grams, bitorder="little").tobytes(), "little")
