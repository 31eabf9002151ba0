"""How deep elements are nested, told from their tags alone, before a tree is built.

In: the bytes of a page. Out: whether they are nested too deep. Called by `prescan`.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_NESTING = 400_000_000  # open elements summed over all start tags; Lexbor looks at about that many in a second
_DEEPEST = 10_000
_PIECE = 1 << 18  # bytes looked at at a time
_LONGEST = 24  # letters of a name that tell it from others
_PRIME = 1_099_511_628_211
# Elements that cannot hold another of their kind, and those of drawings: they add no depth.
_FLAT = (
    "p li td tr th dt dd br hr img input meta link area base col embed source track wbr option optgroup param "
    "path rect circle line polyline polygon ellipse use stop"
)

# In lower case, 0 for what ends a name; "/", which ends one too, is needed to tell end tags.
_LETTERS = bytes(range(256)).lower().translate(bytes.maketrans(b"\t\n\f\r >", bytes(6)))

Bytes = npt.NDArray[np.uint8]
Names = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]


def count_tags(html: bytes) -> tuple[int, int]:
    """How many start tags and end tags there are, those in scripts and comments among them."""
    starts = ends = 0
    for piece, size in _pieces(html):
        places = _places(piece, size)
        closing = int(np.count_nonzero(piece[places] == ord("/")))
        starts, ends = starts + len(places) - closing, ends + closing
    return starts, ends


def is_too_deep(html: bytes) -> bool:
    """Counted per name, so that stray end tags hide nothing; in pieces, so that little memory is needed."""
    flat = np.array([_name(name) for name in _FLAT.split()], np.uint64)
    opened: dict[int, int] = {}
    depth = summed = 0
    for piece, size in _pieces(html):
        names, steps = _tags(piece, size)
        keep = ~np.isin(names, flat)
        names, steps = names[keep], steps[keep]
        if not len(names):
            continue
        depths = depth + np.cumsum(_matched(names, steps, opened))
        depth = int(depths[-1])
        summed += int(depths[steps > 0].sum())
        if depths.max() > _DEEPEST or summed > _NESTING:
            return True
    return False


def _pieces(html: bytes) -> Iterator[tuple[Bytes, int]]:
    """Pieces with what the next one begins with, so that no name is cut, and their own size."""
    for start in range(0, len(html), _PIECE):
        piece = html[start : start + _PIECE + _LONGEST + 2].translate(_LETTERS)
        yield np.frombuffer(piece + b"\0", np.uint8), min(_PIECE, len(html) - start)


def _places(piece: Bytes, size: int) -> Integers:
    """Where names of tags begin, their "/" before them."""
    after = piece[1 : size + 1]
    begun = (after >= ord("a")) & (after <= ord("z")) | (after == ord("/"))
    return np.flatnonzero(begun & (piece[: len(after)] == ord("<"))) + 1


def _tags(piece: Bytes, size: int) -> tuple[Names, Integers]:
    """Names of the tags that begin in a piece, as numbers, and 1 for a start tag, -1 for an end tag."""
    places = _places(piece, size)
    closing = piece[places] == ord("/")
    places += closing
    named = (piece[places] >= ord("a")) & (piece[places] <= ord("z"))
    places, closing = places[named], closing[named]
    names = np.zeros(len(places), np.uint64)
    running = np.arange(len(places))
    for letter in range(_LONGEST):
        letters = piece[np.minimum(places[running] + letter, len(piece) - 1)]
        more = (letters > 0) & (letters != ord("/"))
        running, letters = running[more], letters[more]
        names[running] = names[running] * np.uint64(_PRIME) + letters
    return names, np.where(closing, -1, 1)


def _matched(names: Names, steps: Integers, opened: dict[int, int]) -> Integers:
    """Steps without the end tags of names that are not open."""
    different, which = np.unique(names, return_inverse=True)
    order = np.argsort(which, kind="stable")
    firsts = np.searchsorted(which[order], np.arange(len(different)))
    before = np.array([opened.get(name, 0) for name in different.tolist()])
    # Open elements after each tag of one name: at first those left open, then never fewer than none. To do it for all
    # names at once, each begins far below the one before it.
    ordered = steps[order]
    ordered[firsts] += before
    total = np.cumsum(ordered)
    base = np.concatenate(([0], total[firsts[1:] - 1]))[which[order]]
    running = total - base
    far = which[order] * (4 * len(steps) + 2 * int(before.max()))
    running -= np.minimum(np.minimum.accumulate(running - far) + far, 0)
    opened.update(zip(different.tolist(), running[np.append(firsts[1:], len(steps)) - 1].tolist(), strict=True))
    ahead = np.concatenate(([0], running[:-1]))
    ahead[firsts] = before
    matched = np.empty_like(steps)
    matched[order] = running - ahead
    return matched


def _name(word: str) -> int:
    value = 0
    for letter in word.encode():
        value = (value * _PRIME + letter) % 2**64
    return value
