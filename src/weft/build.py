"""Composition root: a crawl's DIR and its configuration in, engines and stages put together, a `Session` out.

The only module that knows engines. `opened` is what the command line and `weft.crawl` use.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from .archive.store import Archive
from .archive.store import Stores as ArchiveStores
from .clock import SystemClock, cpu_seconds
from .config import Config
from .corpus.corpus import Corpus
from .corpus.corpus import Counts as CorpusCounts
from .corpus.corpus import Stores as CorpusStores
from .corpus.registry import Registry
from .crawl import Crawler, Ending, Refiner, Shared, run, settle
from .dedup.exact import Exact
from .directory import CrawlDirectory
from .engines.choose import open_blobs, open_journals, open_queue, open_table
from .engines.memory import MemoryQueue
from .fetch.fetcher import Fetcher
from .fetch.identity import Identity, require_contact
from .fetch.robots_book import Turn
from .frontier.frontier import Counts as FrontierCounts
from .frontier.frontier import Frontier
from .handover import Handover
from .killpoints import KillPoints
from .metrics import Report, Tally
from .parse.pool import ParserPool
from .records import Link
from .urls.host import host_of
from .urls.own import OwnHosts
from .urls.scope import Rules
from .urls.seeds import seed

_SEEDS_AT_ONCE: Final = 1000
_TERM: Final = 300.0  # seconds a message of the pages queue is hidden; far longer than its pages take
Watch = Callable[[Report], None]


@dataclass
class Session:
    """An open crawl."""

    directory: CrawlDirectory
    shared: Shared
    frontier: Frontier
    fetcher: Fetcher
    corpus: Corpus
    refiner: Refiner
    started: float  # monotonic

    async def add_seeds(self, seeds: Sequence[Link]) -> None:
        """Into the frontier; seeds that are known already change nothing."""
        for start in range(0, len(seeds), _SEEDS_AT_ONCE):
            added = await self.frontier.add(seeds[start : start + _SEEDS_AT_ONCE])
            self.shared.tally.links(added.new, added.drops)

    def stop(self) -> None:
        """Finish what is in flight and come to rest."""
        self.shared.pulse.stop()

    async def crawl(self, watch: Watch) -> tuple[Ending, Report]:
        """Both loops until the end; then the corpus is compacted and the report written."""
        crawler = Crawler(self.shared, self.fetcher, self.refiner)
        watching = asyncio.create_task(self._watch(watch))
        try:
            ending = await run(crawler, self.refiner)
        finally:
            watching.cancel()
        await self.corpus.compact(final=True)
        report = msgspec.structs.replace(self.report(), ended=ending.value)
        await self._keep_time()
        self.directory.write_progress(report)
        self.directory.write_report(report)
        return ending, report

    def report(self) -> Report:
        """How it stands now."""
        report = report_of(self.shared.tally, self.frontier.counts(), self.corpus.counts())
        seconds = report.seconds + self.shared.clock.monotonic() - self.started
        return msgspec.structs.replace(report, seconds=seconds, cpu_seconds=report.cpu_seconds + cpu_seconds())

    async def _watch(self, watch: Watch) -> None:
        while True:
            report = self.report()
            watch(report)
            self.directory.write_progress(report)
            await self.shared.clock.sleep(1.0)

    async def _keep_time(self) -> None:
        """Seconds and CPU of this run join those of earlier ones."""
        tally = self.shared.tally
        tally.seconds += self.shared.clock.monotonic() - self.started
        tally.cpu_seconds += cpu_seconds()
        await tally.save(self.shared.table)


def report_of(tally: Tally, frontier: FrontierCounts, corpus: CorpusCounts) -> Report:
    """The counts of all stages, of earlier runs."""
    return Report(
        fetched=tally.fetched,
        archived=tally.counts["archived"],
        parsed=tally.counts["parsed"],
        documents=corpus.documents,
        duplicates=corpus.duplicates,
        near_duplicates=corpus.near_duplicates,
        robots_denied=tally.robots_denied(),
        failed=tally.failed(),
        parked=frontier.parked,
        dead=frontier.dead,
        links_seen=tally.counts["links_seen"],
        urls_new=tally.counts["urls_new"],
        bytes=tally.counts["bytes"],
        seconds=tally.seconds,
        cpu_seconds=tally.cpu_seconds + tally.parser_cpu_seconds,
        parser_cpu_seconds=tally.parser_cpu_seconds,
        pending=frontier.pending + frontier.leased + frontier.waiting,
        hosts=frontier.hosts,
        unchanged=tally.counts["outcome.unchanged"],
        outcomes=tally.named("outcome"),
        dropped_links=tally.named("drop"),
        removed=corpus.removed,
        refused=tally.named("refusal"),
    )


def check(config: Config, seeds: Iterable[Link]) -> None:
    """Refuse what cannot work before anything is started: every value that is more than its type."""
    Rules(config.scope)
    Identity(config.fetch)
    require_contact(config.fetch, OwnHosts(config.scope.own), (host_of(link.url) for link in seeds))


def crawl_seeds(seeds: Iterable[str], out: Path, config: Config) -> Report:
    """What `weft.crawl` does: seeds as people write them, the whole configuration, one call."""
    links = [seed(text) for text in seeds]
    directory = CrawlDirectory.open(out, msgspec.to_builtins(config))
    try:
        check(directory.config, links)
        return uvloop.run(_crawl_seeds(directory, links))
    finally:
        directory.close()


async def _crawl_seeds(directory: CrawlDirectory, seeds: Sequence[Link]) -> Report:
    async with opened(directory) as session:
        await session.add_seeds(seeds)
        _, report = await session.crawl(lambda _: None)
        return report


@contextlib.asynccontextmanager
async def opened(directory: CrawlDirectory) -> AsyncIterator[Session]:
    """Everything a crawl needs, recovered from whatever happened before; closed in order at the end."""
    config, clock, killpoints = directory.config, SystemClock(), KillPoints.from_environment()
    async with contextlib.AsyncExitStack() as stack:
        pool = ParserPool(config, clock)  # processes start before the database opens its threads and files
        stack.push_async_callback(pool.close)
        await pool.start()
        table = await open_table(config.storage.state, directory.path, config.storage.memory)
        stack.push_async_callback(table.close)
        pages = await open_queue(config.storage.state, "pages", _TERM, directory.path, clock)
        stack.push_async_callback(pages.close)
        blobs = await open_blobs(config.storage.blobs, directory.path)
        journals = await open_journals(blobs, directory.path)

        registry = Registry(table)
        corpus_stores = CorpusStores(journals, blobs, table, registry)
        corpus = Corpus(corpus_stores, Exact(table, registry.registered), clock, config.corpus, killpoints)
        archive = Archive(ArchiveStores(journals, blobs, table, pages), clock, config.archive, killpoints)
        stack.push_async_callback(archive.close)
        frontier = Frontier(table, clock, config, admit=lambda url: fetcher.admit(url))
        stack.push_async_callback(frontier.close)
        fetcher = Fetcher.build(config, table, clock, _turns(frontier, config.fetch.total_seconds))
        stack.push_async_callback(fetcher.close)

        tally = Tally()
        shared = Shared(config, clock, table, frontier, archive, pages, killpoints, tally, Handover())
        session = Session(
            directory, shared, frontier, fetcher, corpus, Refiner(shared, pool, corpus), clock.monotonic()
        )
        await tally.load(table)
        await corpus.open()
        await frontier.open()
        await _recover(shared)
        yield session


@dataclass
class Look:
    """A crawl at rest, or seen from beside: no loops, no parsers."""

    frontier: Frontier
    fetcher: Fetcher
    archive: Archive
    report: Report


@contextlib.asynccontextmanager
async def looked_at(directory: CrawlDirectory, *, read_only: bool = True) -> AsyncIterator[Look]:
    """For `status`, `inspect` and `dead`. Read-only, it may stand beside a running crawl."""
    config, clock = directory.config, SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        table = await open_table(config.storage.state, directory.path, read_only=read_only)
        stack.push_async_callback(table.close)
        blobs = await open_blobs(config.storage.blobs, directory.path)
        stores = ArchiveStores(await open_journals(blobs, directory.path), blobs, table, MemoryQueue(clock, _TERM))
        frontier = Frontier(table, clock, config, admit=lambda url: fetcher.admit(url))
        fetcher = Fetcher.build(config, table, clock, _turns(frontier, 0.0))
        stack.push_async_callback(fetcher.close)
        registry, tally = Registry(table), Tally()
        await registry.load()
        await tally.load(table)
        await frontier.open()
        corpus = Corpus(
            CorpusStores(stores.journals, blobs, table, registry),
            Exact(table, registry.registered),
            clock,
            config.corpus,
            KillPoints(),
        )
        archive = Archive(stores, clock, config.archive, KillPoints())
        yield Look(frontier, fetcher, archive, report_of(tally, frontier.counts(), corpus.counts()))
        if not read_only:
            await frontier.close()


def _turns(frontier: Frontier, patience: float) -> Turn:
    """For robots.txt that redirects. Bounded, because two hosts may redirect to each other and wait for each other."""

    async def turn(host: str, holder: str) -> bool:
        try:
            async with asyncio.timeout(patience):
                await frontier.turn(host, holder)
        except TimeoutError:
            return False
        return True

    return turn


async def _recover(shared: Shared) -> None:
    """What was archived before a crash is announced and settled, not fetched again."""
    recovered = await shared.archive.recover()
    await settle(shared, recovered.outcomes)
    await shared.archive.checkpoint(recovered.stored)
