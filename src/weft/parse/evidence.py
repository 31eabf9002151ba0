"""What a page brings, for the frontier's trap defence: hashes of some of its lines, and of its whole text.

The lines of the main text come first. A page whose main text has fewer than eight lines is told by all that it shows.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import unquote

import xxhash

from weft.records import Evidence

KEPT: Final = 16  # hashes of each sort
ASKED: Final = 8  # lines of main text from which on the rest of the page is not looked at
_REACH: Final = 16_384  # characters of text that are looked at
_CLEANED: Final = 48  # lines; more are sampled by their hash: words are dear to tell apart
_WORD: Final = re.compile(r"[^\W\d_]+")


def evidence(url: str, text: str, shown: Sequence[str]) -> Evidence:
    """Of a page at `url` with this main text; `shown` is everything that it shows, piece by piece."""
    whole = "\n".join(shown) or text
    lines = _lines(text)
    rest: dict[str, int] = {}
    if len(lines) < ASKED:
        rest = {line: number for line, number in _lines(whole).items() if line not in lines}
    own = {word.lower() for word in _WORD.findall(unquote(url))}
    return Evidence(
        xxhash.xxh3_64_intdigest(whole.encode("utf-8", "surrogatepass")) if whole.strip() else 0,
        _packed(lines.values(), rest.values()),
        _packed(_cleaned(lines, own), _cleaned(rest, own)),
    )


def _lines(text: str) -> dict[str, int]:
    """Each line once, with its hash."""
    found = (line.strip() for line in text[:_REACH].split("\n"))
    return {line: _hash(line) for line in found if line}


def _hash(line: str) -> int:
    return xxhash.xxh3_64_intdigest(line.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF or 1


def _cleaned(lines: dict[str, int], own: set[str]) -> list[int]:
    chosen = sorted(lines, key=lines.__getitem__)[:_CLEANED] if len(lines) > _CLEANED else lines
    found = {" ".join(word for word in _WORD.findall(line.lower()) if word not in own) for line in chosen}
    return [_hash(line) for line in found if line]


def _packed(first: Iterable[int], then: Iterable[int]) -> bytes:
    """The smallest of the first, then of the others."""
    hashes = list(dict.fromkeys(sorted(first)[:KEPT] + sorted(then)))[:KEPT]
    return b"".join(number.to_bytes(4, "little") for number in hashes)
