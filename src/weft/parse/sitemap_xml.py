"""The XML of sitemaps and feeds, piece by piece through expat. Called by sitemap.py.

Handles what is found as soon as its element ends. Documents with a DTD are refused, for entities live there; so are
those that nest deeper, or hold larger pieces of markup, than any real one.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple
from xml.parsers import expat

from weft.records import Hint

_MAX_NESTING: Final = 32
_MAX_ELEMENTS: Final = 1_000_000  # 50,000 URLs with twenty each; some 2 s of work
_MAX_MARKUP: Final = 256 * 1024  # octets without an event: a single tag or comment of that size
_MAX_TEXT: Final = 4096
_DAY: Final = 86_400.0
_CHANGES: Final = {
    "always": 900.0,
    "hourly": 3600.0,
    "daily": _DAY,
    "weekly": 7 * _DAY,
    "monthly": 30 * _DAY,
    "yearly": 365 * _DAY,
    "never": 3650 * _DAY,
}
_SITEMAPS: Final = {"urlset": "url", "sitemapindex": "sitemap"}
_FEEDS: Final = {"rss": "item", "rdf": "item", "feed": "entry"}
_DATES: Final = ("lastmod", "publication_date", "updated", "published", "pubdate", "date")
_W3C_DATE: Final = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?)?)?"
)


class UnreadableError(Exception):
    """The file cannot be read (further); the message says why."""


class Found(NamedTuple):
    """A URL as written, and what is said of it."""

    url: str
    hint: Hint | None = None
    nested: bool = False  # a sitemap of an index
    feed: bool = False


class SitemapXml:
    """Feed it pieces; it gives back what they complete."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.EntityDeclHandler = self._doctype
        self._path: list[str] = []
        self._item = ""  # the name of the elements that stand for a URL
        self._prefixes: set[str] = set()  # of the names that are the format's own
        self._feed = False
        self._fields: dict[str, str] | None = None
        self._parts: list[str] = []
        self._found: list[Found] = []
        self._quiet = 0  # octets since anything happened
        self._elements = 0

    def feed(self, octets: bytes) -> Iterator[Found]:
        """Raises UnreadableError, after all that was found before the place that is unreadable."""
        self._quiet += len(octets)
        yield from self._advance(octets, final=False)
        if self._quiet > _MAX_MARKUP:
            raise UnreadableError("a piece of markup larger than 256 KB")

    def end(self) -> Iterator[Found]:
        yield from self._advance(b"", final=True)

    def _advance(self, octets: bytes, final: bool) -> Iterator[Found]:
        problem: UnreadableError | None = None
        try:
            self._parser.Parse(octets, final)
        except expat.ExpatError as error:
            problem = UnreadableError(f"not well-formed: {expat.ErrorString(error.code)} in line {error.lineno}")
        except UnreadableError as error:
            problem = error
        yield from self._found
        self._found.clear()
        if problem:
            raise problem

    def _doctype(self, *_: object) -> None:
        raise UnreadableError("it has a DTD")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._quiet = 0
        prefix, _, name = tag.lower().rpartition(":")
        if not self._path:
            self._open(name, prefix)
        self._path.append(name)
        self._elements += 1
        if len(self._path) > _MAX_NESTING or self._elements > _MAX_ELEMENTS:
            raise UnreadableError("too many elements, or nested too deeply")
        self._parts.clear()
        if name == self._item and self._fields is None:
            self._fields = {}
        elif name == "link" and self._feed and self._fields is not None and "href" in attributes:
            self._atom_link(self._fields, attributes)

    def _atom_link(self, fields: dict[str, str], attributes: dict[str, str]) -> None:
        if attributes.get("rel", "alternate") == "alternate":
            fields.setdefault("link", attributes["href"][:_MAX_TEXT])

    def _open(self, root: str, prefix: str) -> None:
        self._prefixes = {"", prefix}
        self._feed = root in _FEEDS
        self._item = _SITEMAPS.get(root) or _FEEDS.get(root, "")
        if not self._item:
            raise UnreadableError(f"neither a sitemap nor a feed: <{root[:40]}>")

    def _text(self, text: str) -> None:
        self._quiet = 0
        if self._fields is not None and len(self._parts) < 64:
            self._parts.append(text[:_MAX_TEXT])

    def _end(self, tag: str) -> None:
        self._quiet = 0
        name = self._path.pop()
        if self._fields is None:
            return
        parent = self._path[-1] if self._path else ""
        if name == self._item and parent != self._item:
            self._finish(self._fields)
            self._fields = None
        # Images and videos of a page have a <loc> of their own, one level down; news dates lie there as well.
        elif name in _DATES or (parent == self._item and tag.lower().rpartition(":")[0] in self._prefixes):
            text = "".join(self._parts).strip()[:_MAX_TEXT]
            if text:
                self._fields.setdefault(name, text)
        self._parts.clear()

    def _finish(self, fields: dict[str, str]) -> None:
        url = fields.get("loc") or fields.get("link") or (fields.get("guid", "") if self._feed else "")
        if url:
            self._found.append(Found(url, _hint(fields), self._item == "sitemap", self._feed))


def _hint(fields: dict[str, str]) -> Hint | None:
    date = next((fields[name] for name in _DATES if fields.get(name)), "")
    modified = parse_date(date)
    changes = _CHANGES.get(fields.get("changefreq", "").lower())
    priority = _priority(fields.get("priority", ""))
    if modified is None and changes is None and priority is None:
        return None
    return Hint(0.5 if priority is None else priority, modified, changes)


def _priority(text: str) -> float | None:
    try:
        return min(max(float(text), 0.0), 1.0) if len(text) < 10 and text not in ("nan", "-nan") else None
    except ValueError:
        return None


def parse_date(text: str) -> float | None:
    """W3C's dates (sitemaps, Atom) and those of mail (RSS), as wall seconds."""
    if not text or len(text) > 60:
        return None
    match = _W3C_DATE.fullmatch(text)
    try:
        if match is None:
            date = parsedate_to_datetime(text)
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
        moment = datetime(year, month or 1, day or 1, hour, minute, min(second, 59), tzinfo=UTC)
        return moment.timestamp() - _offset(match[7] or "Z")
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _offset(zone: str) -> float:
    if zone == "Z":
        return 0.0
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600.0 + int(digits[2:]) * 60.0
    return -seconds if zone[0] == "-" else seconds
