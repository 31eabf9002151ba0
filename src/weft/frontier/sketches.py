"""Sketches of hosts, in memory: a table of a fixed size in which a newer host may take the place of an older one."""

from collections.abc import Collection, Mapping
from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from . import sketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEY: Final = np.dtype([("partition", "<u2"), ("host", "<u8")])


class Sketches:
    """Of about the last `size` hosts, 40 bytes each."""

    def __init__(self, size: int) -> None:
        slots = 1 << (size - 1).bit_length()
        self._mask = np.uint64(slots - 1)
        self._hosts = np.zeros(slots, np.uint64)
        self._sketches = np.zeros(slots, f"V{sketch.SIZE}")

    def of(self, hosts: Collection[bytes]) -> dict[bytes, bytes]:
        """Those that are remembered."""
        hashes, slots = self._places(hosts)
        found = self._hosts.take(slots) == hashes
        known = self._sketches.take(slots[found]).tolist()
        return dict(zip(compress(hosts, found.tolist()), known, strict=True))

    def remember(self, sketches: Mapping[bytes, bytes]) -> None:
        hashes, slots = self._places(sketches)
        self._hosts[slots] = hashes
        rows = b"".join(links.ljust(sketch.SIZE, b"\0") for links in sketches.values())
        self._sketches[slots] = np.frombuffer(rows, self._sketches.dtype)

    def _places(self, hosts: Collection[bytes]) -> "tuple[NDArray[np.uint64], NDArray[np.int64]]":
        hashes = np.frombuffer(b"".join(hosts), _KEY)["host"]
        return hashes, (hashes & self._mask).view(np.int64)
