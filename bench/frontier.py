"""The frontier on RocksDB: what a URL costs when it is new, when it was seen, when it is leased and when it is settled.

`python -m bench.frontier` runs the short form: 1 and 2 million URLs, and Scrapy's scheduler (disk queue, dupe filter)
on a million of the same. `python -m bench.frontier --urls 100000000 --hosts 1000000` is the long form: an hour or two,
some 15 GB of disk. CPU is that of the process with all of RocksDB's threads. Ratios are taken within one run.
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
from typing import Any, Final

import uvloop
import xxhash

from bench.frontier_urls import EPOCH, Urls
from weft.build import calm_the_collector
from weft.clock import ManualClock, SystemClock
from weft.config import Config, Pace, Scope
from weft.config import Frontier as FrontierSection
from weft.engines.rocksdb import RocksTable
from weft.frontier.frontier import Frontier
from weft.records import Asked, Lease, Link, Outcome, Reason

REFERENCE: Final = (1_000_000, 100_000)
COUNTED: Final = 1_000_000  # new URLs over which the cost is taken
SEEN: Final = 300_000  # links that are known already
WARMING: Final = 10_000_000  # such links before, so that memory holds what it would hold in a crawl
LEASES: Final = 100_000
PAGE: Final = 12  # new links of a page, three each on four hosts
KNOWN: Final = 130  # known links of a page
PAGES: Final = 16  # whose links come in one call; a crawl hands over those of up to 64
COMPACTING: Final = ("num-running-compactions", "compaction-pending", "num-running-flushes", "mem-table-flush-pending")


class Bench:
    """One form, in a process of its own."""

    def __init__(self, urls: int, hosts: int, folder: Path) -> None:
        self.count = urls
        self.urls = Urls(hosts)
        self.folder = folder
        self.clock = ManualClock()
        # No page is ever parsed here, so no pattern could prove itself: everything is taken in.
        config = Config(scope=Scope(reach="any"), frontier=FrontierSection(trap_sample=1 << 40), pace=Pace(delay=1.0))
        self.table = RocksTable(folder, SystemClock(), config.storage.memory)
        self.frontier = Frontier(self.table, self.clock, config, scratch=folder)
        self.random = Random(7)

    async def run(self) -> dict[str, Any]:
        calm_the_collector()  # as a crawl does when it starts
        await self.frontier.open()
        figures: dict[str, Any] = {"urls": self.count, "add_new": await self.add_new()}
        figures["add_seen"], figures["seen_p50"], figures["seen_p99"] = await self.add_seen()
        figures |= await self.lease_and_settle()
        scratch = self.frontier._seen.known.size
        started = time.process_time()
        await self.frontier.close()
        await self.table.close()
        figures["close_seconds"] = time.process_time() - started
        figures["disk_per_url"] = (scratch + sum(file.stat().st_size for file in self.folder.rglob("*"))) / self.count
        figures["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return figures

    async def add_new(self) -> float:
        """CPU µs per URL, a few pages at a time, of the last million: what it costs at that size."""
        filled = await self.fill(max(0, self.count - COUNTED))
        await self.compacted()
        spent = 0.0
        for first in range(filled, self.count, PAGE * PAGES):
            last = min(first + PAGE * PAGES, self.count)
            links = [
                link for start in range(first, last, PAGE) for link in self.urls.page(start, min(start + PAGE, last))
            ]
            before = time.process_time()
            await self.frontier.add(links)
            spent += time.process_time() - before
            await self.resolve(5000)
        return spent / (self.count - filled) * 1e6

    async def fill(self, wanted: int) -> int:
        """Take in about so many URLs in large calls, which cost less; how many there are then."""
        begun = time.monotonic()
        for epoch in range(wanted // EPOCH):
            await self.frontier.add(self.urls.epoch(epoch))
            await self.resolve(5000)
            if epoch % 1000 == 999:
                rate = epoch * EPOCH / (time.monotonic() - begun)
                say(f"{epoch * EPOCH:,} of {self.count:,} URLs, {rate:,.0f} a second, {memory_mb():,.0f} MB")
        return wanted // EPOCH * EPOCH

    async def add_seen(self) -> tuple[float, float, float]:
        """CPU µs per link by a power law over all URLs; then the wall time of single checks, p50 and p99 in µs."""
        await self.compacted()
        for _ in range(WARMING // (KNOWN * PAGES)):
            await self.frontier.add(self.known_links())
        spent, calls = 0.0, SEEN // (KNOWN * PAGES)
        for _ in range(calls):
            links = self.known_links()
            before = time.process_time()
            added = await self.frontier.add(links)
            spent += time.process_time() - before
            assert added.new == 0, added
        checks = []
        for _ in range(20_000):
            links = self.urls.known(self.random, self.count, 1)
            moment = time.perf_counter()
            await self.frontier.add(links)
            checks.append(time.perf_counter() - moment)
        checks.sort()
        return spent / (calls * PAGES * KNOWN) * 1e6, checks[10_000] * 1e6, checks[19_800] * 1e6

    def known_links(self) -> list[Link]:
        return [link for _ in range(PAGES) for link in self.urls.known(self.random, self.count, KNOWN)]

    async def compacted(self) -> None:
        """Wait until RocksDB has put in order what was added: that is no cost of what comes next."""
        for _ in range(6000):
            if not any(self.table._db.property_int_value(f"rocksdb.{name}") for name in COMPACTING):
                return
            await asyncio.sleep(0.1)

    async def lease_and_settle(self) -> dict[str, float]:
        await self.compacted()
        leasing = answering = settling = 0.0
        leased = 0
        while leased < min(LEASES, self.count // 2):
            before = time.process_time()
            leases = await self.frontier.lease(256)
            leasing += time.process_time() - before
            await self.resolve()
            if not leases:
                self.clock.tick((self.frontier.ready_in() or 0.0) + 0.001)
                continue
            outcomes = [outcome(lease, self.clock.now()) for lease in leases]
            before = time.process_time()
            for one in outcomes:
                self.frontier.answered(one)
            answering += time.process_time() - before
            before = time.process_time()
            await self.frontier.settle(outcomes)
            settling += time.process_time() - before
            leased += len(leases)
        return {"lease": leasing / leased * 1e6, "settle": (answering + settling) / leased * 1e6}

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
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def child(*arguments: str) -> Any:
    """A form in a process of its own: its figures."""
    done = subprocess.run([sys.executable, "-m", *arguments], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def measure(urls: int, hosts: int, scratch: Path) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="frontier-", dir=scratch))
    try:
        options = ("--urls", str(urls), "--hosts", str(hosts), "--scratch", str(folder))
        figures: dict[str, Any] = child("bench.frontier", "--child", *options)
        return figures
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def report(small: dict[str, Any], large: dict[str, Any]) -> None:
    print(f"{'':34}{small['urls']:>14,}{large['urls']:>14,}{'ratio':>8}")
    for name, text in ROWS.items():
        print(f"{text:34}{small[name]:14.1f}{large[name]:14.1f}{large[name] / small[name]:8.2f}")


def report_scrapy(scrapy: list[dict[str, Any]], ours: list[dict[str, Any]]) -> None:
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
        print(json.dumps(uvloop.run(Bench(options.urls, options.hosts, options.scratch / "table").run())))
        return
    small = measure(*REFERENCE, options.scratch)
    say(f"1 million: {json.dumps(small)}")
    if options.scrapy:
        say("Scrapy …")
        scrapy = child("bench.frontier_scrapy", str(options.scrapy))
        report_scrapy(scrapy, [measure(rival["urls"], rival["hosts"], options.scratch) for rival in scrapy])
    report(small, measure(options.urls, options.hosts, options.scratch))


if __name__ == "__main__":
    main()
