"""A page's blocks as numbers: one column per block, rows that mean the same in every language.

In: a `Walk` with at least one block, and the page's URL. Out: `Features`. Called by `weft.parse.text` and the training.
"""

from collections.abc import Hashable, Sequence
from functools import cache
from operator import sub

import msgspec
import numpy as np
import numpy.typing as npt

from weft.parse.characters import KINDS, Kind, count, words
from weft.parse.hints import HINTS, hints
from weft.parse.vocabulary import CLASS_WORDS, REGIONS, Tag
from weft.parse.walk import Fact, Walk

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_TAGS = np.arange(len(Tag), dtype=np.int64)[:, None]
_WINDOWS = (1, 4, 12)  # blocks to each side
_LEVELS = 4  # boxes above a block
SPANS = len(_WINDOWS) + _LEVELS + 1  # and the page
# Shares of a page's prose: the smallest box that holds so much may be the main one.
_MAIN_SHARES = np.array([[0.35], [0.6], [0.85]], np.float32)
_ENDINGS = np.array([[Kind.STOP], [Kind.PAUSE]], np.uint8)
_BEGINNINGS = np.array([[Kind.SYMBOL], [Kind.DIGIT]], np.uint8)
_OF_A_LANGUAGE = [Kind.LOWER, Kind.CASELESS, Kind.IDEOGRAPH, Kind.SYLLABLE]
# Rows of the running sums.
_WORDS, _PLAIN, _STOPS, _PROSE, _PARAGRAPHS, _HEADINGS, _BLOCKS = range(7)

_SIZES = {
    "own": 18,
    "letters": KINDS,
    "tags": len(Tag),
    "title": 6,
    "regions": len(REGIONS),
    "near": len(CLASS_WORDS),
    "far": len(CLASS_WORDS),
    "repeats": 7,
    "position": 9,
    "neighbours": 24,
    "spans": 10 * SPANS,
    "main": 4 * len(_MAIN_SHARES),
    "family": 9,
    "page": 4,
    "hints": HINTS,
}
ROWS = sum(_SIZES.values())


@cache
def group_rows() -> dict[str, slice]:
    """Where each group of features lies; the training drops whole groups at random."""
    groups, start = {}, 0
    for name, size in _SIZES.items():
        groups[name] = slice(start, start + size)
        start += size
    return groups


class Features(msgspec.Struct, frozen=True):
    """What the model sees, and what its answer is weighed with."""

    matrix: Floats  # feature × block
    words: Floats  # about how many words each block has
    low: Integers  # span × block: the stretches of blocks around each, for averages
    high: Integers
    regions: Integers
    link_share: Floats
    furniture: int  # menus and footers that were passed over


class _Page:
    """What several groups of features share."""

    def __init__(self, walk: Walk) -> None:
        facts = np.fromiter(walk.facts, np.int64, len(walk.facts)).reshape(-1, len(Fact)).T.copy()
        self.facts = facts
        self.count = facts.shape[1]
        self.index = np.arange(self.count)
        self.counts, self.first, self.last = count(walk.texts)
        self.chars = self.counts.sum(0)
        self.words = words(self.counts)
        self.link_share = np.minimum(facts[Fact.LINK_CHARS] / self.chars, 1.0).astype(np.float32)
        self.tag = facts[Fact.TAG]
        boxes = np.array(walk.box_parents + walk.box_starts + walk.box_ends, np.int64)
        self.box_parents, self.box_starts, self.box_ends = boxes.reshape(3, -1)
        base = np.empty((7, self.count), np.float32)
        base[_WORDS] = self.words
        base[_PLAIN] = self.words * (1 - self.link_share)  # words outside links
        base[_STOPS] = self.counts[Kind.STOP]
        # Prose: words outside links in blocks that have punctuation and some length; none in menus of any script.
        marked = base[_STOPS] + self.counts[Kind.PAUSE] > 0
        base[_PROSE] = np.where(marked & (base[_PLAIN] > 6), base[_PLAIN], 0)
        base[_PARAGRAPHS] = self.tag == Tag.PARAGRAPH
        base[_HEADINGS] = (self.tag >= Tag.H1) & (self.tag <= Tag.H6)
        base[_BLOCKS] = 1
        self.base = base
        self.prose = base[_PROSE]
        self.sums = np.zeros((7, self.count + 1), np.float32)
        np.cumsum(base, axis=1, out=self.sums[:, 1:])
        self.total = np.maximum(self.sums[:, -1], 1e-3)
        self.logs = np.log1p(base[:4])


def features(walk: Walk, url: str | None = None) -> Features:
    """Everything the model may know of each block."""
    page = _Page(walk)
    low, high = _spans(walk, page)
    matrix = np.empty((ROWS, page.count), np.float32)
    rows = {name: matrix[place] for name, place in group_rows().items()}
    _own(page, rows["own"])
    _letters(page, rows["letters"])
    rows["tags"][:] = page.tag == _TAGS
    _title(walk, page, rows["title"])
    for name, bits in zip(("regions", "near", "far"), _bits(page), strict=True):
        rows[name][:] = bits[:, : len(rows[name])].T
    _repeats(walk, page, rows["repeats"])
    _position(page, rows["position"])
    _neighbours(page, rows["neighbours"])
    _stretches(page, low, high, rows["spans"])
    _main(page, rows["main"])
    _family(page, rows["family"])
    _whole(page, rows["page"])
    rows["hints"][:] = hints(walk, url)[:, None]
    return Features(matrix, page.words, low, high, page.facts[Fact.REGIONS], page.link_share, walk.furniture)


