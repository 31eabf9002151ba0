"""The places that blocks stand in as numbers: element, landmarks and class words above, how often they repeat.

In: a `Walk` and the place of each of its blocks. Out: `Traits`. Called by `weft.parse.features`.
"""

import struct
from itertools import starmap

import numpy as np
import numpy.typing as npt

from weft.parse.raw import Trait, Walk
from weft.parse.vocabulary import CLASS_WORDS, REGIONS, Tag

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

SIZES = {
    "path": 2,
    "tags": len(Tag),
    "regions": len(REGIONS),
    "near": len(CLASS_WORDS),
    "far": len(CLASS_WORDS),
    "repeats": 6,
}
ROWS = sum(SIZES.values())
_TAG_ROWS = slice(SIZES["path"], SIZES["path"] + len(Tag))
_TAGS = np.arange(len(Tag), dtype=np.int64)[:, None]
_TAG, _REGIONS, _FAR = int(Trait.TAG), int(Trait.REGIONS), int(Trait.FAR)
_DEPTH, _SHAPE, _CELL = int(Trait.DEPTH), int(Trait.SHAPE), int(Trait.CELL)
_DEEPEST = 40
_PACK = struct.Struct(f"{len(Trait)}q").pack


class Traits:
    """The places in use, renumbered from 0: a column each in `matrix`."""

    def __init__(self, walk: Walk, numbers: Integers) -> None:
        used = np.bincount(numbers, minlength=len(walk.places)).nonzero()[0]
        renumbered = np.empty(len(walk.places), np.int64)
        renumbered[used] = np.arange(len(used))
        self.place = renumbered.take(numbers)  # of each block
        rows = b"".join(starmap(_PACK, map(walk.places.__getitem__, used.tolist())))
        self.values = np.frombuffer(rows, np.int64).reshape(-1, len(Trait)).T
        self.tag, self.regions = self.values[_TAG], self.values[_REGIONS]
        self.matrix = np.empty((ROWS, len(used)), np.float32)
        self.matrix[0] = np.minimum(self.values[_DEPTH], _DEEPEST) / 10
        self.matrix[1] = self.values[_CELL]
        self.matrix[_TAG_ROWS] = self.tag == _TAGS
        masks = self.values[_REGIONS : _FAR + 1].astype("<i8", order="C").view(np.uint8)
        bits = np.unpackbits(masks.reshape(3, -1, 8), axis=2, bitorder="little")
        row = _TAG_ROWS.stop
        for place, size in enumerate((len(REGIONS), len(CLASS_WORDS), len(CLASS_WORDS))):
            self.matrix[row : row + size] = bits[place, :, :size].T
            row += size

    def repeat(self, base: Floats, prose: float) -> None:
        """How often a place of the template occurs, and what it usually holds: words, plain words, stops, prose."""
        numbers: dict[int, int] = {}
        number = numbers.setdefault
        group = integers([number(shape, len(numbers)) for shape in self.values[_SHAPE].tolist()])
        many = len(numbers)
        groups = group.take(self.place)
        sizes = np.bincount(groups, minlength=many)
        sums = [np.bincount(groups, row, many) for row in base[:4]]
        total = np.maximum(sums[0], 1e-3)
        means = np.empty((6, many))
        means[0] = sizes - 1
        means[1] = sums[0]
        means[2] = sums[0] / sizes
        np.log1p(means[:3], out=means[:3])
        means[3] = 1 - sums[1] / total
        means[4] = sums[2] / np.maximum(total, 1)
        means[5] = sums[3] / prose
        self.matrix[-6:] = means.take(group, axis=1)


def integers(values: list[int]) -> Integers:
    """An array of a list's numbers; half the time that numpy itself takes."""
    return np.frombuffer(struct.pack(f"{len(values)}q", *values), np.int64)
