"""The two loops. `Crawler` is frontier → fetch → archive; `Refiner` is archive → parse → corpus, links → frontier.

They share the archive, the pages queue and the frontier's `add` and `learn`. `run` runs both until the crawl's end, its
limit, or a stop; whatever is under way is settled first. A kill at any line costs work done twice, never work lost.
"""

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

import msgspec

from .archive.store import Archive, Stored
from .config import Config
from .corpus.corpus import Corpus
from .fetch.fetcher import Fetched, Fetcher
from .frontier.frontier import Frontier
from .handover import Handover
from .killpoints import KillPoints
from .limits import Amounts
from .metrics import Tally
from .parse.pool import ParserPool
from .ports import Clock, Message, Queue, Table
from .records import Announcement, Lease, Link, Outcome, Page, Reason

log = logging.getLogger(__name__)
Item = TypeVar("Item")

_COMMIT_BATCH: Final = 256  # captures; a group commit starts early when so many wait
_UNSTORED: Final = 64 << 20  # bytes of bodies; while more wait to be stored, nothing new is asked for
_RESOLVE_BATCH: Final = 100
_LISTEN: Final = 0.2  # seconds; how soon the refiner notices that it should finish
_PARSED: Final = 64  # messages that may wait to be committed, while a shard is written say
_PORTION: Final = 512 << 10  # bytes of archived records that are parsed together, or one record
_MESSAGES: Final = 8  # pages-queue messages parsed at once: keeps every parser busy while others are committed


class Ending(Enum):
    """Why the crawl came to rest."""

    EXHAUSTED = "exhausted"  # nothing can become ready except what is parked or dead
    LIMIT = "limit"  # pages, bytes or time
    WAITING = "waiting"  # what is left waits longer than a minute for something to heal; nothing lost, run it again
    STOPPED = "stopped"  # by a person; nothing lost, run it again
    INCOMPLETE = "incomplete"  # of refine: not all could be read, and the corpus of before was kept


class Mark(Enum):
    """What a queue of things to be committed together says beside them."""

    NOW = "now"  # nothing more is to be expected soon: what came before need not wait for it
    LAST = "last"  # nothing more will come


