"""A page's blocks as numbers that mean the same in every language: rows per block, per place, and for the page.

In: a `Walk` with at least one block, and the page's URL. Out: `Features`. Called by `weft.parse.text` and the training.
"""

from functools import cache
from math import log1p

import msgspec
import numpy as np
import numpy.typing as npt

from weft.parse import traits
from weft.parse.characters import Kind, count, words
from weft.parse.hints import HINTS, hints
from weft.parse.traits import Traits, integers
from weft.parse.vocabulary import Tag
from weft.parse.walk import Fact, Walk

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

# Plain integers: looking up an enum's member takes longer than many an operation here.
_STOP, _PAUSE, _LINE = int(Kind.STOP), int(Kind.PAUSE), int(Kind.LINE)
_PLACE, _BOX, _LENGTH, _ITEM = int(Fact.PLACE), int(Fact.BOX), int(Fact.LENGTH), int(Fact.ITEM)
_LINK_CHARS, _LINKS, _IMAGES = int(Fact.LINK_CHARS), int(Fact.LINKS), int(Fact.IMAGES)
_H1 = int(Tag.H1)

_WINDOWS = np.array([[2], [8]])  # blocks to each side
_LEVELS = 3  # boxes above a block
_AROUND = len(_WINDOWS) + _LEVELS
SPANS = _AROUND + 1  # and the page
_ENDINGS = np.array([[Kind.STOP], [Kind.PAUSE]], np.uint8)
_BEGINNINGS = np.array([[Kind.SYMBOL], [Kind.DIGIT]], np.uint8)
_COUNTED = int(Kind.LOWER)  # kinds before this one: the rest would tell languages apart
# Rows of the running sums.
_WORDS, _PLAIN, _STOPS, _PROSE, _PARAGRAPHS, _HEADINGS = range(6)
# The last two of them, by tag.
_OF_TAG = np.array([[tag == Tag.PARAGRAPH for tag in Tag], [Tag.H1 <= tag <= Tag.H6 for tag in Tag]], np.float32)

_BLOCK_SIZES = {
    "own": 16,
    "letters": _COUNTED,
    "position": 9,
    "spans": 10 * _AROUND,
}
_PAGE_SIZES = {"page": 12, "hints": HINTS}
BLOCK_ROWS, PAGE_ROWS = sum(_BLOCK_SIZES.values()), sum(_PAGE_SIZES.values())
ROWS = BLOCK_ROWS + traits.ROWS + PAGE_ROWS


@cache
def group_rows() -> dict[str, slice]:
    """Where each group of features lies; the training drops whole groups at random."""
    groups, start = {}, 0
    for name, size in (_BLOCK_SIZES | traits.SIZES | _PAGE_SIZES).items():
        groups[name] = slice(start, start + size)
        start += size
    return groups


class Spans(msgspec.Struct, frozen=True):
    """Stretches of blocks around each block: windows, then boxes from the inside out, then the page. Span × block."""

    low: Integers
    high: Integers
    size: Floats


class Features(msgspec.Struct, frozen=True):
    """What the model sees, and what its answer is weighed with."""

    blocks: Floats  # feature × block
    places: Floats  # feature × place
    page: Floats
    place: Integers  # of each block
    words: Floats  # about how many words each block has
    spans: Spans
    regions: Integers  # of each place
    link_share: Floats
    furniture: int  # menus, footers, dialogs and headers that were passed over

    def matrix(self) -> Floats:
        """All features of each block: what the training sees."""
        page = np.repeat(self.page[:, None], self.blocks.shape[1], axis=1)
        return np.concatenate([self.blocks, self.places[:, self.place], page])


class _Page:
    """What several groups of features share. All in float32: numpy is several times slower where types are mixed."""

    def __init__(self, walk: Walk) -> None:
        self.facts = facts = integers(walk.facts).reshape(-1, len(Fact)).T
        self.numbers = numbers = facts.astype(np.float32, order="C")
        self.many = many = facts.shape[1]
        self.index = np.arange(many, dtype=np.float32)
        self.traits = Traits(walk, facts[_PLACE])
        self.tag = self.traits.tag.take(self.traits.place)
        self.counts, self.first, self.last = count(walk.texts, facts[_LENGTH])
        self.link_share = np.minimum(numbers[_LINK_CHARS] / numbers[_LENGTH], 1.0)
        self.words = words(self.counts)
        base = np.empty((6, many), np.float32)
        base[_WORDS] = self.words
        plain = np.subtract(self.words, self.words * self.link_share, out=base[_PLAIN])  # words outside links
        base[_STOPS] = self.counts[_STOP]
        # Prose: words outside links in blocks that have punctuation and some length; none in menus of any script.
        self.is_prose = (base[_STOPS] + self.counts[_PAUSE] > 0) & (plain > 6)
        np.multiply(plain, self.is_prose, out=base[_PROSE])
        _OF_TAG.take(self.tag, axis=1, out=base[_PARAGRAPHS:], mode="clip")
        self.base = base
        self.sums = np.zeros((6, many + 1), np.float32)
        base.cumsum(1, out=self.sums[:, 1:])
        self.total = np.maximum(self.sums[:, -1], 1e-3)


