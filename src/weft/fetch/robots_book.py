"""robots.txt per origin: asked for once a day, kept, obeyed while it cannot be had (RFC 9309, 2.3 and 2.4).

The fetcher asks it before each page, the link filter for what is known already. What an answer means:

    2xx                                   the file's rules count (512 KiB of it)
    4xx but 429, or no end of redirects   there is no file: everything is allowed
    429, 5xx, every failure to get one    unreachable: the last copy counts; without one nothing is allowed
    3xx                                   followed, at most 5 times, across hosts; the rules count for the first origin
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from weft.ports import Clock, Transport
from weft.records import Asked, Exchange, Kind, Reason, Request
from weft.urls.host import host_of, origin_of

from .answer import REDIRECTS, fields_of, redirect_target, retry_after
from .identity import Identity
from .robots import MAX_BYTES, Decision
from .robots_store import Copy, Entry, RobotsStore

Turn: TypeAlias = Callable[[str, str], Awaitable[bool]]
"""turn(host, holder): returns when the host may be asked (the request is then made at once), or False if that would
take too long. `holder` is the host of the lease we act under: it is held already, and only its gap is waited for."""

MAX_HOPS: Final = 5
_FIRST_RETRY: Final = 900.0  # seconds until an old copy is renewed after a failure; doubled by each further one
_LAST_RETRY: Final = 6 * 3600.0
_NEVER_ASKED: Final = (Reason.DNS_FAILED, Reason.ADDRESS_FORBIDDEN, Reason.BAD_URL, Reason.HOST_BUSY)


class Finding(Enum):
    """What came of asking an origin for its robots.txt."""

    FILE = "file"
    ABSENT = "absent"
    UNREACHABLE = "unreachable"
    FORBIDDEN = "forbidden"  # an address or URL that is never asked, at the first hop
    BUSY = "busy"  # a host on the way could not be asked in time
    SHARED = "shared"  # another request for the same origin was under way, and was waited for


class Inquiry(NamedTuple):
    """The requests made for one robots.txt, and their result."""

    finding: Finding
    exchanges: tuple[Exchange, ...] = ()
    detail: str = ""
    retry_after: float | None = None

    def asked(self) -> tuple[Asked, ...]:
        return tuple(asked for each in self.exchanges for asked in asked_of(host_of(each.url), each))


class Verdict(NamedTuple):
    """Whether a URL may be fetched, and the pace its origin asks for (0.0: none given)."""

    allowed: bool
    crawl_delay: float


class RobotsBook:
    """See the module."""

    def __init__(self, store: RobotsStore, transport: Transport, identity: Identity, clock: Clock, turn: Turn) -> None:
        self._store, self._transport, self._identity, self._clock, self._turn = store, transport, identity, clock, turn
        self._asking: dict[str, asyncio.Future[Inquiry]] = {}
        self.untold = store.untold
        """Origins whose `sitemaps` nobody has asked for yet."""
        self.period = 86_400.0
        """Seconds a copy counts before it is renewed."""

    def known(self, url: str) -> Verdict | None:
        """By a copy that is in memory and not old; None if there is none. For filtering links."""
        entry = self._store.recent(origin_of(url))
        if entry is None or not self._is_fresh(entry.copy):
            return None
        return self._verdict(entry, url)

    async def verdict(self, url: str) -> Verdict | None:
        """By the copy that counts now; None if the origin must be asked first."""
        origin = origin_of(url)
        entry = self._store.recent(origin) or await self._store.load(origin)
        if entry is None or not must_obey(entry.copy, self._clock.now(), self.period):
            return None
        return self._verdict(entry, url)

    async def explain(self, url: str) -> Decision | None:
        """The deciding line, by the last copy however old; None if there never was one."""
        entry = await self._store.load(origin_of(url))
        return entry.robots.matched(url, self._identity.product) if entry and entry.copy.fetched else None

    async def ask(self, origin: str) -> Inquiry:
        """Ask for the file and keep the result. Who comes while it is under way waits, and makes no request."""
        under_way = self._asking.get(origin)
        if under_way is not None:
            await asyncio.wait([under_way])
            return Inquiry(Finding.SHARED)
        self._asking[origin] = asyncio.get_running_loop().create_future()
        try:
            inquiry = await self._inquire(origin)
            await self._keep(origin, inquiry)
            return inquiry
        finally:
            self._asking.pop(origin).cancel()

    def sitemaps(self, origin: str) -> tuple[str, ...] | None:
        """What the file in memory lists, told once per time it is loaded; None: told before, or not known."""
        if origin not in self._store.untold:
            return None
        self._store.untold.discard(origin)
        entry = self._store.recent(origin)
        return entry.robots.sitemaps if entry is not None and entry.copy.fetched else None

    async def has_copy(self, origin: str) -> bool:
        entry = await self._store.load(origin)
        return entry is not None and entry.copy.fetched > 0

    def _is_fresh(self, copy: Copy) -> bool:
        return copy.fetched > 0 and abs(self._clock.now() - copy.fetched) < self.period

    def _verdict(self, entry: Entry, url: str) -> Verdict:
        product = self._identity.product
        terms = entry.terms(product)
        return Verdict(not terms.has_rules or entry.robots.allows(url, product), terms.crawl_delay)

    async def _inquire(self, origin: str) -> Inquiry:
        url = origin + "/robots.txt"
        exchanges: list[Exchange] = []
        for hop in range(MAX_HOPS + 1):
            if hop and not await self._turn(host_of(url), host_of(origin)):
                return Inquiry(Finding.BUSY, tuple(exchanges), f"{host_of(url)} could not be asked in time")
            request = Request(url, self._identity.fields(Kind.ROBOTS), max_body=MAX_BYTES)
            exchange = await self._transport.get(request)
            exchanges.append(exchange)
            if exchange.failure is not None or exchange.status not in REDIRECTS:
                finding, detail = judge(exchange, first=hop == 0)
                wait = retry_after(fields_of(exchange.headers), exchange.finished)
                return Inquiry(finding, tuple(exchanges), detail, wait)
            target = redirect_target(exchange)
            if target is None or any(target == each.url for each in exchanges):
                return Inquiry(Finding.ABSENT, tuple(exchanges), "redirects to itself or to something that is no URL")
            url = target
        return Inquiry(Finding.ABSENT, tuple(exchanges), f"more than {MAX_HOPS} redirects")

    async def _keep(self, origin: str, inquiry: Inquiry) -> None:
        now = self._clock.now()
        if inquiry.finding in (Finding.FILE, Finding.ABSENT):
            body = readable_body(inquiry.exchanges[-1]) if inquiry.finding is Finding.FILE else b""
            await self._store.save(Copy(origin, fetched=now, body=body or b"", tried=now))
        elif inquiry.finding is Finding.UNREACHABLE:
            entry = await self._store.load(origin)
            old = entry.copy if entry else Copy(origin)
            await self._store.save(Copy(origin, old.fetched, old.body, now, old.failures + 1))


def must_obey(copy: Copy, now: float, period: float) -> bool:
    """Whether the copy counts now, rather than that its origin must be asked.

    A copy older than a day is renewed; while that fails it still counts, and is tried again at growing intervals. A
    clock that was set back makes no copy fresh for longer than a day.
    """
    if copy.fetched <= 0:
        return False
    if abs(now - copy.fetched) < period:
        return True
    if copy.failures == 0:
        return False
    wait = min(_FIRST_RETRY * (1 << min(copy.failures - 1, 10)), _LAST_RETRY)
    return abs(now - copy.tried) < wait


def judge(exchange: Exchange, first: bool) -> tuple[Finding, str]:
    """What an answer other than a redirect says about the file."""
    status, failure = exchange.status, exchange.failure
    if first and failure in (Reason.ADDRESS_FORBIDDEN, Reason.BAD_URL):
        return Finding.FORBIDDEN, exchange.detail
    if failure is Reason.HOST_BUSY:
        return Finding.BUSY, exchange.detail
    if failure is not None and not (failure is Reason.TOO_LARGE and 200 <= status < 300):
        return Finding.UNREACHABLE, f"{failure.value}: {exchange.detail}"
    if 200 <= status < 300:
        if readable_body(exchange) is None:
            return Finding.UNREACHABLE, "a content encoding that was not asked for"
        return Finding.FILE, f"{status}, {len(exchange.body)} bytes"
    if 400 <= status < 500 and status != 429:
        return Finding.ABSENT, str(status)
    return Finding.UNREACHABLE, f"status {status}"


def readable_body(exchange: Exchange) -> bytes | None:
    """The file, unpacked if the server packed it although we did not ask for that; None if it cannot be read."""
    encoding = fields_of(exchange.headers).get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return exchange.body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        return None
    try:
        # One octet more than counts shows the parser that the last line may be cut.
        return zlib.decompressobj(wbits=47).decompress(exchange.body, MAX_BYTES + 1)
    except zlib.error:
        return None


def asked_of(host: str, exchange: Exchange) -> tuple[Asked, ...]:
    """The request, if it reached out: a name that does not resolve or a forbidden address costs its host nothing."""
    if exchange.failure in _NEVER_ASKED:
        return ()
    return (Asked(host, exchange.url, exchange.started, exchange.finished, exchange.status, exchange.address),)
