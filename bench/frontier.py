"""The frontier on RocksDB: what a URL costs when it is new, when it was seen, when it is leased and when it is settled.

`python -m bench.frontier` runs the short form: 1 and 2 million URLs, and Scrapy's scheduler (disk queue, dupe filter)
on a million of the same. `python -m bench.frontier --urls 100000000 --hosts 1000000` is the long form: an hour and a
quarter to two hours, some 15 GB of disk. CPU is ours and that of RocksDB's threads until they are done. Both sizes are
measured in turn, a slice at a time.
"""

import argparse
import asyncio
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any, Final, TypeAlias

import uvloop
import xxhash

from bench.frontier_urls import EPOCH, Urls
from weft.clock import ManualClock, SystemClock
from weft.config import Config, Pace, Scope
from weft.engines.rocksdb import RocksTable
from weft.frontier import collector
from weft.frontier.frontier import Frontier
from weft.records import Asked, Lease, Link, Outcome, Reason

REFERENCE: Final = (1_000_000, 100_000)
COUNTED: Final = 1_000_000  # new URLs over which the cost is taken: the last, and half of all at most
SHARE: Final = 10  # but at least one in so many: a large store is put in order seldom, and then at length
SEEN: Final = 1_000_000  # links that are known already
WARMING: Final = 10  # such links before for each URL: pages with 12 new links and 130 known ones bring about as many
MOST_WARMING: Final = 100_000_000  # more would take hours
LEASES: Final = 100_000  # first requests to hosts, all in one moment: more, and what is kept of each would add up
PAGE: Final = 12  # new links of a page, three each on four hosts
KNOWN: Final = 130  # known links of a page
PAGES: Final = 16  # whose links come in one call; a crawl hands over those of up to 64
SLICES: Final = 5
PARTS: Final = {"fill": 1, "new": SLICES, "lease": SLICES, "warm": SLICES, "seen": SLICES, "check": 1, "close": 1}
COMPACTING: Final = ("num-running-compactions", "num-running-flushes", "mem-table-flush-pending")
CALM: Final = 3  # looks in a row that see no such work: RocksDB takes a moment from one merge to the next

Figures: TypeAlias = dict[str, float]


