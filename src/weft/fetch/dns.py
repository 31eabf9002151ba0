"""DNS: a host name comes in, its addresses go out, from the cache wherever possible. Called by http.py.

Answers are kept for their TTL (5 min to 24 h), failures for a while too; questions for one name are asked once. Several
resolvers stand in for each other: one that fails rests, longer each time, and is asked again when nothing better is up.
"""

import asyncio
import ipaddress
import socket
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import aiodns
import pycares

from weft.errors import ConfigError
from weft.ports import Clock

MIN_TTL: Final = 300.0
MAX_TTL: Final = 86_400.0
_NO_SUCH_NAME_TTL: Final = 900.0
_TROUBLE_TTL: Final = 30.0
_TIMEOUT: Final = 3.0  # per server and try
_FIRST_REST: Final = 5.0
_LONGEST_REST: Final = 300.0
_PREFETCHED: Final = 32  # at once
_NO_SUCH_NAME: Final = frozenset(
    {pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_ENODATA, pycares.errno.ARES_ENONAME, pycares.errno.ARES_EBADNAME}
)


class Answer(NamedTuple):
    """What is known of a name: its addresses, or why there are none."""

    addresses: tuple[str, ...]
    ttl: float
    problem: str = ""
    nowhere: bool = False  # the name does not exist, or has no address; else nobody could say


class LookupFailedError(Exception):
    """This resolver cannot say now (timeout, SERVFAIL, refused): another may."""


class Upstream(Protocol):
    """One resolver: the seam for tests."""

    async def lookup(self, host: str) -> Answer:
        """Addresses, or none for a name that does not exist. Raises LookupFailedError when it cannot say."""
        ...

    async def close(self) -> None: ...


class Resolver:
    """The cache, and the resolvers behind it in order of their health."""

    def __init__(self, upstreams: Sequence[Upstream], clock: Clock, hosts: Mapping[str, str] | None = None) -> None:
        """`hosts`: addresses (several with commas) for names that are never asked for; `*.name`: all below it."""
        self._upstreams = [_Health(upstream) for upstream in upstreams]
        self._clock = clock
        self._hosts = {
            name.lower(): Answer(tuple(text.replace(",", " ").split()), MAX_TTL) for name, text in (hosts or {}).items()
        }
        self._wildcards = any(name.startswith("*.") for name in self._hosts)
        self._cache: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self._asking: dict[str, asyncio.Future[Answer]] = {}
        self.size = 50_000
        """Names that are kept: about 20 MB."""

    def cached(self, host: str) -> Answer | None:
        """What is known without asking."""
        known = self._fixed(host)
        if known is None:
            until, known = self._cache.get(host, (0.0, None))
            if known is None or until <= self._clock.monotonic():
                return None
            self._cache.move_to_end(host)
        return known

    def _fixed(self, host: str) -> Answer | None:
        """From the table: the name itself, or the nearest `*.` above it."""
        known = self._hosts.get(host)
        while known is None and self._wildcards and "." in host:
            host = host.partition(".")[2]
            known = self._hosts.get(f"*.{host}")
        return known

    async def resolve(self, host: str) -> Answer:
        """The addresses of a host name. Never raises for what DNS does: then there are none, and a problem."""
        known = self.cached(host)
        if known is not None:
            return known
        asking = self._asking.get(host)
        if asking is None:
            asking = self._asking[host] = asyncio.ensure_future(self._ask(host))
        # Shielded, since others may wait for the same answer when this caller is cancelled.
        return await asyncio.shield(asking)

    async def prefetch(self, hosts: Iterable[str]) -> None:
        """Look up hosts that are about to be asked, some at a time."""
        room = asyncio.Semaphore(_PREFETCHED)

        async def one(host: str) -> None:
            async with room:
                await self.resolve(host)

        async with asyncio.TaskGroup() as group:
            for host in hosts:
                if self.cached(host) is None:
                    group.create_task(one(host))

    async def close(self) -> None:
        for task in list(self._asking.values()):
            task.cancel()
        for health in self._upstreams:
            await health.upstream.close()

    async def _ask(self, host: str) -> Answer:
        try:
            answer = await self._ask_upstreams(host)
            self._cache[host] = self._clock.monotonic() + answer.ttl, answer
            self._cache.move_to_end(host)
            while len(self._cache) > self.size:
                self._cache.popitem(last=False)
            return answer
        finally:
            del self._asking[host]

    async def _ask_upstreams(self, host: str) -> Answer:
        problems = []
        now = self._clock.monotonic()
        for health in sorted(self._upstreams, key=lambda health: max(0.0, health.rests_until - now)):
            try:
                answer = await health.upstream.lookup(host)
            except LookupFailedError as error:
                health.failed(self._clock.monotonic())
                problems.append(str(error))
                continue
            health.answered()
            if not answer.addresses:
                return answer._replace(ttl=_NO_SUCH_NAME_TTL, problem=answer.problem or "no such name", nowhere=True)
            return answer._replace(ttl=min(max(answer.ttl, MIN_TTL), MAX_TTL))
        return Answer((), _TROUBLE_TTL, "; ".join(problems) or "no resolver is configured")


class _Health:
    """How one resolver does: each failure in a row doubles its rest."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.rests_until = 0.0
        self._failures = 0

    def failed(self, now: float) -> None:
        self.rests_until = now + min(_FIRST_REST * 2**self._failures, _LONGEST_REST)
        self._failures = min(self._failures + 1, 10)

    def answered(self) -> None:
        self.rests_until = 0.0
        self._failures = 0


class CaresUpstream:
    """A DNS server asked through c-ares; without one named, those of the system (and its hosts file)."""

    def __init__(self, server: str = "") -> None:
        self._server = server
        self._resolver: aiodns.DNSResolver | None = None

    async def lookup(self, host: str) -> Answer:
        if self._resolver is None:
            servers = [self._server] if self._server else None
            # Search domains would turn a stranger's `intranet` into a name of this network.
            self._resolver = aiodns.DNSResolver(
                servers, timeout=_TIMEOUT, tries=2, flags=pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_EDNS
            )
        try:
            found = await self._resolver.getaddrinfo(host, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            code, *text = error.args
            if code in _NO_SUCH_NAME:
                return Answer((), 0.0, str(text[0]) if text else "no such name")
            raise LookupFailedError(f"{self._server or 'system resolver'}: {text[0] if text else code}") from None
        addresses = dict.fromkeys(node.addr[0].decode("ascii") for node in found.nodes)
        return Answer(tuple(addresses), min((float(node.ttl) for node in found.nodes), default=0.0))

    async def close(self) -> None:
        if self._resolver is not None:
            await self._resolver.close()


def check(servers: Iterable[str], hosts: Mapping[str, str]) -> None:
    """Refuse servers that cannot be asked, and addresses that are none. Nobody is asked."""
    for server in servers:
        try:
            pycares.Channel(servers=[server]).close()
        except pycares.AresError:
            raise ConfigError(f"fetch.resolvers: {server!r} is not the address of a DNS server") from None
    for name, text in hosts.items():
        for address in text.replace(",", " ").split():
            try:
                ipaddress.ip_address(address)
            except ValueError:
                raise ConfigError(f"fetch.hosts: {address!r}, given for {name}, is not an address") from None


def upstreams(servers: Iterable[str]) -> list[Upstream]:
    """One per configured server; the system's if none is."""
    return [CaresUpstream(server) for server in servers] or [CaresUpstream()]
