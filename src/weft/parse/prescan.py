"""A linear look at a page before a tree is built of it: every HTML parser is quadratic somewhere.

In: the bytes of a page. Out: a `Refusal`, or None when a tree can be built in time. Called by `weft.parse.reading`.
"""

import re
from itertools import islice, repeat

import numpy as np

from weft.records import Refusal

from .bare import ATTRIBUTES, NAME, SPACE, VALUE, bare, tags
from .nesting import NESTING, count_tags, is_too_deep

LARGEST = 16 << 20  # bytes: a tree of this size stays within 512 MB
_FEW_TAGS = 20_000  # with fewer, no nesting is deep enough to hurt
_PIECE = 1 << 16
_LONG_TAG = 8192  # bytes without ">": only then attributes are counted
_PAIRS = 600_000_000  # pairs of attributes of one tag, summed: each is compared with those before it
_ATTRIBUTE = re.compile(rb"[^\s=\"'/>]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]*))?")
_BEGUN = re.compile(rb"<[a-zA-Z]")
_MARKS = b" \n\t\r\f/\"'"  # no attribute follows another without one of these
_ELEMENTS = 500_000  # with text between them, they and what is read of them take 260 MB and a second
# "<": 40,000 blocks, the most whose text is looked at, lie within. With so many, and 100,000 links, a page takes 1.3 s;
# with all of 1,000,000 more than the 2 s that it may.
_READ = 300_000
_LARGE = 3 << 20  # bytes: attributes in fewer take less than 512 MB with all elements
_ATTRIBUTES = 750_000  # of all tags: each takes 240 bytes
# Names of elements and attributes. Lexbor's tables do not grow: 100,000 names in as many tags take half a second,
# 200,000 two; 20,000 in the largest page one.
_NAMES = 20_000
_MANY_TAGS = 100_000
_NAMES_OF_FEW = 100_000  # in fewer tags, as a sample tells: scripts look like up to 75,000
_FEW_BYTES = 400_000  # hold 100,000 names at most
_WINDOW = 512  # bytes of each look, when one byte in so many is looked at
_STEP = 128
_TAG = re.compile(rb"</?([a-z][^ \t\n\f\r/>]*+%b)" % ATTRIBUTES, re.IGNORECASE)
_START = re.compile(rb"<([a-z][^ \t\n\f\r/>]*+%b)" % ATTRIBUTES, re.IGNORECASE)
_NAME = re.compile(rb"(%b)(?:%b*+=%b*+%b?+)?+" % (NAME, SPACE, SPACE, VALUE))
_REMEMBERED = 100_000  # tags


def beginning(html: bytes) -> bytes:
    """As much of a page as its text is taken from: the rest of so large a one is seldom more than a list goes on.

    Pages with more elements than are read at all stay whole, for `inspect` to refuse.
    """
    html = html[:LARGEST]
    if len(html) <= 2 * _READ:
        return html
    pieces = range(0, len(html), _PIECE)
    buffer = np.frombuffer(html, np.uint8)
    counts = [int(np.count_nonzero(buffer[start : start + _PIECE] == ord("<"))) for start in pieces]
    read = int(np.searchsorted(np.cumsum(counts), _READ))
    if read >= len(counts) or count_tags(html)[0] > _ELEMENTS:
        return html
    return html[: html.rfind(b"<", 0, pieces[read] + 1)]


def inspect(html: bytes) -> Refusal | None:
    """Why this page must not be parsed, if so."""
    if len(html) > LARGEST:
        return Refusal.TOO_LARGE
    counts = _counts(html)
    # Scripts and comments may hold as many tags as they like, but to leave them out is dear.
    refusal = _look(html, *counts, exact=False)
    if refusal:
        stripped = bare(html)
        counts = _counts(stripped)
        refusal = _look(stripped, *counts, exact=True)
    starts, ends = counts
    if refusal or starts * (starts + ends) <= NESTING:
        return refusal
    return Refusal.TOO_DEEP if is_too_deep(tags(html)) else None


