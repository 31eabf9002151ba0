"""The one function that decides how long a host is left alone, and quiet hours."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.config import Pace
from weft.errors import ConfigError
from weft.frontier.pace import MAX_BACKOFF, Signs, gap, quiet_hours, quiet_until, smoothed

PACE = Pace()


@pytest.mark.parametrize(
    ("signs", "seconds", "why"),
    [
        (Signs(), 1.0, "our delay"),
        (Signs(crawl_delay=0.2), 1.0, "our delay"),
        (Signs(crawl_delay=7.0), 7.0, "Crawl-delay in robots.txt"),
        (Signs(crawl_delay=100_000.0), 300.0, "Crawl-delay in robots.txt"),
        (Signs(latency=3.0), 6.0, "slow answers"),
        (Signs(latency=1.0, last_latency=4.0), 8.0, "slow answers"),
        (Signs(strain=3), 8.0, "failures"),
        (Signs(strain=1, throttled=True), 30.0, "failures"),
        (Signs(strain=3, throttled=True), 120.0, "failures"),
        (Signs(strain=10, throttled=True), MAX_BACKOFF, "failures"),
        (Signs(strain=1, throttled=True, retry_after=5.0), 5.0, "Retry-After"),
        (Signs(retry_after=10_000_000.0), 86_400.0, "Retry-After"),
        (Signs(retry_after=0.0), 1.0, "our delay"),
        (Signs(closed=900.0), 900.0, "the host cannot be reached"),
    ],
)
def test_the_largest_wish_counts(signs: Signs, seconds: float, why: str) -> None:
    assert gap(PACE, signs) == (seconds, why)


def test_only_own_hosts_are_asked_faster_than_twice_a_second() -> None:
    hurried = Pace(delay=0.0)
    assert gap(hurried, Signs()).seconds == 0.5
    assert gap(hurried, Signs(own=True)).seconds == 0.0
    assert gap(hurried, Signs(own=True, crawl_delay=2.0)).seconds == 2.0


@given(st.floats(0, 1e6), st.floats(0, 1e4), st.integers(0, 10), st.none() | st.floats(0, 1e7))
def test_no_sign_makes_the_gap_smaller(crawl: float, latency: float, strain: int, after: float | None) -> None:
    seconds = gap(PACE, Signs(crawl_delay=crawl, latency=latency, strain=strain, retry_after=after)).seconds
    assert seconds >= max(PACE.delay, min(crawl, 300.0), 2 * latency, min(after or 0.0, 86_400.0))


def test_the_average_follows_slowly() -> None:
    assert smoothed(0.0, 2.0) == 2.0
    assert 1.0 < smoothed(1.0, 2.0) < 1.5


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-01-15 06:59", None),
        ("2026-01-15 07:00", "2026-01-15 19:00"),  # 08:00 to 20:00 in Berlin, in winter
        ("2026-01-15 18:59", "2026-01-15 19:00"),
        ("2026-01-15 19:00", None),
        ("2026-07-15 06:00", "2026-07-15 18:00"),  # and in summer
        ("2026-07-15 18:00", None),
    ],
)
def test_quiet_hours_follow_their_time_zone(now: str, until: str | None) -> None:
    quiets = quiet_hours(["*.example.org 08:00-20:00 Europe/Berlin"])
    end = quiet_until(quiets, "www.example.org", moment(now))
    assert end == (None if until is None else moment(until))
    assert quiet_until(quiets, "example.com", moment(now)) is None


def test_quiet_hours_over_midnight() -> None:
    quiets = quiet_hours(["* 22:00-06:00"])
    assert quiet_until(quiets, "a.b", moment("2026-01-15 23:30")) == moment("2026-01-16 06:00")
    assert quiet_until(quiets, "a.b", moment("2026-01-15 05:59")) == moment("2026-01-15 06:00")
    assert quiet_until(quiets, "a.b", moment("2026-01-15 12:00")) is None


@pytest.mark.parametrize(
    "line", ["", "example.org", "a 25:00-26:00", "a 8-9", "a 08:00-09:00 Nowhere/Land", "a 08:00-08:00"]
)
def test_quiet_hours_that_mean_nothing_are_refused(line: str) -> None:
    with pytest.raises(ConfigError):
        quiet_hours([line])
