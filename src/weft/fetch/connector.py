"""The single place that connects: every TCP connection of the crawl is opened here, to an address the guard has passed.

aiohttp asks it for connections, for host names and numeric hosts alike; the address it opens is the one that was just
checked, so that no second DNS answer can slip between. Called by http.py.
"""

import asyncio
import functools
import socket
import ssl
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

import aiohttp
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from multidict import CIMultiDict

from weft.records import Headers

from .guard import Guard

OnConnect: TypeAlias = Callable[[str, str], None]
"""Told the host and the address of every connection just before it is opened."""

KEEP_ALIVE: Final = 6.0
"""Seconds a connection is kept for its host's next turn; gaps that are longer cost a new one."""


class ForbiddenAddressError(OSError):
    """The guard refused an address at the moment of connecting."""


class HeadersTooLargeError(aiohttp.ClientError):
    """The head of an answer passed the limit."""


class Asking:
    """One request under way: what the connector must know of it, and what has come of it so far."""

    __slots__ = (
        "address",
        "addresses",
        "chunks",
        "crowded_out",
        "host",
        "named",
        "refused",
        "response",
        "sent",
        "target",
    )

    def __init__(self, host: str, target: yarl.URL, addresses: tuple[str, ...], named: str = "") -> None:
        self.host = host
        self.named = named  # what the Host field says
        self.target = target
        self.addresses = addresses
        self.sent: Headers = ()
        self.address = ""
        self.refused = ""
        self.response: aiohttp.ClientResponse | None = None
        self.chunks: list[bytes] = []
        self.crowded_out = False


# Which request the current task is busy with; aiohttp passes nothing of ours down to where sockets are made.
current: ContextVar[Asking] = ContextVar("asking")


class GuardedConnector(aiohttp.TCPConnector):
    """Connections to checked addresses only, kept alive, with bounded heads."""

    def __init__(self, guard: Guard, on_connect: OnConnect | None, max_head: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(
            resolver=_Resolved(),
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=KEEP_ALIVE,
            socket_factory=self._socket,
            ssl=tls or True,
        )
        self._guard, self._on_connect = guard, on_connect
        self._factory = functools.partial(_BoundedHead, asyncio.get_running_loop(), max_head)  # type: ignore[assignment]

    def _socket(self, address_info: Any) -> socket.socket:
        family, kind, protocol, _, where = address_info
        asking = current.get()
        refusal = self._guard.refusal(where[0], asking.host)
        if refusal:
            asking.refused = refusal
            raise ForbiddenAddressError(refusal)
        if self._on_connect:
            self._on_connect(asking.host, where[0])
        return socket.socket(family, kind, protocol)


class ExactRequest(aiohttp.ClientRequest):
    """Sends the fields of the request under way, and none that aiohttp would add."""

    def update_headers(self, headers: Any) -> None:  # noqa: ARG002
        self.headers = CIMultiDict(current.get().sent)

    def update_auto_headers(self, skip_auto_headers: Any) -> None:
        pass

    def send(self, conn: Any) -> Any:
        handler = conn.protocol
        handler.begin()
        current.get().address = handler.peer
        return super().send(conn)


def hang_up(response: aiohttp.ClientResponse) -> "asyncio.Future[None] | None":
    """End the connection of an answer without another word; done when its socket is closed. None if there is none."""
    connection = response.connection
    if connection is None or connection.transport is None or connection.protocol is None:
        return None
    gone = connection.protocol.closed
    connection.transport.abort()  # TLS would say goodbye first, and read all that comes meanwhile
    return gone


class _Resolved(AbstractResolver):
    """Gives aiohttp the addresses that were looked up, and checked, for the request under way."""

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in current.get().addresses
        ]

    async def close(self) -> None:
        pass


class _BoundedHead(ResponseHandler):
    """aiohttp bounds each header line; this bounds them together, so that endless small ones end too."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limit: int) -> None:
        super().__init__(loop)
        self._limit = limit
        self._head = 0  # octets of the head so far; below 0 when it is complete
        self.peer = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.peer = peer[0] if peer else ""

    def begin(self) -> None:
        """Another request goes out on this connection."""
        self._head = 0

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """aiohttp tells who waits for a head. Who reads a body must hear of broken chunks too, or waits in vain."""
        payload = self._payload
        super().set_exception(exc, *cause)
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            payload.set_exception(exc, *cause)

    def feed_data(self, data: Any, size: int = 0) -> None:
        if data[0].code >= 200:  # interim answers count with the head, so that they cannot be endless either
            self._head = -1
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        if self._head >= 0:
            self._head += len(data)
            if self._head > self._limit and self._ends_late(data):
                self.set_exception(HeadersTooLargeError("the headers are larger than the limit"))
                if self.transport is not None:
                    self.transport.close()
                return
        super().data_received(data)

    def _ends_late(self, data: bytes) -> bool:
        """Whether the head does not end within the limit: this piece may hold its end, then much of the body."""
        allowed = len(data) - (self._head - self._limit)
        return b"\n\r\n" not in data[: allowed + 4] and b"\n\n" not in data[: allowed + 4]