def features(walk: Walk, url: str | None = None) -> Features:
    """Everything the model may know of each block."""
    page = _Page(walk)
    spans = _spans(walk, page)
    matrix = np.empty((BLOCK_ROWS, page.many), np.float32)
    groups = group_rows()
    rows = {name: matrix[groups[name]] for name in _BLOCK_SIZES}
    _own(page, rows["own"])
    np.divide(page.counts[:_COUNTED], page.numbers[_LENGTH], out=rows["letters"])
    _position(page, rows["position"])
    _stretches(page, spans, rows["spans"])
    page.traits.repeat(page.base, float(page.total[_PROSE]))
    whole = np.array([*_whole(page), *hints(walk, url)], np.float32)
    return Features(
        blocks=matrix,
        places=page.traits.matrix,
        page=whole,
        place=page.traits.place,
        words=page.words,
        spans=spans,
        regions=page.traits.regions,
        link_share=page.link_share,
        furniture=walk.furniture,
    )


def _own(page: _Page, out: Floats) -> None:
    """Length, links, punctuation and element of the block itself."""
    numbers = page.numbers
    out[0:4] = page.base[:4]
    out[4] = numbers[_LINKS]
    out[5] = page.counts[_LINE]
    np.log1p(out[:6], out=out[:6])
    out[6] = page.link_share
    out[7] = page.is_prose
    np.minimum(numbers[_IMAGES], 3, out=out[8])
    out[9] = numbers[_ITEM]
    out[10:12] = page.last == _ENDINGS
    out[12:14] = page.first == _BEGINNINGS
    out[14] = page.words < 3
    out[15] = page.words > 15


def _near(distance: Floats, out: Floats) -> None:
    """A distance in blocks, alike from forty on. Plain operations: np.clip takes longer."""
    np.multiply(distance, 0.05, out=out)
    np.maximum(out, -2, out=out)
    np.minimum(out, 2, out=out)


def _position(page: _Page, out: Floats) -> None:
    """Where on the page the block stands, by blocks, by words and by headings."""
    index = page.index
    np.divide(index, page.many, out=out[0])
    np.log1p(index, out=out[1])
    out[2] = out[1, ::-1]
    both = slice(_WORDS, _PROSE + 1, _PROSE - _WORDS)
    np.divide(page.sums[both, :-1], page.total[both, None], out=out[3:5])
    np.subtract(1, page.sums[_PROSE, 1:] / page.total[_PROSE], out=out[5])
    first = int((page.tag == _H1).argmax())
    if page.tag[first] == _H1:
        _near(index - first, out[6])
    else:
        out[6] = 0
    last = np.maximum.accumulate(page.base[_HEADINGS] * (index + 1))  # heading so far, from 1; 0 for none
    np.log1p(index - last + 1, out=out[7])
    tags = np.zeros(page.many + 1, np.float32)
    np.divide(page.tag, 8, out=tags[1:])
    tags.take(last.astype(np.int64), out=out[8])


def _spans(walk: Walk, page: _Page) -> Spans:
    """A box that holds no more than the one inside it is left out."""
    many, windows = page.many, len(_WINDOWS)
    index = np.arange(many)
    low, high = np.zeros((SPANS, many), np.int64), np.full((SPANS, many), many)
    np.maximum(index - _WINDOWS, 0, out=low[:windows])
    np.minimum(index + (_WINDOWS + 1), many, out=high[:windows])
    parents, starts, ends = integers(walk.box_parents + walk.box_starts + walk.box_ends).reshape(3, -1)
    up = _larger(parents, starts, ends)
    box = page.facts[_BOX]
    box = np.where(ends.take(box) - starts.take(box) > 1, box, up.take(box))
    for level in range(windows, _AROUND):
        starts.take(box, out=low[level])
        ends.take(box, out=high[level])
        box = up.take(box)
    return Spans(low, high, (high - low).astype(np.float32))


def _larger(parents: Integers, starts: Integers, ends: Integers) -> Integers:
    """For each box the nearest one above that holds more blocks; the outermost leads to itself."""
    same = (starts.take(parents) == starts) & (ends.take(parents) == ends)
    top = np.where(same, parents, np.arange(len(parents)))  # leads up a step where the box above holds the same
    while True:
        further = top.take(top)
        if further.tobytes() == top.tobytes():  # a fifth of the time that numpy takes to compare
            return parents.take(top)
        top = further


def _stretches(page: _Page, spans: Spans, out: Floats) -> None:
    """What each span around a block holds, and how far into it the block is."""
    low, size = spans.low[:_AROUND], spans.size[:_AROUND]
    sums = page.sums.take(spans.high[:_AROUND], axis=1)
    sums -= page.sums.take(low, axis=1)
    rows = out.reshape(10, _AROUND, page.many)
    total = np.maximum(sums[_WORDS], 1e-3, out=rows[0])
    np.divide(sums[_PLAIN], total, out=rows[3])
    np.divide(sums[_STOPS], np.maximum(total, 5), out=rows[4])
    np.divide(sums[_PROSE], total, out=rows[5])
    np.divide(sums[_PARAGRAPHS : _HEADINGS + 1], size, out=rows[6:8])
    np.divide(sums[_PROSE], page.total[_PROSE], out=rows[8])
    np.subtract(page.index, low.astype(np.float32), out=rows[9])
    rows[9] /= size
    np.divide(total, size, out=rows[1])
    rows[2] = size
    np.log1p(rows[0:3], out=rows[0:3])


def _whole(page: _Page) -> list[float]:
    """The page as a whole."""
    many = page.many
    _, plain, stops, prose, paragraphs, headings = page.sums[:, -1].tolist()
    total = float(page.total[_WORDS])
    regions = int(np.bitwise_or.reduce(page.traits.regions))
    return [
        log1p(total / many),
        1 - plain / total,
        stops / max(total, 5),
        prose / total,
        paragraphs / many,
        headings / many,
        log1p(total),
        log1p(many),
        log1p(page.words.max()),
        log1p(np.count_nonzero(page.is_prose)),
        regions & 1,
        regions >> 1 & 1,
    ]