def _bits(page: _Page) -> npt.NDArray[np.uint8]:
    """The bits of regions, near and far classes: three × block × 64."""
    masks = page.facts[Fact.REGIONS : Fact.FAR + 1].astype("<i8", copy=False).view(np.uint8)
    return np.unpackbits(masks.reshape(3, page.count, 8), axis=2, bitorder="little")


def _own(page: _Page, out: Floats) -> None:
    """Length, links, punctuation and element of the block itself."""
    facts = page.facts
    out[0:4] = page.logs
    out[4] = page.link_share
    out[5] = np.log1p(facts[Fact.LINKS])
    out[6:8] = page.last == _ENDINGS
    out[8:10] = page.first == _BEGINNINGS
    out[10] = np.log1p(page.counts[Kind.LINE])
    out[11] = np.minimum(facts[Fact.IMAGES], 3)
    out[12] = np.minimum(facts[Fact.DEPTH], 40) / 10
    out[13] = facts[Fact.ITEM]
    out[14] = facts[Fact.CELL] >= 0
    out[15] = page.words < 3
    out[16] = page.words > 15
    out[17] = page.prose > 0


def _letters(page: _Page, out: Floats) -> None:
    """Shares of capitals, digits, punctuation. Which letters they are would tell languages apart: not to be learned."""
    np.divide(page.counts, page.chars, out=out)
    out[_OF_A_LANGUAGE] = 0


def _title(walk: Walk, page: _Page, out: Floats) -> None:
    """Whether the block is the page's title or a part of it, and how far it stands from there."""
    out[:] = 0
    title = walk.title.casefold()
    if not title:
        return
    longest = len(title) + 40
    found = []
    for index, text in enumerate(walk.texts):
        if 6 <= len(text) <= longest:
            folded = text.casefold()
            if folded in title or title in folded:
                found.append(index)
    if found:
        out[0, found] = 1
        headed = [index for index in found if page.base[_HEADINGS, index]]
        place = headed[0] if headed else found[0]
        distance = page.index - place
        out[1] = _near(distance)
        out[2] = distance > 0
        out[3] = distance < 0
        out[4] = (page.sums[_PROSE, :-1] - page.sums[_PROSE, place]) / page.total[_PROSE]
        out[5] = bool(headed)


def _near(distance: Integers) -> npt.NDArray[np.float64]:
    """A distance in blocks, alike from forty on. Two plain operations: np.clip takes a third longer."""
    return np.asarray(np.minimum(np.maximum(distance / 20, -2), 2))


def _repeats(walk: Walk, page: _Page, out: Floats) -> None:
    """How often the same text and the same template place occur, and what the latter usually hold."""
    places, sizes = _groups(walk.texts)
    out[0] = np.log(sizes)[places]
    places, sizes = _groups(walk.facts[Fact.SHAPE :: len(Fact)])
    many = len(sizes)
    sums = [np.bincount(places, page.base[row], many) for row in (_WORDS, _PLAIN, _STOPS, _PROSE)]
    total = np.maximum(sums[0], 1e-3)
    means = np.empty((6, many), np.float32)
    means[0] = np.log(sizes)
    means[1] = np.log1p(sums[0])
    means[2] = np.log1p(sums[0] / sizes)
    means[3] = 1 - sums[1] / total
    means[4] = sums[2] / np.maximum(total, 1)
    means[5] = sums[3] / page.total[_PROSE]
    out[1:] = means[:, places]


def _groups(keys: Sequence[Hashable]) -> tuple[Integers, Integers]:
    """For each key the number of its group, and the sizes of the groups."""
    numbers: dict[Hashable, int] = {}
    number = numbers.setdefault
    places = np.array([number(key, len(numbers)) for key in keys], np.int64)
    return places, np.bincount(places)


def _position(page: _Page, out: Floats) -> None:
    """Where on the page the block stands, by blocks, by words and by headings."""
    count, index = page.count, page.index
    out[0] = index / count
    out[1] = np.log1p(index)
    out[2] = out[1][::-1]
    out[3] = page.sums[_WORDS, :-1] / page.total[_WORDS]
    out[4] = page.sums[_PROSE, :-1] / page.total[_PROSE]
    out[5] = 1 - page.sums[_PROSE, 1:] / page.total[_PROSE]
    first = int(np.argmax(page.tag == Tag.H1))
    out[6] = _near(index - first) if page.tag[first] == Tag.H1 else 0
    last_heading = np.maximum.accumulate(np.where(page.base[_HEADINGS] > 0, index, -1))
    out[7] = np.log1p(index - last_heading)
    out[8] = np.where(last_heading >= 0, page.tag[last_heading], 0) / 8


