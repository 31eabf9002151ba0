"""Keys met lately, in memory: the first answer to "is this URL known?", for most links the only one needed.

A table of a fixed size, 16 bytes a key, in which a newer key may take the place of an older one. What is not in it is
looked up in the store, so forgetting costs a read and never a URL.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from . import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes: TypeAlias = NDArray[np.uint64]

# A URL's key. The host's hash tells its partition, so the two hashes are the whole key.
_KEY: Final = np.dtype([("partition", "<u2"), ("hashes", "<u8", 2)])

# The last bit of a URL's hash follows from the host's and the place, so that of a key in the table may say something
# else: whether the key is kept elsewhere, too.
_LAST: Final = np.uint64(1)
_FREE: Final = np.array([0, 1], np.uint64)


def hashes(keys: Collection[bytes]) -> "Hashes":
    """Of host and URL, in rows of two."""
    return np.ascontiguousarray(np.frombuffer(b"".join(keys), _KEY)["hashes"])


class Recent:
    """About the last `size` keys, as hashes in rows of two."""

    def __init__(self, size: int) -> None:
        places = 1 << max(1, (size - 1).bit_length())
        self._mask = np.uint64(places - 1)
        self._keys: Hashes = sparse.zeros((places, 2), np.dtype(np.uint64))

    def knows(self, keys: "Hashes") -> "NDArray[np.bool_]":
        """Which of the keys are remembered."""
        return _same(self._keys.take(self._places(keys), axis=0), keys)

    def replace(self, keys: "Hashes", kept: bool) -> "Hashes":
        """Remember these, and whether they are kept elsewhere: those that found no place or lost it and are not."""
        places = self._places(keys)
        before = self._keys.take(places, axis=0)
        self._keys[places] = keys | _FREE if kept else keys & ~_FREE
        lost = (before[:, 0] != 0) & (before[:, 1] & _LAST == 0) & ~_same(before, keys)
        gone: Hashes = before[lost]
        _restore(gone, places[lost])
        if not kept and not (placed := self.knows(keys)).all():
            gone = np.concatenate((gone, keys[~placed]))
        return gone

    def sweep(self, start: int, count: int) -> "Hashes":
        """Those in `count` places from `start` on that are not kept elsewhere; from now on they count as kept."""
        start &= int(self._mask)
        part = self._keys[start : start + count]
        places = np.flatnonzero((part[:, 0] != 0) & (part[:, 1] & _LAST == 0))
        found: Hashes = part[places]
        part[places, 1] |= _LAST
        _restore(found, places + start)
        return found

    def _places(self, keys: "Hashes") -> "NDArray[np.int64]":
        return ((keys[:, 0] ^ keys[:, 1]) & self._mask).view(np.int64)


def _restore(keys: "Hashes", places: "NDArray[np.int64]") -> None:
    """Give keys from these places their last bit."""
    keys[:, 1] |= (keys[:, 0] ^ places.view(np.uint64)) & _LAST


def _same(one: "Hashes", other: "Hashes") -> "NDArray[np.bool_]":
    different = one ^ other
    same: NDArray[np.bool_] = different[:, 0] | different[:, 1] >> _LAST == 0
    return same
