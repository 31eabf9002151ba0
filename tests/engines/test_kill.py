"""kill -9: a process writes and reports what was acknowledged, dies at a random moment, and is looked at afterwards.

Broken engines run through the same mill, to show that it catches them.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tests.engines import load
from tests.redis_server import RedisServer
from weft.clock import SystemClock
from weft.engines.files import FileJournals
from weft.engines.objects import FolderBlobs
from weft.engines.redis import open_redis_queue, open_redis_table
from weft.engines.rocksdb import RocksTable
from weft.engines.rocksqueue import RocksQueue
from weft.errors import EngineError

ROOT = Path(__file__).parents[2]
ROUNDS = 3


def killed(kind: str, folder: Path, round_: int) -> list[str]:
    """What a process reported that died, by SIGKILL, a random number of reports after its start."""
    command = [sys.executable, "-m", "tests.engines.load", kind, str(folder), str(round_)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        wanted = Random(f"{kind} {round_}").randint(20, 60 if kind in ("blobs", "journal") else 400)
        reports = [process.stdout.readline().decode() for _ in range(wanted)]
        process.send_signal(signal.SIGKILL)
        rest, said = process.stdout.read(), process.stderr.read()  # `communicate` knows nothing of what was read ahead
    assert process.returncode == -signal.SIGKILL, said.decode()
    lines = "".join([*reports, rest.decode()]).split("\n")
    return lines[:-1]  # behind the last newline is nothing, or a report cut short


async def rounds_of_table(kind: str, folder: Path) -> None:
    reports: list[str] = []
    for round_ in range(ROUNDS):
        reports += killed(kind, folder, round_)
        table = RocksTable(folder, SystemClock(), 8 << 20, 1 << 20)
        try:
            await load.check_table(table, reports)
        finally:
            await table.close()


async def test_rocksdb_table_loses_nothing(tmp_path: Path) -> None:
    await rounds_of_table("table", tmp_path)


@pytest.mark.parametrize("kind", ["backwards", "forgetful", "unlogged"])
async def test_a_broken_table_is_caught(kind: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"lost|later steps|came back"):
        await rounds_of_table(kind, tmp_path)


async def rounds_of_queue(kind: str, folder: Path) -> None:
    reports: list[str] = []
    for round_ in range(ROUNDS):
        reports = killed(kind, folder, round_)
        queue = RocksQueue(folder, SystemClock(), 0.05)
        try:
            await load.check_queue(queue, reports, 0.05)
        finally:
            await queue.close()


async def test_rocksdb_queue_loses_nothing(tmp_path: Path) -> None:
    await rounds_of_queue("queue", tmp_path)


async def test_a_broken_queue_is_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="lost"):
        await rounds_of_queue("forgetful-queue", tmp_path)


async def test_files_lose_nothing(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    for round_ in range(ROUNDS):
        reports = killed("journal", tmp_path, round_)
        journals = FileJournals(blobs.root, blobs)
        await load.check_journal(journals, reports)
        await journals.close()


async def test_blobs_lose_nothing(tmp_path: Path) -> None:
    reports: list[str] = []
    for round_ in range(ROUNDS):
        reports += killed("blobs", tmp_path, round_)
        await load.check_blobs(FolderBlobs(tmp_path), reports)


async def killed_server(server: RedisServer, run: Callable[[load.Report], Awaitable[None]], after: int) -> list[str]:
    """What a load reported under which the server was killed; it is started again on what is left."""
    reports: list[str] = []
    enough = asyncio.Event()

    def report(line: str) -> None:
        reports.append(line)
        if len(reports) == after:
            enough.set()

    running, waiting = asyncio.ensure_future(run(report)), asyncio.ensure_future(enough.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    server.kill()
    (outcome,) = await asyncio.gather(running, return_exceptions=True)
    assert isinstance(outcome, BaseExceptionGroup), outcome
    assert not outcome.split(EngineError)[1], "every failure is one of ours"
    server.start()
    return reports


async def test_redis_table_loses_nothing(tmp_path: Path) -> None:
    server, reports = RedisServer(tmp_path), list[str]()
    server.start()
    try:
        for round_ in range(ROUNDS):
            table = await open_redis_table(server.url)
            run = partial(load.load_table, table, round_)
            reports += await killed_server(server, run, Random(round_).randint(20, 120))
            await load.check_table(table, reports)  # the same client finds the server again
            await table.close()
    finally:
        server.kill()


async def test_redis_queue_loses_nothing(tmp_path: Path) -> None:
    server, term = RedisServer(tmp_path), 0.3
    server.start()
    try:
        for round_ in range(2):
            queue = await open_redis_queue(server.url, "pages", term)
            run = partial(load.load_queue, queue, round_)
            reports = await killed_server(server, run, Random(round_).randint(50, 300))
            await load.check_queue(queue, reports, term)
            await queue.close()
    finally:
        server.kill()
