"""Traps: URLs without end that bring no new text. Pure: the pattern of a URL, and how many of a pattern are taken in.

A pattern is a shape that URLs of one site share: numbers and ids left out, a path with any query, a date at the end. Of
each pattern a sample is taken in. More follow as its pages prove to differ; the rest is held, never dropped.
"""

import re
from collections import Counter
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from weft.records import Finding
from weft.urls.host import is_address, registrable

from .rows import PatternRow


class Rule(Enum):
    """What makes a pattern suspicious, for a person."""

    SEGMENTS = "repeated-segments", "the same path segment comes again and again"
    SESSION = "session-id", "the URL carries an id of the visit"
    CALENDAR = "calendar", "the path ends in a date"
    QUERY = "query", "one path with any combination of parameters: filters, sorting, pages"
    NUMBERS = "numbers", "URLs that differ in a number or an id: abnormal fan-out"
    SUBDOMAINS = "subdomains", "one domain with ever new hosts"

    meaning: str

    def __new__(cls, word: str, meaning: str) -> "Rule":
        member = object.__new__(cls)
        member._value_ = word
        member.meaning = meaning
        return member


class Pattern(NamedTuple):
    rule: Rule
    text: str


# Taken over by eye from lists of session parameters of common web software.
_SESSION: Final = re.compile(
    r"(?:[?&;/](?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|sid|s|sess|session|session_?id|zenid|osc?sid)="
    r"[0-9a-z]{8,})|/\(s\([0-9a-z]{8,}\)\)|[/=][0-9a-f]{16,}(?:[/&.]|$)",
    re.IGNORECASE,
)
_ID: Final = re.compile(r"[0-9a-f]{16}")
_DATE: Final = re.compile(r"/\d{4}[/-]\d{1,2}(?:[/-]\d{1,2})?/?$")
_DATE_QUERY: Final = re.compile(
    r"(?:^|&)(?:date|day|month|year|week|from|to|start|end)=\d{1,4}(?:-\d{1,2}){0,2}(?:&|$)"
)
_NUMBER: Final = re.compile(r"\d")
# What tells one page from the next: segments of several words, and numbers. Anchored and possessive: linear time.
_VARIABLE: Final = re.compile(r"(?<=/)[^/\-_]*+[-_][^/]*+|\d+")
_REPEATS: Final = 3


def pattern_of(url: str) -> Pattern | None:
    """The pattern of a canonical URL inside its host; None for one that is made of words alone."""
    path, _, query = url[url.find("/", 8) :].partition("?")
    if path.count("/") > _REPEATS and _repeats(path.split("/")):
        return Pattern(Rule.SEGMENTS, f"/{path.split('/')[1]}/…")
    if not query and not _NUMBER.search(path):
        return None
    if (query or ";" in path or _ID.search(path)) and _SESSION.search(url):
        first = path.split("/")
        return Pattern(Rule.SESSION, f"/{first[1] if len(first) > 2 else ''}…")
    if path[-1] in "/0123456789" and _DATE.search(path):
        return Pattern(Rule.CALENDAR, f"{_VARIABLE.sub('*', _DATE.sub('', path))}/DATE")
    if query:
        rule = Rule.CALENDAR if _DATE_QUERY.search(query) else Rule.QUERY
        return Pattern(rule, f"{_VARIABLE.sub('*', path)}?…")
    return Pattern(Rule.NUMBERS, _VARIABLE.sub("*", path))


def _repeats(segments: list[str]) -> bool:
    if len(set(segments)) > len(segments) - _REPEATS + 1:
        return False
    return max(Counter(filter(None, segments)).values(), default=0) >= _REPEATS


@lru_cache(maxsize=16_384)
def family_of(host: str) -> str:
    """The name under which hosts count as one site: the registrable domain, or two labels where it is not known."""
    domain = registrable(host)
    labels = host.split(".")
    if domain != host or len(labels) < 3 or is_address(host) or registrable(f"a.b.{labels[-1]}") == f"b.{labels[-1]}":
        return domain
    return ".".join(labels[-2:])  # an unknown suffix: every name under it counts as a domain of its own


def is_ordinary(host: str, family: str) -> bool:
    """The one or two hosts that every site has."""
    return host in (family, f"www.{family}")


_ENOUGH: Final = 20  # pages before a pattern is judged
_WINDOW: Final = 40  # pages after which older ones count half
_GOOD: Final = 0.5  # share of different pages that proves a pattern
_GROWTH: Final = 10  # URLs taken in for each page that proved different
_THIN: Final = 30  # words; a page with fewer shows nothing
_NEAR: Final = 3  # bits of SimHash
_REMEMBERED: Final = 32


def allowance(row: PatternRow, sample: int) -> int:
    """How many URLs of the pattern may have been taken in by now."""
    # Some of a trap's first URLs do not show its pattern yet; a new host costs robots.txt and sitemap besides its page.
    sample = sample // 3 if row.rule == Rule.SUBDOMAINS.value else sample - sample // 10
    if row.judged >= min(_ENOUGH, sample) and row.different >= _GOOD * row.judged:
        return sample + _GROWTH * row.proven
    return sample


def is_suspected(row: PatternRow, sample: int) -> bool:
    return row.held > 0 or allowance(row, sample) <= row.admitted


def judge(row: PatternRow, finding: Finding | None) -> None:
    """Count one page of the pattern; without a finding, one that gave no page at all."""
    if row.judged >= _WINDOW:
        row.judged //= 2
        row.different //= 2
    row.judged += 1
    if finding is not None and _is_different(row, finding):
        row.different += 1
        row.proven += 1
        row.simhashes = (*row.simhashes[-(_REMEMBERED - 1) :], finding.simhash)


def _is_different(row: PatternRow, finding: Finding) -> bool:
    if finding.removal is not None or finding.refusal is not None or finding.words < _THIN:
        return False
    return not finding.simhash or all((finding.simhash ^ known).bit_count() > _NEAR for known in row.simhashes)
