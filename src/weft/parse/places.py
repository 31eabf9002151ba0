"""Places of a page's template: paths of elements and classes, numbered, so that what they mean is worked out once.

In: an element below a known place. Out: the number of its own place. Called by `weft.parse.walk`.
"""

from typing import TypeAlias

from weft.parse.raw import Place, Trait
from weft.parse.vocabulary import CLASS_BITS, Tag, region_bit, vocabulary

_OTHER, _ROW, _CELL = map(int, (Tag.OTHER, Tag.ROW, Tag.CELL))
_STRUCTURAL = frozenset(map(int, (Tag.ITEM, Tag.ROW, Tag.CELL)))
_SHAPE = int(Trait.SHAPE)
_STICKY = frozenset(map(int, (Tag.H1, Tag.H2, Tag.H3, Tag.H4, Tag.H5, Tag.H6)))  # a block inside a heading is one
_LINK_REGION = region_bit("link")
_PLAIN = (_OTHER, 0)  # an element that means nothing
_NOWHERE: Place = (_OTHER, 0, 0, 0, 0, 0, 0, 0)
# The place above, Lexbor's number of the element, its class, and the bits and regions of its other attributes.
Step: TypeAlias = tuple[int, int, str | None, tuple[int, int] | None]


class Places:
    """All places met so far. The page itself is number 0."""

    def __init__(self) -> None:
        self.elements = vocabulary().elements
        self.all: list[Place] = [_NOWHERE]
        self.steps: dict[Step, int] = {}
        self.rows: set[int] = set()
        self.items: set[int] = set()
        self.data_rows: set[int] = set()  # rows made one block of
        # A place inside a link goes by its own number, twice; a row of data by that of its first cell and its own.
        self.variants: dict[tuple[int, int], int] = {}

    def take(self, step: Step) -> int:
        """Where a step leads that was not taken before."""
        above, element, name, marks = step
        tag, regions, _, far, depth, shape, cell, outer = self.all[above]
        own, region = self.elements.get(element, _PLAIN)
        bits = CLASS_BITS[name] if name else 0
        if marks is not None:
            bits |= marks[0]
            region |= marks[1]
        self.steps[step] = place = len(self.all)
        if tag not in _STICKY:
            tag = own
            if tag in _STRUCTURAL:
                if tag == _CELL:
                    cell = 1
                else:
                    (self.rows if tag == _ROW else self.items).add(place)
        shape = hash((shape, element, bits))
        self.all.append((tag, regions | region, bits | outer, bits | far, depth + 1, shape, cell, bits))
        return place

    def linked(self, place: int) -> int:
        """The same place inside a link."""
        known = self.variants.get((place, place))
        if known is None:
            self.variants[place, place] = known = len(self.all)
            tag, regions, near, far, depth, shape, cell, own = self.all[place]
            self.all.append((tag, regions | _LINK_REGION, near, far, depth, shape, cell, own))
        return known

    def row(self, cell: int, row: int) -> int:
        """Where the row stands whose first block is in the place `cell`."""
        known = self.variants.get((cell, row))
        if known is None:
            self.variants[cell, row] = known = len(self.all)
            _, regions, near, far, depth, _, _, own = self.all[cell]
            self.data_rows.add(known)
            shape = self.all[row][_SHAPE]
            self.all.append((_ROW, regions, near, far, depth, shape, 0, own))
        return known
