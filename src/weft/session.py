"""An open crawl, as the command line and `weft.crawl` use it: add seeds, crawl, refine anew, report. Made by build."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import msgspec

from . import limits
from .archive.retelling import Retelling
from .archive.survey import Lost
from .clock import cpu_seconds
from .corpus.corpus import Corpus
from .corpus.corpus import Counts as CorpusCounts
from .crawl import Crawler, Ending, Refiner, Shared, run
from .directory import CrawlDirectory
from .fetch.fetcher import Fetcher
from .foreign import refine_file
from .frontier.frontier import Counts as FrontierCounts
from .frontier.frontier import Frontier
from .handover import Handover
from .limits import NO_LIMITS, Amounts
from .metrics import Damage, ReadFile, Refined, Report, Tally
from .parse.pool import ParserPool
from .records import Link

Watch: TypeAlias = Callable[[Report], None]
"""Is told how the work stands, once a second."""

Result = TypeVar("Result")
_SEEDS_AT_ONCE: Final = 1000


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
    renewed: Callable[[], Corpus]  # beside `corpus`, to be made anew

    @property
    def frontier(self) -> Frontier:
        return self.shared.frontier

    async def add_seeds(self, seeds: Sequence[Link]) -> None:
        """Into the frontier; seeds that are known already change nothing."""
        for start in range(0, len(seeds), _SEEDS_AT_ONCE):
            added = await self.frontier.add(seeds[start : start + _SEEDS_AT_ONCE])
            self.shared.tally.links(added.new, added.drops)

    def stop(self) -> None:
        """Finish what is in flight and come to rest."""
        self.shared.pulse.stop()

    async def begin(self, of_run: Amounts = NO_LIMITS, *, again: bool = False) -> Amounts:
        """A run begins, or goes on; the totals at which it will end by itself."""
        tally = self.shared.tally
        spent = Amounts(tally.fetched, tally.counts["bytes"], tally.seconds)
        begun = await limits.begin(self.shared.table, spent, again=again)
        return limits.until(Amounts.of(self.shared.config.crawl), of_run, begun.start)

    async def crawl(self, watch: Watch, until: Amounts | None = None) -> tuple[Ending, Report]:
        """Both loops, until the crawl's end, a limit (those `begin` gave, if it was called) or a stop."""
        crawler = Crawler(self.shared, self.fetcher, self.refiner, until or await self.begin())
        ending = await self._watched(run(crawler, self.refiner), watch)
        report = await self._finish(ending)
        await limits.end(self.shared.table, ending.value)
        return ending, report

    async def refine_anew(self, watch: Watch, *, partial: bool = False) -> tuple[Ending, Report]:
        """The corpus from the archive, without a request: made beside the old one, which counts until it is whole.

        `partial`: it takes the old one's place whatever could not be read.
        """
        tally, corpus = self.shared.tally, self.renewed()
        await corpus.begin()
        told = Retelling(self.shared.archive.survey(), self.shared.clock)
        refiner = Refiner(replace(self.shared, pages=told, handover=Handover()), self.pool, corpus)
        refiner.finish()
        forgotten = tally.forget_pages()
        anew = replace(self, corpus=corpus, refiner=refiner)
        await anew._watched(refiner.run(), watch)
        refined = _refined(told.lost, self.corpus.counts().pages, corpus.counts())
        stopped, whole = self.shared.pulse.stopping, not (refined.files or refined.missing)
        if not stopped and (whole or partial):
            await corpus.take_place()
            return Ending.EXHAUSTED, await anew._finish(Ending.EXHAUSTED, refined)
        await corpus.give_up()
        tally.recall_pages(forgotten)
        ending = Ending.STOPPED if stopped else Ending.INCOMPLETE
        return ending, await self._finish(ending, refined)

    async def refine_files(self, paths: Sequence[Path], watch: Watch) -> tuple[Ending, Report]:
        """Documents from WARC files of others; doing it twice adds nothing."""
        files = [
            await self._watched(refine_file(path, self.pool, self.corpus, self.shared), watch)
            for path in paths
            if not self.shared.pulse.stopping
        ]
        ending = Ending.STOPPED if self.shared.pulse.stopping else Ending.EXHAUSTED
        return ending, await self._finish(ending, Refined(tuple(files), documents=self.corpus.counts().documents))

    def report(self) -> Report:
        """How it stands now."""
        report = report_of(self.shared.tally, self.frontier.counts(), self.corpus.counts())
        seconds = report.seconds + self.shared.clock.monotonic() - self.started
        return msgspec.structs.replace(report, seconds=seconds, cpu_seconds=report.cpu_seconds + cpu_seconds())

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
            self.shared.tally.running = self.shared.clock.monotonic() - self.started
            watch(report)
            # In a thread, as a busy disk takes its time; ended before the last snapshot is written to the same file.
            writing = asyncio.create_task(asyncio.to_thread(self.directory.write_progress, report))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await writing
                raise
            await self.shared.clock.sleep(1.0)

    async def _finish(self, ending: Ending, refined: Refined | None = None) -> Report:
        """Shards whole, counts kept, the report written."""
        await self.corpus.compact(final=True)
        report = msgspec.structs.replace(self.report(), ended=ending.value, refined=refined)
        tally = self.shared.tally
        tally.running = 0.0
        tally.seconds, tally.cpu_seconds = report.seconds, report.cpu_seconds - report.parser_cpu_seconds
        await tally.save(self.shared.table)
        self.directory.write_progress(report)
        self.directory.write_report(report)
        return report


def _refined(lost: Sequence[Lost], before: int, counts: CorpusCounts) -> Refined:
    """The files with damage, each once, and how many pages fewer there are than `before`."""
    files = {gap.file: tuple(Damage(one.offset, one.records) for one in lost if one.file == gap.file) for gap in lost}
    damaged = tuple(ReadFile(name, damaged=gaps) for name, gaps in files.items())
    return Refined(damaged, max(0, before - counts.pages), counts.documents)


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
