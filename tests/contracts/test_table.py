"""Every table engine against every promise of `ports.Table`, on the real thing."""

import itertools
from pathlib import Path

import pytest

from tests.contracts.table_checks import CHECKS, Check, Opener
from tests.redis_server import RedisServer
from weft.clock import SystemClock
from weft.engines.memory import MemoryTable
from weft.engines.redis import open_redis_table
from weft.engines.rocksdb import RocksTable
from weft.engines.torn import TornTable
from weft.ports import Table

ENGINES = ("memory", "torn", "rocksdb", "redis")
_names = itertools.count()


@pytest.fixture(params=ENGINES)
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    engine: str = request.param
    if engine == "redis":
        server: RedisServer = request.getfixturevalue("redis_server")
        url = f"{server.url}#table{next(_names)}"
        return lambda: open_redis_table(url)
    if engine == "rocksdb":
        return lambda: _now(RocksTable(tmp_path / "table", SystemClock(), 8 << 20, 4 << 20))
    kept: Table = MemoryTable() if engine == "memory" else TornTable(seed=3)
    return lambda: _now(kept)


async def _now(table: Table) -> Table:
    return table


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_table(opener: Opener, check: Check) -> None:
    await check(opener)
