"""Blocks that belong together: rows of a table, items of a list, a heading and what it heads.

In: a page, its features, the chance of each block and which are kept so far. Out: which are kept, changed in place.
Called by `weft.parse.text`. The model judges block by block, and short ones weigh so little that it may be wrong about
them without losing much; a reader loses the thread.
"""

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from weft.parse.features import Features, Floats
from weft.parse.inline import QUESTION_MARKS
from weft.parse.loose import loose_rows, table
from weft.parse.model import struck
from weft.parse.vocabulary import Tag, region_bit
from weft.parse.walk import Fact, Trait, Walk

_FACTS, _PLACE, _BOX = len(Fact), int(Fact.PLACE), int(Fact.BOX)
_TAG, _REGIONS, _BUTTON = int(Trait.TAG), int(Trait.REGIONS), region_bit("button")
_ITEM, _ALONE = int(Tag.ITEM), frozenset(map(int, (Tag.PRE, Tag.QUOTE)))
_HEADINGS = frozenset(map(int, (Tag.H2, Tag.H3, Tag.H4, Tag.H5, Tag.H6)))  # <h1> is the title, which many leave out
_HIGHEST = 3  # boxes around what a heading heads, of which one may be that around the heading
_MOST = 0.5  # share of its blocks, or of the words around it, that decides about the whole
_LINKED = 0.3  # share of links from which a list is no text
# The least chance of what is kept for its company. Swept from 0 to 0.3: the pages of types that training has not shown
# gain .005 down to here.
_LEAST = 0.1


def keep_together(walk: Walk, page: Features, chance: Floats, kept: npt.NDArray[np.bool_]) -> None:
    """Settle tables, lists, code and headings by what is kept of them and around them."""
    tags = [place[_TAG] for place in walk.places]
    wholes = _wholes(walk, tags)
    if wholes:
        _settle(kept, wholes)
        _stay(walk, page, chance, kept, wholes)
    _head(walk, chance, kept, tags)


def _wholes(walk: Walk, tags: list[int]) -> dict[int, list[int]]:
    """Blocks by the box of the table, list, code or quotation that they make up."""
    items = {number for number, tag in enumerate(tags) if tag == _ITEM}
    parts = {number for number, tag in enumerate(tags) if tag in _ALONE} | items | walk.data_rows
    loose = {block: row for row, blocks in loose_rows(walk).items() for block in blocks}
    wholes: dict[int, list[int]] = {}
    for block, place in enumerate(walk.facts[_PLACE::_FACTS] if parts else ()):
        if place in parts or block in loose:
            box = loose.get(block) or walk.facts[block * _FACTS + _BOX]
            if block in loose or place in walk.data_rows:
                box = table(walk, box)
            elif place in items:
                box = walk.box_parents[box]
            wholes.setdefault(box, []).append(block)
    return wholes


def _settle(kept: npt.NDArray[np.bool_], wholes: dict[int, list[int]]) -> None:
    """All blocks of a whole go as most of them do: half a table tells nobody anything."""
    chosen = kept.tolist()
    for blocks in wholes.values():
        many = sum(map(chosen.__getitem__, blocks))
        if 0 < many < len(blocks):
            kept[blocks] = many >= _MOST * len(blocks)


def _stay(
    walk: Walk, page: Features, chance: Floats, kept: npt.NDArray[np.bool_], wholes: dict[int, list[int]]
) -> None:
    """A whole of few links stays where most of the words in the box around it stay."""
    chosen, chances, links = kept.tolist(), chance.tolist(), page.link_share.tolist()
    asking = [
        (box, blocks)
        for box, blocks in wholes.items()
        if not chosen[blocks[0]]
        and sum(map(links.__getitem__, blocks)) <= _LINKED * len(blocks)
        and sum(map(chances.__getitem__, blocks)) >= _LEAST * len(blocks)
    ]
    if not asking:
        return
    outside, words = struck(page), page.words.tolist()
    before, kept_before = _sums(words), _sums((page.words * kept).tolist())
    for box, blocks in asking:
        around = walk.box_parents[box]
        start, end = walk.box_starts[around], walk.box_ends[around]
        company = kept_before[end] - kept_before[start]
        others = before[end] - before[start] - sum(map(words.__getitem__, blocks))
        if company > 0 and company >= _MOST * others and not outside[blocks[0]]:
            kept[blocks] = True


def _sums(values: list[float]) -> list[float]:
    """The sum of all values before each, and of all."""
    return [0.0, *accumulate(values)]


def _head(walk: Walk, chance: Floats, kept: npt.NDArray[np.bool_], tags: list[int]) -> None:
    """A heading stays with the block after it, a question with its answer. The last first: one may follow another."""
    buttons = {number for number, place in enumerate(walk.places) if place[_REGIONS] & _BUTTON}
    headings = {number for number, tag in enumerate(tags) if tag in _HEADINGS}
    either = buttons | headings
    found = [(block, place) for block, place in enumerate(walk.facts[_PLACE::_FACTS][:-1]) if place in either]
    for block, place in reversed(found):
        if kept[block] or not kept[block + 1]:
            continue
        asks = place in buttons and walk.texts[block].endswith(QUESTION_MARKS)
        kept[block] = asks or (place in headings and chance[block] >= _LEAST and _heads(walk, block))


def _heads(walk: Walk, block: int) -> bool:
    """Whether the block after this one lies in the box around it."""
    parents = walk.box_parents
    around = parents[walk.facts[block * _FACTS + _BOX]]
    box = walk.facts[(block + 1) * _FACTS + _BOX]
    for _ in range(_HIGHEST):
        box = parents[box]
        if box == around:
            return True
    return False
