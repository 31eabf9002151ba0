"""Sitemaps (urlset, index, text, gz, news) and feeds (RSS, Atom) read as a stream: bounded, and without DTD.

The bytes of a file and its URL come in, a `Listing` of URLs with their hints goes out; what cannot be read is left out
and said. A sitemap speaks only for its own host and those whose robots.txt names it. Pure; called where links are made.
"""

import itertools
import zlib
from collections.abc import Collection, Iterator
from typing import Final

from weft.records import Hint, Kind, Record, Via
from weft.urls.canonical import BadURLError, canonical
from weft.urls.host import host_of

from .sitemap_xml import Found, SitemapXml, UnreadableError

MAX_BYTES: Final = 50 * 1024 * 1024  # unpacked, as sitemaps.org allows
MAX_URLS: Final = 50_000
MAX_LEVEL: Final = 3  # an index in an index in an index lists no more sitemaps
_MAX_LINE: Final = 2048
_CHUNK: Final = 64 * 1024
_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"


class Entry(Record, frozen=True):
    """A URL that was listed; a nested sitemap has the kind SITEMAP."""

    url: str
    hint: Hint | None = None
    kind: Kind = Kind.PAGE


class Listing(Record, frozen=True):
    """What a file lists. `problem` says what was wrong with it, if anything; the entries before that still count."""

    entries: tuple[Entry, ...] = ()
    via: Via = Via.SITEMAP
    problem: str = ""
    foreign: int = 0  # URLs of hosts that the sitemap may not speak for


def read(body: bytes, url: str, speaks_for: Collection[str] = (), level: int = 1) -> Listing:
    """Read a sitemap or feed at `url` that the robots.txt of the hosts `speaks_for` name; `level` 1 is in no index."""
    gathering = _Gathering(url, speaks_for, level)
    problem = ""
    try:
        for number, found in enumerate(_found(body)):
            if number == MAX_URLS:
                problem = f"more than {MAX_URLS} URLs"
                break
            gathering.add(found)
    except UnreadableError as error:
        problem = str(error)
    return Listing(tuple(gathering.entries), gathering.via, problem, gathering.foreign)


class _Gathering:
    """The entries so far."""

    def __init__(self, url: str, speaks_for: Collection[str], level: int) -> None:
        self.entries: list[Entry] = []
        self.foreign = 0
        self.via = Via.SITEMAP
        self._base, self._level = url, level
        self._hosts = {host_of(url), *speaks_for}
        self._seen: set[str] = set()

    def add(self, found: Found) -> None:
        try:
            url = canonical(found.url, self._base)
        except BadURLError:
            return
        if not url.startswith(("http://", "https://")) or url in self._seen or len(url) > _MAX_LINE:
            return
        foreign = host_of(url) not in self._hosts
        hint: Hint | None = found.hint
        if found.feed:
            self.via = Via.FEED
            hint = None if foreign else hint  # a feed may link anywhere, but knows only its own pages
        elif foreign:
            self.foreign += 1
            return
        if found.nested and self._level >= MAX_LEVEL:
            return
        self._seen.add(url)
        self.entries.append(Entry(url, hint, Kind.SITEMAP if found.nested else Kind.PAGE))


def _found(body: bytes) -> Iterator[Found]:
    """What the file lists, as written there."""
    chunks = _unpacked(body)
    start = next(chunks, b"").removeprefix(_BOM).lstrip()
    if start[:1] == b"<" or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        parser = SitemapXml()
        yield from parser.feed(start)
        for chunk in chunks:
            yield from parser.feed(chunk)
        yield from parser.end()
    else:
        yield from _lines(start, chunks)


def _lines(start: bytes, chunks: Iterator[bytes]) -> Iterator[Found]:
    """A text sitemap: one URL a line."""
    rest = start
    for chunk in itertools.chain(chunks, [b"\n"]):
        *lines, rest = (rest + chunk).replace(b"\r", b"\n").split(b"\n")
        rest = rest[: _MAX_LINE + 1]  # a line this long is no URL, whatever follows
        for line in lines:
            text = line.strip()
            if text[:4].lower() == b"http" and len(text) <= _MAX_LINE:
                yield Found(text.decode("utf-8", "replace"))


def _unpacked(body: bytes) -> Iterator[bytes]:
    """The file in pieces; never more than MAX_BYTES of it. Raises UnreadableError where packed data is broken."""
    if not body.startswith(_GZIP):
        for position in range(0, min(len(body), MAX_BYTES), _CHUNK):
            yield body[position : position + _CHUNK]
        if len(body) > MAX_BYTES:
            raise UnreadableError("larger than 50 MB")
        return
    inflater = zlib.decompressobj(wbits=31)
    size, rest = 0, body
    while not inflater.eof:
        try:
            piece = inflater.decompress(rest, _CHUNK)
        except zlib.error:
            raise UnreadableError("broken gzip data") from None
        rest = inflater.unconsumed_tail
        size += len(piece)
        if not piece and not rest:
            raise UnreadableError("gzip data that ends early")
        if size > MAX_BYTES:
            raise UnreadableError("larger than 50 MB")
        yield piece
