"""What an answer's head says: Retry-After, Cache-Control, Location, dates. Pure. Called by fetcher and robots book."""

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Final, TypeAlias

from weft.records import Exchange, Headers, Reason
from weft.urls.canonical import BadURLError, canonical

Fields: TypeAlias = dict[str, str]

MAX_FRESH: Final = 365 * 86_400.0
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_DIGITS: Final = re.compile(r"[0-9]{1,12}")
_MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,12})", re.IGNORECASE)
_NOT_KEPT: Final = re.compile(r"(?:^|[,\s])(?:no-store|no-cache)\b", re.IGNORECASE)
_BY_STATUS: Final = {
    200: Reason.STORED,
    203: Reason.STORED,
    401: Reason.FORBIDDEN,
    403: Reason.FORBIDDEN,
    404: Reason.NOT_FOUND,
    410: Reason.GONE,
    429: Reason.RATE_LIMITED,
    451: Reason.FORBIDDEN,
    503: Reason.OVERLOADED,
}


def reason_of_status(status: int, conditional: bool) -> Reason:
    """What a whole answer other than a redirect means; `conditional`: validators were sent."""
    if status == 304 and conditional:
        return Reason.UNCHANGED
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    if 400 <= status < 500:
        return Reason.CLIENT_ERROR
    return Reason.SERVER_ERROR if 500 <= status < 600 else Reason.ODD_STATUS


def fields_of(headers: Headers) -> Fields:
    """Names in lower case → values: the first of each name, but all of Cache-Control."""
    fields: Fields = {}
    for key, value in headers:
        name = key.lower()
        if name not in fields:
            fields[name] = value
        elif name == "cache-control":
            fields[name] += "," + value
    return fields


def retry_after(fields: Fields, now: float) -> float | None:
    """Seconds the host wants to be left alone: given as seconds or as a date. `frontier.pace` says how far we obey."""
    value = fields.get("retry-after", "").strip()
    if _DIGITS.fullmatch(value):
        return float(value)
    date = parse_date(value)
    return None if date is None else max(date - now, 0.0)


def fresh_until(fields: Fields, now: float) -> float | None:
    """Until when the answer says it need not be asked for again."""
    control = fields.get("cache-control", "")
    if not control:
        return None
    seconds = (_usual_lifetime if len(control) <= 100 else _lifetime)(control)
    if seconds is None:
        return None
    age = fields.get("age", "")
    passed = float(age) if age and _DIGITS.fullmatch(age) else 0.0
    left = seconds - passed
    return now + left if left > 0 else None


def _lifetime(control: str) -> float | None:
    """Seconds that Cache-Control gives an answer; None if it gives none."""
    found = _MAX_AGE.search(control)
    return None if found is None or _NOT_KEPT.search(control) else min(float(found[1]), MAX_FRESH)


_usual_lifetime = lru_cache(maxsize=1024)(_lifetime)  # nearly all answers share a few short values


def redirect_target(exchange: Exchange) -> str | None:
    """The canonical http(s) URL a redirect leads to; None if it leads nowhere."""
    location = fields_of(exchange.headers).get("location", "").strip()
    if not location:
        return None
    try:
        # Raw octets in Location are UTF-8 as a rule, and a browser reads them so.
        location = location.encode("latin-1").decode("utf-8", "replace")
        target = canonical(location, exchange.url)
    except BadURLError:
        return None
    return target if target.startswith(("http://", "https://")) else None


def mime(fields: Fields) -> str:
    return fields.get("content-type", "").partition(";")[0].strip().lower()[:100]


def parse_date(value: str) -> float | None:
    """An HTTP date as wall seconds; None for anything else."""
    if not value or len(value) > 60:
        return None
    try:
        date = parsedate_to_datetime(value)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
