"""Table on an embedded RocksDB (rocksdict), write-ahead log on. URL `rocksdb:PATH`.

A call does its work in the event loop, reads in pieces of a fraction of a millisecond, writes in batches that are whole
or absent: rocksdict holds the GIL meanwhile, so a thread would gain nothing. Only the sync, which waits for the disk
without the GIL, runs in a thread.

Groups with short names are few and their rows are changed and read all the time (the hosts of a crawl); groups with
long names are many (the URLs of one host each). The two lie apart, in column families with a share of the cache each:
or the many would push the few out of memory, and every change of a few would be merged into all the files of the many.
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
WRITE_CHUNK: Final = 2000  # rows written whole or not at all; 4 ms of the loop at most, and hardly ever so many
SCAN_CHUNK: Final = 500
TOMBSTONES: Final = 64  # that a cursor walks over which has other ranges to read
STALL_PAUSE: Final = 0.005  # seconds; RocksDB refuses writes while its background work has fallen behind
WRITE_BUFFERS: Final = 3
RUNS: Final = 12  # of rows in order; fewer make reads cheaper, and rows are rewritten more often
SHORT: Final = 10  # bytes of the longest name that is short
FEW: Final = "few"  # the family of groups with such names; the others are in the default one
INCOMPLETE: Final = "Result incomplete"  # RocksDB's word for a write that would have to wait, and a scan cut short
VIEWS: Final = 5  # tries to open a view before the last

# A group's length stands before it (one byte below 128, two above), so no group's keys reach into another's.
_LENGTHS: Final = tuple(bytes([n]) if n < 128 else bytes([128 | n >> 8, n & 255]) for n in range(MAX_KEY_PART + 1))


def is_made(path: Path) -> bool:
    """Has a table ever been opened there? A start may be killed before."""
    return (path / "CURRENT").exists()


class RocksTable:
    """Rows in one folder, for one process at a time.

    Memory is about block_cache_bytes (data, Bloom filters and indexes together) + 4.5 × write_buffer_bytes, and 6 bytes
    for each row of a group with a short name. A smaller cache costs reads from disk, smaller write buffers cost more
    compaction.
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
        few, many = _few(block_cache_bytes, write_buffer_bytes), _many(block_cache_bytes, write_buffer_bytes)
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._many = _opened(path, few, many, read_only)
            self._few = self._many.get_column_family(FEW)
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
            short = [key for key in encoded if key[0] <= SHORT]
            if not short:
                return _values(self._many, encoded)
            if len(short) == len(encoded):
                return _values(self._few, encoded)
            long = [key for key in encoded if key[0] > SHORT]
            found = dict(zip(short + long, _values(self._few, short) + _values(self._many, long), strict=True))
            return [found[key] for key in encoded]
        except IndexError as error:
            raise TooLarge(f"a group of more than {MAX_KEY_PART} bytes") from error
        except Exception as error:
            raise _mapped(error, self._path) from error

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        if len(ranges) > 1 and all(len(wanted.group) > SHORT for wanted in ranges):
            return await self._scan_together(ranges)
        return [await self._rows(wanted) for wanted in ranges]

    async def _rows(self, wanted: Range) -> Rows:
        start, stop = _bounds(wanted)
        # The bound keeps the iterator from walking the tombstones of whatever comes after. It lives in `options`, which
        # must outlive the cursor: rocksdict keeps no reference, and a cursor without it reads freed memory.
        options = rocksdict.ReadOptions()
        options.set_iterate_upper_bound(stop)
        rows: Rows = []
        strip = len(start) - len(wanted.start)
        try:
            cursor = self._family_of(wanted.group).iter(options)
            cursor.seek(start)
            while True:
                ended = _read(cursor, strip, rows, min(wanted.limit, len(rows) + SCAN_CHUNK))
                if ended or len(rows) >= wanted.limit:
                    return rows
                await asyncio.sleep(0)
        except Exception as error:
            raise _mapped(error, self._path) from error

    async def _scan_together(self, ranges: Sequence[Range]) -> list[Rows]:
        """Short ranges of many groups by one cursor, in the order in which they lie: two thirds of the time.

        It has no bound but the group's. A range with tombstones behind it is read on its own, and so is a long one.
        """
        options = rocksdict.ReadOptions()
        options.set_prefix_same_as_start(True)
        options.set_max_skippable_internal_keys(TOMBSTONES)
        found: dict[int, Rows] = {}
        try:
            cursor = self._many.iter(options)
            for place in sorted(range(len(ranges)), key=lambda place: ranges[place].group):
                wanted = ranges[place]
                rows = _read_short(cursor, wanted) if wanted.limit <= SCAN_CHUNK else None
                found[place] = await self._rows(wanted) if rows is None else rows
                if len(found) % GET_CHUNK == 0:
                    await asyncio.sleep(0)
        except Exception as error:
            raise _mapped(error, self._path) from error
        return [found[place] for place in range(len(ranges))]

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
            few = self._many.get_column_family_handle(FEW)  # not kept: it would keep the store open
            self._many.write(_batch(operations, few), self._write_options)
        except Exception as error:
            if _status(error) == INCOMPLETE:
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
            await asyncio.get_running_loop().run_in_executor(self._disk, self._many.flush_wal, True)
        except Exception as error:
            raise _mapped(error, self._path) from error

    def ends(self, group: bytes) -> tuple[bytes, bytes]:
        """The group's first and last item; twice nothing if it has none."""
        prefix = _prefix(group)
        try:
            cursor = self._family_of(group).iter()
            cursor.seek(prefix)
            first = _item(cursor, prefix)
            cursor.seek_for_prev(prefix + b"\xff" * (MAX_KEY_PART + 1))
            return first, _item(cursor, prefix)
        except Exception as error:
            raise _mapped(error, self._path) from error

    async def close(self) -> None:
        def close() -> None:
            self._disk.shutdown(wait=True)
            self._few.close()
            self._many.close()

        await asyncio.to_thread(close)

    def _family_of(self, group: bytes) -> rocksdict.Rdict:
        return self._few if len(group) <= SHORT else self._many


