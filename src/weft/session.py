"""An open crawl, as the command line and `weft.crawl` use it: add seeds, crawl, refine anew, report. Made by build."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import msgspec

from . import limits
from .archive.retelling import Retelling
from .archive.survey import Lost
from .clock import cpu_seconds
from .corpus.corpus import Corpus
from .corpus.corpus import Counts as CorpusCounts
from .directory import CrawlDirectory
from .fetch.fetcher import Fetcher
from .foreign import refine_file
from .frontier.frontier import Counts as FrontierCounts
from .frontier.frontier import Frontier
from .frontier.leftovers import Left
from .frontier.story import Story
from .handover import Handover
from .limits import NO_LIMITS, Amounts
from .loops import Crawler, Ending, Refiner, Shared, run
from .metrics import Cap, Damage, Hold, ReadFile, Refined, Report, SeedEnd, Tally, Wait, hold_of, meaning_of
from .parse.pool import ParserPool
from .records import Drop, Link

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
    renewed: Callable[[], Corpus]  # beside `corpus`, to be made anew
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
        self.shared.tally.sample(self.frontier.dropped())
        report = report_of(self.shared.tally, self.frontier.counts(), self.corpus.counts(), self.directory.path)
        waits = self.frontier.waits()
        return msgspec.structs.replace(
            with_left(report, self.frontier.left(), self.directory.path),
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
            await self.frontier.glance()
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
        await self.frontier.leftovers()
        barren, failed = await self._barren(cut=ending in (Ending.LIMIT, Ending.STOPPED))
        report = msgspec.structs.replace(
            self.report(), ended=ending.value, refined=refined, seeds=barren, seeds_failed=failed
        )
        tally = self.shared.tally
        tally.running = 0.0
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


def _refined(lost: Sequence[Lost], before: int, counts: CorpusCounts) -> Refined:
    """The files with damage, each once, and how many pages fewer there are than `before`."""
    files = {gap.file: tuple(Damage(one.offset, one.records) for one in lost if one.file == gap.file) for gap in lost}
    damaged = tuple(ReadFile(name, damaged=gaps) for name, gaps in files.items())
    return Refined(damaged, max(0, before - counts.pages), counts.documents)


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
        held=frontier.held,
        capped=frontier.capped,
    )


def with_left(report: Report, left: Left, path: Path) -> Report:
    """What will not be asked for by itself, by name."""
    return msgspec.structs.replace(
        report,
        holds=[hold_of(Hold(**msgspec.structs.asdict(group)), path) for group in left.holds],
        hold_groups=left.groups,
        caps=[Cap(cap.word, cap.urls, cap.hosts, cap.example, meaning_of(Drop(cap.word))) for cap in left.caps],
    )
