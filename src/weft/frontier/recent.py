"""Keys met lately, in memory: the first answer to "is this URL known?", for most links the only one needed.

A table of a fixed size, 16 bytes a key, in which a newer key may take the place of an older one. What is not in it is
looked up in the store, so forgetting costs a read and never a URL.
"""

from collections.abc import Collection
from itertools import compress
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Hashes: TypeAlias = NDArray[np.uint64]

# A URL's key. The host's hash tells its partition, so the two hashes are the whole key.
_KEY: Final = np.dtype([("partition", "<u2"), ("host", "<u8"), ("url", "<u8")])


def hashes(keys: Collection[bytes]) -> "tuple[Hashes, Hashes]":
    """Of their hosts and of their URLs."""
    rows = np.frombuffer(b"".join(keys), _KEY)
    return rows["host"], rows["url"]


class Recent:
    """About the last `size` keys: of a URL, or of anything else that ends in two hashes of 8 bytes."""

    def __init__(self, size: int) -> None:
        slots = 1 << (size - 1).bit_length()
        self._mask = np.uint64(slots - 1)
        self._hosts = np.zeros(slots, np.uint64)
        self._urls = np.zeros(slots, np.uint64)
        self._kept = np.zeros(slots, np.bool_)

    def unknown(self, keys: Collection[bytes]) -> list[bytes]:
        """Those of the keys that are not remembered, in their order."""
        hosts, urls, slots = self._places(keys)
        missing = (self._urls.take(slots) != urls) | (self._hosts.take(slots) != hosts)
        return list(compress(keys, missing.tolist()))

    def remember(self, keys: Collection[bytes]) -> None:
        hosts, urls, slots = self._places(keys)
        self._hosts[slots] = hosts
        self._urls[slots] = urls

    def replace(self, keys: Collection[bytes], kept: bool) -> "Hashes":
        """Remember these, and whether they are kept elsewhere: the hashes, in rows of two, of those whose places they
        took and that are not."""
        hosts, urls, slots = self._places(keys)
        before = np.stack((self._hosts.take(slots), self._urls.take(slots)), axis=1)
        lost = ~self._kept.take(slots) & (before[:, 1] != 0) & ((before[:, 0] != hosts) | (before[:, 1] != urls))
        self._hosts[slots] = hosts
        self._urls[slots] = urls
        self._kept[slots] = kept
        gone: Hashes = before[lost]
        return gone

    def _places(self, keys: Collection[bytes]) -> "tuple[Hashes, Hashes, NDArray[np.int64]]":
        hosts, urls = hashes(keys)
        return hosts, urls, ((hosts ^ urls) & self._mask).view(np.int64)