def _opened(path: Path, few: rocksdict.Options, many: rocksdict.Options, read_only: bool) -> rocksdict.Rdict:
    # Without column_families a reopened store falls back to defaults: no Bloom filter, 8 MB of cache.
    families = {"default": many, FEW: few}
    if not read_only:
        return rocksdict.Rdict(str(path), many, families)
    view = rocksdict.AccessType.read_only(False)
    for _ in range(VIEWS):
        try:
            return rocksdict.Rdict(str(path), many, families, view)
        except Exception as error:
            # Whoever writes may take a file away between the look at what there is and the reading of it.
            if "No such file" not in str(error):
                raise
    return rocksdict.Rdict(str(path), many, families, view)


def _values(family: rocksdict.Rdict, keys: list[bytes]) -> list[bytes | None]:
    return cast("list[bytes | None]", family.get(cast("Any", keys)))


def _batch(operations: Sequence[Put | Delete], few: rocksdict.ColumnFamily) -> rocksdict.WriteBatch:
    batch = rocksdict.WriteBatch(raw_mode=True)
    for operation in operations:
        group, item = operation[0]
        if len(item) > MAX_KEY_PART or len(group) > MAX_KEY_PART:
            check_key(group, item)
        family = few if len(group) <= SHORT else None
        # Written out here and in _get: a call per key would be a tenth of the cost of the whole operation.
        if type(operation) is Put:
            batch.put(_LENGTHS[len(group)] + group + item, operation[1], family)
        else:
            batch.delete(_LENGTHS[len(group)] + group + item, family)
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


def _bounds(wanted: Range) -> tuple[bytes, bytes]:
    """The range's first key, and the first behind it."""
    prefix = _prefix(wanted.group)
    return prefix + wanted.start, _successor(prefix) if wanted.stop is None else prefix + wanted.stop


def _read(cursor: rocksdict.RdictIter, strip: int, rows: Rows, limit: int) -> bool:
    """Move rows from the cursor until there are `limit`; True at the end of the range."""
    while len(rows) < limit:
        if not cursor.valid():
            cursor.status()  # a damaged block looks like the end until asked; this raises
            return True
        rows.append((cursor.key()[strip:], cursor.value()))
        cursor.next()
    return False


