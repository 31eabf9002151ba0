"""What a page and its answer ask of robots: noindex, nofollow. Headers and meta tags come in, `Directives` go out.

Both <meta name="robots"> and X-Robots-Tag may speak to all robots or to one by its product token. What is said to all
and what is said to us are added up: the stricter wins.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from weft.records import Headers, Record

# Directives that have a value after a colon; any other word before a colon is the name of a robot.
_VALUED: Final = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_DATE: Final = re.compile(r"unavailable_after\s*:(.*)", re.IGNORECASE | re.DOTALL)
_VALUE: Final = re.compile(r"max-[a-z-]+\s*:\s*[a-z0-9-]+")  # `max-image-preview: none` is not `none`
_SEPARATOR: Final = re.compile(r"[\s,;]+")
_MAX_LENGTH: Final = 4096  # characters of one value that are read


class Directives(Record, frozen=True):
    """What is not wanted."""

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: "Directives") -> "Directives":
        return Directives(self.noindex or other.noindex, self.nofollow or other.nofollow)


NONE: Final = Directives()


def of_headers(headers: Headers, product: str, fetched: float) -> Directives:
    """Every X-Robots-Tag field of an answer."""
    found = NONE
    for name, value in headers:
        if name.lower() == "x-robots-tag":
            for agent, words in _scoped(value[:_MAX_LENGTH]):
                if agent in ("", "*", product.lower()):
                    found |= _read(words, fetched)
    return found


def of_metas(metas: Iterable[tuple[str, str]], product: str, fetched: float) -> Directives:
    """Every <meta> of a page, as (lower-case name, content)."""
    names = ("robots", product.lower())
    found = NONE
    for name, content in metas:
        if name in names:
            found |= _read(content[:_MAX_LENGTH], fetched)
    return found


def is_nofollow(rel: str) -> bool:
    """Does a link's rel attribute hold `nofollow`?"""
    return "nofollow" in rel.lower() and "nofollow" in _SEPARATOR.split(rel.lower())


def _scoped(value: str) -> list[tuple[str, str]]:
    """(robot, its directives): a name with a colon speaks for all that follows, up to the next name."""
    spoken: list[tuple[str, str]] = [("", "")]
    for part in value.split(","):
        word, colon, rest = part.partition(":")
        name = word.strip().lower()
        if colon and name and name not in _VALUED and " " not in name:
            spoken.append((name, rest))
        else:
            agent, words = spoken[-1]
            spoken[-1] = (agent, f"{words},{part}")
    return spoken


def _read(words: str, fetched: float) -> Directives:
    date = _DATE.search(words)
    tokens = _SEPARATOR.split(_VALUE.sub("", words.lower()))
    none = "none" in tokens
    expired = date is not None and _is_past(date.group(1), fetched)
    return Directives(noindex=none or expired or "noindex" in tokens, nofollow=none or "nofollow" in tokens)


def _is_past(text: str, fetched: float) -> bool:
    """Is the date, in any of the forms the web uses, before the fetch? What is no date forbids nothing."""
    parts = text.split(",")
    for candidate in (parts[0], ",".join(parts[:2])):  # RFC 850 and 822 have a comma behind the day of the week
        for form in (datetime.fromisoformat, parsedate_to_datetime):
            try:
                date = form(candidate.strip())
                return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() < fetched
            except (ValueError, OverflowError):
                continue
    return False
