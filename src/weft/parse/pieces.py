"""The kept blocks of a page as pieces of text that each have lines of their own.

In: a `Walk` and which of its blocks to keep. Out: runs of `Piece`s of one kind. Called by `weft.parse.render`.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from weft.parse.loose import line, loose_rows, table
from weft.parse.vocabulary import REGIONS, Tag
from weft.parse.walk import Fact, Trait, Walk

_FACTS = len(Fact)
# Plain integers: an enum's member takes longer to look up than to compare.
_PLACE, _BOX, _ITEM = int(Fact.PLACE), int(Fact.BOX), int(Fact.ITEM)
_TAG, _REGIONS = int(Trait.TAG), int(Trait.REGIONS)
_ROW, _H1, _H6, _LIST_ITEM = map(int, (Tag.ROW, Tag.H1, Tag.H6, Tag.ITEM))
_PRE = 1 << REGIONS.index("pre")
_QUOTE = 1 << REGIONS.index("quote")
_MOST_LISTS = 20
_LONGEST_NUMBER = 7  # digits of a line's number
_EMPTY_LINES = 2  # after the last line of code, which may be numbered
_LONG = 40  # characters: a text this long that comes again is a repetition, not a coincidence


class Piece(msgspec.Struct, gc=False):
    """Something with lines of its own."""

    kind: str  # paragraph, heading, item, row, code, quote
    text: str
    level: int = 0  # of a heading
    box: int = 0  # of an item
    table: int = 0  # of a row, its box


def runs(walk: Walk, kept: Iterable[int]) -> Iterator[tuple[str, list[Piece]]]:
    """Pieces of a kind that stand together, rows of one table only."""
    for (kind, _), run in groupby(pieces(walk, kept), key=lambda piece: (piece.kind, piece.table)):
        yield kind, list(run)


def pieces(walk: Walk, kept: Iterable[int]) -> Iterator[Piece]:
    """One piece per block; long texts that come again are left out."""
    kept = list(kept)
    again = _repeated(walk, kept)
    loose = _loose(walk, kept)
    texts, facts, places = walk.texts, walk.facts, walk.places
    for index in kept:
        if index in loose:
            row, blocks = loose[index]
            if index == blocks[0]:
                yield Piece("row", line(walk, row, blocks), table=table(walk, row))
            continue
        if index in again:
            continue
        text = texts[index]
        place = places[facts[index * _FACTS + _PLACE]]
        tag, regions = place[_TAG], place[_REGIONS]
        if regions & _PRE:
            if not (text[0].isdecimal() and _numbers_lines(walk, index)):
                yield Piece("code", text)
        elif _H1 <= tag <= _H6:
            yield Piece("heading", text, level=tag - _H1 + 1)
        elif tag == _ROW:
            yield Piece("row", text, table=table(walk, facts[index * _FACTS + _BOX]))
        elif facts[index * _FACTS + _ITEM]:
            yield Piece("item", text, box=facts[index * _FACTS + _BOX])
        else:
            yield Piece("quote" if regions & _QUOTE else "paragraph", text)


def _loose(walk: Walk, kept: list[int]) -> dict[int, tuple[int, list[int]]]:
    """By block that is kept of a loose row, the row and all that is kept of it."""
    rows = loose_rows(walk)
    chosen = set(kept) if rows else set()
    found: dict[int, tuple[int, list[int]]] = {}
    for row, blocks in rows.items():
        left = [block for block in blocks if block in chosen]
        found |= dict.fromkeys(left, (row, left))
    return found


def _repeated(walk: Walk, kept: list[int]) -> set[int]:
    """Blocks that say again at length what was said. Code and tables may; of a list all items have to."""
    seen: set[str] = set()
    again: set[int] = set()
    lists: dict[int, list[int]] = {}
    texts, facts, places = walk.texts, walk.facts, walk.places
    for index in kept:
        text = texts[index]
        place = places[facts[index * _FACTS + _PLACE]]
        tag = place[_TAG]
        if tag == _LIST_ITEM:
            lists.setdefault(walk.box_parents[facts[index * _FACTS + _BOX]], []).append(index)
        elif len(text) <= _LONG or tag == _ROW:
            continue
        if place[_REGIONS] & _PRE:
            continue
        if text in seen:
            again.add(index)
        elif "\n" not in text:
            seen.add(text)
        elif seen.issuperset(lines := text.split("\n")):
            again.add(index)
        else:
            seen.update(lines)
    for items in lists.values():
        if not again.issuperset(items) or max(len(walk.texts[item]) for item in items) <= _LONG:
            again.difference_update(items)
    return again


def _numbers_lines(walk: Walk, block: int) -> bool:
    """Whether a block is the numbers of the lines of the code after it: some pages set them in a <pre> of their own."""
    beside = block + 1
    if beside == len(walk.texts) or not walk.places[walk.facts[beside * _FACTS + _PLACE]][_REGIONS] & _PRE:
        return False
    numbers = walk.texts[block].split()
    first = int(numbers[0]) if numbers[0].isdecimal() and len(numbers[0]) <= _LONGEST_NUMBER else 0
    lines = walk.texts[beside].count("\n") + 1
    if first == 0 or len(numbers) == 1 or not lines <= len(numbers) <= lines + _EMPTY_LINES:
        return False
    return all(number == str(line) for line, number in enumerate(numbers, first))


def list_levels(walk: Walk) -> list[int]:
    """Of each box, in how many list items, one in the other, it lies; of many not all are counted."""
    levels = [0]
    for parent, place in zip(walk.box_parents[1:], walk.box_places[1:], strict=True):
        is_item = walk.places[place][_TAG] == _LIST_ITEM
        levels.append(min(levels[parent] + is_item, _MOST_LISTS))
    return levels