class Pulse:
    """Wakes the crawler when something changed: an answer, a new link, a settled lease, a stop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.stopping = False

    def beat(self) -> None:
        self._event.set()

    def stop(self) -> None:
        self.stopping = True
        self._event.set()

    async def wait(self, seconds: float | None) -> None:
        """Until the next beat, or for `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        self._event.clear()


@dataclass(frozen=True)
class Shared:
    """What both loops hold."""

    config: Config
    clock: Clock
    table: Table
    frontier: Frontier
    archive: Archive
    pages: Queue
    killpoints: KillPoints
    tally: Tally
    handover: Handover
    pulse: Pulse = field(default_factory=Pulse)


class Crawler:
    """Leases in, announced captures out."""

    def __init__(self, shared: Shared, fetcher: Fetcher, refiner: "Refiner", until: Amounts) -> None:
        """`until`: the totals at which it ends by itself."""
        self._shared = shared
        self._fetcher = fetcher
        self._refiner = refiner
        self._until = until
        self._answers: asyncio.Queue[Fetched | Mark] = asyncio.Queue()
        self._started = shared.clock.monotonic()
        self._unstored = 0  # bytes of bodies that wait to be stored
        self._asking = 0  # leased and not answered
        self._waiting = 0  # answered, and in no group commit yet
        self.under_way = 0  # leased and not settled

    async def run(self) -> Ending:
        """Until the end, a limit or a stop; returns when every lease it took is settled."""
        frontier, pulse = self._shared.frontier, self._shared.pulse
        async with asyncio.TaskGroup() as tasks:
            helpers = [tasks.create_task(self._commit()), tasks.create_task(self._resolve())]
            while (ending := await self._ending()) is None:
                room = self._room()
                leases = await frontier.lease(room)  # also of none: what hosts are owed is written down
                self._shared.killpoints.reach("frontier.leased")
                self.under_way += len(leases)
                self._asking += len(leases)
                for lease in leases:
                    tasks.create_task(self._visit(lease))
                if not leases:
                    ready_in = frontier.ready_in() if room else None
                    await self._press(ready_in)
                    await pulse.wait(self._patience(ready_in))
            while self.under_way:
                await self._press(None)
                await pulse.wait(None)
            for helper in helpers:
                helper.cancel()
        return ending

    async def _ending(self) -> Ending | None:
        if self._shared.pulse.stopping:
            return Ending.STOPPED
        if self._limit_reached():
            return Ending.LIMIT
        if self.under_way or await self._refiner.may_find_links():
            return None
        outlook = await self._shared.frontier.outlook()
        if outlook.ready_in is None:
            return Ending.EXHAUSTED
        return Ending.WAITING if outlook.long and self._shared.config.frontier.finish == "prompt" else None

    def _limit_reached(self) -> bool:
        tally = self._shared.tally
        return self._until.reached(Amounts(tally.fetched, tally.counts["bytes"], self._seconds()))

    def _seconds(self) -> float:
        """Of all runs."""
        return self._shared.tally.seconds + self._shared.clock.monotonic() - self._started

    async def _press(self, ready_in: float | None) -> None:
        """What waits for company goes at once when none can come: nothing is asked, and nothing can be soon.

        While there is work, a group commit waits its time, so that each sync serves many.
        """
        config, refiner = self._shared.config, self._refiner
        quiet = float("inf") if ready_in is None else ready_in  # seconds until a request can be made
        if self._asking or quiet < config.crawl.commit_seconds:
            return
        if self._waiting:
            self._answers.put_nowait(Mark.NOW)
        elif not self.under_way and quiet >= config.corpus.segment_seconds and not await refiner.may_find_links():
            refiner.press()

    def _patience(self, ready_in: float | None) -> float | None:
        """How long to wait for something to change: until a host is ready or the time is up."""
        left = max(0.0, self._until.seconds - self._seconds()) if self._until.seconds else None
        return min((wait for wait in (ready_in, left) if wait is not None), default=None)

    def _room(self) -> int:
        """How many more requests may be under way."""
        if self._unstored > _UNSTORED:
            return 0
        limits = self._shared.config.crawl
        room = min(limits.connections - self.under_way, limits.backlog - self._refiner.backlog)
        if self._until.pages:
            room = min(room, self._until.pages - self._shared.tally.fetched - self.under_way)
        return max(0, room)

    async def _visit(self, lease: Lease) -> None:
        try:
            fetched = await self._fetcher.fetch(lease)
        except Exception:  # a fault of ours costs an attempt at one URL, not the crawl
            log.exception("fetching %s", lease.url)
            fetched = Fetched(Outcome(lease, Reason.OUR_FAULT, self._shared.clock.now()), ())
        self._shared.killpoints.reach("fetch.answered")
        self._shared.frontier.answered(fetched.outcome)
        self._unstored += size_of(fetched)
        self._asking -= 1
        self._waiting += 1
        self._answers.put_nowait(fetched)
        self._shared.pulse.beat()

    async def _commit(self) -> None:
        """Group commit: captures durable → announced → leases settled → checkpoint."""
        shared = self._shared
        while True:
            batch = await gather(self._answers, shared.config.crawl.commit_seconds, _COMMIT_BATCH)
            self._waiting -= len(batch)
            stored = await shared.archive.store([(fetched.outcome, fetched.captures) for fetched in batch])
            self._unstored -= sum(map(size_of, batch))
            shared.handover.give((one for fetched in batch for one in fetched.captures), stored.announcements)
            self._refiner.backlog += len(stored.announcements)
            await self._add([link for fetched in batch for link in fetched.links])
            await settle(shared, [fetched.outcome for fetched in batch], stored)
            await shared.archive.checkpoint(stored)
            self.under_way -= len(batch)
            shared.pulse.beat()

    async def _add(self, links: Sequence[Link]) -> None:
        if links:
            added = await self._shared.frontier.add(links)
            self._shared.tally.links(added.new, added.drops)

    async def _resolve(self) -> None:
        """Find the addresses of hosts before their first request, so that budgets per address hold from the start."""
        while True:
            hosts = await self._shared.frontier.wants_address(_RESOLVE_BATCH)
            self._shared.frontier.resolved(await self._fetcher.resolve(hosts))
            self._shared.pulse.beat()


@dataclass(frozen=True)
class Parsed:
    """One message of the pages queue, parsed; its links are in the frontier, its pages not yet in the corpus."""

    message: Message
    pages: Sequence[tuple[Announcement, Page]]


class Refiner:
    """Announcements in; documents, links and findings out."""

    def __init__(self, shared: Shared, pool: ParserPool, corpus: Corpus) -> None:
        self._shared = shared
        self._pool = pool
        self._corpus = corpus
        self._parsed: asyncio.Queue[Parsed | Mark] = asyncio.Queue(_PARSED)
        self._parsing = 0  # messages
        self._unacked = 0  # messages parsed, their links in the frontier, not yet committed
        self._acking = False
        self._draining = False
        self._ended = False  # nothing will be parsed any more
        self.backlog = 0  # captures announced in this run and not refined

    async def run(self) -> None:
        """Until `finish`, and then until everything received is committed."""
        room = asyncio.Semaphore(_MESSAGES)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._commit())
            async with asyncio.TaskGroup() as parsing:
                while not await self._done():
                    await room.acquire()
                    messages = await self._shared.pages.receive(1, wait=_LISTEN)
                    if not messages:
                        room.release()
                    self._parsing += len(messages)
                    for message in messages:
                        parsing.create_task(self._parse(message)).add_done_callback(lambda _: room.release())
            await self._parsed.put(Mark.LAST)

    def finish(self) -> None:
        """No more captures will be announced by us: leave when the queue is empty (or at once, when stopping)."""
        self._draining = True

    def press(self) -> None:
        """Nothing will be parsed soon: what waits for its segment is committed as it is."""
        if self._unacked and not self._parsed.full():  # a full one holds more than a segment
            self._parsed.put_nowait(Mark.NOW)

    async def may_find_links(self) -> bool:
        """Is there a page announced whose links are not yet in the frontier?"""
        size = await self._shared.pages.size()
        # While messages are being acked, nobody knows whether the size still counts them.
        return bool(self._parsing) or self._acking or size > self._unacked

    async def _done(self) -> bool:
        if not self._draining:
            return False
        return self._shared.pulse.stopping or not await self.may_find_links()

    async def _parse(self, message: Message) -> None:
        announcements = Archive.announcements(message.body)
        pages: list[Page] = []
        for portion in portions(announcements):
            jobs = await self._shared.handover.take(portion, self._shared.archive)
            parsed = await self._pool.parse(jobs)
            self._shared.killpoints.reach("parse.parsed")
            added = await self._shared.frontier.add_pages(parsed)
            self._shared.tally.links(added.new, added.drops)
            pages += [msgspec.structs.replace(page, links=()) for page in parsed]  # 30 MB of a page of 100,000
        self._unacked += 1
        self._parsing -= 1
        self.backlog -= len(pages)
        self._shared.pulse.beat()
        await self._parsed.put(Parsed(message, list(zip(announcements, pages, strict=True))))

    async def _commit(self) -> None:
        """Documents durable and registered → findings learned → messages acked."""
        shared = self._shared
        while batch := await self._segment():
            pages = [pair for parsed in batch for pair in parsed.pages]
            findings = await self._corpus.commit(pages)
            await shared.frontier.learn(findings)
            shared.killpoints.reach("frontier.learned")
            self._acking = True
            await shared.pages.ack([parsed.message for parsed in batch])
            self._unacked -= len(batch)
            self._acking = False
            for _, page in pages:
                shared.tally.page(page)
            shared.pulse.beat()
            await self._corpus.compact()

    async def _segment(self) -> list[Parsed]:
        """What becomes one segment: enough rows, or as many as came in time, or the rest. Empty: that was all."""
        limits = self._shared.config.corpus
        batch: list[Parsed] = []
        if self._ended or isinstance(first := await next_item(self._parsed), Mark):
            return batch
        batch.append(first)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limits.segment_seconds):
                while sum(len(parsed.pages) for parsed in batch) < limits.segment_rows:
                    if isinstance(parsed := await self._parsed.get(), Mark):
                        self._ended = parsed is Mark.LAST
                        break
                    batch.append(parsed)
        return batch


def portions(announcements: Sequence[Announcement]) -> Iterator[list[Announcement]]:
    """What is parsed together: bounds the bodies and links that are in memory at once. Packed, a link takes 2 bytes."""
    portion: list[Announcement] = []
    size = 0
    for announcement in announcements:
        if portion and size + announcement.position.length > _PORTION:
            yield portion
            portion, size = [], 0
        portion.append(announcement)
        size += announcement.position.length
    if portion:
        yield portion


def size_of(fetched: Fetched) -> int:
    """Bytes of the bodies it brought."""
    return sum(len(capture.exchange.body) for capture in fetched.captures)


async def settle(
    shared: Shared, outcomes: Sequence[Outcome], stored: Stored, uncounted: Sequence[Outcome] | None = None
) -> None:
    """End leases and count how they ended; behind a crash only those that were `uncounted` before it."""
    added = await shared.frontier.settle(outcomes)
    shared.killpoints.reach("frontier.settled")
    shared.tally.outcomes(outcomes if uncounted is None else uncounted)
    shared.tally.reaches(stored.ends)
    shared.tally.links(added.new, added.drops)
    await shared.tally.save(shared.table)
    shared.killpoints.reach("frontier.counted")


async def run(crawler: Crawler, refiner: Refiner) -> Ending:
    """Both loops in one process."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(refiner.run())
        ending = await crawler.run()
        refiner.finish()
    return ending


async def next_item(queue: "asyncio.Queue[Item | Mark]") -> Item | Mark:
    """The next one, or `Mark.LAST`. Where nothing waits, `Mark.NOW` says nothing."""
    while (item := await queue.get()) is Mark.NOW:
        pass
    return item


async def gather(queue: "asyncio.Queue[Item | Mark]", seconds: float, limit: int) -> list[Item]:
    """Wait for one item, then for up to `seconds` more of them, for `limit` or for a mark."""
    items: list[Item] = []
    if isinstance(first := await next_item(queue), Mark):
        return items
    items.append(first)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while len(items) < limit and not isinstance(item := await queue.get(), Mark):
                items.append(item)
    return items
