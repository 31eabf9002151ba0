"""Politeness as pure functions: how long a host is left alone after a request, and when its owner wants quiet.

`gap` is the only place that decides a pause between two requests to a host. The frontier calls it when an answer ends.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from weft.config import Pace
from weft.errors import ConfigError

FLOOR: Final = 0.5  # seconds; nobody but an own host is asked faster, whatever is configured
MAX_BACKOFF: Final = 900.0
MAX_STRAIN: Final = 10  # 2 ** 10 delays of a second are above MAX_BACKOFF
OUR_DELAY: Final = "our delay"
CRAWL_DELAY: Final = "Crawl-delay in robots.txt"
SLOW_ANSWERS: Final = "slow answers"
UNREACHABLE: Final = "the host cannot be reached"
ORDINARY: Final = frozenset({"", OUR_DELAY, CRAWL_DELAY, SLOW_ANSWERS})
"""Why a host is left alone between any two requests; what is not among these tells of trouble."""
_SMOOTHING: Final = 0.3  # weight of the newest response time in the average
_THROTTLED: Final = 30.0  # first pause of a host that says 429 or 503 without saying how long


class Signs(NamedTuple):
    """What is known of a host when an answer of it has ended."""

    own: bool = False
    crawl_delay: float = -1.0  # below 0: unknown
    latency: float = 0.0  # average of the last response times
    last_latency: float = 0.0
    strain: int = 0
    throttled: bool = False  # this answer was a 429 or 503
    retry_after: float | None = None
    closed: float = 0.0  # back-off of a host that cannot be reached


class Gap(NamedTuple):
    """Seconds from the end of an answer to the next request, and the reason a person is given."""

    seconds: float
    why: str


def gap(pace: Pace, signs: Signs) -> Gap:
    """The largest of all that asks for distance."""
    delay = pace.delay if signs.own else max(pace.delay, FLOOR)
    seconds, why = delay, OUR_DELAY
    if min(signs.crawl_delay, pace.max_crawl_delay) > seconds:
        seconds, why = min(signs.crawl_delay, pace.max_crawl_delay), CRAWL_DELAY
    if _stretch(pace, signs) > seconds:
        seconds, why = _stretch(pace, signs), SLOW_ANSWERS
    if signs.strain > 0 and _backoff(delay, signs) > seconds:
        seconds, why = _backoff(delay, signs), "failures"
    if signs.closed > seconds:
        seconds, why = signs.closed, UNREACHABLE
    if signs.retry_after is not None:
        wanted = min(signs.retry_after, pace.max_retry_after)
        if wanted > seconds or why == UNREACHABLE:  # what the host itself wants is never cut short by `dead retry`
            seconds, why = max(seconds, wanted), "Retry-After"
    return Gap(seconds, why)


def _stretch(pace: Pace, signs: Signs) -> float:
    if signs.own and pace.delay == 0:
        return 0.0  # a benchmark of one's own server measures it at full speed
    return pace.latency_factor * max(signs.latency, signs.last_latency)


def _backoff(delay: float, signs: Signs) -> float:
    """Doubles with every bad answer and halves with every good one: recovery is as gradual as the trouble was."""
    pause = delay * 2.0**signs.strain  # a delay of 0, of one's own hosts, leaves only the URL's own back-off
    if signs.throttled and signs.retry_after is None:
        pause = max(pause, _THROTTLED * 2.0 ** (signs.strain - 1))
    return min(pause, MAX_BACKOFF)


def smoothed(average: float, newest: float) -> float:
    """The moving average of response times."""
    return newest if average == 0.0 else average + _SMOOTHING * (newest - average)


class Quiet(NamedTuple):
    """Hours of the day, in a time zone, in which hosts of a pattern are not asked."""

    pattern: str
    start: int  # minute of the day
    stop: int
    zone: ZoneInfo

    def ends(self, now: float) -> float | None:
        """When the quiet that holds at `now` is over; None if there is none."""
        local = datetime.fromtimestamp(now, self.zone)
        minute = local.hour * 60 + local.minute
        if self.start <= self.stop:
            if not self.start <= minute < self.stop:
                return None
        elif self.stop <= minute < self.start:
            return None
        end = local.replace(hour=self.stop // 60 % 24, minute=self.stop % 60, second=0, microsecond=0)
        if end.timestamp() <= now:
            end += timedelta(days=1)  # wall time of the zone: right over a change of summer time as well
        return end.timestamp()


_QUIET: Final = re.compile(r"(\S+)\s+(\d\d?):(\d\d)-(\d\d?):(\d\d)(?:\s+(\S+))?")


def quiet_hours(lines: Sequence[str]) -> tuple[Quiet, ...]:
    """From the configuration: `*.example.org 08:00-20:00 Europe/Berlin`; without a zone, UTC."""
    return tuple(_quiet(line) for line in lines)


def _quiet(line: str) -> Quiet:
    match = _QUIET.fullmatch(line.strip())
    if match is None:
        raise ConfigError(f"pace.quiet: {line!r} is not `PATTERN HH:MM-HH:MM ZONE`")
    pattern, *clock, zone = match.groups()
    start_hour, start_minute, stop_hour, stop_minute = (int(part) for part in clock)
    start, stop = start_hour * 60 + start_minute, stop_hour * 60 + stop_minute
    if max(start, stop) > 24 * 60 or max(start_minute, stop_minute) > 59 or start == stop:
        raise ConfigError(f"pace.quiet: {line!r} has no such hours")
    try:
        return Quiet(pattern.lower(), start, stop, ZoneInfo(zone or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigError(f"pace.quiet: {line!r}: no time zone {zone!r}") from None


def quiet_until(quiets: Sequence[Quiet], host: str, now: float) -> float | None:
    """When the host may be asked again as far as quiet hours go; None: now."""
    ends = [quiet.ends(now) for quiet in quiets if fnmatchcase(host, quiet.pattern)]
    return max((end for end in ends if end is not None), default=None)
