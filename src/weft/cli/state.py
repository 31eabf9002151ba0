"""Verbs that look at a crawl: `status`, `inspect`, `dead`. All but `dead retry|release` may be used while it runs."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from weft.build import looked_at
from weft.directory import CrawlDirectory
from weft.errors import UsageError
from weft.frontier.frontier import Frontier
from weft.frontier.letters import Filter, Letter
from weft.frontier.rows import Learned
from weft.frontier.story import HoldStory, HostStory, Story
from weft.metrics import Hold, Report
from weft.records import Position, Reason, Visit
from weft.session import with_left
from weft.urls.canonical import BadURLError, canonical
from weft.urls.host import host_of

from . import show
from .crawl import print_report

_GROUPS = 10_000  # of what is held, named by `dead list`


def status(options: argparse.Namespace) -> int:
    directory = CrawlDirectory.read(Path(options.dir))
    running = directory.in_use()
    report = directory.progress() if running else asyncio.run(_report(directory))
    if options.json:
        show.json_line({"running": running, **msgspec.to_builtins(report)})
        return 0
    show.line(f"{directory.path}: {'a crawl is running' if running else 'at rest'}\n")
    print_report(report, directory.path)
    _print_counts(report)
    return 0


def _print_counts(report: Report) -> None:
    """Everything that happened, by its word; requests with what the word means."""
    meanings = {reason.value: reason.meaning for reason in Reason}
    for title, counts in (
        ("requests, by outcome", report.outcomes),
        ("pages that could not be read", report.refused),
        ("pages left out of the corpus", report.removed),
        ("links dropped", report.dropped_links),
    ):
        if counts:
            show.line(f"\n{title}")
            show.pairs(
                (f"  {word}", f"{count:>7,}  {meanings.get(word, '')}".rstrip()) for word, count in counts.items()
            )


_OF_THE_LAST_RUN = ("ended", "waits", "wait_urls", "wait_hosts", "troubles", "seeds", "seeds_failed")


async def _report(directory: CrawlDirectory) -> Report:
    async with looked_at(directory) as look:
        last = directory.progress()  # what is not kept but there: how the last run ended, and why
        ended = {name: getattr(last, name) for name in _OF_THE_LAST_RUN}
        now = with_left(look.report, await look.frontier.leftovers(), directory.path)
        return msgspec.structs.replace(now, **ended)


class Inspection(msgspec.Struct, frozen=True):
    """What `weft inspect` tells of a URL."""

    story: Story
    robots: str  # the deciding line of the robots.txt we have, "" if none decides
    robots_known: bool
    archived: list[Position]


def inspect(options: argparse.Namespace) -> int:
    try:
        url = canonical(options.url)
    except BadURLError as error:
        raise UsageError(f"{show.printable(options.url)!r}: {error}") from None
    inspection = asyncio.run(_inspect(CrawlDirectory.read(Path(options.dir)), url))
    if options.json:
        show.json_line(_named(inspection))
    else:
        _print_story(inspection)
    return 0


def _named(inspection: Inspection) -> dict[str, Any]:
    """Rows of the state are stored without the names of their fields; programs want them."""
    story = inspection.story
    whole: dict[str, Any] = msgspec.to_builtins(inspection)
    for name, row in (("settled", story.settled), ("learned", story.learned)):
        whole["story"][name] = msgspec.to_builtins(msgspec.structs.asdict(row)) if row else None
    return whole


async def _inspect(directory: CrawlDirectory, url: str) -> Inspection:
    async with looked_at(directory) as look:
        verdict = await look.fetcher.book.verdict(url)  # loads the rules, so that the frontier's decision knows them
        decision = await look.fetcher.book.explain(url)
        story = await look.frontier.explain(url)
        archived = await look.archive.lookup(url)
        return Inspection(story, decision.line if decision else "", verdict is not None, archived)


def _print_story(inspection: Inspection) -> None:
    story = inspection.story
    rows = [("url", story.url), ("state", story.state), ("next", story.next)]
    if story.next_at:
        rows.append(("not before", show.moment(story.next_at)))
    if story.discovered:
        found = f"{show.moment(story.discovered)} by {story.via}" + (f" on {story.source}" if story.source else "")
        rows += [("found", found), ("depth", str(story.depth))]
    if story.priority_why:
        rows.append(("priority", f"{story.priority:.2f}, {story.band} band: {story.priority_why}"))
    rows += [("visit", _visit_line(visit)) for visit in story.visits]
    if story.learned:
        rows.append(("page", _page_line(story.learned)))
    rows += [("archived", f"{place.file} at {place.offset}, {place.length} bytes") for place in inspection.archived]
    robots = inspection.robots or ("no rule matches" if inspection.robots_known else "not known yet")
    rows.append(("robots.txt", robots))
    rows += _host_rows(story.host) if story.host else []
    rows += _hold_rows(story.hold) if story.hold else []
    show.pairs(rows)


def _visit_line(visit: Visit) -> str:
    code = f" {visit.status}" if visit.status else ""
    detail = f" ({visit.detail})" if visit.detail else ""
    return (
        f"{show.moment(visit.at)} attempt {visit.attempt}: {visit.reason.value}{code} – {visit.reason.meaning}{detail}"
    )


def _page_line(learned: Learned) -> str:
    """What refining made of it."""
    over = learned.links_left_out
    left_out = f"; {over:,} links over [parse] max_links were left out" if over else ""
    if learned.refusal:
        return f"could not be read: {learned.refusal}{left_out}"
    where = f"left out of the corpus: {learned.removal}" if learned.removal else "in the corpus"
    return f"{learned.title or '(no title)'} ({learned.language}, {learned.words:,} words), {where}{left_out}"


def _host_rows(host: HostStory) -> list[tuple[str, str]]:
    counts = f"{host.done} done, {host.pending} pending, {host.waiting} waiting, {host.held} held, {host.dead} dead"
    asked = f"may be asked from {show.moment(host.may_be_asked)}" + (f" ({host.why})" if host.why else "")
    rows = [("host", f"{host.name}: {counts}"), ("", f"parked: {host.parked}" if host.parked else asked)]
    if host.crawl_delay:
        rows.append(("", f"Crawl-delay {host.crawl_delay:g} s"))
    return rows


def _hold_rows(hold: HoldStory) -> list[tuple[str, str]]:
    counts = f"{hold.held:,} URLs like {hold.looks} are held; {hold.fruitful} of {hold.tried} trials brought new text"
    examples = [("", f"example {example}") for example in hold.examples]
    return [("held", f"{hold.why}: {hold.meaning}"), ("", counts), *examples]


def dead(options: argparse.Namespace) -> int:
    _check(options)
    if options.action == "release":
        return _release(options)
    wanted = Filter(host=options.host or "", reason=options.reason or "", pattern=options.match or "")
    if options.action == "retry":
        return _retry(options, wanted)
    letters, holds = asyncio.run(_listed(CrawlDirectory.read(Path(options.dir)), wanted))
    if options.json:
        for letter in letters:
            show.json_line({"kind": "host" if letter.parked else "url", **msgspec.to_builtins(letter)})
        for hold in holds:
            show.json_line({"kind": "held", **msgspec.to_builtins(hold)})
        return 0
    if letters:
        show.table(("what", "reason", "attempts", "last"), [_letter_row(letter) for letter in letters])
        show.line(f"\n`weft dead {options.dir} retry` puts them back, for the next `weft crawl --out {options.dir}`")
    else:
        show.line("nothing was given up")
    if holds:
        show.line()
    for hold in holds:
        show.line(show.held_line(hold))
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.action == "release":
        if not options.pattern:
            raise UsageError(
                "release what? give a PATTERN such as 'example.org/p*'; `weft dead DIR` names what is held"
            )
        if options.host or options.reason or options.match:
            raise UsageError("release takes a PATTERN, not --host, --reason or --match")
    elif options.pattern:
        raise UsageError(f"{options.action} takes no PATTERN; give it by --match")


async def _listed(directory: CrawlDirectory, wanted: Filter) -> tuple[list[Letter], list[Hold]]:
    async with looked_at(directory) as look:
        letters = [letter async for letter in look.frontier.dead(wanted)]
        left = await look.frontier.leftovers(_GROUPS)
        holds = with_left(look.report, left, directory.path).holds
        return letters, [hold for hold in holds if any(wanted.takes(url, hold.why) for url in hold.examples)]


def _letter_row(letter: Letter) -> tuple[str, str, str, str]:
    last = show.moment(letter.visits[-1].at) if letter.visits else "-"
    count = "1 URL waits" if letter.pending == 1 else f"{letter.pending:,} URLs wait"
    what = f"{host_of(letter.url)}: the whole host is parked, {count}" if letter.parked else letter.url
    return what, letter.reason, str(letter.attempts), last


def _retry(options: argparse.Namespace, wanted: Filter) -> int:
    revived = _changed(options, lambda frontier: frontier.revive(wanted))
    if options.json:
        show.json_line({"revived": revived})
    else:
        show.line(f"{revived} URLs or hosts will be tried again by the next `weft crawl --out {options.dir}`")
    return 0


def _release(options: argparse.Namespace) -> int:
    released = _changed(options, lambda frontier: frontier.release(options.pattern))
    if options.json:
        show.json_line({"released": released})
    elif released:
        urls = show.many(released, "URL")
        show.line(f"{urls}, never to be held again, for the next `weft crawl --out {options.dir}`")
    else:
        show.line(f"nothing that is held looks like {show.printable(options.pattern)}: see `weft dead {options.dir}`")
    return 0


def _changed(options: argparse.Namespace, change: Callable[[Frontier], Awaitable[int]]) -> int:
    """Of a crawl that nobody else works on; how many rows of it."""
    CrawlDirectory.read(Path(options.dir))
    directory = CrawlDirectory.open(Path(options.dir), {})
    try:
        return asyncio.run(_change(directory, change))
    finally:
        directory.close()


async def _change(directory: CrawlDirectory, change: Callable[[Frontier], Awaitable[int]]) -> int:
    async with looked_at(directory, read_only=False) as look:
        return await change(look.frontier)