class Bench:
    """One form: so many URLs of so many hosts. Costs are CPU µs."""

    def __init__(self, urls: int, hosts: int, folder: Path) -> None:
        self.count = urls
        self.counted = min(urls // 2, max(COUNTED, urls // SHARE))
        self.added = 0
        self.urls = Urls(hosts)
        self.folder = folder
        self.clock = ManualClock()
        config = Config(scope=Scope(reach="any"), pace=Pace(delay=1.0))
        self.table = RocksTable(folder, SystemClock(), config.storage.memory)
        self.frontier = Frontier(self.table, self.clock, config, scratch=folder)
        self.random = Random(7)

    async def answer(self) -> None:
        """Do the parts that are asked for on standard input, a line each; tell the figures of each."""
        parts = {"fill": self.fill, "new": self.add_new, "warm": self.warm, "seen": self.add_seen}
        parts |= {"check": self.check, "lease": self.lease_and_settle, "close": self.close}
        with collector.calm():  # as a crawl does when it starts
            await self.frontier.open()
            for line in sys.stdin:
                print(json.dumps(await parts[line.strip()]()), flush=True)

    async def fill(self) -> Figures:
        """Take in all but what is counted, in large calls, which cost less."""
        begun = time.monotonic()
        for epoch in range((self.count - self.counted) // EPOCH):
            await self.frontier.add(self.urls.epoch(epoch))
            await self.resolve(5000)
            self.added += EPOCH
            if epoch % 1000 == 999:
                rate = self.added / (time.monotonic() - begun)
                say(f"{self.added:,} of {self.count:,} URLs, {rate:,.0f} a second, {memory_mb():,.0f} MB")
        await self.compacted()
        return {}

    async def add_new(self) -> Figures:
        """A share of what is counted, a few pages at a time."""
        spent, first = -others_seconds(), self.added
        while self.added < min(first + self.counted // SLICES, self.count):
            last = min(self.added + PAGE * PAGES, self.count)
            pages = range(self.added, last, PAGE)
            links = [link for start in pages for link in self.urls.page(start, min(start + PAGE, last))]
            before = time.thread_time()
            await self.frontier.add(links)
            spent += time.thread_time() - before
            self.added = last
            await self.resolve(5000)
        await self.compacted()
        spent += others_seconds()
        return {"add_new": spent / (self.added - first) * 1e6}

    async def warm(self) -> Figures:
        """A share of what brings memory and sketches to where a crawl would have them that knows so many URLs."""
        for _ in range(min(WARMING * self.count, MOST_WARMING) // SLICES // (KNOWN * PAGES)):
            await self.frontier.add(self.known_links())
        await self.compacted()
        return {}

    async def add_seen(self) -> Figures:
        """Links by a power law over all URLs."""
        spent, calls = -others_seconds(), SEEN // SLICES // (KNOWN * PAGES)
        for _ in range(calls):
            links = self.known_links()
            before = time.thread_time()
            added = await self.frontier.add(links)
            spent += time.thread_time() - before
            assert added.new == 0, added
        await self.compacted()
        spent += others_seconds()
        return {"add_seen": spent / (calls * PAGES * KNOWN) * 1e6}

    async def check(self) -> Figures:
        """The wall time of single checks."""
        checks = []
        for _ in range(20_000):
            links = self.urls.known(self.random, self.added, 1)
            moment = time.perf_counter()
            await self.frontier.add(links)
            checks.append(time.perf_counter() - moment)
        checks.sort()
        return {"seen_p50": checks[10_000] * 1e6, "seen_p99": checks[19_800] * 1e6}

    def known_links(self) -> list[Link]:
        return [link for _ in range(PAGES) for link in self.urls.known(self.random, self.added, KNOWN)]

    async def compacted(self) -> None:
        """Wait until RocksDB has put in order what was added."""
        families, calm = (self.table._few, self.table._many), 0
        for _ in range(6000):
            busy = any(one.property_int_value(f"rocksdb.{name}") for name in COMPACTING for one in families)
            calm = 0 if busy else calm + 1
            if calm == CALM:
                return
            await asyncio.sleep(0.1)

    async def lease_and_settle(self) -> Figures:
        """RocksDB's threads work for both: their time is shared out by ours."""
        leasing = settling = 0.0
        leased, others = 0, -others_seconds()
        while leased < min(LEASES, self.count // 2) // SLICES:
            before = time.thread_time()
            leases = await self.frontier.lease(256)
            leasing += time.thread_time() - before
            await self.resolve()
            if not leases:
                self.clock.tick((self.frontier.ready_in() or 0.0) + 0.001)
                continue
            outcomes = [outcome(lease, self.clock.now()) for lease in leases]
            before = time.thread_time()
            for one in outcomes:
                self.frontier.answered(one)
            await self.frontier.settle(outcomes)
            settling += time.thread_time() - before
            leased += len(leases)
        await self.compacted()
        share = 1 + (others + others_seconds()) / (leasing + settling)
        return {"lease": leasing * share / leased * 1e6, "settle": settling * share / leased * 1e6}

    async def close(self) -> Figures:
        scratch = self.frontier._seen.known.size
        await self.frontier.close()
        await self.table.close()
        disk = scratch + sum(file.stat().st_size for file in self.folder.rglob("*"))
        return {"disk_per_url": disk / self.added, "memory_mb": memory_mb()}

    async def resolve(self, many: int = 0) -> None:
        """Tell addresses, if more than `many` are wanted."""
        if len(self.frontier._state.lookups.names) > many:
            names = await self.frontier.wants_address(20_000)
            self.frontier.resolved({name: address(name) for name in names})
            await self.frontier.lease(0)  # writes them down, as any lease of a crawl does


def outcome(lease: Lease, now: float) -> Outcome:
    asked = Asked(lease.host, lease.url, now - 0.1, now, 200)
    digest = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    return Outcome(lease, Reason.STORED, now, 200, (asked,), mime="text/html", length=51_234, digest=digest)


def address(name: str) -> str:
    number = xxhash.xxh3_64_intdigest(name.encode())
    return f"{number >> 24 & 127}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def others_seconds() -> float:
    """CPU seconds of all threads but this one: RocksDB's."""
    return time.process_time() - time.thread_time()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Form:
    """A bench in a process of its own."""

    def __init__(self, urls: int, hosts: int, scratch: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="frontier-", dir=scratch))
        options = ("--urls", str(urls), "--hosts", str(hosts), "--scratch", str(self._folder))
        command = [sys.executable, "-m", "bench.frontier", "--child", *options]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.figures: dict[str, list[float]] = {"urls": [urls]}

    def do(self, part: str) -> None:
        assert self._process.stdin
        assert self._process.stdout
        print(part, file=self._process.stdin, flush=True)
        found = json.loads(self._process.stdout.readline())
        for name, figure in found.items():
            self.figures.setdefault(name, []).append(figure)
        told = ", ".join(f"{name} {figure:.2f}" for name, figure in found.items())
        say(f"{self.figures['urls'][0]:,} URLs, {part}: {told or 'done'}")

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)


def measure(*sizes: tuple[int, int], scratch: Path) -> list[Figures]:
    """Figures of forms of so many URLs and hosts: parts in turn, so that a slow minute falls on all of them."""
    forms = [Form(urls, hosts, scratch) for urls, hosts in sizes]
    try:
        for part, times in PARTS.items():
            for _ in range(times):
                for form in forms:
                    form.do(part)
        return [{name: mean(found) for name, found in form.figures.items()} for form in forms]
    finally:
        for form in forms:
            form.end()


ROWS: Final = {
    "add_new": "add, new: CPU µs per URL",
    "add_seen": "add, seen: CPU µs per URL",
    "lease": "lease: CPU µs",
    "settle": "answered and settle: CPU µs",
    "seen_p50": "one seen check, p50: µs",
    "seen_p99": "one seen check, p99: µs",
    "disk_per_url": "disk: bytes per URL",
    "memory_mb": "peak memory: MB",
}


def report(small: Figures, large: Figures) -> None:
    print(f"{'':34}{small['urls']:>14,.0f}{large['urls']:>14,.0f}{'ratio':>8}")
    for name, text in ROWS.items():
        print(f"{text:34}{small[name]:14.1f}{large[name]:14.1f}{large[name] / small[name]:8.2f}")


def report_scrapy(scrapy: list[dict[str, Any]], ours: list[Figures]) -> None:
    """The same URLs of the same hosts."""
    for theirs, same in zip(scrapy, ours, strict=True):
        cost = same["add_new"] + same["lease"] + same["settle"]
        print(f"{theirs['urls']:,} URLs on {theirs['hosts']:,} hosts, add + lease + settle: {cost:.1f} µs a URL")
        rival = theirs["enqueue"] + theirs["next"]
        print(
            f"    Scrapy's scheduler, {theirs['queue']}: {rival:.1f} µs; ours is {cost / rival:.2f} of it", flush=True
        )
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=2_000_000)
    parser.add_argument("--hosts", type=int, default=200_000)
    parser.add_argument("--scrapy", type=int, default=1_000_000, help="URLs for Scrapy; 0: leave it out")
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--child", action="store_true")
    options = parser.parse_args()
    if options.child:
        uvloop.run(Bench(options.urls, options.hosts, options.scratch / "table").answer())
        return
    if options.scrapy:
        say("Scrapy …")
        command = [sys.executable, "-m", "bench.frontier_scrapy", str(options.scrapy)]
        scrapy = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        report_scrapy(scrapy, [measure((one["urls"], one["hosts"]), scratch=options.scratch)[0] for one in scrapy])
    report(*measure(REFERENCE, (options.urls, options.hosts), scratch=options.scratch))


if __name__ == "__main__":
    main()
