"""The verb `crawl`: options to settings, seeds to links, signals to a stop; then the loops do the work."""

import argparse
import asyncio
import atexit
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import uvloop

from weft.build import check, opened
from weft.config import Config, from_environment, override, settings
from weft.directory import CrawlDirectory, is_crawl
from weft.environment import Tables, laid_over
from weft.errors import SeedError, UsageError
from weft.limits import Amounts
from weft.loops import Ending
from weft.metrics import Missing, Report, SeedEnd
from weft.records import Link
from weft.session import Session
from weft.urls.canonical import BadURLError
from weft.urls.seeds import read_seeds, seed

from . import show
from .progress import complaints, progress

_COMPLAINTS = 10  # bad lines of a seed file that are shown one by one


def crawl(options: argparse.Namespace) -> int:
    seeds, limits = _seeds(options), _limits(options)
    kept, of_run = _settings(options)
    directory = CrawlDirectory.open(Path(options.out), kept, lambda config: check(config, seeds), of_run)
    try:
        ending, report = uvloop.run(_run(directory, seeds, limits, again=options.again, quiet=options.json))
    finally:
        directory.close()
    if options.json:
        show.json_line(report)
    else:
        print_report(report, directory.path)
    return status_of(ending, report)


def status_of(ending: Ending, report: Report) -> int:
    """The exit status of a crawl: 0 only for its end or a limit, and for something that it brought."""
    if ending is Ending.STOPPED:
        return 3
    if report.seeds_failed:
        return 1
    return 3 if ending is Ending.WAITING else 0


async def _run(
    directory: CrawlDirectory, seeds: list[Link], of_run: Amounts, *, again: bool, quiet: bool
) -> tuple[Ending, Report]:
    async with opened(directory) as session:
        stop_on_signals(session)
        if again:
            await session.frontier.again()
        _name_dropped(await session.add_seeds(seeds))
        until = await session.begin(of_run, again=again)
        complain = complaints()
        with progress(until, quiet=quiet) as show_progress:

            def watch(report: Report) -> None:
                complain(report)
                show_progress(report)

            ending, report = await session.crawl(watch, until)
        complain(report)
        return ending, report


def _name_dropped(seeds: list[SeedEnd]) -> None:
    for end in seeds[:_COMPLAINTS]:
        sys.stderr.write(show.printable(f"weft: seed {end.seed}: {end.why}") + "\n")
    if len(seeds) > _COMPLAINTS:
        sys.stderr.write("weft: more seeds were not taken in\n")


def stop_on_signals(session: Session) -> None:
    """Once: finish what is in flight, settle, report. Twice: leave at once; the state on disk is always whole."""
    loop = asyncio.get_running_loop()
    asked = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked or loop.is_closed():
            os._exit(3)
        asked = True
        sys.stderr.write("\nweft: stopping; what is in flight is finished first (again to leave at once)\n")
        loop.call_soon_threadsafe(session.stop)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)  # not with the loop's help, which ends with the loop: a second one may come later
        atexit.register(signal.signal, number, signal.SIG_IGN)


def _limits(options: argparse.Namespace) -> Amounts:
    """Of this run alone: DIR does not keep them."""
    given = from_environment().limits.get("crawl", {})
    if options.max_pages is not None:
        given["max_pages"] = options.max_pages
    return Amounts.of(override(Config(), "crawl", **given).crawl)


def _settings(options: argparse.Namespace) -> tuple[Tables, Tables]:
    """What DIR keeps, and knobs of this run: a file, then the environment, then the command line; later wins."""
    places, knobs, _ = from_environment()
    kept = laid_over(settings(Path(options.config)) if options.config else {}, places)
    given: Mapping[tuple[str, str], Any] = {
        ("scope", "max_depth"): options.max_depth,
        ("scope", "pages_per_host"): options.pages_per_host,
        ("scope", "reach"): options.scope,
        ("scope", "own"): [entry for entry in options.own if "://" not in entry] or None,
        ("pace", "delay"): options.delay,
        ("fetch", "contact"): options.contact,
    }
    for (section, key), value in given.items():
        if value is not None:
            kept.setdefault(section, {})[key] = value
            knobs.get(section, {}).pop(key, None)
    return kept, knobs


def _seeds(options: argparse.Namespace) -> list[Link]:
    # `--own 10.0.0.0/8 http://host/` reads on: what is a URL there was meant as a seed
    found = [_seed(text) for text in [*options.seeds, *(entry for entry in options.own if "://" in entry)]]
    if options.seed_file:
        found += _seeds_of_file(options.seed_file)
    if not found and not is_crawl(Path(options.out)):
        raise SeedError("nothing to crawl: give a SEED or --seeds FILE")
    return found


def _seed(text: str) -> Link:
    try:
        return seed(text)
    except BadURLError as error:
        raise UsageError(f"seed {show.printable(text)!r}: {error}") from None


def _seeds_of_file(name: str) -> list[Link]:
    found: list[Link] = []
    bad = 0
    for item in read_seeds(_lines(name)):
        if isinstance(item, Link):
            found.append(item)
            continue
        bad += 1
        if bad <= _COMPLAINTS:
            sys.stderr.write(f"weft: {name}:{item.line}: {show.printable(item.text[:100])!r}: {item.why}\n")
    if bad > _COMPLAINTS:
        sys.stderr.write(f"weft: {name}: {bad - _COMPLAINTS} more lines are no seeds\n")
    if not found:
        raise SeedError(f"{name}: no seeds in it")
    return found


