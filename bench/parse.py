"""Pages per second and CPU per page of the parser pool, beside a ProcessPoolExecutor that does the same work.

`python -m bench.parse [PAGES.parquet]` (columns url and html; looked for in ../shared/data, else pages are made up).
"""

import asyncio
import gzip
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import uvloop
from isal import igzip

from bench.parse_echo import answer
from weft.clock import SystemClock, cpu_seconds
from weft.config import Config, override
from weft.parse.pool import WORKER, ParserPool
from weft.parse.reader import Reader
from weft.parse.wire import ParseJob
from weft.records import Page

REAL_PAGES = Path(__file__).parents[2] / "shared" / "data" / "extraction-dev.parquet"
HEADERS = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
ECHO = (sys.executable, "-m", "bench.parse_echo")
BATCH = 16
CALLERS = 8
ROUNDS = 3


class Measured(msgspec.Struct, frozen=True):
    """One way of parsing, measured. Milliseconds are CPU per page."""

    pages_per_second: float
    parent_ms: float
    parsers_ms: float
    links: float
    refused: int


def real_pages(path: Path, most: int = 300) -> list[ParseJob]:
    """Bodies as the archive holds them: compressed."""
    rows = pq.read_table(path, columns=["url", "html"]).slice(0, most).to_pylist()
    return [ParseJob(str(number), row["url"], igzip.compress(row["html"]), HEADERS) for number, row in enumerate(rows)]


def made_up_pages(count: int = 400) -> list[ParseJob]:
    """Pages of 142 links and some text, where no real ones are at hand."""
    jobs = []
    for number in range(count):
        links = "".join(
            f"<li><a href='/section/{link % 60}/page-{number + link}.html'>Link {link}</a>" for link in range(142)
        )
        text = "".join(
            f"<p>Sentence {line} of page {number} says something that none of the others say.</p>" for line in range(60)
        )
        html = f"<title>Page {number}</title><nav><ul>{links}</ul></nav><article>{text}</article>"
        jobs.append(
            ParseJob(str(number), f"https://host{number % 20}.example/{number}", igzip.compress(html.encode()), HEADERS)
        )
    return jobs


class Totals:
    """Sums over pages; the pages themselves are let go, as the refine loop does."""

    def __init__(self) -> None:
        self.pages = self.links = self.refused = 0
        self.parsers = 0.0
        self.wall, self.parent = time.perf_counter(), cpu_seconds()

    def add(self, page: Page) -> None:
        self.pages += 1
        self.links += page.links_seen
        self.refused += page.refusal is not None
        self.parsers += page.cpu

    def measured(self) -> Measured:
        wall, parent = time.perf_counter() - self.wall, cpu_seconds() - self.parent
        return Measured(
            pages_per_second=self.pages / wall,
            parent_ms=parent / self.pages * 1000,
            parsers_ms=self.parsers / self.pages * 1000,
            links=self.links / self.pages,
            refused=self.refused,
        )


async def ours(jobs: Sequence[ParseJob], config: Config, command: Sequence[str]) -> Measured:
    """The pool, with several callers as the refine loop has."""
    pool = ParserPool(config, SystemClock(), command)
    await pool.start()
    waiting = iter([jobs[start : start + BATCH] for start in range(0, len(jobs), BATCH)])
    totals = Totals()

    async def caller() -> None:
        for batch in waiting:
            for page in await pool.parse(batch):
                totals.add(page)

    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    measured = totals.measured()
    await pool.close()
    return measured


def rival(jobs: Sequence[ParseJob], config: Config, read: Callable[[ParseJob], Page]) -> Measured:
    """The standard library's pool: no limits, no replacement, pickle for wire."""
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    with ProcessPoolExecutor(config.parse.workers, get_context("spawn"), _start, (config,)) as executor:
        list(executor.map(read, jobs[:8]))
        totals = Totals()
        for page in executor.map(read, jobs, chunksize=BATCH):
            totals.add(page)
        return totals.measured()


class Rival:
    """What a process of the standard pool keeps between two pages."""

    reader: Reader


def _start(config: Config) -> None:
    Rival.reader = Reader(config)


def _read(job: ParseJob) -> Page:
    begun = time.process_time()
    page = Rival.reader.read(job)
    return msgspec.structs.replace(page, cpu=time.process_time() - begun)


def side_by_side(
    jobs: Sequence[ParseJob], config: Config, command: Sequence[str], read: Callable[[ParseJob], Page]
) -> tuple[Measured, Measured]:
    """Both in turn, the best round of each: other work on the machine disturbs neither more."""
    rounds = [(uvloop.run(ours(jobs, config, command)), rival(jobs, config, read)) for _ in range(ROUNDS)]
    pools, others = zip(*rounds, strict=True)
    return max(pools, key=_speed), max(others, key=_speed)


def _speed(measured: Measured) -> float:
    return measured.pages_per_second


def show(name: str, result: Measured) -> None:
    print(
        f"  {name:28} {result.pages_per_second:6.0f} pages/s   loop {result.parent_ms:.3f} ms   "
        f"parsers {result.parsers_ms:.2f} ms   {result.links:.0f} links   {result.refused} refused"
    )


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else REAL_PAGES
    jobs = real_pages(path) if path.exists() else made_up_pages()
    config = override(Config(), "parse", workers=max(1, len(os.sched_getaffinity(0)) - 1))
    size = statistics.mean(len(gzip.decompress(job.body)) for job in jobs)
    origin = "real" if path.exists() else "made-up"
    print(f"parse: {len(jobs)} {origin} pages, {size / 1000:.0f} KB on average; milliseconds are CPU per page")
    whole, other = side_by_side(jobs, config, WORKER, _read)
    wire, other_wire = side_by_side(jobs * 5, config, ECHO, answer)
    show("weft", whole)
    show("ProcessPoolExecutor", other)
    show("weft, wire alone", wire)
    show("ProcessPoolExecutor, the same", other_wire)
    print(f"  pages per second: {whole.pages_per_second / other.pages_per_second:.2f} of the standard library's pool")
    print(f"  loop per page, wire alone: {wire.parent_ms / other_wire.parent_ms:.2f} of the standard library's pool")


if __name__ == "__main__":
    main()
