"""A crawl of format 3, kept, and its rows in memory.

It was made with commit f5eb9e9 against a server of small pages: docs.example (a home page, numbered pages that all say
the same, failures), three hosts beside it of which one is down, and hosts below many.example that link to each other. A
run with `[frontier] retry = [0.05]`, `trap_sample = 6` and `--max-pages 52`, then one with `retry = [900000]` in which
the map's pages failed and most hosts did not answer, ended by `kill -9`.
"""

import asyncio
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from weft.clock import SystemClock
from weft.config import Config, Frontier, Scope, Storage
from weft.engines.memory import MemoryTable
from weft.engines.rocksdb import RocksTable
from weft.frontier import keys
from weft.frontier.paging import pages
from weft.frontier.rows import decode_host
from weft.frontier.traps import family_of
from weft.ports import Key, Put, Table
from weft.urls.host import host_key

KEPT = Path(__file__).parent / "kept" / "format-3.tar.xz"
DOCS = "http://docs.example:43483"
PARTITIONS = 4
CONFIG = Config(storage=Storage(partitions=PARTITIONS), scope=Scope(reach="any"), frontier=Frontier(retry=(900_000.0,)))
_OF_A_PARTITION = (
    keys.HOST, keys.AUTHORITY, keys.FIRST, keys.LEASE, keys.WAITING, keys.DEAD, keys.DOMAIN, keys.SCOPE, keys.DROPS,
)  # fmt: skip
_OF_A_HOST = (keys.QUEUE, keys.URL, keys.FINDING, keys.HOLD, keys.HELD)


def unpack(folder: Path) -> None:
    with tarfile.open(KEPT) as kept:
        kept.extractall(folder, filter="data")


def kept_rows() -> dict[Key, bytes]:
    """All of the frontier's rows."""
    with TemporaryDirectory() as folder:
        unpack(Path(folder))
        return asyncio.run(_read(Path(folder)))


async def _read(folder: Path) -> dict[Key, bytes]:
    table = RocksTable(folder / "state" / "table", SystemClock(), 8 << 20, 1 << 20)
    rows = await rows_of(table)
    await table.close()
    return rows


async def rows_of(table: Table) -> dict[Key, bytes]:
    rows: dict[Key, bytes] = {}
    for number in range(PARTITIONS):
        partition = number.to_bytes(2, "big")
        hosts = []
        async for found in pages(table, partition + keys.HOST):
            hosts += [(partition + item, decode_host(value).name) for item, value in found]
        for group in (*(partition + letter for letter in _OF_A_PARTITION), *_groups_of(hosts)):
            async for found in pages(table, group):
                rows |= {(group, item): value for item, value in found}
    async for found in pages(table, b"migration"):
        rows |= {(b"migration", item): value for item, value in found}
    return rows


def _groups_of(hosts: list[tuple[bytes, str]]) -> Iterator[bytes]:
    """Those of hosts, and of the families that held URLs of theirs."""
    for key in {key for key, _ in hosts} | {host_key(family_of(name), PARTITIONS) for _, name in hosts}:
        yield from (keys.group(key, letter) for letter in _OF_A_HOST)


def table_of(rows: dict[Key, bytes]) -> MemoryTable:
    table = MemoryTable()
    for key, value in rows.items():
        table.apply(Put(key, value))
    return table
