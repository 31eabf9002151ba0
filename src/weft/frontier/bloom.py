"""A filter before remote engines: most new URLs are known to be new without asking the store.

A chain of Bloom filters, each twice as large as the one before, so that it never has to be sized. It is saved now and
then as rows of the table; what came since lies beside it as a log of keys. It may say "perhaps seen" of a new URL (then
the store is asked); it never says "new" of one that was written, because the log is durable before the URL's row is.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from weft.ports import Delete, Key, Put, Range, Table

_GROUP: Final = b"frontier-bloom"
_CHAIN: Final = (_GROUP, b"chain")  # the filters that count: a list of Saved
_FIRST: Final = 100_000  # keys in the first filter
_BITS: Final = 10  # per key, rounded up to a power of two
_PROBES: Final = np.arange(7, dtype=np.uint64)
_CHUNK: Final = 256 * 1024  # bytes of a saved filter in one row
_CHECKPOINT: Final = 100_000  # keys in the log before the chain is saved
_KEY: Final = 18


class Saved(msgspec.Struct, array_like=True):
    """A filter as it lies in the table. A new save has a new name, so that a crash never mixes two."""

    name: int = 0
    chunks: int = 0
    keys: int = 0


class Bloom:
    """One filter, whole batches at a time. Keys end in two hashes of 8 bytes, which make all the probes."""

    def __init__(self, capacity: int, data: bytes = b"") -> None:
        size = len(data) * 8 or 1 << (capacity * _BITS - 1).bit_length()
        self._mask = np.uint64(size - 1)
        self._bits = np.frombuffer(data, np.uint8).copy() if data else np.zeros(size // 8, np.uint8)

    def add(self, keys: Sequence[bytes]) -> None:
        probes = self._probes(keys)
        np.bitwise_or.at(self._bits, probes >> 3, np.uint8(1) << (probes & 7).astype(np.uint8))

    def holds(self, keys: Sequence[bytes]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Of each key, whether it may have been added."""
        probes = self._probes(keys)
        found = (self._bits[probes >> 3] >> (probes & 7).astype(np.uint8)) & 1
        holds: np.ndarray[tuple[int], np.dtype[np.bool_]] = found.astype(np.bool_).all(axis=1)
        return holds

    def _probes(self, keys: Sequence[bytes]) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
        rows = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, _KEY)
        hashes = np.ascontiguousarray(rows[:, 2:]).view(np.uint64)
        steps = hashes[:, :1] | np.uint64(1)
        return ((hashes[:, 1:] + steps * _PROBES) & self._mask).astype(np.int64)

    def data(self) -> bytes:
        return self._bits.tobytes()


class SeenFilter:
    """Knows keys that were never added."""

    def __init__(self, table: Table, first: int = _FIRST, checkpoint: int = _CHECKPOINT) -> None:
        self._table = table
        self._first = first
        self._checkpoint = checkpoint
        self._chain = [self._empty(0)]
        self._saved = [Saved()]
        self._log: list[Key] = []
        self._logged = 0  # keys in the log
        self._names = 0  # of log rows and saves: never the same twice

    def _empty(self, number: int) -> Bloom:
        return Bloom(self._first << number)

    async def load(self) -> None:
        """The last save, and the log since."""
        (chain,) = await self._table.get([_CHAIN])
        if chain is not None:
            self._saved = msgspec.msgpack.decode(chain, type=list[Saved])
            self._chain = [await self._load(number, saved) for number, saved in enumerate(self._saved)]
        start = b"l"
        while True:
            (rows,) = await self._table.scan([Range(_GROUP, start, b"m", limit=500)])
            for item, value in rows:
                self._names = max(self._names, int.from_bytes(item[1:9], "big"))
                self._log.append((_GROUP, item))
                self._take([value[begin : begin + _KEY] for begin in range(0, len(value), _KEY)])
            if len(rows) < 500:
                return
            start = rows[-1][0] + b"\0"

    async def _load(self, number: int, saved: Saved) -> Bloom:
        self._names = max(self._names, saved.name)
        if not saved.name:
            return self._empty(number)
        parts = await self._table.get(_chunks(saved))
        return Bloom(self._first << number, b"".join(part or b"" for part in parts))

    def perhaps(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of the keys that may have been added; all others were not."""
        if not keys:
            return set()
        found = np.logical_or.reduce([one.holds(keys) for one in self._chain])
        return {key for key, may in zip(keys, found.tolist(), strict=True) if may}

    def added(self, keys: Sequence[bytes]) -> list[Put]:
        """Remember keys. The rows must be durable before the keys' own."""
        if not keys:
            return []
        self._take(keys)
        self._names += 1
        row = (_GROUP, b"l" + self._names.to_bytes(8, "big"))
        self._log.append(row)
        return [Put(row, b"".join(keys))]

    def _take(self, keys: Sequence[bytes]) -> None:
        if self._saved[-1].keys >= self._first << (len(self._chain) - 1):
            self._chain.append(self._empty(len(self._chain)))
            self._saved.append(Saved())
        self._chain[-1].add(keys)
        self._saved[-1].keys += len(keys)
        self._logged += len(keys)

    async def save(self) -> None:
        """When the log is long: the filters that changed, then the list that names them, then log and old save go."""
        if self._logged < self._checkpoint:
            return
        old = msgspec.msgpack.decode((await self._table.get([_CHAIN]))[0] or b"\x90", type=list[Saved])
        chunks: list[Put] = []
        for number, (saved, bloom) in enumerate(zip(self._saved, self._chain, strict=True)):
            if number < len(old) and old[number].keys == saved.keys:
                continue
            data = bloom.data()
            self._names += 1
            saved.name, saved.chunks = self._names, -(-len(data) // _CHUNK)
            parts = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)]
            chunks += map(Put, _chunks(saved), parts)
        kept = {saved.name for saved in self._saved}
        gone = [Delete(key) for saved in old if saved.name not in kept for key in _chunks(saved)]
        gone += [Delete(key) for key in self._log]
        await self._table.write(chunks, [Put(_CHAIN, msgspec.msgpack.encode(self._saved))], gone)
        self._log, self._logged = [], 0


def _chunks(saved: Saved) -> list[Key]:
    return [(_GROUP, b"s%d-%d" % (saved.name, number)) for number in range(saved.chunks)]
