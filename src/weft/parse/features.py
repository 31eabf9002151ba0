"""A page's blocks as numbers: one row per block, columns that mean the same in every language.

In: a `Walk` with at least one block. Out: `Features`. Called by `weft.parse.model` at run time and by the training script.
"""

import msgspec
import numpy as np
import numpy.typing as npt

from weft.parse.characters import Kind, count, words
from weft.parse.vocabulary import CLASS_WORDS, REGIONS, Tag
from weft.parse.walk import Fact, Walk

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_REGION_SHIFTS = np.arange(len(REGIONS), dtype=np.int64)
_CLASS_SHIFTS = np.arange(len(CLASS_WORDS), dtype=np.int64)
_LEVELS = 4  # boxes above a block that are looked at
_MAIN_SHARES = (0.35, 0.6, 0.85)  # of a page's sentences: the smallest box that holds so many may be the main one
_WINDOWS = (2, 5, 12)  # blocks to each side


class Features(msgspec.Struct, frozen=True):
    """What the model sees, and what its answer is weighed with."""

    matrix: Floats
    words: Floats  # about how many words each block has
    boxes: Integers  # per block and level: the end points of its boxes, for averages of a first guess
    names: tuple[str, ...] = ()


class _Page:
    """The columns that several groups of features share."""

    def __init__(self, walk: Walk) -> None:
        facts = np.array(walk.facts, dtype=np.int64).reshape(-1, len(Fact))
        self.facts = facts
        self.count = len(facts)
        self.counts, self.first, self.last = count(walk.texts)
        self.chars = self.counts.sum(1)
        self.words = words(self.counts)
        self.link_share = np.minimum(facts[:, Fact.LINK_CHARS] / self.chars, 1.0).astype(np.float32)
        self.plain = self.words * (1 - self.link_share)  # words outside links
        self.stops = self.counts[:, Kind.STOP]
        self.tag = facts[:, Fact.TAG]
        # Prose: words outside links in blocks that have punctuation and some length; zero for menus in any script.
        pauses = self.stops + self.counts[:, Kind.PAUSE]
        self.prose = np.where((self.plain > 6) & (pauses > 0), self.plain, 0).astype(np.float32)
        self.heading = ((self.tag >= Tag.H1) & (self.tag <= Tag.H6)).astype(np.float32)
        self.paragraph = (self.tag == Tag.PARAGRAPH).astype(np.float32)
        base = (self.words, self.plain, self.stops, self.prose, self.paragraph, self.heading, np.ones_like(self.words))
        self.sums = np.zeros((self.count + 1, len(base)), np.float32)
        np.cumsum(np.stack(base, 1), axis=0, out=self.sums[1:], dtype=np.float32)
        self.total = np.maximum(self.sums[-1], 1e-3)


def features(walk: Walk, title: str = "") -> Features:
    """Everything the model may know of each block."""
    page = _Page(walk)
    levels = _levels(walk, page)
    groups = [_own(page), _titles(walk.texts, title), _bits(page), _repeats(walk.texts, page), _position(page)]
    groups += [_around(page), _enclosing(page, levels), _main(walk, page), _whole(page)]
    matrix = np.concatenate(groups, axis=1, dtype=np.float32)
    return Features(matrix, page.words, levels)


def _own(page: _Page) -> Floats:
    """Length, links, punctuation and element of the block itself."""
    counts, facts, chars = page.counts, page.facts, page.chars
    out = np.empty((page.count, 24 + len(Tag)), np.float32)
    out[:, 0] = np.log1p(page.words)
    out[:, 1] = np.log1p(page.plain)
    out[:, 2] = page.link_share
    out[:, 3] = np.log1p(facts[:, Fact.LINKS])
    out[:, 4] = np.log1p(page.stops)
    out[:, 5] = np.log1p(counts[:, Kind.PAUSE])
    shares = counts / chars[:, None]
    out[:, 6:11] = shares[:, [Kind.UPPER, Kind.DIGIT, Kind.STOP, Kind.PAUSE, Kind.QUOTE]]
    out[:, 11] = shares[:, Kind.SYMBOL]
    out[:, 12] = page.last == Kind.STOP
    out[:, 13] = page.last == Kind.PAUSE
    out[:, 14] = page.first == Kind.SYMBOL
    out[:, 15] = page.first == Kind.DIGIT
    out[:, 16] = np.log1p(counts[:, Kind.LINE])
    out[:, 17] = np.minimum(facts[:, Fact.IMAGES], 3)
    out[:, 18] = np.minimum(facts[:, Fact.DEPTH], 40) / 10
    out[:, 19] = facts[:, Fact.ITEM]
    out[:, 20] = facts[:, Fact.CELL] >= 0
    out[:, 21] = page.words < 3
    out[:, 22] = page.words > 15
    out[:, 23] = page.prose > 0
    out[:, 24:] = page.tag[:, None] == np.arange(len(Tag))
    return out


