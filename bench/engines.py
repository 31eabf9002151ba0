"""CPU per row and message of every embedded engine and of Redis's client, with raw rocksdict and sqlite3 beside them.

`python -m bench.engines [ROWS]` (200,000 rows of 80 bytes by default). A row's key is a host's group and a URL's item,
as the frontier writes them. Figures are CPU time of this process, for puts with background threads; Redis's own is not
counted.
"""

import asyncio
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from random import Random
from typing import Protocol

import rocksdict

from tests.redis_server import RedisServer
from weft.clock import SystemClock
from weft.engines.memory import MemoryQueue, MemoryTable
from weft.engines.redis import open_redis_queue, open_redis_table
from weft.engines.rocksdb import RocksTable, _few
from weft.engines.rocksqueue import RocksQueue
from weft.ports import Key, Put, Queue, Range, Table

PUTS, GETS, ROWS_OF_SCAN = 12, 20, 16  # at once: new links of a page, links to look up, head of a host's queue
CACHE, BUFFER = 64 << 20, 16 << 20


class Store(Protocol):
    """As much of a table as is measured."""

    async def put(self, rows: Sequence[tuple[Key, bytes]]) -> None: ...
    async def get(self, keys: Sequence[Key]) -> None: ...
    async def scan(self, group: bytes) -> None: ...
    async def close(self) -> None: ...


class OurTable:
    def __init__(self, table: Table) -> None:
        self._table = table

    async def put(self, rows: Sequence[tuple[Key, bytes]]) -> None:
        await self._table.write([Put(key, value) for key, value in rows])

    async def get(self, keys: Sequence[Key]) -> None:
        await self._table.get(keys)

    async def scan(self, group: bytes) -> None:
        await self._table.scan([Range(group, limit=ROWS_OF_SCAN)])

    async def close(self) -> None:
        await self._table.close()


class RawRocks:
    """rocksdict with our options and nothing of ours around it."""

    def __init__(self, path: Path) -> None:
        options = _few(CACHE, BUFFER)
        options.create_if_missing(True)
        self._db = rocksdict.Rdict(str(path), options, column_families={"default": options})

    async def put(self, rows: Sequence[tuple[Key, bytes]]) -> None:
        batch = rocksdict.WriteBatch(raw_mode=True)
        for (group, item), value in rows:
            batch[group + item] = value
        self._db.write(batch)

    async def get(self, keys: Sequence[Key]) -> None:
        self._db.get([group + item for group, item in keys])

    async def scan(self, group: bytes) -> None:
        found = []
        for row in self._db.items(from_key=group):
            found.append(row)
            if len(found) == ROWS_OF_SCAN:
                break

    async def close(self) -> None:
        self._db.close()


class Sqlite:
    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")  # survives SIGKILL, as ours does without sync
        self._db.execute(f"PRAGMA cache_size = -{CACHE // 1024}")
        self._db.execute("CREATE TABLE t (g BLOB, i BLOB, v BLOB, PRIMARY KEY (g, i)) WITHOUT ROWID")

    async def put(self, rows: Sequence[tuple[Key, bytes]]) -> None:
        self._db.executemany("INSERT OR REPLACE INTO t VALUES (?, ?, ?)", [(*key, value) for key, value in rows])
        self._db.commit()

    async def get(self, keys: Sequence[Key]) -> None:
        for key in keys:
            self._db.execute("SELECT v FROM t WHERE g = ? AND i = ?", key).fetchone()

    async def scan(self, group: bytes) -> None:
        query = "SELECT i, v FROM t WHERE g = ? ORDER BY i LIMIT ?"
        self._db.execute(query, (group, ROWS_OF_SCAN)).fetchall()

    async def close(self) -> None:
        self._db.close()


def keys_of(count: int, seed: int) -> list[Key]:
    """Keys of hosts with 40 URLs each, shuffled as links are found."""
    random = Random(seed)
    hosts = [b"u" + random.randbytes(8) for _ in range(count // 40)]
    keys = [(host, random.randbytes(8)) for host in hosts for _ in range(40)]
    random.shuffle(keys)
    return keys


async def cpu(count: int, work: Callable[[], Awaitable[object]], clock: Callable[[], float]) -> float:
    """Microseconds of CPU for each of `count`."""
    start = clock()
    await work()
    return (clock() - start) / count * 1e6


async def measure(store: Store, keys: list[Key]) -> list[float]:
    value = bytes(Random(2).randbytes(60))
    known, unknown = Random(3).sample(keys, len(keys) // 4), keys_of(len(keys) // 4, 9)
    groups = [group for group, _ in known[: len(keys) // 40]]

    async def put() -> None:
        for start in range(0, len(keys), PUTS):
            await store.put([(key, value) for key in keys[start : start + PUTS]])

    async def get(wanted: list[Key]) -> None:
        for start in range(0, len(wanted), GETS):
            await store.get(wanted[start : start + GETS])

    async def scan() -> None:
        for group in groups:
            await store.scan(group)

    figures = [await cpu(len(keys), put, time.process_time)]
    # Reads are timed in this thread alone, lest what the puts left to the background be charged to them.
    figures.append(await cpu(len(known), lambda: get(known), time.thread_time))
    figures.append(await cpu(len(unknown), lambda: get(unknown), time.thread_time))
    figures.append(await cpu(len(groups), scan, time.thread_time))
    await store.close()
    return figures


async def messages(queue: Queue, count: int) -> float:
    """Send, receive and ack, ten at a time."""

    async def work() -> None:
        for _ in range(count // 10):
            await queue.send([b"x" * 500] * 10)
            await queue.ack(await queue.receive(10))

    spent = await cpu(count, work, time.process_time)
    await queue.close()
    return spent


def show(name: str, figures: Sequence[float], beside: Sequence[float]) -> None:
    cells = (f"{figure:8.2f} ({figure / rival:5.2f}×)" for figure, rival in zip(figures, beside, strict=True))
    print(f"{name:<18}" + "".join(f"{cell:>20}" for cell in cells))


async def main(rows: int) -> None:
    folder, keys, clock = Path(tempfile.mkdtemp()), keys_of(rows, 1), SystemClock()
    server = RedisServer(folder) if shutil.which("redis-server") else None
    try:
        print(f"{rows:,} rows; CPU µs per row (scan: per {ROWS_OF_SCAN} rows), and times raw rocksdict")
        print(f"{'':<18}" + "".join(f"{word:>20}" for word in ("put", "get", "miss", "scan")))
        raw = await measure(RawRocks(folder / "raw"), keys)
        show("raw rocksdict", raw, raw)
        show("weft rocksdb", await measure(OurTable(RocksTable(folder / "ours", clock, CACHE, BUFFER)), keys), raw)
        show("weft memory", await measure(OurTable(MemoryTable()), keys), raw)
        show("sqlite3", await measure(Sqlite(folder / "sqlite"), keys), raw)
        queues: dict[str, Queue] = {
            "rocksdb": RocksQueue(folder / "queue", clock, 60.0),
            "memory": MemoryQueue(clock, 60),
        }
        if server:
            server.start()
            few = keys[: rows // 10]
            show("weft redis", await measure(OurTable(await open_redis_table(server.url)), few), raw)
            queues["redis"] = await open_redis_queue(server.url, "bench", 60.0)
        for name, queue in queues.items():
            print(f"queue {name:<12}{await messages(queue, rows // 20):8.2f} µs per message sent, received, acked")
    finally:
        if server:
            server.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000))
