"""Sketches of hosts, in memory: a table of a fixed size in which a newer host may take the place of an older one.

Links are counted here, many at a time; rows in the store follow later.
"""

import struct
from collections import deque
from collections.abc import Collection, Mapping
from itertools import compress
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from . import sketch, sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.int64]

KEY: Final = struct.Struct("<HQ")  # of a host: partition and hash
KEYS: Final = np.dtype([("partition", "<u2"), ("host", "<u8")])  # many of them
_WAYS: Final = 8  # places that a host may have, side by side: a line of the processor's cache
NOBODY: Final = b"\xff" * sketch.SIZE  # stands for a host that has no row: nothing can be added to it


class Sketches:
    """Of about the last `size` hosts, 43 bytes each."""

    def __init__(self, size: int) -> None:
        places = max(_WAYS, 1 << (size - 1).bit_length())
        self._mask = np.uint64(places - _WAYS)
        self._hosts = sparse.zeros((places // _WAYS, _WAYS), np.dtype(np.uint64))
        self._partitions = sparse.zeros((places,), np.dtype(np.uint16))
        self._rows = sparse.zeros((places,), np.dtype(f"V{sketch.SIZE}"))
        self._bytes = self._rows.view(np.uint8)
        self._changed = sparse.zeros((places,), np.dtype(np.bool_))
        self._waiting: deque[int] = deque()  # places that changed
        # The same memory, for one at a time: quicker than through numpy.
        self._host_at = self._hosts.reshape(-1).data
        self._byte_at = self._bytes.data
        self._changed_at = self._changed.data

    @property
    def waiting(self) -> int:
        """How many changed, about."""
        return len(self._waiting)

    def find(self, hosts: "NDArray[np.uint64]") -> "Numbers":
        """The places of hosts by their hashes; -1: not remembered."""
        first = (hosts & self._mask).view(np.int64)
        same = self._hosts.take(first // _WAYS, axis=0) == hosts[:, None]
        found: Numbers = np.where(same.any(axis=1), first + same.argmax(axis=1), -1)
        return found

    def of(self, hosts: Collection[bytes]) -> dict[bytes, bytes]:
        """Those that are remembered."""
        places = self.find(_hashes(hosts))
        found = places >= 0
        return dict(zip(compress(hosts, found.tolist()), self._rows.take(places[found]).tolist(), strict=True))

    def remember(self, sketches: Mapping[bytes, bytes]) -> None:
        """Sketches as they are in the store; those for which there is no place are not remembered."""
        for key, links in sketches.items():
            partition, host = KEY.unpack(key)
            place = self._place(host)
            if place >= 0:
                self._host_at[place] = host
                self._partitions[place] = partition
                self._byte_at[place * sketch.SIZE : (place + 1) * sketch.SIZE] = links or sketch.NONE

    def add(self, places: "Numbers", registers: "Numbers", ranks: "Numbers") -> None:
        """To each sketch one member."""
        at, shifts = places * sketch.SIZE + (registers >> 1), (~registers & 1) << 2
        higher = self._bytes.take(at) >> shifts & 15 < ranks
        if not higher.any():
            return
        found = np.stack((places, at, shifts, ranks))[:, higher]
        for place, byte, shift, rank in found.T.tolist():
            before = self._byte_at[byte]
            if before >> shift & 15 < rank:  # another of these may have come first
                self._byte_at[byte] = before & 240 >> shift | rank << shift
                if not self._changed_at[place]:
                    self._changed_at[place] = True
                    self._waiting.append(place)

    def changes(self, many: int) -> dict[bytes, bytes]:
        """Take up to so many that are newer than their rows, the oldest changes first."""
        many = min(many, len(self._waiting))
        return self._taken(np.array([self._waiting.popleft() for _ in range(many)], np.int64))

    def changes_of(self, hosts: Collection[bytes]) -> dict[bytes, bytes]:
        """Take those of the hosts that are newer than their rows."""
        places = self.find(_hashes(hosts))
        return self._taken(places[places >= 0])

    def _taken(self, places: "Numbers") -> dict[bytes, bytes]:
        places = places[self._changed.take(places)]  # not if it was taken before, with others of its host
        if not len(places):
            return {}
        self._changed[places] = False
        keys = np.empty(len(places), KEYS)
        keys["partition"] = self._partitions.take(places)
        keys["host"] = self._hosts.take(places)
        return dict(zip(keys.view(f"V{KEY.size}").tolist(), self._rows.take(places).tolist(), strict=True))

    def _place(self, host: int) -> int:
        """The host's place, or one that it may take: none that is newer than its row. -1: there is none."""
        first, start = host & int(self._mask), host >> 60  # not all begin at one place, or it would be taken each time
        choice = -1
        for way in range(_WAYS):
            place = first + (start + way) % _WAYS
            there = self._host_at[place]
            if there in (host, 0):
                return place
            if choice < 0 and not self._changed_at[place]:
                choice = place
        return choice


def _hashes(hosts: Collection[bytes]) -> "NDArray[np.uint64]":
    """Of keys of hosts."""
    hashes: NDArray[np.uint64] = np.frombuffer(b"".join(hosts), KEYS)["host"]
    return hashes
