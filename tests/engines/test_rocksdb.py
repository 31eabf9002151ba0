"""What is particular to the RocksDB engine: options that survive reopening, syncs, stalls, damage, tombstones."""

import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import pytest
import rocksdict

from weft.clock import ManualClock, SystemClock
from weft.engines.rocksdb import FEW, WRITE_CHUNK, RocksTable, _few, _many, _opened
from weft.engines.rocksqueue import RocksQueue
from weft.errors import Corrupt, EngineError, Unavailable
from weft.ports import Delete, Put, Range

CACHE = 13 << 20


def opened(path: Path, write_buffer_bytes: int = 1 << 20) -> RocksTable:
    return RocksTable(path, SystemClock(), CACHE, write_buffer_bytes)


class Calls:
    """A database that notes the order of writes and syncs."""

    def __init__(self, db: rocksdict.Rdict) -> None:
        self._db = db
        self.made: list[str] = []

    def write(self, batch: rocksdict.WriteBatch, options: rocksdict.WriteOptions) -> None:
        self.made.append("write")
        self._db.write(batch, options)

    def get_column_family_handle(self, name: str) -> rocksdict.ColumnFamily:
        return self._db.get_column_family_handle(name)

    def flush_wal(self, sync: bool) -> None:
        self.made.append(f"flush {sync}")
        self._db.flush_wal(sync)

    def get(self, keys: list[bytes]) -> list[bytes | None]:
        return self._db.get(keys)  # type: ignore[arg-type,return-value]

    def close(self) -> None:
        self._db.close()


@pytest.mark.parametrize("group", [b"short", b"a long name"])
async def test_options_survive_reopening(tmp_path: Path, group: bytes) -> None:
    """rocksdict falls back to stored defaults unless told otherwise: 8 MB of cache and no Bloom filter."""
    for turn in range(3):
        table = opened(tmp_path)
        families = (table._few, table._many)
        assert sum(family.property_int_value("rocksdb.block-cache-capacity") or 0 for family in families) == CACHE
        await table.write([Put((group, b"%d-%d" % (turn, row)), b"v" * 50) for row in range(2000)])
        family = table._family_of(group)
        family.flush()
        properties = family.property_value("rocksdb.aggregated-table-properties") or ""
        filters = re.search(r"filter block size=(\d+)", properties)
        assert filters, properties
        assert int(filters[1]) >= (turn + 1) * 2000 * 10 / 8, "ten bits for every key"
        await table.close()


def test_a_flush_of_the_log_syncs_it(tmp_path: Path) -> None:
    """What sync=True rests on, by RocksDB's own count."""
    options = rocksdict.Options(raw_mode=True)
    options.create_if_missing(True)
    options.enable_statistics()
    db = rocksdict.Rdict(str(tmp_path), options, column_families={"default": options})
    for times in (1, 2, 3):
        db.put(b"k", b"v")
        db.flush_wal(True)
        counted = re.search(r"rocksdb.wal.synced COUNT : (\d+)", options.get_statistics() or "")
        assert counted
        assert int(counted[1]) == times
    db.close()


async def test_a_synced_write_syncs_each_step_before_the_next(tmp_path: Path) -> None:
    table = opened(tmp_path)
    calls = Calls(table._many)
    table._many = calls  # type: ignore[assignment]
    large = [Put((b"g", b"%d" % row), b"") for row in range(WRITE_CHUNK + 1)]
    small = [Put((b"g", b"x"), b"")]
    await table.write(small, large[3:], small)
    assert calls.made == ["write"], "steps are written together, and nothing is synced unasked"
    calls.made.clear()
    await table.write(large, small, sync=True)
    assert calls.made == ["write", "write", "flush True", "write", "flush True"]
    calls.made.clear()
    assert await table.put_if((b"o", b"k"), None, b"v")
    assert not await table.put_if((b"o", b"k"), None, b"v")
    assert calls.made == ["write", "flush True"]
    await table.close()


class Waits(SystemClock):
    """A clock that counts how often it was slept on."""

    def __init__(self) -> None:
        self.slept = 0

    async def sleep(self, seconds: float) -> None:
        self.slept += 1
        await super().sleep(seconds)


async def test_a_stall_is_waited_out(tmp_path: Path) -> None:
    clock = Waits()
    table = RocksTable(tmp_path, clock, 1 << 20, 64 << 10)  # buffers so small that every write outruns the disk
    random = Random(1)
    values = {(b"g", b"%d" % row): random.randbytes(4000) for row in range(2000)}
    for key, value in values.items():
        await table.write([Put(key, value)])
    assert clock.slept > 0, "this disk never stalled: make the buffers smaller"
    assert await table.get(list(values)) == list(values.values())
    await table.close()


def error_of_another_process(path: Path) -> str:
    code = f"from tests.engines.test_rocksdb import *; opened(Path({str(path)!r}))"
    root = Path(__file__).parents[2]
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=root, text=True).stderr


async def test_one_process_at_a_time(tmp_path: Path) -> None:
    table = opened(tmp_path)
    with pytest.raises(Unavailable, match="in use by another process"):
        opened(tmp_path)
    assert f"Unavailable: {tmp_path} is in use by another process" in error_of_another_process(tmp_path)
    await table.close()
    await opened(tmp_path).close()


def damage(path: Path) -> None:
    """Overwrite a block in the middle of the rows."""
    (largest,) = sorted(path.glob("*.sst"), key=lambda file: file.stat().st_size)[-1:]
    data = bytearray(largest.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 5000] = b"\xff" * 5000
    largest.write_bytes(data)


