"""Sitemaps (index, gz, plain text) and feeds (RSS, Atom), each with texts that nothing else links to."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import escape
from xml.sax.saxutils import escape as escape_xml

from isal import igzip

from .answer import Answer, Fate, Handler, Plant, Visit
from .redirects import landing
from .site import Site

SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
FREQUENCIES = ("daily", "weekly", "monthly", "never")


def discovery(site: Site) -> Iterator[Plant]:
    if site.world.carries(site.host.index, "sitemaps"):
        yield from _sitemaps(site)
    if site.world.carries(site.host.index, "feeds"):
        yield from _feeds(site)


def _sitemaps(site: Site) -> Iterator[Plant]:
    parts = ("/sitemaps/pages.xml", "/sitemaps/hidden.xml.gz", "/sitemaps/plain.txt")
    hidden = ["/archive/hidden-1", "/archive/hidden-2"]
    yield _file("/sitemap.xml", "application/xml", "sitemaps", lambda numeric: _index(site, parts, numeric))
    yield _file(parts[0], "application/xml", "sitemaps", lambda numeric: _pages(site, numeric))
    yield _file(
        parts[1], "application/gzip", "sitemaps", lambda numeric: igzip.compress(_urls(site, hidden, numeric), mtime=0)
    )
    plain = "/archive/hidden-3"
    yield _file(parts[2], "text/plain", "sitemaps", lambda numeric: (site.url(plain, numeric) + "\n").encode())
    for turn, path in enumerate([*hidden, plain]):
        yield landing(site, path, "sitemaps", turn)


def _file(path: str, kind: str, family: str, body: Callable[[bool], bytes]) -> Plant:
    return Plant(path, Fate.POLICY, _served(kind, body), family, linked=False)


def _served(kind: str, body: Callable[[bool], bytes]) -> Handler:
    def answer(visit: Visit) -> Answer:
        return Answer(200, body(visit.numeric), kind, lasting=True)

    return answer


def _index(site: Site, parts: tuple[str, ...], numeric: bool) -> bytes:
    rows = "".join(f"<sitemap><loc>{site.url(path, numeric)}</loc></sitemap>\n" for path in parts)
    return f"{XML}<sitemapindex {SITEMAP}>\n{rows}</sitemapindex>\n".encode()


def _pages(site: Site, numeric: bool) -> bytes:
    rows = []
    for page in range(site.pages):
        day = datetime.fromtimestamp(site.modified(page, 0), UTC).date().isoformat()
        hints = f"<changefreq>{FREQUENCIES[page % 4]}</changefreq><priority>{1 / (1 + page % 10):.1f}</priority>"
        location = escape_xml(site.url(site.path(page), numeric))
        rows.append(f"<url><loc>{location}</loc><lastmod>{day}</lastmod>{hints}</url>\n")
    return f"{XML}<urlset {SITEMAP}>\n{''.join(rows)}</urlset>\n".encode()


def _urls(site: Site, paths: list[str], numeric: bool) -> bytes:
    rows = "".join(f"<url><loc>{site.url(path, numeric)}</loc></url>\n" for path in paths)
    return f"{XML}<urlset {SITEMAP}>\n{rows}</urlset>\n".encode()


def _feeds(site: Site) -> Iterator[Plant]:
    yield _file("/feed.xml", "application/rss+xml", "feeds", lambda numeric: _rss(site, numeric))
    yield _file("/atom.xml", "application/atom+xml", "feeds", lambda numeric: _atom(site, numeric))
    yield landing(site, "/archive/feed-1", "feeds", 1)
    yield landing(site, "/archive/atom-2", "feeds", 2)


def _entries(site: Site, only_here: str, number: int) -> list[tuple[str, str]]:
    """(path, title): some ordinary pages and the one that only the feed knows."""
    index, world = site.host.index, site.world
    pages = [(site.path(page), world.title(index, page)) for page in range(min(4, site.pages))]
    return [*pages, (only_here, world.title(index, number))]


def _rss(site: Site, numeric: bool) -> bytes:
    items = "".join(
        f"<item><title>{escape(title)}</title><link>{escape(site.url(path, numeric))}</link></item>\n"
        for path, title in _entries(site, "/archive/feed-1", site.world.extra("feeds", 1))
    )
    channel = f"<title>{site.host.name}</title><link>{site.url('/', numeric)}</link>\n{items}"
    return f'{XML}<rss version="2.0"><channel>{channel}</channel></rss>\n'.encode()


def _atom(site: Site, numeric: bool) -> bytes:
    items = "".join(
        f'<entry><title>{escape(title)}</title><link href="{escape(site.url(path, numeric))}"/></entry>\n'
        for path, title in _entries(site, "/archive/atom-2", site.world.extra("feeds", 2))
    )
    return f'{XML}<feed xmlns="http://www.w3.org/2005/Atom"><title>{site.host.name}</title>\n{items}</feed>\n'.encode()
