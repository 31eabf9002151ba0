"""Every queue engine against every promise of `ports.Queue`, on the real thing."""

import itertools
from pathlib import Path

import pytest

from tests.contracts.queue_checks import CHECKS, Bench, Check
from tests.redis_server import RedisServer
from weft.clock import ManualClock
from weft.engines.memory import MemoryQueue
from weft.engines.redis import open_redis_queue
from weft.engines.rocksqueue import RocksQueue
from weft.ports import Queue

ENGINES = ("memory", "rocksdb", "redis")
pytestmark = pytest.mark.clock
TERM_OF_REDIS = 0.25  # seconds of the server's own time
_names = itertools.count()


@pytest.fixture(params=ENGINES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    engine: str = request.param
    if engine == "redis":
        server: RedisServer = request.getfixturevalue("redis_server")
        name = f"queue{next(_names)}"
        return Bench(lambda: open_redis_queue(server.url, name, TERM_OF_REDIS), TERM_OF_REDIS, None)
    clock = ManualClock()
    if engine == "rocksdb":
        return Bench(lambda: _now(RocksQueue(tmp_path / "queue", clock, 30.0)), 30.0, clock)
    kept = MemoryQueue(clock, 30.0)
    return Bench(lambda: _now(kept), 30.0, clock)


async def _now(queue: Queue) -> Queue:
    return queue


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_queue(bench: Bench, check: Check) -> None:
    await check(bench)