def _titles(texts: list[str], title: str) -> Floats:
    """Whether the block is the page's title, or a part of it."""
    out = np.zeros((len(texts), 2), np.float32)
    title = title.casefold()
    if title:
        for index, text in enumerate(texts):
            if 8 <= len(text) <= len(title) + 40:
                folded = text.casefold()
                out[index, 0] = folded in title
                out[index, 1] = title in folded
    return out


def _bits(page: _Page) -> Floats:
    """Regions and class words above the block, one column per bit."""
    facts = page.facts
    regions = facts[:, Fact.REGIONS, None] >> _REGION_SHIFTS & 1
    near = facts[:, Fact.NEAR, None] >> _CLASS_SHIFTS & 1
    far = facts[:, Fact.FAR, None] >> _CLASS_SHIFTS & 1
    return np.concatenate((regions, near, far), axis=1, dtype=np.float32, casting="unsafe")


def _repeats(texts: list[str], page: _Page) -> Floats:
    """How often the same text and the same template place occur, and what the latter usually hold."""
    out = np.empty((page.count, 7), np.float32)
    hashes = np.fromiter(map(hash, texts), np.int64, page.count)
    _, places, sizes = np.unique(hashes, return_inverse=True, return_counts=True)
    out[:, 0] = np.log(sizes[places])
    _, places, sizes = np.unique(page.facts[:, Fact.SHAPE], return_inverse=True, return_counts=True)
    out[:, 1] = np.log(sizes[places])
    many = len(sizes)
    total = np.bincount(places, page.words, many)
    plain = np.bincount(places, page.plain, many)
    out[:, 2] = np.log1p(total)[places]
    out[:, 3] = np.log1p(total / sizes)[places]
    out[:, 4] = (1 - plain / np.maximum(total, 1e-3))[places]
    out[:, 5] = (np.bincount(places, page.prose, many) / page.total[3])[places]
    out[:, 6] = (np.bincount(places, page.stops, many) / np.maximum(total, 1))[places]
    return out


def _position(page: _Page) -> Floats:
    """Where on the page the block stands, by blocks, by words and by headings."""
    count = page.count
    index = np.arange(count)
    before = page.sums[:-1]
    out = np.empty((count, 9), np.float32)
    out[:, 0] = index / count
    out[:, 1] = np.log1p(index)
    out[:, 2] = np.log1p(count - index)
    out[:, 3] = before[:, 0] / page.total[0]
    out[:, 4] = before[:, 3] / page.total[3]
    out[:, 5] = 1 - (before[:, 3] + page.prose) / page.total[3]
    first = np.flatnonzero(page.tag == Tag.H1)
    out[:, 6] = 0 if not len(first) else np.clip((index - first[0]) / 20, -2, 2)
    last_heading = np.maximum.accumulate(np.where(page.heading > 0, index, -1))
    out[:, 7] = np.log1p(index - last_heading)
    out[:, 8] = np.where(last_heading >= 0, page.tag[last_heading], 0) / 8
    return out


def _around(page: _Page) -> Floats:
    """The two blocks before and after, and averages over wider windows."""
    own = np.empty((page.count + 4, 6), np.float32)
    own[:2] = own[-2:] = -1
    inner = own[2:-2]
    inner[:, 0] = np.log1p(page.words)
    inner[:, 1] = page.link_share
    inner[:, 2] = np.log1p(page.stops)
    inner[:, 3] = page.paragraph
    inner[:, 4] = page.heading
    inner[:, 5] = page.prose > 0
    neighbours = [own[:-4], own[1:-3], own[3:-1], own[4:]]
    index = np.arange(page.count)
    for window in _WINDOWS:
        low, high = np.maximum(index - window, 0), np.minimum(index + window + 1, page.count)
        neighbours.append(_summary(page, page.sums[high] - page.sums[low]))
    return np.concatenate(neighbours, axis=1)


