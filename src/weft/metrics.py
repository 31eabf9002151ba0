"""Counts of everything that happened in a crawl, kept over restarts; the report and the progress line show them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from .ports import Put, Table
from .records import Drop, Fate, Kind, Outcome, Page, Reason

_KEY: Final = (b"tally", b"counts")
_NEWEST: Final = 16  # more files than are written to at a time
_FAILURES: Final = {
    reason.value for reason in Reason if reason.fate is Fate.GONE and reason is not Reason.ROBOTS_DENIED
}


class Damage(msgspec.Struct, frozen=True):
    """A part of a WARC file that cannot be read."""

    offset: int
    records: int  # lost in it, at least


class ReadFile(msgspec.Struct, frozen=True):
    """What `refine` found in one WARC file; of DIR's own files, those that are damaged."""

    file: str
    read: int = 0  # captures
    skipped: dict[str, int] = {}  # records by reason
    damaged: tuple[Damage, ...] = ()


class Refined(msgspec.Struct, frozen=True):
    """What `refine` read, and what it made of it."""

    files: tuple[ReadFile, ...] = ()
    missing: int = 0  # pages of the corpus of before that the archive no longer gave
    documents: int = 0  # of the corpus made anew, also where it was not kept


class Report(msgspec.Struct, frozen=True):
    """The final counts: what `--json` prints and `report.json` holds. Other programs rely on these names."""

    fetched: int = 0
    archived: int = 0
    parsed: int = 0
    documents: int = 0
    duplicates: int = 0
    near_duplicates: int = 0
    robots_denied: int = 0
    failed: int = 0
    parked: int = 0
    dead: int = 0
    links_seen: int = 0
    urls_new: int = 0
    bytes: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    parser_cpu_seconds: float = 0.0  # the share of the parser processes
    ended: str = ""  # exhausted, limit or stopped; incomplete: refine kept the corpus of before
    pending: int = 0
    hosts: int = 0
    unchanged: int = 0
    outcomes: dict[str, int] = {}  # by Reason
    dropped_links: dict[str, int] = {}  # by Drop
    removed: dict[str, int] = {}  # by Removal
    refused: dict[str, int] = {}  # by Refusal
    refined: Refined | None = None


class Tally:
    """Counters by dotted name: `outcome.stored`, `drop.too-deep`, `refusal.parse-timeout`, `links_seen` …"""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.seconds = 0.0
        self.cpu_seconds = 0.0  # of the loop's process
        self.parser_cpu_seconds = 0.0
        self.running = 0.0  # seconds of the run under way; `seconds` is of those before
        self.counted: dict[str, int] = {}  # how far each of the newest WARC files is counted

    async def load(self, table: Table) -> None:
        stored = (await table.get([_KEY]))[0]
        if stored:
            row = msgspec.json.decode(stored, type=_Row)
            self.counts = Counter(row.counts)
            self.seconds, self.cpu_seconds = row.seconds + row.running, row.cpu_seconds
            self.counted = row.counted
            self.parser_cpu_seconds = row.parser_cpu_seconds

    async def save(self, table: Table) -> None:
        row = _Row(
            dict(self.counts), self.seconds, self.cpu_seconds, self.parser_cpu_seconds, self.running, self.counted
        )
        await table.write([Put(_KEY, msgspec.json.encode(row))])

    def outcomes(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            prefix = "outcome" if outcome.lease.kind is Kind.PAGE else outcome.lease.kind.name.lower()
            self.counts[f"{prefix}.{outcome.reason.value}"] += 1
            self.counts["bytes"] += outcome.length
            self.counts["archived"] += 1 if outcome.status and outcome.reason is not Reason.UNCHANGED else 0

    def reaches(self, ends: Mapping[str, int]) -> None:
        """All outcomes up to there are counted; saved with the counts, so that a crash lets none count twice."""
        kept = list(self.counted.items())[-_NEWEST:]
        self.counted = {**dict(kept), **ends}

    def has_counted(self, file: str, end: int) -> bool:
        """Was the outcome that ends there in a WARC file counted before a crash?"""
        return end <= self.counted.get(file, 0)

    def links(self, new: int, drops: Mapping[Drop, int]) -> None:
        """What became of links that the frontier was given."""
        self.counts["urls_new"] += new
        for drop, count in drops.items():
            self.counts[f"drop.{drop.value}"] += count

    def page(self, page: Page) -> None:
        self.counts["parsed" if page.refusal is None else f"refusal.{page.refusal.value}"] += 1
        self.counts["links_seen"] += page.links_seen
        for word, count in page.drops:
            self.counts[f"drop.{word}"] += count
        self.parser_cpu_seconds += page.cpu

    def forget_pages(self) -> Counter[str]:
        """The pages will all be parsed anew; what was counted of them, for `recall_pages`."""
        names = [name for name in self.counts if name in ("parsed", "links_seen") or name.startswith("refusal.")]
        return Counter({name: self.counts.pop(name) for name in names})

    def recall_pages(self, forgotten: Counter[str]) -> None:
        """What was parsed anew counts for nothing."""
        self.forget_pages()
        self.counts.update(forgotten)

    def named(self, prefix: str) -> dict[str, int]:
        """The counters under a prefix, most frequent first."""
        start = f"{prefix}."
        rows = [(name.removeprefix(start), count) for name, count in self.counts.items() if name.startswith(start)]
        return dict(sorted(rows, key=lambda row: -row[1]))

    @property
    def fetched(self) -> int:
        return self.counts[f"outcome.{Reason.STORED.value}"]

    def robots_denied(self) -> int:
        """URLs that robots.txt forbids, known before they were taken in or found out when their turn came."""
        return self.counts[f"outcome.{Reason.ROBOTS_DENIED.value}"] + self.counts[f"drop.{Drop.ROBOTS_DENIED.value}"]

    def failed(self) -> int:
        """Pages that ended without content for good, robots.txt aside."""
        return sum(count for word, count in self.named("outcome").items() if word in _FAILURES)


class _Row(msgspec.Struct):
    counts: dict[str, int]
    seconds: float
    cpu_seconds: float
    parser_cpu_seconds: float = 0.0
    running: float = 0.0
    counted: dict[str, int] = {}
