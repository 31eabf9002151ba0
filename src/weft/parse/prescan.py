"""A linear look at a page before a tree is built of it: every HTML parser is quadratic somewhere.

In: the bytes of a page. Out: a `Refusal`, or None when a tree can be built in time. Called by `weft.parse.reading`.
"""

import re

import numpy as np
import numpy.typing as npt

from weft.records import Refusal

LARGEST = 16 << 20  # bytes: a tree of this size stays within 512 MB
_FEW_TAGS = 20_000  # with fewer, no nesting is deep enough to hurt
_NESTING = 400_000_000  # open elements summed over all start tags; Lexbor looks at about that many in a second
_DEEPEST = 10_000
_PIECE = 1 << 16
_LONG_TAG = 8192  # bytes without ">": only then attributes are counted
_PAIRS = 600_000_000  # pairs of attributes of one tag, summed: each is compared with those before it
_ATTRIBUTE = re.compile(rb"[^\s=\"'/>]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]*))?")
_MARKS = b" \n\t\r\f/\"'"  # no attribute follows another without one of these
_SCRIPT = re.compile(rb"<(?:script|style)\b[^>]*>", re.IGNORECASE)
_SCRIPT_END = re.compile(rb"</(?:script|style)", re.IGNORECASE)
# Elements that cannot hold another of their kind, and those of drawings, by their first four letters: they add no
# depth.
_FLAT = (
    "p li td tr th dt dd br hr img inpu meta link area base col embe sour trac wbr opti para "
    "path rect circ line poly elli use stop"
)

Integers = npt.NDArray[np.int64]


def inspect(html: bytes) -> Refusal | None:
    """Why this page must not be parsed, if so."""
    if len(html) > LARGEST:
        return Refusal.TOO_LARGE
    if _has_too_many_attributes(html):
        return Refusal.TOO_MANY_ATTRIBUTES
    if len(html) > 3 * _FEW_TAGS and _tags(html) > _FEW_TAGS:
        deepest, nesting = _depths(np.frombuffer(html, np.uint8))
        if deepest > _DEEPEST or nesting > _NESTING:
            return Refusal.TOO_DEEP
    return None


def _tags(html: bytes) -> int:
    """How many "<" there are, counted in pieces that stay in the processor's cache."""
    buffer = np.frombuffer(html, np.uint8)
    pieces = (buffer[start : start + _PIECE] for start in range(0, len(buffer), _PIECE))
    return sum(int(np.count_nonzero(piece == ord("<"))) for piece in pieces)


def _has_too_many_attributes(html: bytes) -> bool:
    """Three looks, each dearer and rarer than the one before."""
    stretches = _long_tags(html)
    if sum((end - start) ** 2 for start, end in stretches) <= 4 * _PAIRS:  # an attribute takes two bytes at least
        return False
    if sum(_most_attributes(html, *stretch) ** 2 for stretch in stretches) <= _PAIRS:
        return False
    # Script without ">" looks like a tag full of attributes, so look without scripts.
    bare = _without_scripts(html)
    return sum(_attributes(bare, *stretch) ** 2 for stretch in _long_tags(bare)) > _PAIRS


def _long_tags(html: bytes) -> list[tuple[int, int]]:
    """Stretches without ">" that are long enough for many attributes; leaps from window to window."""
    stretches = []
    start, size = 0, len(html)
    while start + _LONG_TAG < size:
        last = html.rfind(b">", start, start + _LONG_TAG)
        if last < 0:
            end = html.find(b">", start + _LONG_TAG)
            last = end if end >= 0 else size
            stretches.append((start, last))
        start = last + 1
    return stretches


def _most_attributes(html: bytes, start: int, end: int) -> int:
    """No more attributes than this are in a stretch: each needs something that ends it."""
    start = _opening(html, start, end)
    if start < 0:
        return 0
    return end - start - len(html[start:end].translate(None, _MARKS))


def _without_scripts(html: bytes) -> bytes:
    kept, place = [], 0
    while opening := _SCRIPT.search(html, place):
        kept.append(html[place : opening.end()])
        end = _SCRIPT_END.search(html, opening.end())
        place = end.start() if end else len(html)
    kept.append(html[place:])
    return b"".join(kept)


def _attributes(html: bytes, start: int, end: int) -> int:
    start = _opening(html, start, end)
    return sum(1 for _ in _ATTRIBUTE.finditer(html, start, end)) if start >= 0 else 0


def _opening(html: bytes, start: int, end: int) -> int:
    """Where the first start tag begins, or -1."""
    place = html.find(b"<", start, end)
    while place >= 0 and not html[place + 1 : place + 2].isalpha():
        place = html.find(b"<", place + 1, end)
    return place


def _depths(buffer: npt.NDArray[np.uint8]) -> tuple[int, int]:
    """The deepest nesting, and depths summed over start tags. Counted per name, so that stray end tags hide nothing."""
    places = np.flatnonzero(buffer[:-6] == ord("<")) + 1
    closing = buffer[places] == ord("/")
    keys = _keys(buffer, places + closing)
    keep = (keys != 0) & ~np.isin(keys, np.array([_key(name) for name in _FLAT.split()], np.int64))
    keys, step = keys[keep], np.where(closing[keep], -1, 1)
    depth = np.zeros(len(keys), np.int64)
    names, counts = np.unique(keys, return_counts=True)
    for name in names[np.argsort(-counts)][:40]:
        mine = np.where(keys == name, step, 0)
        running = np.cumsum(mine)
        depth += running - np.minimum.accumulate(np.minimum(running, 0))
    return int(depth.max(initial=0)), int(depth[step > 0].sum())


def _keys(buffer: npt.NDArray[np.uint8], places: Integers) -> Integers:
    """The first four letters of each name as one number; 0 where no letter follows."""
    keys = np.zeros(len(places), np.int64)
    running = np.ones(len(places), bool)
    for shift in range(4):
        letter = buffer[np.minimum(places + shift, len(buffer) - 1)].astype(np.int64) | 0x20
        running &= (letter >= ord("a")) & (letter <= ord("z"))
        keys |= np.where(running, letter << (8 * shift), 0)
    return keys


def _key(name: str) -> int:
    return int.from_bytes(name[:4].encode(), "little")
