"""The links of a page: raw links as the walk found them come in; canonical, scoped `Link`s and counted drops go out.

Called by `reader` for HTML pages. What depends on the seeds or on other pages is left to the frontier.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from weft.config import Config, Scope
from weft.records import Drop, Hint, Kind, Link, Record, Via
from weft.urls.canonical import BadURLError, canonical
from weft.urls.host import host_of, origin_of, registrable

from .directives import is_nofollow
from .resolve import Resolved, Resolver, Target, is_independent
from .sitemap import Listing
from .walk import RawLink, RawMeta
from .wire import ParseJob

_REFRESH: Final = re.compile(
    r"\s*[\d.]*\s*[;,\s]\s*(?:url\s*=)?\s*(?:'([^']*)|\"([^\"]*)|(.*))", re.IGNORECASE | re.DOTALL
)
# RFC 8288, 3: <target>; name=value; name="value", … No way back into any part, so that a field is read once.
_PARAMETER: Final = r';\s*+([^\s=;,"<>]*+)\s*+(?:=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s;,"]*+)))?+\s*+'
_LINK_VALUE: Final = re.compile(rf"<([^<>]*+)>\s*+((?:{_PARAMETER})*+)")
_PARAMETERS: Final = re.compile(_PARAMETER)
_LOOKED_AT: Final = 2  # times `max_links`: more different hrefs than that are not even resolved
_NO_LIMIT: Final = 1 << 62
_REMEMBERED: Final = 5000  # hrefs of one page, for the next ones of its origin
# Pages of a site that only its head may name (HTML 4.01, section 6.12; HTML, section 4.6.7; what manuals add to that).
_CHAPTERS: Final = (
    "previous up parent top home first last start begin end contents toc index chapter section subsection appendix "
    "glossary copyright license help about author search bookmark archives privacy-policy terms-of-service"
)
_EXAMPLE: Final = 2048  # characters kept of a link that is an example of those left out
_LINK_RELS: Final = {
    "canonical": Via.CANONICAL,
    "alternate": Via.ALTERNATE,
    "next": Via.ALTERNATE,
    "prev": Via.ALTERNATE,
    **dict.fromkeys(_CHAPTERS.split(), Via.ALTERNATE),
}
_TAGS: Final = {
    "a": Via.ANCHOR,
    "area": Via.ANCHOR,
    "iframe": Via.ALTERNATE,
    "frame": Via.ALTERNATE,
    "object": Via.ALTERNATE,
    "embed": Via.ALTERNATE,
    "meta": Via.REDIRECT,
}


class Harvest(Record, frozen=True):
    """What a page's links came to."""

    links: tuple[Link, ...] = ()
    seen: int = 0  # link elements with a target
    drops: tuple[tuple[str, int], ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()  # an example of each
    canonical: str = ""


class LinkReader:
    """Makes links of what pages and sitemaps name."""

    def __init__(self, config: Config) -> None:
        self._resolver = Resolver(config)
        self._scope = config.scope
        self._most = config.parse.max_links

    def of_page(self, job: ParseJob, found: Iterable[RawLink], base: str, nofollow: bool, beyond: int = 0) -> Harvest:
        """Links of an HTML page whose <base> is `base` ("" for none) and that may forbid to follow any.

        `beyond`: links that were counted only.
        """
        gathering = _Gathering(self._resolver, job, based(job.url, base), self._scope, self._most)
        if beyond:
            gathering.drop(Drop.TOO_MANY_LINKS, "", beyond)
        preferred = ""
        for raw in found:
            via = _TAGS.get(raw.tag) or _via(raw.rel)
            if via is None:
                continue
            gathering.seen += 1
            if nofollow or (raw.rel and is_nofollow(raw.rel)):
                gathering.drop(Drop.NOFOLLOW, raw.href)
            else:
                gathering.add(raw.href, via)
            if via is Via.CANONICAL and not preferred:
                preferred = _http(raw.href, gathering.base)
        return gathering.harvest(preferred)

    def of_list(self, job: ParseJob, listing: Listing, nofollow: bool) -> Harvest:
        """Links of a sitemap or feed, whose reader has bounded their number and left out those of other sites."""
        gathering = _Gathering(self._resolver, job, job.url, self._scope, _NO_LIMIT)
        gathering.drop(Drop.OUT_OF_SCOPE, "", listing.foreign)
        gathering.seen = len(listing.entries) + listing.foreign
        if nofollow:
            gathering.drop(Drop.NOFOLLOW, listing.entries[0].url if listing.entries else "", len(listing.entries))
            return gathering.harvest("")
        for entry in listing.entries:
            gathering.add(entry.url, listing.via, entry.kind, entry.hint)
        return gathering.harvest("")


class _Gathering:
    """The links of one page so far."""

    def __init__(self, resolver: Resolver, job: ParseJob, base: str, scope: Scope, most: int) -> None:
        self.base = base
        self.links: list[Link] = []
        self.seen = 0
        self._most = most
        self._resolver = resolver
        self._known = resolver.known(origin_of(base))
        self._source = job.url
        self._domain = registrable(host_of(job.url))
        self._depth = job.depth + 1
        self._inside = job.inside + 1
        self._too_deep = self._depth > scope.max_depth
        self._too_deep_inside = self._inside > scope.max_depth_in_domain
        self._hrefs = {""}  # of those that lead to a part of the page itself, nothing is left
        self._urls = {job.url}
        self._drops: Counter[Drop] = Counter()
        self._dropped: dict[Drop, str] = {}

    def drop(self, drop: Drop, href: str, times: int = 1) -> None:
        """Links that are not followed; `href` is one of them."""
        self._drops[drop] += times
        if href and drop not in self._dropped:
            url = _http(href, self.base) if len(href) <= _EXAMPLE else ""
            self._dropped[drop] = url or href[:_EXAMPLE].encode("utf-8", "replace").decode()

    def add(self, href: str, via: Via, kind: Kind = Kind.PAGE, hint: Hint | None = None) -> None:
        """One more link, unless the page has named it before, with whatever part of it."""
        href = href.partition("#")[0]
        if href in self._hrefs:
            return
        if len(self.links) >= self._most or len(self._hrefs) >= self._most * _LOOKED_AT:
            self.drop(Drop.TOO_MANY_LINKS, href)
            return
        self._hrefs.add(href)
        target = self._known.get(href) or self._resolve(href)
        if not isinstance(target, Target):
            self.drop(target, href)
            return
        url, key, domain = target
        if url in self._urls:
            return
        self._urls.add(url)
        inside = self._inside if domain == self._domain else 0
        if self._too_deep or (inside and self._too_deep_inside):
            self.drop(Drop.TOO_DEEP if self._too_deep else Drop.TOO_DEEP_IN_DOMAIN, url)
            return
        self.links.append(Link(url, self._depth, via, self._source, kind, 0, inside, False, hint, key))

    def _resolve(self, href: str) -> Resolved:
        target = self._resolver.resolve(href, self.base)
        if is_independent(href) and len(self._known) < _REMEMBERED:
            self._known[href] = target
        return target

    def harvest(self, preferred: str) -> Harvest:
        drops = tuple(sorted((drop.value, times) for drop, times in self._drops.items() if times))
        dropped = tuple(sorted((drop.value, url) for drop, url in self._dropped.items()))
        return Harvest(tuple(self.links), self.seen, drops, dropped, preferred)


def based(url: str, base: str) -> str:
    """What hrefs are resolved against (HTML, "document base URL")."""
    return _http(base, url) or url if base else url


def refreshes(metas: Iterable[RawMeta]) -> list[RawLink]:
    """<meta http-equiv=refresh> that leads elsewhere, as links."""
    found = []
    for meta in metas:
        if meta.name == "refresh" and (match := _REFRESH.match(meta.content[:8192])):
            href = next((group for group in match.groups() if group), "").strip()
            if href:
                found.append(RawLink(href, "", "", "meta"))
    return found


def preferences(field: str, url: str) -> list[RawLink]:
    """What a Link header field calls canonical, as links; its targets are relative to the URL of the answer."""
    found = []
    for value in _LINK_VALUE.finditer(field[:8192]):
        parameters: dict[str, str] = {}
        for name, quoted, plain in _PARAMETERS.findall(value[2]):
            parameters.setdefault(name.lower(), quoted or plain)  # of repeated ones the first counts
        about_it = "anchor" not in parameters  # else it is about another resource
        if about_it and "canonical" in parameters.get("rel", "").lower().split() and (target := _http(value[1], url)):
            found.append(RawLink(target, "", "canonical", "link"))
    return found


def _via(rel: str) -> Via | None:
    """What a <link> means to us; None for style sheets, icons and the like."""
    words = rel.lower().split()
    if "stylesheet" in words:
        return None
    return next((_LINK_RELS[word] for word in words if word in _LINK_RELS), None)


def _http(href: str, base: str) -> str:
    """The canonical URL if it is one of the web; else empty."""
    try:
        url = canonical(href, base)
    except BadURLError:
        return ""
    return url if url.startswith(("http://", "https://")) else ""