def _counts(html: bytes) -> tuple[int, int]:
    """Start tags and end tags; none when they are few."""
    return count_tags(html) if len(html) > 3 * _FEW_TAGS and _brackets(html) > _FEW_TAGS else (0, 0)


def _look(html: bytes, starts: int, ends: int, *, exact: bool) -> Refusal | None:
    if _has_too_many_attributes(html, exact=exact):
        return Refusal.TOO_MANY_ATTRIBUTES
    if starts > _ELEMENTS:
        return Refusal.TOO_LARGE
    if len(html) > _LARGE and _fills_tags(html):
        return Refusal.TOO_MANY_ATTRIBUTES
    return Refusal.TOO_MANY_NAMES if _has_too_many_names(html, starts + ends > _MANY_TAGS) else None


def _fills_tags(html: bytes) -> bool:
    """Whether there are so many attributes in all that they fill the memory."""
    if len(html) - len(html.translate(None, _MARKS)) <= _ATTRIBUTES:
        return False
    found = _START.findall(html)
    marks = sum(len(tag) - len(tag.translate(None, _MARKS)) for tag in found)
    if marks <= _ATTRIBUTES:
        return False
    # The lines of a drawing are one value with many blanks: only names are counted, those of the tags among them.
    names = _NAME.finditer(b">".join(found))
    return next(islice(names, _ATTRIBUTES + len(found), None), None) is not None


def _has_too_many_names(html: bytes, many_tags: bool) -> bool:
    """Whether there are more different names of elements and attributes than a page of any author has."""
    if len(html) <= _FEW_BYTES:
        return False
    if not many_tags:
        sample = b"".join(html[start : start + _WINDOW] for start in range(0, len(html), _WINDOW * _STEP))
        if _names(sample) <= _NAMES_OF_FEW // _STEP:
            return False
    return _names(html) > _NAMES


def _names(html: bytes) -> int:
    """How many different ones there are; no more are counted than are too many."""
    names: set[bytes] = set()
    seen: set[bytes] = set()
    for match in _TAG.finditer(html):
        if match[1] in seen:
            continue
        seen.add(match[1])
        names.update(_NAME.findall(match[1].lower()))
        if len(names) > _NAMES:
            break
        if len(seen) > _REMEMBERED:
            seen.clear()
    return len(names)


def _brackets(html: bytes) -> int:
    """How many "<" there are, counted in pieces that stay in the processor's cache."""
    buffer = np.frombuffer(html, np.uint8)
    pieces = (buffer[start : start + _PIECE] for start in range(0, len(buffer), _PIECE))
    return sum(int(np.count_nonzero(piece == ord("<"))) for piece in pieces)


def _has_too_many_attributes(html: bytes, *, exact: bool) -> bool:
    """Three looks, each dearer and rarer than the one before."""
    stretches = _long_tags(html)
    if sum((end - start) ** 2 for start, end in stretches) <= 4 * _PAIRS:  # an attribute takes two bytes at least
        return False
    if sum(_most_attributes(html, *stretch) ** 2 for stretch in stretches) <= _PAIRS:
        return False
    # A script without ">" looks like a tag full of attributes, so they are counted when no scripts are left.
    return not exact or sum(_attributes(html, *stretch) ** 2 for stretch in stretches) > _PAIRS


def _long_tags(html: bytes) -> list[tuple[int, int]]:
    """Stretches without ">" that are long enough for many attributes; leaps from window to window."""
    stretches: list[tuple[int, int]] = []
    start, size = 0, len(html)
    # Each holds one of these parts whole; nearly no page has one.
    parts = range(0, size + 1, _LONG_TAG // 2)
    if min(map(html.find, repeat(b">"), parts, parts[1:]), default=0) >= 0:
        return stretches
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


def _attributes(html: bytes, start: int, end: int) -> int:
    start = _opening(html, start, end)
    return sum(1 for _ in _ATTRIBUTE.finditer(html, start, end)) if start >= 0 else 0


def _opening(html: bytes, start: int, end: int) -> int:
    """Where the first start tag begins, or -1."""
    match = _BEGUN.search(html, start, end)
    return match.start() if match else -1
