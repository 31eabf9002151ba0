"""Keys of known URLs that the recent set had no place for, in a scratch file: read in a tenth of the table's time.

A hash table that grows with the crawl (linear hashing: a few buckets are split at a time, so that no call takes long)
up to a limit. A key that finds its bucket full waits in memory until the bucket is split; when too many wait it takes
the place of another. Memory has a small Bloom filter for each bucket, so that few keys that were never kept are looked
for in the file; a filter with all bits set says that keys of its bucket were lost. The file has no name and begins
empty at each start, so it never claims a URL that a crash took from the table.
"""

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
_WAITING: Final = 128  # buckets that there may be for each key that may wait
_SPLIT: Final = 128  # buckets that are split at a time
# And written at a time: more, and Linux keeps them as one large page, of which it looks at every part whenever a key is
# written (5 µs instead of 3 in a file of 20 million).
_PAGE: Final = 4096 // _BUCKET
_LOST: Final = np.uint64(2**64 - 1)  # the filter of a bucket that had more keys than places, and of those split off it

_ONE, _FIRST, _SECOND, _SIX = (np.uint64(number) for number in (1, 58, 52, 63))


class Known:
    """A key is a row of two hashes of 8 bytes, of host and URL."""

    def __init__(self, folder: Path | None, limit: int) -> None:
        """A file in `folder` (none: where the system has such files) of about `limit` bytes at most."""
        self._folder = folder
        self._most = limit // _BUCKET
        self._buckets = _SPLIT
        self._filled = bytearray(self._most)  # places taken in each bucket, from the first on; in memory as it is used
        self._filters = np.zeros(max(self._most, _SPLIT), np.uint64)  # likewise
        self._waiting: dict[int, set[bytes]] = {}  # keys of full buckets
        self._room = self._most // _WAITING
        self._count = 0
        self._file: IO[bytes] | None = None  # made when there is something to keep
        self._failed = self._most < _SPLIT  # keys were lost, nobody knows which

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._buckets * _BUCKET if self._file else 0

    def look(self, keys: "Hashes") -> "tuple[NDArray[np.bool_], NDArray[np.bool_]]":
        """Which of the keys are in the file, and which are not but may have been; the others were never kept."""
        buckets, bits = self._buckets_of(keys), _bits(keys)
        filters = self._filters[buckets]
        found = filters & bits == bits
        lost = found & (filters == _LOST)
        try:
            found[found] = self._read(keys[found], buckets[found])
        except OSError:  # the disk fails: the table will say so
            self._failed = True
            found[:] = False
        return found, ~found if self._failed else lost & ~found

    def keep(self, keys: "Hashes") -> None:
        """Keys of rows that are in the table."""
        if not len(keys) or self._most < _SPLIT:
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 - closed by close
                self._file.truncate(_SPLIT * _BUCKET)
            self._write(self._file.fileno(), keys)
            while self._count > self._buckets * _FULL and self._buckets + _SPLIT <= self._most:
                self._split(self._file.fileno())
        except OSError:  # a full disk stops the table, too, which says so; a key not kept costs time only
            self._failed = True

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            self._failed = True

    def _read(self, keys: "Hashes", buckets: "NDArray[np.int64]") -> list[bool]:
        if self._file is None:
            return [False] * len(keys)
        file, read, waiting = self._file.fileno(), os.pread, self._waiting
        return [
            # A key that is there is found at a multiple of its length; -1, not found, is no multiple.
            read(file, _BUCKET, bucket * _BUCKET).find(key) % _KEY == 0 or key in waiting.get(bucket, ())
            for key, bucket in zip(_single(keys), buckets.tolist(), strict=True)
        ]

    def _write(self, file: int, keys: "Hashes") -> None:
        filled, buckets = self._filled, self._buckets_of(keys)
        np.bitwise_or.at(self._filters, buckets, _bits(keys))
        for key, bucket in zip(_single(keys), buckets.tolist(), strict=True):
            slot = filled[bucket]
            if slot < _SLOTS:
                filled[bucket] += 1
                self._count += 1
            elif self._room:
                self._room -= 1
                self._waiting.setdefault(bucket, set()).add(key)
                continue
            else:
                slot = key[0] % _SLOTS
                self._filters[bucket] = _LOST
            os.pwrite(file, key, bucket * _BUCKET + slot * _KEY)

    def _split(self, file: int) -> None:
        """Add buckets, with those keys of earlier buckets that belong there now."""
        half = 1 << self._buckets.bit_length() - 1  # buckets below it were split when it was reached
        old, new = self._buckets - half, self._buckets
        rows = np.frombuffer(os.pread(file, _SPLIT * _BUCKET, old * _BUCKET), np.uint64).reshape(_SPLIT, _SLOTS, 2)
        kept = rows.any(axis=2)
        moves = (rows[:, :, 0] ^ rows[:, :, 1]) & np.uint64(half) != 0
        filters = self._filters[old : old + _SPLIT]
        self._filters[new : new + _SPLIT] = filters[:] = np.where(filters == _LOST, filters, 0)
        self._fill(file, new, rows, kept & moves)
        self._buckets += _SPLIT
        self._fill(file, old, rows, kept & ~moves)
        if waited := [key for bucket in range(old, old + _SPLIT) for key in self._waiting.pop(bucket, ())]:
            self._room += len(waited)
            self._write(file, np.frombuffer(b"".join(waited), np.uint64).reshape(-1, 2))

    def _fill(self, file: int, first: int, rows: "Hashes", wanted: "NDArray[np.bool_]") -> None:
        """Make buckets of the wanted ones of the rows."""
        order = np.argsort(~wanted, axis=1, kind="stable")
        packed = np.take_along_axis(np.where(wanted[:, :, None], rows, 0), order[:, :, None], axis=1)
        for start in range(0, _SPLIT, _PAGE):
            os.pwrite(file, packed[start : start + _PAGE].tobytes(), (first + start) * _BUCKET)
        self._filled[first : first + _SPLIT] = wanted.sum(axis=1, dtype=np.uint8).tobytes()
        bits = _bits(rows.reshape(-1, 2)).reshape(wanted.shape)
        self._filters[first : first + _SPLIT] |= np.bitwise_or.reduce(np.where(wanted, bits, 0), axis=1)

    def _buckets_of(self, keys: "Hashes") -> "NDArray[np.int64]":
        half = 1 << self._buckets.bit_length() - 1
        buckets = (keys[:, 0] ^ keys[:, 1]) & np.uint64(2 * half - 1)
        buckets[buckets >= self._buckets] &= np.uint64(half - 1)
        return buckets.view(np.int64)


def _bits(keys: "Hashes") -> "NDArray[np.uint64]":
    """Two of each in its bucket's filter, by those bits of the hashes that have no part in finding the bucket."""
    mixed = keys[:, 0] ^ keys[:, 1]
    bits: NDArray[np.uint64] = _ONE << (mixed >> _FIRST) | _ONE << (mixed >> _SECOND & _SIX)
    return bits


def _single(keys: "Hashes") -> list[bytes]:
    """Each as bytes."""
    single: list[bytes] = keys.view(f"V{_KEY}")[:, 0].tolist()
    return single
