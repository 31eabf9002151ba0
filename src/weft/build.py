"""Composition root: a crawl's DIR and its configuration in, engines and stages put together, a `Session` out.

The only module that knows engines. `opened` is what the command line and `weft.crawl` use.
"""

import asyncio
import contextlib
import resource
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop

from .archive.store import Archive
from .archive.store import Stores as ArchiveStores
from .check import Check, Knowledge
from .check import Stores as CheckStores
from .clock import SystemClock
from .config import Config, apart
from .corpus import schema
from .corpus.corpus import Corpus
from .corpus.corpus import Stores as CorpusStores
from .corpus.registry import Registry
from .corpus.sides import Side, standing
from .dedup.exact import Exact
from .directory import FORMAT, CrawlDirectory
from .engines import choose
from .engines.choose import open_blobs, open_journals, open_queue, open_table
from .engines.memory import MemoryQueue
from .fetch import dns, trust
from .fetch.fetcher import Fetcher
from .fetch.identity import Identity, require_contact
from .fetch.robots_book import Turn
from .frontier import collector
from .frontier.budget import wide_networks
from .frontier.frontier import Frontier
from .frontier.migration import migrate
from .frontier.pace import quiet_hours
from .handover import Handover
from .killpoints import KillPoints
from .loops import Refiner, Shared, settle
from .metrics import Report, Tally
from .parse.fingerprint import text_digest
from .parse.pool import ParserPool
from .ports import Table
from .records import Link
from .session import Session, report_of
from .urls.host import host_of
from .urls.own import OwnHosts
from .urls.scope import Rules
from .urls.seeds import seed

_TERM: Final = 300.0  # seconds a message of the pages queue is hidden; far longer than its pages take


def check(config: Config, seeds: Iterable[Link]) -> None:
    """Refuse what cannot work before anything is started: every value that is more than its type."""
    Rules(config.scope)
    Identity(config.fetch)
    quiet_hours(config.pace.quiet)
    wide_networks(config.pace.wide_addresses)
    dns.check(config.fetch.resolvers, config.fetch.hosts)
    trust.check(config.fetch.ca_file)
    choose.check(config.storage.state, config.storage.blobs)
    require_contact(config.fetch, OwnHosts(config.scope.own), (host_of(link.url) for link in seeds))


def crawl_seeds(seeds: Iterable[str], out: Path, config: Config) -> Report:
    """What `weft.crawl` does: seeds as people write them, the whole configuration, one call."""
    links = [seed(text) for text in seeds]
    kept, of_run = apart(config)
    directory = CrawlDirectory.open(out, kept, lambda config: check(config, links), of_run)
    try:
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
    _raise_file_limit()
    async with contextlib.AsyncExitStack() as stack:
        pool = ParserPool(config, clock)  # processes start before the database opens its threads and files
        stack.push_async_callback(pool.close)
        await asyncio.gather(pool.start(), asyncio.to_thread(schema.warm_up))
        table = await open_table(config.storage.state, directory.path, config.storage.memory)
        stack.push_async_callback(table.close)
        await _renew(directory, table)
        pages = await open_queue(config.storage.state, "pages", _TERM, directory.path, clock)
        stack.push_async_callback(pages.close)
        blobs = await open_blobs(config.storage.blobs, directory.path)
        journals = await open_journals(blobs, directory.path)

        def corpus_on(side: Side) -> Corpus:
            registry = Registry(table, side)
            exact = Exact(table, registry.registered, side=side.mark)
            return Corpus(CorpusStores(journals, blobs, table, registry), exact, clock, config.corpus, killpoints)

        side = (await standing(table)).live
        corpus = corpus_on(side)
        archive = Archive(ArchiveStores(journals, blobs, table, pages), clock, config.archive, killpoints)
        stack.push_async_callback(archive.close)
        frontier = Frontier(table, clock, config, admit=lambda url: fetcher.admit(url), scratch=directory.path)
        stack.push_async_callback(frontier.close)
        fetcher = Fetcher.build(config, table, clock, _turns(frontier, config.fetch.total_seconds))
        stack.push_async_callback(fetcher.close)

        tally = Tally()
        shared = Shared(config, clock, table, frontier, archive, pages, killpoints, tally, Handover())
        refiner = Refiner(shared, pool, corpus)
        session = Session(
            directory, shared, fetcher, pool, corpus, refiner, clock.monotonic(), lambda: corpus_on(side.other)
        )
        await tally.load(table)
        await corpus.open()
        await frontier.open()
        await _recover(shared, fetcher)
        stack.enter_context(_prompt_loop())
        yield session