def _read_short(cursor: rocksdict.RdictIter, wanted: Range) -> Rows | None:
    """The rows of a range by a cursor without its bounds; None if it met too many tombstones."""
    start, stop = _bounds(wanted)
    strip = len(start) - len(wanted.start)
    rows: Rows = []
    cursor.seek(start)
    while len(rows) < wanted.limit:
        if not cursor.valid():
            try:
                cursor.status()
            except Exception as error:
                if _status(error) != INCOMPLETE:
                    raise
                return None
            break
        key = cursor.key()
        if key >= stop:
            break
        rows.append((key[strip:], cursor.value()))
        cursor.next()
    return rows


def _few(block_cache_bytes: int, write_buffer_bytes: int) -> rocksdict.Options:
    """Rows of groups with short names: all of them in memory if they fit, filters and indexes in any case."""
    return _options(_blocks(block_cache_bytes * 3 // 8), write_buffer_bytes // 2)


def _many(block_cache_bytes: int, write_buffer_bytes: int) -> rocksdict.Options:
    """Rows of groups with long names."""
    blocks = _blocks(block_cache_bytes * 5 // 8)
    # Filters and indexes live in the cache, in parts, so that memory stays bounded when they outgrow it.
    blocks.set_cache_index_and_filter_blocks(True)
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(True)
    blocks.set_index_type(rocksdict.BlockBasedIndexType.two_level_index_search())
    blocks.set_partition_filters(True)
    blocks.set_pin_top_level_index_and_filter(True)
    options = _options(blocks, write_buffer_bytes)
    options.set_compression_type(rocksdict.DBCompressionType.lz4())
    options.set_compaction_style(rocksdict.DBCompactionStyle.universal())
    options.set_universal_compaction_options(_runs())
    options.set_level_zero_file_num_compaction_trigger(RUNS)
    # A merge of all rows may take minutes, in which written buffers add up: reads cost a little more, writes go on.
    options.set_level_zero_slowdown_writes_trigger(5 * RUNS)
    options.set_level_zero_stop_writes_trigger(7 * RUNS)
    # Filters know the beginnings of names, too: a scan passes over files that hold nothing of its group.
    options.set_prefix_extractor(rocksdict.SliceTransform.create_fixed_prefix(1 + SHORT + 1))
    # After a crash: everything up to the first torn record, nothing behind it. This is what keeps steps in order.
    options.set_wal_recovery_mode(rocksdict.DBRecoveryMode.point_in_time())
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_max_background_jobs(2)
    options.set_max_log_file_size(1 << 20)
    options.set_keep_log_file_num(3)
    return options


def _runs() -> rocksdict.UniversalCompactOptions:
    """When there are too many runs, those of similar size become one: fewer rows are rewritten than by levels."""
    runs = rocksdict.UniversalCompactOptions()
    runs.stop_style = cast("Any", rocksdict.UniversalCompactionStopStyle).similar()
    runs.size_ratio = 100  # per cent by which a run may be larger than the one before it
    runs.min_merge_width = 4
    runs.max_size_amplification_percent = 200  # of the oldest run in the younger ones; beyond it all become one
    return runs


def _blocks(cache_bytes: int) -> rocksdict.BlockBasedOptions:
    blocks = rocksdict.BlockBasedOptions()
    blocks.set_block_size(4096)  # most reads are of one row
    blocks.set_block_cache(rocksdict.Cache(cache_bytes))
    blocks.set_bloom_filter(10, False)
    blocks.set_format_version(5)
    return blocks


def _options(blocks: rocksdict.BlockBasedOptions, write_buffer_bytes: int) -> rocksdict.Options:
    options = rocksdict.Options(raw_mode=True)
    options.set_block_based_table_factory(blocks)
    options.set_write_buffer_size(write_buffer_bytes)
    options.set_max_write_buffer_number(WRITE_BUFFERS)
    # Most reads ask for what is not there: filters of the buffers, too, halve their cost.
    options.set_memtable_prefix_bloom_ratio(0.02)
    options.set_memtable_whole_key_filtering(True)
    options.set_level_compaction_dynamic_level_bytes(True)
    options.set_compression_type(rocksdict.DBCompressionType.none())
    options.set_bytes_per_sync(1 << 20)
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
