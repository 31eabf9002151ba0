"""Counts of everything that happened in a crawl, kept over restarts; the report and the progress line show them."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from .ports import Put, Table
from .records import Drop, Fate, Kind, Outcome, Page, Reason
from .urls.canonical import BadURLError, canonical

_KEY: Final = (b"tally", b"counts")
_NEWEST: Final = 16  # more files than are written to at a time
_FAILURES: Final = {
    reason.value for reason in Reason if reason.fate is Fate.GONE and reason is not Reason.ROBOTS_DENIED
}
# Answers behind which nothing is missing.
_FINE: Final = {reason.value for reason in (Reason.STORED, Reason.UNCHANGED, Reason.REDIRECTED, Reason.ROBOTS_FETCHED)}
_DROPS: Final = {
    Drop.BAD_URL: "no URL",
    Drop.SCHEME: "a scheme that is not followed",
    Drop.TOO_LONG: "longer than [scope] max_url_length",
    Drop.TOO_DEEP: "further from the seeds than [scope] max_depth",
    Drop.TOO_DEEP_IN_DOMAIN: "more links in a row inside one domain than [scope] max_depth_in_domain",
    Drop.OUT_OF_SCOPE: "outside the hosts or domains of the seeds ([scope] reach)",
    Drop.EXCLUDED: "ruled out by [scope] include or exclude",
    Drop.BLOCKED: "on [scope] block",
    Drop.ROBOTS_DENIED: "robots.txt disallows it",
    Drop.HOST_FULL: "beyond [scope] pages_per_host",
    Drop.DOMAIN_FULL: "beyond what its domain may bring ([scope] pages_per_domain, [frontier] domain_budget)",
    Drop.TOO_MANY_REDIRECTS: "more than [scope] max_redirects in a row",
    Drop.NOFOLLOW: "its page asks not to follow it",
    Drop.TOO_MANY_LINKS: "beyond [parse] max_links of its page",
    Drop.FORGOTTEN: "taken out by `weft forget`",
}
_TROUBLES: Final = 20  # told of one run
_INSPECTED: Final = 2048  # characters; an example may have been cut there


class Missing(msgspec.Struct, frozen=True):
    """What is not in the crawl, and why: an answer without content, a link not taken in, a page not readable."""

    kind: str  # answer, link or page
    word: str
    count: int
    meaning: str = ""
    example: str = ""
    inspect: str = ""  # the command that tells more


class Wait(msgspec.Struct, frozen=True):
    """What the crawl waits for."""

    host: str
    why: str
    until: float  # wall seconds
    urls: int = 0


class Hold(msgspec.Struct, frozen=True):
    """URLs that the trap defence holds together, to be tried now and then or taken up again by a person."""

    looks: str  # as `weft dead DIR release` takes it
    why: str
    meaning: str
    held: int
    tried: int
    fruitful: int  # of the trials
    examples: tuple[str, ...] = ()
    release: str = ""  # the command that takes them up again


class Cap(msgspec.Struct, frozen=True):
    """Hosts that have brought as many pages as they may."""

    word: str
    urls: int  # left in their queues
    hosts: int
    example: str  # one of them
    meaning: str = ""


class SeedEnd(msgspec.Struct, frozen=True):
    """Why a seed brought no page."""

    seed: str
    word: str
    why: str


class Trouble(msgspec.Struct, frozen=True):
    """A failure that does not heal by itself."""

    url: str
    word: str
    why: str


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
    ended: str = ""  # exhausted, limit, waiting or stopped; incomplete: refine kept the corpus of before
    pending: int = 0
    hosts: int = 0
    unchanged: int = 0
    outcomes: dict[str, int] = {}  # by Reason
    dropped_links: dict[str, int] = {}  # by Drop
    removed: dict[str, int] = {}  # by Removal
    refused: dict[str, int] = {}  # by Refusal
    refined: Refined | None = None
    missing: list[Missing] = []  # most frequent first
    waiting: int = 0  # URLs of `pending` that wait for another attempt
    waits: list[Wait] = []  # what is waited for at the moment, or was at the end: a few, soonest first
    wait_urls: int = 0  # all that wait, where the crawl ended for it
    wait_hosts: int = 0
    troubles: list[Trouble] = []  # of this run
    held: int = 0  # URLs, in all groups; they are not among `pending`
    holds: list[Hold] = []  # the largest groups, most held first
    hold_groups: int = 0  # all of them
    capped: int = 0  # URLs in the queues of hosts whose cap is reached; not among `pending` either
    caps: list[Cap] = []
    seeds: list[SeedEnd] = []  # of those given to this run, the first that never brought a page
    seeds_failed: bool = False  # seeds were given, and none of them has ever brought a page though its turn came


class Example(NamedTuple):
    """One URL of those that a counter counts, and the page it was found on."""

    url: str
    source: str


class Tally:
    """Counters by dotted name: `outcome.stored`, `drop.too-deep`, `refusal.parse-timeout`, `links_seen` …"""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, Example] = {}  # by the names of counters
        self.troubles: dict[str, Trouble] = {}  # of this run, by URL
        self.seconds = 0.0
        self.cpu_seconds = 0.0  # of the loop's process
        self.parser_cpu_seconds = 0.0
        self.running = 0.0  # seconds of the run under way; `seconds` is of those before
        self.counted: dict[str, int] = {}  # how far each of the newest WARC files is counted

    async def load(self, table: Table) -> None:
        stored = (await table.get([_KEY]))[0]
        if stored:
            row = msgspec.json.decode(stored, type=_Row)
            self.counts, self.examples = Counter(row.counts), row.examples
            self.seconds, self.cpu_seconds = row.seconds + row.running, row.cpu_seconds
            self.counted = row.counted
            self.parser_cpu_seconds = row.parser_cpu_seconds

    async def save(self, table: Table) -> None:
        row = _Row(dict(self.counts), self.seconds, self.cpu_seconds, self.parser_cpu_seconds)
        row.running, row.counted, row.examples = self.running, self.counted, self.examples
        await table.write([Put(_KEY, msgspec.json.encode(row))])

    def outcomes(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            prefix = "outcome" if outcome.lease.kind is Kind.PAGE else outcome.lease.kind.name.lower()
            name = f"{prefix}.{outcome.reason.value}"
            self.counts[name] += 1
            if prefix == "outcome" and outcome.reason.value not in _FINE:
                self.examples[name] = Example(outcome.lease.url, outcome.lease.source)
            if outcome.lasting and len(self.troubles) < _TROUBLES:
                url, why = outcome.lease.url, outcome.detail or outcome.reason.meaning
                self.troubles.setdefault(url, Trouble(url, outcome.reason.value, why))
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

    def sample(self, dropped: Mapping[Drop, str]) -> None:
        """Examples of links that the frontier did not take in."""
        for drop, url in dropped.items():
            self.examples.setdefault(f"drop.{drop.value}", Example(url, ""))

    def page(self, page: Page) -> None:
        self.counts["parsed" if page.refusal is None else f"refusal.{page.refusal.value}"] += 1
        self.counts["links_seen"] += page.links_seen
        if page.refusal is not None:
            self.examples[f"refusal.{page.refusal.value}"] = Example(page.url, "")
        dropped = dict(page.dropped)
        for word, count in page.drops:
            self.counts[f"drop.{word}"] += count
            self.examples.setdefault(f"drop.{word}", Example(dropped.get(word, ""), page.url))
        self.parser_cpu_seconds += page.cpu

    def forget_pages(self) -> Counter[str]:
        """The pages will all be parsed anew; what was counted of them, for `recall_pages`."""
        names = [name for name in self.counts if name in ("parsed", "links_seen") or name.startswith("refusal.")]
        for name in names:
            self.examples.pop(name, None)
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

    def missing(self, path: Path) -> list[Missing]:
        """What is not in the crawl of this DIR, and why."""
        reasons = {reason.value: reason.meaning for reason in Reason}
        drops = {drop.value: meaning for drop, meaning in _DROPS.items()}
        return [
            self._missing(kind, f"{prefix}.{word}", meanings.get(word, ""), path)
            for kind, prefix, meanings in (
                ("answer", "outcome", reasons),
                ("page", "refusal", {}),
                ("link", "drop", drops),
            )
            for word in self.named(prefix)
            if word not in _FINE
        ]

    def _missing(self, kind: str, name: str, meaning: str, path: Path) -> Missing:
        example = self.examples.get(name, Example("", ""))
        told = next((url for url in example if _can_be_inspected(url)), "")
        command = f"weft inspect {shlex.quote(str(path))} {shlex.quote(told)}" if told else ""
        word = name.partition(".")[2]
        return Missing(kind, word, self.counts[name], meaning, example.url or example.source, command)

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
    examples: dict[str, Example] = {}


def hold_of(told: Hold, path: Path) -> Hold:
    """With the line to type."""
    command = f"weft dead {shlex.quote(str(path))} release {shlex.quote(told.looks)}"
    return msgspec.structs.replace(told, release=command)


def meaning_of(drop: Drop) -> str:
    """Why a link is left out, for a person."""
    return _DROPS[drop]


def _can_be_inspected(url: str) -> bool:
    """What `weft inspect` takes: not what stood in a page for a URL, and no cut one."""
    if not url.startswith(("http://", "https://")) or len(url) >= _INSPECTED:
        return False
    try:
        return bool(canonical(url))
    except BadURLError:
        return False
