"""Table on an embedded RocksDB (rocksdict), write-ahead log on. URL `rocksdb:PATH`.

A call does its work in the event loop in pieces of a fraction of a millisecond: rocksdict holds the GIL while it reads
and writes, so a thread would gain nothing. Only the sync, which waits for the disk without the GIL, runs in a thread.
"""

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, cast

import rocksdict

from weft.engines.limits import MAX_KEY_PART, check_key
from weft.errors import Corrupt, EngineError, TooLarge, Unavailable
from weft.ports import Clock, Delete, Key, Put, Range, Rows, Step

GET_CHUNK: Final = 64
WRITE_CHUNK: Final = 100  # about 0.2 ms of the loop's time
SCAN_CHUNK: Final = 500
STALL_PAUSE: Final = 0.005  # seconds; RocksDB refuses writes while its background work has fallen behind
WRITE_BUFFERS: Final = 3

# A group's length stands before it (one byte below 128, two above), so no group's keys reach into another's.
_LENGTHS: Final = tuple(bytes([n]) if n < 128 else bytes([128 | n >> 8, n & 255]) for n in range(MAX_KEY_PART + 1))


class RocksTable:
    """Rows in one folder, for one process at a time.

    Memory is about block_cache_bytes (data, Bloom filters and indexes together) + 3 × write_buffer_bytes. A smaller
    cache costs reads from disk, smaller write buffers cost more compaction.
    """

    def __init__(
        self,
        path: Path,
        clock: Clock,
        block_cache_bytes: int = 256 << 20,
        write_buffer_bytes: int = 64 << 20,
        read_only: bool = False,
    ) -> None:
        """`read_only`: a view of this moment, beside the process that has it open."""
        self._path = path
        self._clock = clock
        options = _options(block_cache_bytes, write_buffer_bytes)
        access = rocksdict.AccessType.read_only(False) if read_only else rocksdict.AccessType.read_write()
        try:
            path.mkdir(parents=True, exist_ok=True)
            # Without column_families a reopened store falls back to defaults: no Bloom filter, 8 MB of cache.
            self._db = rocksdict.Rdict(str(path), options, column_families={"default": options}, access_type=access)
        except Exception as error:
            raise _mapped(error, path) from error
        self._write_options = rocksdict.WriteOptions()
        self._write_options.no_slowdown = True  # a stalled write would hold the GIL; refused, it is tried again
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="rocksdb-sync")

    async def get(self, keys: Sequence[Key]) -> list[bytes | None]:
        if len(keys) <= GET_CHUNK:
            return self._get(keys)
        values: list[bytes | None] = []
        for start in range(0, len(keys), GET_CHUNK):
            values += self._get(keys[start : start + GET_CHUNK])
            await asyncio.sleep(0)
        return values

    def _get(self, keys: Sequence[Key]) -> list[bytes | None]:
        try:
            encoded = [_LENGTHS[len(group)] + group + item for group, item in keys]
            return cast("list[bytes | None]", self._db.get(cast("Any", encoded)))
        except IndexError as error:
            raise TooLarge(f"a group of more than {MAX_KEY_PART} bytes") from error
        except Exception as error:
            raise _mapped(error, self._path) from error

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        return [await self._rows(wanted) for wanted in ranges]

    async def _rows(self, wanted: Range) -> Rows:
        prefix = _prefix(wanted.group)
        # The bound keeps the iterator from walking the tombstones of whatever comes after. It lives in `options`, which
        # must outlive the cursor: rocksdict keeps no reference, and a cursor without it reads freed memory.
        options = rocksdict.ReadOptions()
        options.set_iterate_upper_bound(_successor(prefix) if wanted.stop is None else prefix + wanted.stop)
        rows: Rows = []
        try:
            cursor = self._db.iter(options)
            cursor.seek(prefix + wanted.start)
            while True:
                ended = _read(cursor, len(prefix), rows, min(wanted.limit, len(rows) + SCAN_CHUNK))
                if ended or len(rows) >= wanted.limit:
                    return rows
                await asyncio.sleep(0)
        except Exception as error:
            raise _mapped(error, self._path) from error

    async def write(self, *steps: Step, sync: bool = False) -> None:
        if not sync:
            # The log keeps the order of batches, and a batch is whole or absent: it may hold several steps.
            await self._apply(chain.from_iterable(steps))
            return
        for step in steps:
            await self._apply(step)
            await self._sync()

    async def _apply(self, operations: Iterable[Put | Delete]) -> None:
        left = iter(operations)
        while chunk := list(islice(left, WRITE_CHUNK)):
            while not self._wrote(chunk):
                await self._clock.sleep(STALL_PAUSE)
            if len(chunk) == WRITE_CHUNK:
                await asyncio.sleep(0)

    def _wrote(self, operations: Sequence[Put | Delete]) -> bool:
        """Write one batch, whole or not at all; False if RocksDB is stalled."""
        try:
            self._db.write(_batch(operations), self._write_options)
        except Exception as error:
            if _status(error) == "Result incomplete":
                return False
            raise _mapped(error, self._path) from error
        return True

    async def put_if(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        check_key(*key)
        change = [Delete(key) if new is None else Put(key, new)]
        while self._get([key])[0] == old:
            if self._wrote(change):  # nothing was awaited since the look: that is the lock
                await self._sync()
                return True
            await self._clock.sleep(STALL_PAUSE)
        return False

    async def _sync(self) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._disk, self._db.flush_wal, True)
        except Exception as error:
            raise _mapped(error, self._path) from error

    def ends(self, group: bytes) -> tuple[bytes, bytes]:
        """The group's first and last item; twice nothing if it has none."""
        prefix = _prefix(group)
        try:
            cursor = self._db.iter()
            cursor.seek(prefix)
            first = _item(cursor, prefix)
            cursor.seek_for_prev(prefix + b"\xff" * (MAX_KEY_PART + 1))
            return first, _item(cursor, prefix)
        except Exception as error:
            raise _mapped(error, self._path) from error

    async def close(self) -> None:
        def close() -> None:
            self._disk.shutdown(wait=True)
            self._db.close()

        await asyncio.to_thread(close)