def _neighbours(page: _Page, out: Floats) -> None:
    """The two blocks before and after."""
    own = np.full((6, page.count + 4), -1, np.float32)
    inner = own[:, 2:-2]
    inner[0] = page.logs[_WORDS]
    inner[1] = page.link_share
    inner[2] = page.logs[_STOPS]
    inner[3:5] = page.base[_PARAGRAPHS : _HEADINGS + 1]
    inner[5] = page.prose > 0
    for place, shift in enumerate((0, 1, 3, 4)):
        out[6 * place : 6 * place + 6] = own[:, shift : shift + page.count]


def _spans(walk: Walk, page: _Page) -> tuple[Integers, Integers]:
    """Stretches of blocks around each: windows, then boxes from the inside out, then the page."""
    index = page.index
    low, high = np.zeros((SPANS, page.count), np.int64), np.empty((SPANS, page.count), np.int64)
    for place, window in enumerate(_WINDOWS):
        np.maximum(index - window, 0, out=low[place])
        np.minimum(index + window + 1, page.count, out=high[place])
    sizes = page.box_ends - page.box_starts
    up = _larger(walk)
    box = page.facts[Fact.BOX]
    box = np.where(sizes[box] > 1, box, up[box])
    for level in range(len(_WINDOWS), SPANS - 1):
        low[level], high[level] = page.box_starts[box], page.box_ends[box]
        box = up[box]
    high[-1] = page.count
    return low, high


def _larger(walk: Walk) -> Integers:
    """For each box the nearest one above that holds more blocks; the outermost leads to itself."""
    sizes = list(map(sub, walk.box_ends, walk.box_starts))
    up = [0] * len(sizes)
    for box, parent in enumerate(walk.box_parents):
        up[box] = parent if sizes[parent] != sizes[box] else up[parent]
    return np.array(up, np.int64)


def _stretches(page: _Page, low: Integers, high: Integers, out: Floats) -> None:
    """What each span holds, and how far into it the block is."""
    sums = page.sums.take(high, axis=1)
    sums -= page.sums.take(low, axis=1)
    size = sums[_BLOCKS]
    total = np.maximum(sums[_WORDS], 1e-3)
    rows = out.reshape(10, SPANS, page.count)
    np.log1p(sums[_WORDS] / size, out=rows[0])
    np.subtract(1, sums[_PLAIN] / total, out=rows[1])
    np.divide(sums[_STOPS], np.maximum(total, 5), out=rows[2])
    np.divide(sums[_PROSE], total, out=rows[3])
    np.divide(sums[_PARAGRAPHS : _HEADINGS + 1], size, out=rows[4:6])
    np.log1p(total, out=rows[6])
    np.log1p(size, out=rows[7])
    np.divide(sums[_PROSE], page.total[_PROSE], out=rows[8])
    np.divide(page.index - low, size, out=rows[9])


def _main(page: _Page, out: Floats) -> None:
    """Whether the block lies in the smallest boxes that hold most of the page's prose, before or after them."""
    prose = page.sums[_PROSE, page.box_ends] - page.sums[_PROSE, page.box_starts]
    size = page.box_ends - page.box_starts
    enough = prose >= _MAIN_SHARES * page.total[_PROSE]
    boxes = np.where(enough, size, page.count + 1).argmin(1)
    low, many = page.box_starts[boxes, None], np.maximum(size[boxes, None], 1)
    place = page.index - low
    inside = (place >= 0) & (place < many)
    rows = out.reshape(len(boxes), 4, page.count)
    rows[:, 0] = inside
    rows[:, 1] = place < 0
    rows[:, 2] = many / page.count
    rows[:, 3] = np.where(inside, place / many, -1)


def _family(page: _Page, out: Floats) -> None:
    """Prose of the blocks whose elements have the same parent: paragraphs of an article do, teasers on cards do not."""
    box = page.facts[Fact.BOX]
    boxes = len(page.box_parents)
    parent = np.where(page.tag == Tag.DIV, box, page.box_parents[box])
    mass = np.bincount(parent, page.prose, boxes)
    own = mass[parent]
    best = int(np.argmax(mass))
    mine = parent == best
    members = np.flatnonzero(mine & (page.prose > 0))
    first, last = (members[0], members[-1]) if len(members) else (0, page.count - 1)
    out[0] = np.log1p(own)
    out[1] = own / page.total[_PROSE]
    out[2] = mine
    out[3] = (page.index >= first) & (page.index <= last)
    out[4] = np.maximum(_near(first - page.index), 0)
    out[5] = np.maximum(_near(page.index - last), 0)
    out[6] = mass[best] / page.total[_PROSE]
    out[7] = np.log1p(mass[best])
    out[8] = np.log1p(np.bincount(parent, minlength=boxes))[parent]


def _whole(page: _Page, out: Floats) -> None:
    """The page as a whole, beyond what its span says."""
    regions = int(np.bitwise_or.reduce(page.facts[Fact.REGIONS]))
    out[0] = page.logs[_WORDS].max()
    out[1] = np.log1p(np.count_nonzero(page.prose))
    out[2] = regions & 1
    out[3] = regions >> 1 & 1