def _lines(name: str) -> Iterator[str]:
    if name == "-":
        yield from sys.stdin
        return
    try:
        with Path(name).open(encoding="utf-8", errors="replace") as lines:
            yield from lines
    except OSError as error:
        raise SeedError(f"{name}: {error.strerror}") from None


def print_report(report: Report, path: Path) -> None:
    """The final counts, for people."""
    show.pairs(
        [
            ("fetched", f"{report.fetched:,} pages, {show.size(report.bytes)}, in {show.duration(report.seconds)}"),
            ("documents", f"{report.documents:,} ({report.duplicates:,} duplicates left out)"),
            ("links", f"{report.links_seen:,} seen, {report.urls_new:,} new URLs on {report.hosts:,} hosts"),
            ("not fetched", f"{report.robots_denied:,} denied by robots.txt, {report.failed:,} failed"),
            ("left", _left(report)),
            ("ended", _ENDINGS[report.ended] + _but(report)),
        ]
    )
    _print_waits(report)
    _print_left(report, path)
    _print_missing(report.missing)
    _print_seeds(report)
    _print_places(report, path)


def _left(report: Report) -> str:
    more = "".join(f", {count:,} {word}" for count, word in ((report.held, "held"), (report.capped, "capped")) if count)
    return f"{report.pending:,} pending, {report.parked:,} parked with their hosts, {report.dead:,} dead{more}"


def _but(report: Report) -> str:
    """What an end is no end for."""
    if report.ended != Ending.EXHAUSTED.value:
        return ""
    left = [
        f"{show.many(count, 'URL')} {what}"
        for count, what in (
            (report.parked, "of hosts that were given up"),
            (report.held, "that are held"),
            (report.capped, "beyond a cap"),
        )
        if count
    ]
    return f" but {', '.join(left[:-1]) + ' and ' if left[1:] else ''}{left[-1]}" if left else ""


def _print_waits(report: Report) -> None:
    if report.waits:
        show.line("\nwaiting for")
        show.pairs((f"  {wait.host}", f"{wait.why}, until {show.until(wait.until)}") for wait in report.waits)
    if report.wait_urls:
        urls, hosts = show.many(report.wait_urls, "URL"), show.many(report.wait_hosts, "host")
        show.line(f"  in all {urls} on {hosts}; what waits is kept")


def _print_left(report: Report, path: Path) -> None:
    """What will not be asked for by itself: groups that are held, and what a cap keeps in its queue."""
    if report.held:
        show.line("\nheld, because their like say nothing new")
        for hold in report.holds:
            show.line("  " + show.held_line(hold))
        if (more := report.hold_groups - len(report.holds)) > 0:
            show.line(f"  and {show.many(more, 'more group')}: weft dead {path}")
    if report.capped:
        show.line("\nleft in queues that may give no more")
        for cap in report.caps:
            urls, hosts = show.many(cap.urls, "URL"), show.many(cap.hosts, "host")
            show.line(show.printable(f"  {urls} on {hosts}, such as {cap.example}: {cap.meaning}"))


def _print_missing(missing: list[Missing]) -> None:
    """What is not there and why: how often, and the line to type to learn more of an example."""
    for kind, title in _KINDS.items():
        if some := [row for row in missing if row.kind == kind]:
            show.line(f"\n{title}")
            width = max(len(row.word) for row in some)
            for row in some:
                show.line(f"  {row.word:<{width}}  {row.count:>7,}  {row.meaning}".rstrip())
                if told := row.inspect or row.example:
                    show.line(f"  {'':<{width}}           {show.printable(told)}")


def _print_seeds(report: Report) -> None:
    """Every seed that brought nothing, where none brought anything; else some."""
    shown = report.seeds if report.seeds_failed else report.seeds[:_COMPLAINTS]
    if shown:
        show.line("\nno seed brought a page" if report.seeds_failed else "\nseeds that brought no page")
        show.pairs((f"  {end.seed}", f"{end.word}: {end.why}") for end in shown)
    if len(shown) < len(report.seeds):
        show.line("  and more")


def _print_places(report: Report, path: Path) -> None:
    """Where things lie, as far as they are there."""
    rows = []
    if any((path / "corpus" / "data").glob("*.parquet")):
        rows.append(("corpus", f"{path}/corpus/data/*.parquet"))
    if any((path / "raw").glob("*.warc.gz")):
        rows.append(("archive", f"{path}/raw/*.warc.gz"))
    if report.parked or report.dead:
        rows.append(("trouble", f"weft dead {path} lists what was given up and why"))
    if rows:
        show.line()
        show.pairs(rows)


_KINDS = {
    "answer": "requests that brought no page",
    "page": "pages that could not be read",
    "link": "links not followed",
}
_ENDINGS = {
    Ending.EXHAUSTED.value: "nothing is left to fetch",
    Ending.LIMIT.value: "the limit is reached",
    Ending.WAITING.value: "only URLs are left that wait longer than a minute; run it again, or see [frontier] finish",
    Ending.STOPPED.value: "stopped; nothing is lost, run the same command to go on",
    Ending.INCOMPLETE.value: "not all could be read; the corpus of before was kept",
    "": "-",
}
