"""An open crawl, as the command line and `weft.crawl` use it: add seeds, crawl, refine anew, report. Made by build."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import msgspec

from .clock import cpu_seconds
from .corpus.corpus import Corpus
from .corpus.corpus import Counts as CorpusCounts
from .crawl import Crawler, Ending, Refiner, Shared, run
from .directory import CrawlDirectory
from .fetch.fetcher import Fetcher
from .foreign import refine_file
from .frontier.frontier import Counts as FrontierCounts
from .frontier.frontier import Frontier
from .frontier.story import Story
from .metrics import Report, SeedEnd, Tally, Wait, meaning_of
from .parse.pool import ParserPool
from .records import Link

Watch: TypeAlias = Callable[[Report], None]
"""Is told how the work stands, once a second."""

Result = TypeVar("Result")
_SEEDS_AT_ONCE: Final = 1000
_UNASKED: Final = ("pending", "leased")
_SEEDS_TOLD: Final = 100  # of those that brought no page


@dataclass(frozen=True)
class Session:
    """Everything that works together on one DIR."""

    directory: CrawlDirectory
    shared: Shared
    fetcher: Fetcher
    pool: ParserPool
    corpus: Corpus
    refiner: Refiner
    started: float  # monotonic
    seeds: list[str] = field(default_factory=list)  # given to this run

    @property
    def frontier(self) -> Frontier:
        return self.shared.frontier

    async def add_seeds(self, seeds: Sequence[Link]) -> list[SeedEnd]:
        """Into the frontier; seeds that are known already change nothing. The first of those that are not taken in."""
        dropped: list[SeedEnd] = []
        for start in range(0, len(seeds), _SEEDS_AT_ONCE):
            some = seeds[start : start + _SEEDS_AT_ONCE]
            added = await self.frontier.add(some)
            self.shared.tally.links(added.new, added.drops)
            for link in some if added.drops and len(dropped) < _SEEDS_TOLD else ():
                story = await self.frontier.explain(link.url)
                if story.state == "unknown":
                    dropped.append(told(link.url, story))
        self.seeds.extend(link.url for link in seeds)
        return dropped[:_SEEDS_TOLD]

    def stop(self) -> None:
        """Finish what is in flight and come to rest."""
        self.shared.pulse.stop()

    async def crawl(self, watch: Watch) -> tuple[Ending, Report]:
        """Both loops, until the crawl's end, its limit or a stop."""
        crawler = Crawler(self.shared, self.fetcher, self.refiner)
        ending = await self._watched(run(crawler, self.refiner), watch)
        return ending, await self._finish(ending)

    async def refine_anew(self, watch: Watch) -> tuple[Ending, Report]:
        """The corpus from the archive, without a request. Pages are announced first: a crash later loses none."""
        await self.shared.archive.announce_all()
        await self.corpus.renew()
        self.shared.tally.forget_pages()
        self.refiner.finish()
        await self._watched(self.refiner.run(), watch)
        ending = Ending.STOPPED if self.shared.pulse.stopping else Ending.EXHAUSTED
        return ending, await self._finish(ending)

    async def refine_files(self, paths: Sequence[Path], watch: Watch) -> tuple[Ending, Report]:
        """Documents from WARC files of others; doing it twice adds nothing."""
        for path in paths:
            await self._watched(refine_file(path, self.pool, self.corpus, self.shared), watch)
        ending = Ending.STOPPED if self.shared.pulse.stopping else Ending.EXHAUSTED
        return ending, await self._finish(ending)

    def report(self) -> Report:
        """How it stands now."""
        self.shared.tally.sample(self.frontier.dropped())
        report = report_of(self.shared.tally, self.frontier.counts(), self.corpus.counts(), self.directory.path)
        waits = self.frontier.waits()
        return msgspec.structs.replace(
            report,
            seconds=report.seconds + self.shared.clock.monotonic() - self.started,
            cpu_seconds=report.cpu_seconds + cpu_seconds(),
            waits=[Wait(wait.host, wait.why, wait.until, wait.urls) for wait in waits.waits],
            wait_urls=waits.urls,
            wait_hosts=waits.hosts,
        )

    async def _watched(self, work: Awaitable[Result], watch: Watch) -> Result:
        watching = asyncio.create_task(self._watch(watch))
        try:
            return await work
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def _watch(self, watch: Watch) -> None:
        while True:
            report = self.report()
            watch(report)
            # In a thread, as a busy disk takes its time; ended before the last snapshot is written to the same file.
            writing = asyncio.create_task(asyncio.to_thread(self.directory.write_progress, report))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await writing
                raise
            await self.shared.clock.sleep(1.0)

    async def _finish(self, ending: Ending) -> Report:
        """Shards whole, counts kept, the report written."""
        await self.corpus.compact(final=True)
        barren, failed = await self._barren(cut=ending in (Ending.LIMIT, Ending.STOPPED))
        report = msgspec.structs.replace(self.report(), ended=ending.value, seeds=barren, seeds_failed=failed)
        tally = self.shared.tally
        tally.seconds, tally.cpu_seconds = report.seconds, report.cpu_seconds - report.parser_cpu_seconds
        await tally.save(self.shared.table)
        self.directory.write_progress(report)
        self.directory.write_report(report)
        return report

    async def _barren(self, *, cut: bool) -> tuple[list[SeedEnd], bool]:
        """Seeds of this run that never brought a page, the first of them; and whether none ever did.

        In a crawl that was cut short, seeds whose turn had not come have not failed.
        """
        barren: list[SeedEnd] = []
        found, unasked, tally = False, False, self.shared.tally
        for number, url in enumerate(self.seeds):
            if number >= _SEEDS_AT_ONCE and (found or not (tally.fetched or tally.counts["outcome.unchanged"])):
                break
            end = await self._end_of(url)
            found = found or end is None
            unasked = unasked or (end is not None and end.word in _UNASKED)
            if end is not None and len(barren) < _SEEDS_TOLD:
                barren.append(end)
        return barren, bool(self.seeds) and not (found or (cut and unasked))

    async def _end_of(self, seed: str) -> SeedEnd | None:
        """Why a seed, or what it redirects to, has brought no page; None: it has."""
        url = seed
        for _ in range(self.shared.config.scope.max_redirects + 1):
            story = await self.frontier.explain(url)
            if story.learned is not None or (story.settled is not None and story.settled.fetches):
                return None
            if story.settled is None or not story.settled.redirect:
                break
            url = story.settled.redirect
        return told(seed, story)


def told(seed: str, story: Story) -> SeedEnd:
    """The end of a seed, or of what it redirected to."""
    lead = "" if story.url == seed else f"redirects to {story.url}: "
    if story.drop is not None:
        return SeedEnd(seed, story.drop.value, f"{lead}not taken in: {meaning_of(story.drop)}")
    if not story.visits:
        return SeedEnd(seed, story.state, lead + (story.next if story.state != "unknown" else "not taken in"))
    last = story.visits[-1]
    detail = f" ({last.detail})" if last.detail else ""
    return SeedEnd(seed, last.reason.value, f"{lead}{last.reason.meaning}{detail}")


def report_of(tally: Tally, frontier: FrontierCounts, corpus: CorpusCounts, path: Path) -> Report:
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
        missing=tally.missing(path),
        waiting=frontier.waiting,
        troubles=list(tally.troubles.values()),
    )