@pytest.mark.parametrize("group", [b"short", b"a long name"])
async def test_damage_is_told_never_skipped(tmp_path: Path, group: bytes) -> None:
    table, random = opened(tmp_path, 32 << 20), Random(1)
    await table.write([Put((group, b"%06d" % row), random.randbytes(100)) for row in range(20_000)])
    table._family_of(group).flush()
    await table.close()
    damage(tmp_path)
    table = opened(tmp_path)
    with pytest.raises(Corrupt, match="checksum"):
        await table.get([(group, b"%06d" % row) for row in range(20_000)])
    with pytest.raises(Corrupt, match="checksum"):
        await table.scan([Range(group, limit=100_000)])
    with pytest.raises(Corrupt, match="checksum"):
        await table.scan([Range(group, b"%06d" % row, limit=1) for row in range(20_000)])
    assert len((await table.scan([Range(group, limit=100)]))[0]) == 100, "the rest can still be read"
    await table.close()


async def test_errors_at_opening_are_ours(tmp_path: Path) -> None:
    table = opened(tmp_path / "broken")
    await table.close()
    (tmp_path / "broken" / "CURRENT").write_text("nonsense")
    with pytest.raises(Corrupt):
        opened(tmp_path / "broken")
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError):
        opened(tmp_path / "file")
    with pytest.raises(EngineError):
        opened(tmp_path / "file" / "below")


class Walked:
    """Counts the rows and tombstones that cursors of a table pass over; RocksDB counts for us."""

    def __init__(self, table: RocksTable, path: Path) -> None:
        """Opens the table's folder anew, as the engine does but for the counting."""
        table._few.close()
        table._many.close()
        few, self._options = _few(CACHE, 1 << 20), _many(CACHE, 1 << 20)
        self._options.enable_statistics()
        table._many = _opened(path, few, self._options, read_only=False)
        table._few = table._many.get_column_family(FEW)

    async def by(self, work: Callable[[], Awaitable[object]]) -> int:
        before = self._count()
        await work()
        return self._count() - before

    def _count(self) -> int:
        said = self._options.get_statistics() or ""
        return sum(int(count) for count in re.findall(r"rocksdb\.number\.(?:iter\.skip|db\.next) COUNT : (\d+)", said))


async def test_a_queue_does_not_walk_its_tombstones(tmp_path: Path) -> None:
    queue, sent = RocksQueue(tmp_path, ManualClock(), 30.0), 2_000
    walked = Walked(queue._table, tmp_path)
    await queue.send([b"%d" % number for number in range(sent)])
    for _ in range(sent // 500):
        await queue.ack(await queue.receive(500))
    await queue.send([b"new"] * 5)
    assert await walked.by(lambda: queue._table.scan([Range(b"message", limit=1)])) >= sent
    assert await walked.by(lambda: queue.receive(1)) <= 10
    await queue.close()


async def test_a_scan_does_not_walk_what_lies_behind_its_bound(tmp_path: Path) -> None:
    table = opened(tmp_path)
    walked = Walked(table, tmp_path)
    dead = [(b"g", b"b%06d" % row) for row in range(2_000)]
    await table.write([Put(key, b"") for key in dead], [Delete(key) for key in dead], [Put((b"g", b"a"), b"")])
    assert await table.scan([Range(b"g", b"a", b"b")]) == [[(b"a", b"")]]
    assert await walked.by(lambda: table.scan([Range(b"g", b"a")])) >= len(dead)
    assert await walked.by(lambda: table.scan([Range(b"g", b"a", b"b")])) <= 10
    await table.close()


async def test_ranges_read_together_are_as_those_read_alone(tmp_path: Path) -> None:
    """Rows and more tombstones than a cursor walks over that has other ranges to read."""
    table, random = opened(tmp_path), Random(9)
    groups = [b"a long name %d" % number for number in range(20)]
    keys = [(group, b"%03d" % row) for group in groups for row in range(300)]
    await table.write([Put(key, key[1]) for key in keys])
    table._many.flush()
    await table.write([Delete(key) for key in keys if int(key[1]) > 150 or random.random() < 0.5])
    for _ in range(50):
        starts = [b"%03d" % random.randrange(300) for _ in groups]
        ranges = [
            Range(group, start, random.choice([None, b"%03d" % random.randrange(300)]), random.choice([1, 4, 1000]))
            for group, start in zip(random.sample(groups, len(groups)), starts, strict=True)
        ]
        assert await table.scan(ranges) == [(await table.scan([wanted]))[0] for wanted in ranges]
    await table.close()


async def test_ranges_read_together_do_not_walk_tombstones(tmp_path: Path) -> None:
    table = opened(tmp_path)
    walked = Walked(table, tmp_path)
    groups = (b"a long name", b"another one")
    dead = [(group, b"b%06d" % row) for group in groups for row in range(2_000)]
    await table.write([Put(key, b"") for key in dead], [Delete(key) for key in dead])
    assert await walked.by(lambda: table.scan([Range(group, b"a") for group in groups])) >= len(dead)
    assert await walked.by(lambda: table.scan([Range(group, b"a", b"b", limit=1) for group in groups])) <= 200
    await table.close()


async def test_a_queue_forgets_the_numbers_of_a_failed_send(tmp_path: Path) -> None:
    queue = RocksQueue(tmp_path, ManualClock(), 30.0)
    await queue.send([b"a"])
    queue._next += 7  # as a send leaves it that could not write
    await queue.send([b"b"])
    messages = await queue.receive(9)
    assert [message.body for message in messages] == [b"a", b"b"]
    queue._next += 7
    assert await queue.receive(9) == []
    await queue.ack(messages)
    assert await queue.size() == 0, "a queue that says 1 for ever keeps a crawl open for ever"
    await queue.close()
