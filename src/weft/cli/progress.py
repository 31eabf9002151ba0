"""How a crawl goes on, while it goes on: a live panel in a terminal, a plain line now and then elsewhere."""

import contextlib
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.table import Table

from weft.limits import Amounts
from weft.metrics import Report
from weft.records import Fate, Reason

from .show import duration, printable, size, until

_WINDOW: Final = 10  # snapshots (seconds) the rate is taken over
_PLAIN_EVERY: Final = 10  # snapshots between plain lines
_BAD: Final = {
    reason.value
    for reason in Reason
    if reason.fate in (Fate.GONE, Fate.RETRY, Fate.CLOSED) and reason is not Reason.ROBOTS_DENIED
}


class Rate:
    """Pages a second over the last snapshots."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque(maxlen=_WINDOW)

    def update(self, report: Report) -> float:
        self._points.append((report.seconds, report.fetched))
        (start, before), (end, now) = self._points[0], self._points[-1]
        return (now - before) / (end - start) if end > start else 0.0


@contextlib.contextmanager
def progress(until: Amounts, *, quiet: bool) -> Iterator[Callable[[Report], None]]:
    """A function to call with a snapshot every second."""
    rate = Rate()
    console = Console(stderr=True)
    if quiet:
        yield _nothing
    elif console.is_terminal:
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            yield lambda report: live.update(panel(report, rate.update(report), until))
    else:
        yield plain(rate, until)


def _nothing(_: Report) -> None:
    """Programs read the final object only."""


def plain(rate: Rate, until: Amounts) -> Callable[[Report], None]:
    seen = 0

    def show(report: Report) -> None:
        nonlocal seen
        speed = rate.update(report)
        if seen % _PLAIN_EVERY == 0:
            more = _time_left(report, speed, until) + _waiting(report, "; ")
            sys.stderr.write(
                f"{duration(report.seconds)}: {report.fetched:,} pages ({speed:.1f}/s), "
                f"{report.documents:,} documents, "
                f"{report.pending:,} pending on {report.hosts:,} hosts, {_errors(report):,} errors{more}\n"
            )
        seen += 1

    return show


def panel(report: Report, speed: float, until: Amounts) -> Table:
    grid = Table.grid(padding=(0, 2))
    left = _time_left(report, speed, until)
    grid.add_row("fetched", f"{report.fetched:,} pages, {speed:.1f}/s, {size(report.bytes)}")
    grid.add_row("corpus", f"{report.documents:,} documents, {report.duplicates:,} duplicates")
    grid.add_row("frontier", f"{report.pending:,} pending on {report.hosts:,} hosts; {report.urls_new:,} URLs found")
    grid.add_row("trouble", f"{_errors(report):,} errors, {report.parked:,} parked, {report.dead:,} dead")
    grid.add_row("time", f"{duration(report.seconds)}{left}")
    if report.waits:
        grid.add_row("now", _waiting(report))
    return grid


def _waiting(report: Report, lead: str = "") -> str:
    """For what and until when, if the crawl asks nobody at the moment."""
    if not report.waits:
        return ""
    first = report.waits[0]
    return printable(f"{lead}waiting for {first.host}: {first.why}, until {until(first.until)}")


def complaints() -> Callable[[Report], None]:
    """Tells once, on stderr, of each failure that does not heal by itself."""
    told: set[str] = set()

    def complain(report: Report) -> None:
        for trouble in report.troubles:
            if trouble.url not in told:
                told.add(trouble.url)
                sys.stderr.write(printable(f"weft: {trouble.url}: {trouble.word}: {trouble.why}") + "\n")

    return complain


def _errors(report: Report) -> int:
    """Requests that ended badly, attempts that will be made again among them, and pages no parser could read."""
    return sum(count for word, count in report.outcomes.items() if word in _BAD) + sum(report.refused.values())


def _time_left(report: Report, speed: float, until: Amounts) -> str:
    """Only where a limit is set: how long a crawl without one takes, nobody knows."""
    guesses = []
    if until.pages and speed > 0:
        guesses.append((until.pages - report.fetched) / speed)
    if until.seconds:
        guesses.append(until.seconds - report.seconds)
    return f", about {duration(max(0.0, min(guesses)))} left" if guesses else ""