def _summary(page: _Page, sums: Floats) -> Floats:
    """What a stretch of blocks holds, from its sums."""
    total, size = np.maximum(sums[:, 0], 1e-3), np.maximum(sums[:, 6], 1)
    out = np.empty((len(sums), 6), np.float32)
    out[:, 0] = np.log1p(sums[:, 0] / size)
    out[:, 1] = 1 - sums[:, 1] / total
    out[:, 2] = sums[:, 2] / np.maximum(total, 5)
    out[:, 3] = sums[:, 3] / total
    out[:, 4] = sums[:, 4] / size
    out[:, 5] = sums[:, 5] / size
    return out


def _levels(walk: Walk, page: _Page) -> Integers:
    """Per block, the start and end of the boxes above it, skipping boxes that hold no more than the one below."""
    parents = np.array(walk.box_parents, np.int64)
    starts, ends = np.array(walk.box_starts, np.int64), np.array(walk.box_ends, np.int64)
    sizes = ends - starts
    out = np.empty((page.count, _LEVELS, 2), np.int64)
    box = page.facts[:, Fact.BOX]
    size = np.ones(page.count, np.int64)
    for level in range(_LEVELS):
        for _ in range(12):
            same = sizes[box] <= size
            if not same.any():
                break
            box = np.where(same, parents[box], box)
        out[:, level, 0], out[:, level, 1] = starts[box], ends[box]
        size = sizes[box]
    return out


def _enclosing(page: _Page, levels: Integers) -> Floats:
    """What the boxes above hold, and how far into them the block is."""
    index = np.arange(page.count)
    groups = []
    for level in range(_LEVELS):
        low, high = levels[:, level, 0], levels[:, level, 1]
        sums = page.sums[high] - page.sums[low]
        extra = np.empty((page.count, 5), np.float32)
        extra[:, 0] = np.log1p(sums[:, 0])
        extra[:, 1] = np.log1p(sums[:, 6])
        extra[:, 2] = sums[:, 0] / page.total[0]
        extra[:, 3] = sums[:, 3] / page.total[3]
        extra[:, 4] = (index - low) / np.maximum(high - low, 1)
        groups += [_summary(page, sums), extra]
    return np.concatenate(groups, axis=1)


def _main(walk: Walk, page: _Page) -> Floats:
    """Whether the block lies in the smallest boxes that hold most of the page's prose, before or after them."""
    starts, ends = np.array(walk.box_starts, np.int64), np.array(walk.box_ends, np.int64)
    prose = page.sums[ends, 3] - page.sums[starts, 3]
    size = ends - starts
    index = np.arange(page.count)
    out = np.empty((page.count, 4 * len(_MAIN_SHARES)), np.float32)
    for place, share in enumerate(_MAIN_SHARES):
        box = int(np.argmin(np.where(prose >= share * page.total[3], size, page.count + 1)))
        low, high = starts[box], ends[box]
        column = 4 * place
        inside = (index >= low) & (index < high)
        out[:, column] = inside
        out[:, column + 1] = index < low
        out[:, column + 2] = size[box] / page.count
        out[:, column + 3] = np.where(inside, (index - low) / max(size[box], 1), -1)
    return out


def _whole(page: _Page) -> Floats:
    """The page as a whole; the same in every row."""
    total = page.total
    row = np.array(
        [
            np.log1p(total[0]),
            np.log1p(total[3]),
            np.log1p(total[6]),
            1 - total[1] / total[0],
            total[3] / total[0],
            total[4] / total[6],
            total[5] / total[6],
            np.log1p(page.words.max()),
            np.log1p((page.prose > 0).sum()),
            np.bitwise_or.reduce(page.facts[:, Fact.REGIONS]) & 1,
            np.bitwise_or.reduce(page.facts[:, Fact.REGIONS]) >> 1 & 1,
        ],
        np.float32,
    )
    return np.broadcast_to(row, (page.count, len(row)))
