"""How a URL was come by, in one number that it carries through the queue: what the trap defence asks of it.

Bits 0–2 `dry`: fruitless pages in a row on the way to it. Bit 3 `ingrown`: found on a page of its own pattern.
Bit 4 `pardoned`: taken up again by a person, never held. Bit 5 `sprout`: the first URL of a new host. Bits 6–7 `lent`:
pages in a row on the way to it that were new to their pattern only. From bit 8 `branch`.
"""

from typing import Final, NamedTuple

import xxhash

from weft.urls.host import origin_of

MANY: Final = 7
_INGROWN: Final = 1 << 3
_PARDONED: Final = 1 << 4
_SPROUT: Final = 1 << 5
_LENT: Final = 6
MOST_LENT: Final = 3
_BRANCH: Final = 8
_BRANCHES: Final = (1 << 22) - 1
ROOT: Final = 0
"""The branch of start pages: each of their links begins a branch."""


class Trail(NamedTuple):
    """The number, taken apart."""

    dry: int = 0
    ingrown: bool = False
    branch: int = ROOT
    pardoned: bool = False
    sprout: bool = False
    lent: int = 0

    def packed(self) -> int:
        flags = self.ingrown * _INGROWN | self.pardoned * _PARDONED | self.sprout * _SPROUT
        return min(self.dry, MANY) | flags | min(self.lent, MOST_LENT) << _LENT | self.branch << _BRANCH


def trail_of(packed: int) -> Trail:
    return Trail(
        packed & MANY,
        bool(packed & _INGROWN),
        packed >> _BRANCH,
        bool(packed & _PARDONED),
        bool(packed & _SPROUT),
        packed >> _LENT & MOST_LENT,
    )


def is_clean(packed: int) -> bool:
    """Nothing on the way to it speaks against it."""
    return not packed & (MANY | _INGROWN)


def branch_of(url: str) -> int:
    """A URL that no page of its site led to belongs to the branch of its first path segment."""
    return _named(url[len(origin_of(url)) + 1 :])


def branch_from(start: str, url: str) -> int:
    """The branch that a link on a start page begins: the first segment behind what both paths share."""
    folder = start[: start.rfind("/") + 1]
    return _named(url[len(folder) :]) if url.startswith(folder) else branch_of(url)


def _named(path: str) -> int:
    segment = path.partition("?")[0].partition("/")[0]
    return (xxhash.xxh3_64_intdigest(segment.encode()) & _BRANCHES or 1) if segment else ROOT
