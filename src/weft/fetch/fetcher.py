"""The fetcher: a lease comes in, what became of it goes out. Called by the crawl loop, which archives and settles.

A lease is permission for one request to its host. If the rules of its origin are not known, that request is for
robots.txt, and the URL keeps its place; redirects are not followed but come back as links.
"""

import random
from collections.abc import Sequence
from typing import Final

import msgspec

from weft.config import Config, Fetch
from weft.ports import Clock, Table, Transport
from weft.records import Capture, Drop, Exchange, Kind, Lease, Link, Outcome, Reason, Record, Request, Via
from weft.urls.canonical import BadURLError, canonical
from weft.urls.host import origin_of
from weft.urls.own import OwnHosts

from .answer import REDIRECTS, Fields, fields_of, fresh_until, mime, reason_of_status, redirect_target, retry_after
from .dns import Resolver, upstreams
from .guard import Guard
from .http import HttpTransport
from .identity import Identity, is_field_value
from .robots_book import Finding, Inquiry, RobotsBook, Turn, Verdict, asked_of
from .robots_store import RobotsStore

_MAX_BODY: Final = {Kind.SITEMAP: 50 * 1024 * 1024, Kind.POLICY: 1024 * 1024}  # the first as sitemaps.org allows
_SITEMAPS: Final = 1000  # of one robots.txt
_NO_CONNECTION: Final = (Reason.DNS_FAILED, Reason.CONNECT_FAILED, Reason.TLS_FAILED)


class Fetched(Record, frozen=True):
    """How a lease ended, and the answers to be archived before it is settled."""

    outcome: Outcome
    captures: tuple[Capture, ...] = ()
    links: tuple[Link, ...] = ()  # sitemaps; to be added before the lease is settled


class Fetcher:
    """See the module. One per process."""

    def __init__(self, transport: Transport, book: RobotsBook, identity: Identity, clock: Clock, config: Fetch) -> None:
        self._transport, self.book, self._identity, self._clock = transport, book, identity, clock
        self.resolver = Resolver((), clock, config.hosts)
        self._types, self._sitemaps, self._page_bytes = config.types, config.sitemaps, config.max_body
        self.max_redirects = 5
        self._chance = random.Random()

    @classmethod
    def build(cls, config: Config, table: Table, clock: Clock, turn: Turn) -> "Fetcher":
        """All of it, from the configuration. Without a contact only one's own hosts are ever connected to."""
        identity = Identity(config.fetch)
        guard = Guard(OwnHosts(config.scope.own), only_own=not config.fetch.contact)
        resolver = Resolver(upstreams(config.fetch.resolvers), clock, config.fetch.hosts)
        transport = HttpTransport(config.fetch, guard, resolver, clock)
        book = RobotsBook(RobotsStore(table, config.storage.partitions), transport, identity, clock, turn)
        book.period = config.fetch.robots_seconds
        fetcher = cls(transport, book, identity, clock, config.fetch)
        fetcher.max_redirects = config.scope.max_redirects
        fetcher.resolver = resolver
        return fetcher

    async def fetch(self, lease: Lease) -> Fetched:
        """Use the lease: for its URL, or for the robots.txt that must be known first. Never raises for the web."""
        verdict = self.book.known(lease.url) or await self.book.verdict(lease.url)
        if verdict is None:
            fetched = await self._fetch_robots(lease)
        elif not verdict.allowed:
            fetched = await self._denied(lease, verdict)
        else:
            fetched = self._fetched(lease, await self._transport.get(self._request(lease)), verdict)
        sitemaps = self.book.sitemaps(origin_of(lease.url)) if self.book.untold and self._sitemaps else None
        return fetched if sitemaps is None else msgspec.structs.replace(fetched, links=_links(lease, sitemaps))

    def admit(self, url: str) -> Drop | None:
        """For links that are new: rules that are in memory may keep them out of the frontier."""
        verdict = self.book.known(url)
        return None if verdict is None or verdict.allowed else Drop.ROBOTS_DENIED

    async def resolve(self, hosts: Sequence[str]) -> dict[str, str | None]:
        """An address of each host, None where there is none: looked up ahead of the first request."""
        await self.resolver.prefetch(hosts)
        answers = {host: (await self.resolver.resolve(host)).addresses for host in hosts}
        return {host: addresses[0] if addresses else None for host, addresses in answers.items()}

    async def close(self) -> None:
        await self._transport.close()
        await self.resolver.close()

    def _request(self, lease: Lease) -> Request:
        fields = self._identity.fields_for(lease)
        if lease.kind is Kind.PAGE:
            return Request(lease.url, fields, self._page_bytes, self._types)
        return Request(lease.url, fields, _MAX_BODY.get(lease.kind, self._page_bytes))

    def _fetched(self, lease: Lease, exchange: Exchange, verdict: Verdict) -> Fetched:
        outcome = self._outcome(lease, exchange, verdict)
        kept = exchange.failure is None and outcome.reason is not Reason.UNCHANGED
        return Fetched(outcome, (self._capture(exchange, lease.kind, lease),) if kept else ())

    def _capture(self, exchange: Exchange, kind: Kind, lease: Lease | None) -> Capture:
        # As uuid.uuid4() makes them, without a system call for each: they must differ, not be secret.
        number = self._chance.getrandbits(128) & ~(0xF << 76 | 0x3 << 62) | (4 << 76 | 2 << 62)
        digits = f"{number:032x}"
        name = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
        return Capture(f"<urn:uuid:{name}>", exchange, kind, lease)

    async def _fetch_robots(self, lease: Lease) -> Fetched:
        origin = origin_of(lease.url)
        inquiry = await self.book.ask(origin)
        verdict = await self.book.verdict(lease.url)
        reason = _reason_of_inquiry(inquiry, await self.book.has_copy(origin))
        outcome = Outcome(
            lease,
            reason,
            self._clock.now(),
            status=inquiry.exchanges[-1].status if inquiry.exchanges else 0,
            asked=inquiry.asked(),
            detail=inquiry.exchanges[0].detail if reason in _NO_CONNECTION else _told(inquiry),
            lasting=reason in _NO_CONNECTION and inquiry.exchanges[0].lasting,
            retry_after=inquiry.retry_after,
            crawl_delay=verdict.crawl_delay if verdict else None,
        )
        whole = [exchange for exchange in inquiry.exchanges if exchange.failure in (None, Reason.TOO_LARGE)]
        return Fetched(outcome, tuple(self._capture(exchange, Kind.ROBOTS, None) for exchange in whole))

    async def _denied(self, lease: Lease, verdict: Verdict) -> Fetched:
        decision = await self.book.explain(lease.url)
        detail = decision.line if decision else ""
        delay = verdict.crawl_delay
        return Fetched(Outcome(lease, Reason.ROBOTS_DENIED, self._clock.now(), detail=detail, crawl_delay=delay))

    def _outcome(self, lease: Lease, exchange: Exchange, verdict: Verdict) -> Outcome:
        reason, redirect = self._meaning(lease, exchange)
        fields, now = fields_of(exchange.headers), exchange.finished
        etag, modified = _validators(fields)
        if reason is Reason.UNCHANGED:  # one that repeats no validator leaves those we have in force
            etag, modified = etag or lease.etag, modified or lease.modified
        good = reason in (Reason.STORED, Reason.UNCHANGED)
        return Outcome(
            lease,
            reason,
            now,
            status=exchange.status,
            asked=asked_of(lease.host, exchange),
            detail=exchange.detail,
            lasting=exchange.lasting,
            redirect=redirect,
            retry_after=retry_after(fields, now) if exchange.status >= 400 else None,
            crawl_delay=verdict.crawl_delay,
            etag=etag,
            modified=modified,
            fresh_until=fresh_until(fields, now) if good else None,
            mime=mime(fields),
            length=len(exchange.body) + exchange.dropped,
        )

    def _meaning(self, lease: Lease, exchange: Exchange) -> tuple[Reason, str]:
        """The reason, and where a redirect leads."""
        if exchange.failure is not None:
            return exchange.failure, ""
        if exchange.status not in REDIRECTS:
            return reason_of_status(exchange.status, conditional=bool(lease.etag or lease.modified)), ""
        target = redirect_target(exchange)
        if target is None:
            return Reason.BAD_REDIRECT, ""
        if target == lease.url:
            return Reason.REDIRECT_LOOP, ""
        if lease.hops >= self.max_redirects:
            return Reason.TOO_MANY_REDIRECTS, ""
        return Reason.REDIRECTED, target


