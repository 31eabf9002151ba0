"""Telling traps from honest pages by where URLs are found and what their pages bring. Pure functions and plain counts.

A page is *fruitful* if it says something new. A URL is *held* behind fruitless pages in a row, or if its pattern has
stopped bringing new pages. What is held is tried now and then, on a budget of its host. docs/frontier.md, "Traps", has
the reasons, and what the constants were swept over.
"""

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final

import msgspec

from weft.urls.host import is_address, registrable

from .trail import MANY, MOST_LENT, Trail

_DRY: Final = 2  # fruitless pages in a row
_ENOUGH: Final = 20  # pages before a pattern is judged
_WINDOW: Final = 50  # pages that count
_LEAST: Final = 0.2  # share of them that must be fruitful
FORGIVEN: Final = 10  # debt that a fruitful trial takes away beside its own

# Taken over by eye from lists of session parameters of common web software.
_SESSION: Final = re.compile(
    r"(?:[?&;/](?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|sid|s|sess|session|session_?id|zenid|osc?sid)="
    r"[0-9a-z]{8,})|/\(s\([0-9a-z]{8,}\)\)|[/=][0-9a-f]{16,}(?:[/&.]|$)",
    re.IGNORECASE,
)
_MAYBE: Final = re.compile(r"[;=(]|[0-9a-f]{16}", re.IGNORECASE)  # what an id of the visit has in a path, at least
_NUMBER: Final = re.compile(r"\d")
# What tells one page from the next: segments of several words, and numbers. Anchored and possessive: linear time.
_VARIABLE: Final = re.compile(r"(?<=/)[^/\-_]*+[-_][^/]*+|\d+")
_NAME: Final = 40  # characters of a parameter's name
_NUMBERED: Final = re.compile(r"((?:/[^/\d]*+(?=/))*+/)[^/]*\d[^/]*/.")
COPIES: Final = "/…"
"""How the text of a pattern ends whose pages count as barren only if they are copies, word for word."""
_RUN: Final = re.compile(r"/\*(?:/\*)++")  # a month and its days are one pattern
SESSIONS: Final = "/… session ids"
"""One pattern for all of a host's URLs that carry an id of the visit: each id would make a pattern of its own."""


class Verdict(IntEnum):
    """What a page brought."""

    UNKNOWN = 0  # not judged
    FRUITFUL = 1
    FRUITLESS = 2
    DUPLICATE = 3  # word for word what another page of the host says
    LENT = 4  # fruitful, but only for its pattern: the host has had all of its words

    @property
    def is_fruitful(self) -> bool:
        return self in (Verdict.FRUITFUL, Verdict.LENT)


class Window(msgspec.Struct, array_like=True, gc=False):
    """The last pages of a pattern: how many were judged in all, and a bit for each of the last that was fruitful."""

    judged: int = 0
    bits: int = 0

    def push(self, fruitful: bool) -> None:
        self.judged += 1
        self.bits = (self.bits << 1 | fruitful) & (1 << _WINDOW) - 1

    @property
    def counted(self) -> int:
        return min(self.judged, _WINDOW)

    @property
    def fruitful(self) -> int:
        """Of the last pages."""
        return self.bits.bit_count()

    @property
    def is_barren(self) -> bool:
        return self.judged >= _ENOUGH and self.fruitful < _LEAST * self.counted


def pattern_of(url: str) -> str:
    """The pattern of a canonical URL inside its host; empty for one whose path is made of words alone."""
    path, _, query = url[url.find("/", 8) :].partition("?")
    if not query and not _NUMBER.search(path):
        return ""
    if (query or _MAYBE.search(path)) and _SESSION.search(url):
        return SESSIONS
    shape = _RUN.sub("/*", _VARIABLE.sub("*", path))
    return f"{shape}?*" if query else shape


def is_lent(trail: Trail) -> bool:
    """Is the page fruitful if it is new to its pattern, though not to its host? Only so many times in a row."""
    return not trail.ingrown and trail.lent < MOST_LENT


def lent_behind(trail: Trail, verdict: Verdict) -> int:
    """Pages on the way to what a page links to that were new to their pattern only, since one was new to its host."""
    return 0 if verdict is Verdict.FRUITFUL else trail.lent + (verdict is Verdict.LENT)


def dry_behind(trail: Trail, verdict: Verdict) -> int:
    """Fruitless pages in a row on the way to what a page links to."""
    return 0 if verdict.is_fruitful else min(trail.dry + 1, MANY)


def copy_of(url: str) -> str:
    """A second pattern, for what lies below a numbered folder: perhaps a copy of the site, one of many."""
    path = url[url.find("/", 8) :].partition("?")[0]
    numbered = _NUMBERED.match(path)
    return f"{numbered[1]}*{COPIES}" if numbered else ""


def view_of(url: str, source: str) -> str:
    """A second pattern, for one more view of the page it was found on: a query in which one parameter is another.

    Each path is a pattern of its own, and a trap beside each page of a site would be judged a thousand times.
    """
    (path, _, query), (before, _, old) = url.partition("?"), source.partition("?")
    if path != before or not query:
        return ""
    known = set(old.split("&"))
    changed = {pair.partition("=")[0] for pair in query.split("&") if pair not in known}
    return f"/…?{changed.pop()[:_NAME]}=*" if len(changed) == 1 else "/…?…"


def is_dry(trail: Trail) -> bool:
    """Has the way to it led past too many fruitless pages?"""
    return trail.dry >= _DRY and not trail.pardoned


def budget(constant: int, share: float, fruitful: int) -> float:
    """How much a host may spend on trying what is held."""
    return constant + share * fruitful


def repaid(debt: int) -> int:
    """The debt of a group when one of its trials proved fruitful."""
    return max(0, debt - 1 - FORGIVEN)


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
