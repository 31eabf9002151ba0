"""What is said while a crawl goes on: while it waits, for what and until when; once, what will not heal."""

import time
from io import StringIO

import pytest
from rich.console import Console

from weft.cli.progress import Rate, complaints, panel, plain
from weft.limits import NO_LIMITS
from weft.metrics import Report, Trouble, Wait

NOON = time.mktime((2001, 2, 3, 12, 31, 7, 0, 0, -1))
WAITING = Report(
    pending=1, hosts=1, waits=[Wait("example.org", "Retry-After", NOON), Wait("b.example", "failures", NOON)]
)


def test_the_plain_line_says_what_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    plain(Rate(), NO_LIMITS)(WAITING)
    plain(Rate(), NO_LIMITS)(Report(pending=1))
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("0 errors; waiting for example.org: Retry-After, until 2001-02-03 12:31:07")
    assert second.endswith("0 errors")


def test_the_panel_says_what_is_waited_for() -> None:
    def shown(report: Report) -> str:
        out = StringIO()
        Console(file=out, width=120).print(panel(report, 0.0, NO_LIMITS))
        return out.getvalue()

    assert "waiting for example.org: Retry-After, until 2001-02-03 12:31:07" in shown(WAITING)
    assert "waiting" not in shown(Report(pending=1))


def test_a_wait_of_today_is_told_by_the_hour(capsys: pytest.CaptureFixture[str]) -> None:
    plain(Rate(), NO_LIMITS)(Report(waits=[Wait("a.example", "failures", time.time())]))
    assert capsys.readouterr().err.rpartition("until ")[2].count("-") == 0


def test_what_does_not_heal_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    complain = complaints()
    first, second = (Trouble(f"https://{name}.example/", "tls-failed", "expired\x1b[2J") for name in "ab")
    complain(Report(troubles=[first]))
    complain(Report(troubles=[first, second]))
    told = capsys.readouterr().err.splitlines()
    assert told == [f"weft: https://{name}.example/: tls-failed: expired\ufffd[2J" for name in "ab"]