def _validators(fields: Fields) -> tuple[str, str]:
    """ETag and Last-Modified as the server wrote them, if they can be sent back."""
    etag, modified = fields.get("etag", ""), fields.get("last-modified", "")
    return etag if etag and is_field_value(etag) else "", modified if modified and is_field_value(modified) else ""


def _links(lease: Lease, sitemaps: Sequence[str]) -> tuple[Link, ...]:
    """The sitemaps that robots.txt names; the usual place where it names none."""
    robots = origin_of(lease.url) + "/robots.txt"
    found = dict.fromkeys(url for named in sitemaps[:_SITEMAPS] if (url := _http_url(named, robots)))
    usual = origin_of(lease.url) + "/sitemap.xml"
    return tuple(Link(url, lease.depth, Via.SITEMAP, robots, Kind.SITEMAP) for url in found or (usual,))


def _http_url(named: str, robots: str) -> str:
    try:
        url = canonical(named, robots)
    except BadURLError:
        return ""
    return url if url.startswith(("http://", "https://")) else ""


def _reason_of_inquiry(inquiry: Inquiry, has_copy: bool) -> Reason:
    if inquiry.finding is Finding.FORBIDDEN:
        return inquiry.exchanges[0].failure or Reason.ADDRESS_FORBIDDEN
    if inquiry.finding is Finding.BUSY:
        return Reason.HOST_BUSY
    if inquiry.finding is Finding.UNREACHABLE and not has_copy:
        failure = inquiry.exchanges[0].failure
        # Not only this file is out of reach but the whole host: that is what a person wants to know.
        return failure if failure in _NO_CONNECTION else Reason.ROBOTS_UNREACHABLE
    return Reason.ROBOTS_FETCHED


def _told(inquiry: Inquiry) -> str:
    return f"robots.txt {inquiry.finding.value}" + (f": {inquiry.detail}" if inquiry.detail else "")
