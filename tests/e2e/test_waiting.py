"""Nothing is waited for when nothing can come: group commits, segments and cut answers, counted rather than timed."""

import asyncio
import dataclasses
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.e2e.crawling import PATIENCE
from tests.fetch.misbehaving import Say, Server, page
from weft.archive.store import Answer, Archive, Stored
from weft.build import opened
from weft.clock import SystemClock
from weft.directory import CrawlDirectory
from weft.limits import NO_LIMITS
from weft.loops import Crawler, Refiner, run
from weft.records import Finding
from weft.session import Session
from weft.urls.seeds import seed

HOUR = 3600.0


def words(number: int) -> str:
    """Text of its own for every page."""
    chance = random.Random(number)
    return " ".join(chance.choice("abcdefghij") * 2 + str(chance.randrange(10**6)) for _ in range(60))


def article(number: int, *links: str) -> Say:
    anchors = "".join(f"<li><a href='{link}'>on</a>" for link in links)
    return page(f"<title>Page {number}</title><p>{words(number)}.<ul>{anchors}</ul>".encode())


class CountingArchive:
    """Counts the syncs."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.stored: list[int] = []  # answers of each

    async def store(self, answers: Sequence[Answer]) -> Stored:
        self.stored.append(len(answers))
        return await self._archive.store(answers)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archive, name)


class CountingClock(SystemClock):
    """Notes how long the crawl loop sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await super().sleep(seconds)


class Crawl:
    """Both loops on one DIR, with an archive and a clock that count."""

    def __init__(self, session: Session, clock: CountingClock) -> None:
        self.session = session
        self.clock = clock
        self.archive = CountingArchive(session.shared.archive)
        self._corpus = session.corpus
        self.documents = asyncio.Event()
        counting: Any = self.archive
        shared: Any = dataclasses.replace(session.shared, archive=counting, clock=clock)
        self.shared = shared
        self._refiner = Refiner(shared, session.pool, self)  # type: ignore[arg-type]
        self._crawler = Crawler(shared, session.fetcher, self._refiner, NO_LIMITS)

    async def commit(self, pages: Any) -> list[Finding]:
        findings = await self._corpus.commit(pages)
        self.documents.set()
        return findings

    async def compact(self) -> None:
        await self._corpus.compact()

    async def run(self, port: int) -> None:
        await self.session.add_seeds([seed(f"http://127.0.0.1:{port}/")])
        async with asyncio.timeout(PATIENCE):
            await run(self._crawler, self._refiner)


@asynccontextmanager
async def crawling(folder: Path, server: Server, **sections: dict[str, Any]) -> AsyncIterator[Crawl]:
    """Hosts of one's own, no delay, and an hour for every commit."""
    await server.listen()
    tables: dict[str, dict[str, Any]] = {
        "scope": {"own": ["127.0.0.1"], "max_depth": 1000, "max_depth_in_domain": 1000},
        "pace": {"delay": 0},
        "parse": {"workers": 1},
        "crawl": {"commit_seconds": HOUR},
        "corpus": {"segment_seconds": HOUR},
        "frontier": {"retry": [3 * HOUR]},
        **sections,
    }
    directory = CrawlDirectory.open(folder / "crawl", tables)
    async with opened(directory) as session:
        yield Crawl(session, CountingClock())
    directory.close()
    await server.close()


async def test_a_chain_of_pages_does_not_wait_for_company(tmp_path: Path) -> None:
    """Each page is linked only from the one before: with an hour for a group commit it would take a day."""
    chain = {f"/{number}": article(number, f"/{number + 1}") for number in range(1, 20)}
    server = Server({"/": article(0, "/1"), **chain})
    async with crawling(tmp_path, server) as crawl:
        await crawl.run(server.port)
        assert set(chain) <= set(server.paths())
        assert crawl.session.corpus.counts().documents == 20


async def test_under_load_one_sync_serves_many(tmp_path: Path) -> None:
    many = {f"/{number:x}{word}": article(number) for number, word in enumerate(words(1).split() + words(2).split())}
    server = Server({"/": article(0, *many), **many})
    async with crawling(tmp_path, server) as crawl:
        await crawl.run(server.port)
        assert set(many) <= set(server.paths())
        assert sum(crawl.archive.stored) > len(many)
        assert len(crawl.archive.stored) < len(many) / 5, crawl.archive.stored


async def test_documents_do_not_wait_while_the_crawl_does(tmp_path: Path) -> None:
    """Nothing is under way, and nothing will be until a host lets us: what is parsed is committed."""
    busy = page(b"later", "503 Busy", f"Retry-After: {3 * HOUR:.0f}")
    server = Server({"/": article(0, "/1"), "/1": busy})
    async with crawling(tmp_path, server) as crawl, asyncio.TaskGroup() as tasks:
        tasks.create_task(crawl.run(server.port))
        async with asyncio.timeout(PATIENCE):
            await crawl.documents.wait()
        crawl.session.stop()
        crawl.shared.pulse.stop()


async def test_pictures_among_the_links_cost_no_pause(tmp_path: Path) -> None:
    """Three hundred of them, each cut at its head: no sleep, and no answer that ends in the future."""
    names = [words(number).split()[0] for number in range(300)]
    pictures = {f"/{number}/{name}.png": page(b"x" * 90_000, kind="image/png") for number, name in enumerate(names)}
    server = Server({"/": article(0, *pictures), **pictures})
    async with crawling(tmp_path, server) as crawl:
        await crawl.run(server.port)
        assert set(pictures) <= set(server.paths())
        assert crawl.clock.slept == []
