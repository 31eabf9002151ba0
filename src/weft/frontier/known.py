"""Keys of known URLs that the recent set had no place for, in a scratch file: read in a tenth of the table's time.

A hash table that grows with the crawl (linear hashing: a few buckets are split at a time, so that no call takes long)
up to a limit. Keys wait in memory until there are enough of one region of the file to write them together. One that
finds its bucket full waits until the bucket is split; when too many do it takes the place of another. Memory has a
small Bloom filter for each bucket, so that few keys that were never kept are looked for in the file; a filter with all
bits set says that keys of its bucket were lost. The file has no name and begins empty at each start, so it never claims
a URL that a crash took from the table.
"""

import errno
import os
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .recent import Hashes

_KEY: Final = 16  # bytes of a key: the partition follows from the host
_SLOTS: Final = 32  # keys of a bucket
_BUCKET: Final = _KEY * _SLOTS
_FULL: Final = 12  # keys for each bucket at which there must be more buckets; those next to be split have twice as many
_CROWD: Final = 128  # buckets that there may be for each key that may wait for a split
_LEAST: Final = 1 << 19  # buckets at the beginning (a file of holes), so that filters are not full of keys that wait
_SPLIT: Final = 128  # buckets that are split at a time
NEAR: Final = 1024  # buckets in a row that are read and written at once
REGIONS: Final = 4096  # of the file: row by row in turn, so that a key's region stays the same when buckets are split
# Keys that wait, in bytes, with which a region is written: not all regions at the same time.
_ENOUGH: Final = tuple((256 + region // 16) * _KEY for region in range(REGIONS))

_LOST: Final = np.uint64(2**64 - 1)  # the filter of a bucket that had more keys than places, and of those split off it
_ONE, _FIRST, _SECOND, _SIX = (np.uint64(number) for number in (1, 58, 52, 63))


class Known:
    """A key is a row of two hashes of 8 bytes, of host and URL."""

    def __init__(self, folder: Path | None, limit: int) -> None:
        """A file in `folder` (none: where the system has such files) of about `limit` bytes at most."""
        self._folder = folder
        self._most = limit // _BUCKET
        self._buckets = min(_LEAST, 1 << max(_SPLIT, self._most).bit_length() - 1)
        self._filled = bytearray(self._most)  # places taken in each bucket, from the first on; in memory as it is used
        self._filters = np.zeros(max(self._most, self._buckets), np.uint64)  # likewise
        self._waiting = [bytearray() for _ in range(REGIONS)]  # keys to be written
        self._crowd: dict[int, set[bytes]] = {}  # keys of full buckets
        self._room = self._most // _CROWD
        self._row = bytearray(NEAR * _BUCKET)  # what is read and written at once
        self._count = 0  # keys in the file
        self._file: IO[bytes] | None = None  # made when there is something to write
        self._failed = self._most < _SPLIT  # keys were lost, nobody knows which

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._buckets * _BUCKET if self._file else 0

    def look(self, keys: "Hashes") -> "tuple[NDArray[np.bool_], NDArray[np.bool_]]":
        """Which of the keys are kept, and which are not but may have been; the others never were."""
        buckets, bits = self._buckets_of(keys), _bits(keys)
        filters = self._filters[buckets]
        found = filters & bits == bits
        lost = found & (filters == _LOST)
        try:
            found[found] = self._find(keys[found], buckets[found])
        except OSError:  # the disk fails: the table will say so
            self._failed = True
            found[:] = False
        return found, ~found if self._failed else lost & ~found

    def keep(self, keys: "Hashes") -> list[int]:
        """Keys of rows that are in the table. Answers with the regions to be written now."""
        if not len(keys) or self._most < _SPLIT:
            return []
        np.bitwise_or.at(self._filters, self._buckets_of(keys), _bits(keys))
        enough: list[int] = []
        for key, region in zip(_single(keys), _regions_of(keys), strict=True):
            waiting = self._waiting[region]
            waiting += key
            if len(waiting) == _ENOUGH[region]:
                enough.append(region)
        return enough

    def write(self, region: int, more: "Hashes") -> None:
        """Write the keys that wait for it, and more that are known: best those of the same region."""
        waiting, self._waiting[region] = self._waiting[region], bytearray()
        keys = np.concatenate((_many(waiting), more))
        if not len(keys):
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 - closed by close
                self._file.truncate(self._buckets * _BUCKET)
            self._write(self._file.fileno(), keys)
            while self._count > self._buckets * _FULL and self._buckets + _SPLIT <= self._most:
                self._split(self._file.fileno())
        except OSError:  # a full disk stops the table, too, which says so; a key not kept costs time only
            self._failed = True

    def close(self) -> None:
        self._failed = True
        self._waiting = [bytearray() for _ in range(REGIONS)]
        if self._file is not None:
            self._file.close()
            self._file = None

    def _find(self, keys: "Hashes", buckets: "NDArray[np.int64]") -> list[bool]:
        read = os.pread
        file = self._file.fileno() if self._file else -1
        return [
            (file >= 0 and _has(read(file, _BUCKET, bucket * _BUCKET), key))
            or _has(self._waiting[region], key)
            or key in self._crowd.get(bucket, ())
            for key, bucket, region in zip(_single(keys), buckets.tolist(), _regions_of(keys), strict=True)
        ]

    def _write(self, file: int, keys: "Hashes") -> None:
        """Each into the next slot of its bucket."""
        filled, buckets = np.frombuffer(self._filled, np.uint8), self._buckets_of(keys)
        np.bitwise_or.at(self._filters, buckets, _bits(keys))
        order = np.argsort(buckets)
        keys, buckets = keys[order], buckets[order]
        slots = filled[buckets] + _nth(buckets)
        fits = slots < _SLOTS
        crowd = keys[~fits]
        keys, buckets, slots = keys[fits], buckets[fits], slots[fits]
        row = np.frombuffer(self._row, np.uint64).reshape(NEAR, _SLOTS, 2)
        start = 0
        while start < len(keys):
            first = int(buckets[start]) // NEAR * NEAR
            end = int(np.searchsorted(buckets, first + NEAR))
            length = os.preadv(file, [self._row], first * _BUCKET)
            row[buckets[start:end] - first, slots[start:end]] = keys[start:end]
            _put(file, memoryview(self._row)[:length], first * _BUCKET)
            start = end
        filled[buckets] = slots + 1  # the last one of each bucket counts
        self._count += len(keys)
        self._crowd_in(file, crowd)

    def _crowd_in(self, file: int, keys: "Hashes") -> None:
        """Keys that found their buckets full."""
        for key, bucket in zip(_single(keys), self._buckets_of(keys).tolist(), strict=True):
            if self._room:
                self._room -= 1
                self._crowd.setdefault(bucket, set()).add(key)
            else:
                self._filters[bucket] = _LOST
                _put(file, key, bucket * _BUCKET + key[0] % _SLOTS * _KEY)

    def _split(self, file: int) -> None:
        """Add buckets, with those keys of earlier buckets that belong there now."""
        half = 1 << self._buckets.bit_length() - 1  # buckets below it were split when it was reached
        old, new = self._buckets - half, self._buckets
        rows = _many(os.pread(file, _SPLIT * _BUCKET, old * _BUCKET))
        kept = rows[:, 0] | rows[:, 1] != 0
        moves = (rows[:, 0] ^ rows[:, 1]) & np.uint64(half) != 0
        filters = self._filters[old : old + _SPLIT]
        self._filters[new : new + _SPLIT] = filters[:] = np.where(filters == _LOST, filters, 0)
        self._fill(file, new, rows, kept & moves)
        self._buckets += _SPLIT
        self._fill(file, old, rows, kept & ~moves)
        waiting = _many(b"".join([self._waiting[region] for region in _regions_with(old, half)]))
        np.bitwise_or.at(self._filters, self._buckets_of(waiting), _bits(waiting))
        if crowd := [key for bucket in range(old, old + _SPLIT) for key in self._crowd.pop(bucket, ())]:
            self._room += len(crowd)
            self._write(file, _many(b"".join(crowd)))

    def _fill(self, file: int, first: int, rows: "Hashes", wanted: "NDArray[np.bool_]") -> None:
        """Make buckets of the wanted ones of the rows."""
        taken = np.flatnonzero(wanted)
        buckets, keys = taken // _SLOTS, rows[taken]
        packed = np.zeros((_SPLIT, _SLOTS, 2), np.uint64)
        packed[buckets, _nth(buckets)] = keys
        _put(file, packed.tobytes(), first * _BUCKET)
        self._filled[first : first + _SPLIT] = np.bincount(buckets, minlength=_SPLIT).astype(np.uint8).tobytes()
        np.bitwise_or.at(self._filters, buckets + first, _bits(keys))

    def _buckets_of(self, keys: "Hashes") -> "NDArray[np.int64]":
        half = 1 << self._buckets.bit_length() - 1
        buckets = (keys[:, 0] ^ keys[:, 1]) & np.uint64(2 * half - 1)
        buckets[buckets >= self._buckets] &= np.uint64(half - 1)
        return buckets.view(np.int64)


def _regions_of(keys: "Hashes") -> list[int]:
    regions: list[int] = ((keys[:, 0] ^ keys[:, 1]) // np.uint64(NEAR) % np.uint64(REGIONS)).tolist()
    return regions


def _regions_with(bucket: int, buckets: int) -> range:
    """The regions whose keys may be in a bucket, or its neighbours, of so many."""
    return range(bucket // NEAR % REGIONS, REGIONS, max(1, buckets // NEAR))


def _nth(buckets: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """Of keys in the order of their buckets: which one of its bucket each is."""
    firsts = np.flatnonzero(np.diff(buckets, prepend=-1))
    return np.arange(len(buckets)) - np.repeat(firsts, np.diff(firsts, append=len(buckets)))


def _bits(keys: "Hashes") -> "NDArray[np.uint64]":
    """Two of each in its bucket's filter, by those bits of the hashes that have no part in finding the bucket."""
    mixed = keys[:, 0] ^ keys[:, 1]
    bits: NDArray[np.uint64] = _ONE << (mixed >> _FIRST) | _ONE << (mixed >> _SECOND & _SIX)
    return bits


def _put(file: int, data: bytes | memoryview, place: int) -> None:
    """Write all of it: a disk that becomes full takes a part without an error."""
    if os.pwrite(file, data, place) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _has(keys: bytes | bytearray, key: bytes) -> bool:
    """A key that is there is found at a multiple of its length; -1, not found, is no multiple."""
    return keys.find(key) % _KEY == 0


def _single(keys: "Hashes") -> list[bytes]:
    """Each as bytes."""
    single: list[bytes] = keys.view(f"V{_KEY}")[:, 0].tolist()
    return single


def _many(keys: bytes | bytearray) -> "Hashes":
    """The reverse: of keys one after another."""
    return np.frombuffer(keys, np.uint64).reshape(-1, 2)
