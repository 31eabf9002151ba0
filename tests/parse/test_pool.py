"""The pool keeps its promise: a page for every job, whatever one of them does to its process."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from weft.clock import ManualClock, SystemClock
from weft.config import Config, override
from weft.errors import WeftError
from weft.parse.pool import ParserPool
from weft.parse.wire import ParseJob
from weft.records import Hint, Link, Page, Refusal

HOSTILE = (sys.executable, str(Path(__file__).with_name("hostile_worker.py")))
HTML = (("Content-Type", "text/html"),)
pytestmark = pytest.mark.asyncio(loop_scope="module")


def config(workers: int = 2, seconds: float = 0.5) -> Config:
    return override(Config(), "parse", workers=workers, seconds=seconds)


def harmless(number: int) -> ParseJob:
    body = f"words {number} " * (1 + number % 500)
    return ParseJob(f"id-{number}", f"http://site.example/{number}", body.encode(), HTML)


def hostile(act: str) -> ParseJob:
    return ParseJob(f"id-{act}", f"http://hostile/{act}", b"some words", HTML)


def check_harmless(pages: list[Page], jobs: list[ParseJob]) -> None:
    """Every page belongs to its job, and the harmless ones came out whole."""
    assert [page.id for page in pages] == [job.id for job in jobs]
    for page, job in zip(pages, jobs, strict=True):
        if job.url.startswith("http://site.example/"):
            assert page.refusal is None
            assert page.text == job.body.decode()
            link = Link("http://site.example/next", depth=1, source=job.url, hint=Hint(priority=0.9), key=b"key")
            assert page.links == (link, link)


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until something has happened that tells nobody."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[ParserPool]:
    """One for all tests: what one of them does to a process must not show in the next."""
    made = ParserPool(config(), SystemClock(), HOSTILE)
    await made.start()
    yield made
    await made.close()


async def test_a_thousand_pages(pool: ParserPool) -> None:
    restarts = pool.restarts
    jobs = [harmless(number) for number in range(1000)]
    check_harmless(await pool.parse(jobs), jobs)
    assert pool.restarts == restarts


async def test_many_callers_at_once(pool: ParserPool) -> None:
    batches = [[harmless(number) for number in range(start, start + 9)] for start in range(0, 360, 9)]
    answers = await asyncio.gather(*(pool.parse(batch) for batch in batches))
    for pages, batch in zip(answers, batches, strict=True):
        check_harmless(pages, batch)


async def test_nothing_to_do(pool: ParserPool) -> None:
    assert await pool.parse([]) == []


@pytest.mark.parametrize(
    ("act", "refusal"),
    [
        ("spin", Refusal.TIMEOUT),
        ("crash", Refusal.CRASH),
        ("allocate", Refusal.MEMORY),
        ("kill", Refusal.MEMORY),
        ("fail", Refusal.CRASH),
    ],
)
async def test_a_bad_page_harms_no_other(pool: ParserPool, act: str, refusal: Refusal) -> None:
    jobs = [harmless(number) for number in range(40)]
    jobs[5] = hostile(act)
    pages = await pool.parse(jobs)
    check_harmless(pages, jobs)
    assert pages[5].refusal is refusal
    check_harmless(await pool.parse(jobs[6:]), jobs[6:])


async def test_several_bad_pages_in_one_batch(pool: ParserPool) -> None:
    acts = ["crash", "spin", "kill", "allocate", "fail", "crash", "spin", "crash"]
    jobs = [job for number, act in enumerate(acts) for job in (harmless(number), hostile(act), harmless(100 + number))]
    pages = await pool.parse(jobs)
    check_harmless(pages, jobs)
    assert [page.refusal is not None for page in pages] == [False, True, False] * len(acts)


async def test_a_page_that_fails_once_gets_a_second_chance(pool: ParserPool, tmp_path: Path) -> None:
    restarts = pool.restarts
    jobs = [harmless(0), hostile(f"crash-once{tmp_path}/met"), harmless(1)]
    pages = await pool.parse(jobs)
    check_harmless(pages, jobs)
    assert pages[1].text == "some words"
    assert pool.restarts == restarts + 1


async def test_a_process_that_has_grown_is_replaced_and_nobody_is_blamed(pool: ParserPool) -> None:
    restarts = pool.restarts
    jobs = [harmless(number) for number in range(60)]
    jobs[3] = hostile("grow")
    pages = await pool.parse(jobs)
    check_harmless(pages, jobs)
    assert pages[3].refusal is None
    assert pool.restarts == restarts + 1


async def test_kill_from_outside_loses_nothing(pool: ParserPool) -> None:
    restarts = pool.restarts
    jobs = [harmless(number) for number in range(2000)]
    parsing = asyncio.ensure_future(pool.parse(jobs))
    await asyncio.sleep(0)
    victims = pool.processes()
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    check_harmless(await parsing, jobs)
    assert pool.restarts == restarts + len(victims)


async def test_the_spare_too_is_replaced(pool: ParserPool) -> None:
    for _ in range(4):
        before = pool.restarts
        await pool.parse([hostile("spin")])
        assert pool.restarts == before + 1
        check_harmless(await pool.parse([harmless(1)]), [harmless(1)])


async def test_a_page_that_hangs_without_using_time() -> None:
    clock = ManualClock()
    pool = ParserPool(config(workers=1), clock, HOSTILE)
    await pool.start()
    jobs = [hostile("stop"), harmless(1)]
    parsing = asyncio.ensure_future(pool.parse(jobs))
    await asyncio.sleep(0)
    await clock.advance(20.0)
    await until(lambda: pool.restarts == 1)
    await clock.advance(20.0)
    await until(lambda: pool.restarts == 2)
    pages = await parsing
    check_harmless(pages, jobs)
    assert pages[0].refusal is Refusal.TIMEOUT
    await pool.close()


async def test_a_caller_that_goes_away_leaves_the_pool_working(pool: ParserPool) -> None:
    left = asyncio.ensure_future(pool.parse([harmless(number) for number in range(500)]))
    await asyncio.sleep(0)
    left.cancel()
    check_harmless(await pool.parse([harmless(7)]), [harmless(7)])
    assert left.cancelled()


async def test_a_worker_that_cannot_start_is_an_error() -> None:
    pool = ParserPool(config(), SystemClock(), (sys.executable, "-c", "raise SystemExit(1)"))
    with pytest.raises(WeftError, match="cannot start"):
        await pool.start()
    with pytest.raises(WeftError, match="cannot start"):
        await pool.parse([harmless(1)])
    await pool.close()


async def test_a_program_that_is_missing_is_an_error() -> None:
    pool = ParserPool(config(), SystemClock(), ("/nonexistent/python",))
    with pytest.raises(WeftError, match="cannot start"):
        await pool.start()
    await pool.close()


async def test_closing_fails_who_waits_and_ends_every_process() -> None:
    pool = ParserPool(config(), SystemClock(), HOSTILE)
    await pool.start()
    waiting = asyncio.ensure_future(pool.parse([hostile("stop")]))
    await asyncio.sleep(0)
    processes = pool.processes()
    await pool.close()
    with pytest.raises(WeftError, match="stopped"):
        await waiting
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
