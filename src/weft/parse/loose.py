"""Rows of tables of data that the walk made no single block of: paragraphs or much text in a cell, or one cell only.

In: a `Walk`. Out: their blocks, by row. Called by `weft.parse.together`, which keeps a table whole, and by
`weft.parse.pieces`, which puts a row in one line.
"""

from collections import Counter

from weft.parse.rows import GAP, cell
from weft.parse.vocabulary import Tag
from weft.parse.walk import Fact, Trait, Walk

_FACTS, _PLACE, _BOX, _TAG = len(Fact), int(Fact.PLACE), int(Fact.BOX), int(Trait.TAG)
_ROW = int(Tag.ROW)
_LONGEST = 1000  # characters of a row; longer ones are layout
_FEWEST = 2  # rows that make a table one of data, and as many as there are loose ones


def table(walk: Walk, row: int) -> int:
    """The box of the table that a row's box lies in: above it is <thead> or <tbody>, which always is."""
    parents = walk.box_parents
    return parents[parents[row]]


def loose_rows(walk: Walk) -> dict[int, list[int]]:
    """Blocks by the box of the row that they make up."""
    if not walk.data_rows:
        return {}
    row_of = _rows_of(walk)
    whole: Counter[int] = Counter()  # rows of one block, by table
    rows: dict[int, list[int]] = {}
    for block, place in enumerate(walk.facts[_PLACE::_FACTS]):
        row = row_of[walk.facts[block * _FACTS + _BOX]]
        if place in walk.data_rows:
            whole[table(walk, row)] += 1
        elif row:
            rows.setdefault(row, []).append(block)
    loose = Counter(table(walk, row) for row in rows)
    return {
        row: blocks
        for row, blocks in rows.items()
        if whole[table(walk, row)] >= max(_FEWEST, loose[table(walk, row)])
        and blocks[-1] - blocks[0] < len(blocks)  # no table inside it
        and sum(len(walk.texts[block]) for block in blocks) <= _LONGEST
        and (len(blocks) > 1 or _is_inside(walk, blocks[0], row, row_of))
    }


def line(walk: Walk, row: int, blocks: list[int]) -> str:
    """The row in one line: what a cell's blocks say, and a gap between cells."""
    cells: dict[int, list[str]] = {}
    for block in blocks:
        box = walk.facts[block * _FACTS + _BOX]
        while box != row and walk.box_parents[box] != row:
            box = walk.box_parents[box]
        cells.setdefault(box, []).append(walk.texts[block])
    return GAP.join(cell(" ".join(texts)) for texts in cells.values())


def _rows_of(walk: Walk) -> list[int]:
    """Of each box the row that it lies in, or is; 0 for none."""
    is_row = [place[_TAG] == _ROW for place in walk.places]
    rows = [0]
    for box, (parent, place) in enumerate(zip(walk.box_parents[1:], walk.box_places[1:], strict=True), 1):
        rows.append(box if is_row[place] else rows[parent])
    return rows


def _is_inside(walk: Walk, block: int, row: int, row_of: list[int]) -> bool:
    """Whether a block lies between rows of its table: the first and the last may be its title or a note."""
    beside = [at for at in (block - 1, block + 1) if 0 <= at < len(walk.texts)]
    rows = [row_of[walk.facts[at * _FACTS + _BOX]] for at in beside]
    return len(rows) == 2 and all(other and table(walk, other) == table(walk, row) for other in rows)
