"""A crawl of a bad web, watched: its memory while it runs, what it printed, and afterwards the fate of any URL."""

import asyncio
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.crawling import PATIENCE, start
from weft.build import looked_at
from weft.directory import CrawlDirectory
from weft.frontier.story import Story

NO_DNS = ["127.0.0.1:1"]  # a resolver nobody listens at: names that are not in the table have no address


@dataclass
class Peak:
    """The most memory (bytes) that a process and any of its children had."""

    loop: int = 0
    parser: int = 0

    def look(self, process: int) -> None:
        self.loop = max(self.loop, _peak_of(process))
        self.parser = max([self.parser, *map(_peak_of, _children(process))])


@dataclass(frozen=True)
class Watched:
    """How a crawl went."""

    status: int
    report: dict[str, Any]
    errors: str
    peak: Peak
    out: Path


def watched_crawl(seeds: Iterable[str], out: Path, config: Path, *more: str) -> Watched:
    """`weft crawl` to its end."""
    process = start("crawl", *seeds, "--out", out, "--config", config, "--json", *more)
    peak = Peak()
    for _ in range(PATIENCE * 20):
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            peak.look(process.pid)
        else:
            break
    else:
        process.kill()
    printed, errors = process.communicate()
    return Watched(process.returncode, json.loads(printed or "{}"), errors, peak, out)


def _peak_of(process: int) -> int:
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except OSError:  # it has ended
        return 0
    return int(found[1]) * 1024 if found else 0


def _children(process: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def stories(out: Path, urls: Iterable[str]) -> dict[str, Story]:
    """What `weft inspect` would tell of each URL, without a process for each."""

    async def look() -> dict[str, Story]:
        async with looked_at(CrawlDirectory.read(out)) as crawl:
            return {url: await crawl.frontier.explain(url) for url in urls}

    return asyncio.run(look())


def reason_of(story: Story) -> str:
    """In one word: why a parser refused the page, why it was removed, how its last visit ended, why it was dropped."""
    learned = story.learned
    if learned is not None and (learned.refusal or learned.removal):
        return learned.refusal or learned.removal
    if story.visits:
        return str(story.visits[-1].reason.value)
    return str(story.drop.value) if story.drop else story.state
