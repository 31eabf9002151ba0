"""Every queue engine against every promise of `ports.Queue`, on the real thing."""

import itertools
from pathlib import Path

import pytest

from tests.contracts.queue_checks import (
    CHECKS,
    SHARED_CHECKS,
    Bench,
    Check,
    SharedCheck,
    extending_hides_for_another_term,
    the_expired_are_found_behind_the_hidden,
)
from tests.redis_server import RedisServer
from weft.clock import ManualClock
from weft.engines.memory import MemoryQueue
from weft.engines.redis import open_redis_queue
from weft.engines.rocksqueue import RocksQueue
from weft.ports import Queue

ENGINES = ("memory", "rocksdb", "redis")
pytestmark = pytest.mark.clock
TERM_OF_REDIS = 0.4  # seconds of the server's own time
# A part of a term must be enough for some steps, on a busy machine too.
LONG_TERM_OF_REDIS = 1.0
IN_PARTS = (the_expired_are_found_behind_the_hidden, extending_hides_for_another_term)
_names = itertools.count()


@pytest.fixture(params=ENGINES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    engine: str = request.param
    if engine == "redis":
        server: RedisServer = request.getfixturevalue("redis_server")
        name, check = f"queue{next(_names)}", request.getfixturevalue("check")
        term = LONG_TERM_OF_REDIS if check in IN_PARTS else TERM_OF_REDIS
        return Bench(lambda: open_redis_queue(server.url, name, term), term, None)
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


@pytest.mark.parametrize("check", SHARED_CHECKS, ids=lambda check: check.__name__)
async def test_a_queue_of_several_consumers(redis_server: RedisServer, check: SharedCheck) -> None:
    """Where the engine is a server; an embedded one has one process."""
    name = f"queue{next(_names)}"
    await check(lambda consumer, term: open_redis_queue(redis_server.url, name, term, consumer))