def _batch(operations: Sequence[Put | Delete]) -> rocksdict.WriteBatch:
    batch = rocksdict.WriteBatch(raw_mode=True)
    for operation in operations:
        group, item = operation[0]
        if len(item) > MAX_KEY_PART or len(group) > MAX_KEY_PART:
            check_key(group, item)
        # Written out here and in _get: a call per key would be a tenth of the cost of the whole operation.
        if type(operation) is Put:
            batch[_LENGTHS[len(group)] + group + item] = operation[1]
        else:
            batch.delete(_LENGTHS[len(group)] + group + item)
    return batch


def _prefix(group: bytes) -> bytes:
    check_key(group, b"")
    return _LENGTHS[len(group)] + group


def _successor(prefix: bytes) -> bytes:
    """The smallest key above all that begin with prefix. Its first byte, a length, is never 255."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1])


def _item(cursor: rocksdict.RdictIter, prefix: bytes) -> bytes:
    """The item under the cursor; nothing if it left the group."""
    if not cursor.valid():
        cursor.status()
        return b""
    key = cast("bytes", cursor.key())
    return key[len(prefix) :] if key.startswith(prefix) else b""


def _read(cursor: rocksdict.RdictIter, strip: int, rows: Rows, limit: int) -> bool:
    """Move rows from the cursor until there are `limit`; True at the end of the range."""
    while len(rows) < limit:
        if not cursor.valid():
            cursor.status()  # a damaged block looks like the end until asked; this raises
            return True
        rows.append((cursor.key()[strip:], cursor.value()))
        cursor.next()
    return False


def _options(block_cache_bytes: int, write_buffer_bytes: int) -> rocksdict.Options:
    blocks = rocksdict.BlockBasedOptions()
    blocks.set_block_size(4096)  # most reads are of one row
    blocks.set_block_cache(rocksdict.Cache(block_cache_bytes))
    blocks.set_bloom_filter(10, False)
    blocks.set_format_version(5)
    # Filters and indexes live in the cache, in parts, so that memory stays bounded when they outgrow it.
    blocks.set_cache_index_and_filter_blocks(True)
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(True)
    blocks.set_index_type(rocksdict.BlockBasedIndexType.two_level_index_search())
    blocks.set_partition_filters(True)
    blocks.set_pin_top_level_index_and_filter(True)
    options = rocksdict.Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_block_based_table_factory(blocks)
    options.set_write_buffer_size(write_buffer_bytes)
    options.set_max_write_buffer_number(WRITE_BUFFERS)
    # Most reads ask for what is not there: filters of the buffers, too, halve their cost.
    options.set_memtable_prefix_bloom_ratio(0.02)
    options.set_memtable_whole_key_filtering(True)
    options.set_level_compaction_dynamic_level_bytes(True)
    options.set_compression_type(rocksdict.DBCompressionType.lz4())
    options.set_max_background_jobs(2)
    options.set_bytes_per_sync(1 << 20)
    # After a crash: everything up to the first torn record, nothing behind it. This is what keeps steps in order.
    options.set_wal_recovery_mode(rocksdict.DBRecoveryMode.point_in_time())
    options.set_max_log_file_size(1 << 20)
    options.set_keep_log_file_num(3)
    return options


def _status(error: Exception) -> str:
    """RocksDB's status code. rocksdict raises plain `Exception`; the code is the text before the first colon."""
    return str(error).partition(":")[0]


def _mapped(error: Exception, path: Path) -> EngineError:
    if isinstance(error, EngineError):
        return error
    if str(error).startswith(("IO error: While lock file", "IO error: lock hold by")):
        return Unavailable(f"{path} is in use by another process")
    if _status(error) in ("Corruption", "Invalid argument"):
        return Corrupt(f"{path}: {error}")
    return Unavailable(f"{path}: {error}")