async def _renew(directory: CrawlDirectory, table: Table) -> None:
    """Rows of the format before become rows of this one; DIR says so last."""
    if directory.is_of_before:
        await migrate(table, directory.config)
        directory.renew()
        sys.stderr.write(f"weft: {directory.path} is of format 3: made into format {FORMAT}\n")


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
        frontier = Frontier(table, clock, config, admit=lambda url: fetcher.admit(url), scratch=directory.path)
        fetcher = Fetcher.build(config, table, clock, _turns(frontier, 0.0))
        stack.push_async_callback(fetcher.close)
        side, tally = (await standing(table)).live, Tally()
        registry = Registry(table, side)
        await registry.load()
        await tally.load(table)
        await frontier.open()
        corpus = Corpus(
            CorpusStores(stores.journals, blobs, table, registry),
            Exact(table, registry.registered, side=side.mark),
            clock,
            config.corpus,
            KillPoints(),
        )
        archive = Archive(stores, clock, config.archive, KillPoints())
        yield Look(frontier, fetcher, archive, report_of(tally, frontier.counts(), corpus.counts(), directory.path))
        if not read_only:
            await frontier.close()


@contextlib.asynccontextmanager
async def checked(directory: CrawlDirectory) -> AsyncIterator[Check]:
    """For `check`: every store to be read, none to be written; DIR is held, so that nobody works on it meanwhile."""
    config, clock = directory.config, SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        table = await open_table(config.storage.state, directory.path, read_only=True)
        stack.push_async_callback(table.close)
        blobs = await open_blobs(config.storage.blobs, directory.path)
        journals = await open_journals(blobs, directory.path)
        stack.push_async_callback(journals.close)
        side = (await standing(table)).live
        registry, tally = Registry(table, side), Tally()
        await registry.load()
        await tally.load(table)
        yield Check(
            CheckStores(
                journals, blobs, table, registry, choose.messages_at_rest(config.storage.state, "pages", directory.path)
            ),
            clock,
            config.storage.partitions,
            Knowledge(tally, Exact(table, registry.registered, side=side.mark).knows, text_digest),
        )


@contextlib.contextmanager
def _prompt_loop() -> Iterator[None]:
    """A host that is due should not wait for the interpreter."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)  # threads that encode segments and WARC records give the loop its turn sooner
    try:
        with collector.calm():
            yield
    finally:
        sys.setswitchinterval(interval)


def _raise_file_limit() -> None:
    """Connections are kept open for their host's next turn, and are many: take what the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


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


async def _recover(shared: Shared, fetcher: Fetcher) -> None:
    """What was archived before a crash is announced and settled, not fetched again; Crawl-delays are known at once."""
    recovered = await shared.archive.recover()
    placed = zip(recovered.outcomes, recovered.places, strict=True)
    uncounted = [outcome for outcome, (file, end) in placed if not shared.tally.has_counted(file, end)]
    await settle(shared, recovered.outcomes, recovered.stored, uncounted)
    await shared.archive.checkpoint(recovered.stored)
    for orphan in shared.frontier.orphans():
        verdict = await fetcher.book.verdict(orphan.url)
        if verdict is not None:
            shared.frontier.slow_down(orphan, verdict.crawl_delay)
