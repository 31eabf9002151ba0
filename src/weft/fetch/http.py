"""The Transport on aiohttp: one GET, streamed, capped, guarded. A Request comes in, an Exchange goes out.

Called by the fetcher and the robots book. Redirects are not followed, cookies not kept, bodies not decompressed; a
connection is kept only behind a whole and flawless answer.
"""

import asyncio
import ssl
from typing import Final

import aiohttp
from aiohttp import HttpVersion11
from aiohttp.hdrs import CONTENT_ENCODING, CONTENT_TYPE
from aiohttp.http_exceptions import HttpProcessingError

from weft.config import Fetch
from weft.ports import Clock
from weft.records import Exchange, Headers, Reason, Request

from .connector import Asking, ExactRequest, GuardedConnector, HeadersTooLargeError, OnConnect, current, hang_up
from .crowd import SMALL, Crowd
from .destination import Destinations, End
from .dns import Resolver
from .failures import is_untrusted, reason_of, sentence
from .guard import Guard
from .magic import is_binary
from .trust import trusted

GRACE: Final = 5.0
"""Seconds before the minimum rate counts."""

_ERROR_BODY: Final = 64 * 1024  # read of answers other than 2xx, so that their connection can be kept
_UNREAD: Final = 32 * 1024  # of each body; aiohttp stops receiving at twice as much (its own 512 KB add up over hosts)
_KEPT_OF_FAILED: Final = 1024 * 1024  # a cut robots.txt still counts; nobody wants a large body that was given up
_MAX_FIELDS: Final = 16_384  # aiohttp counts fields; we bound their octets


class HttpTransport:
    """See `ports.Transport`."""

    def __init__(self, config: Fetch, guard: Guard, resolver: Resolver, clock: Clock) -> None:
        self._config, self._guard, self._resolver, self._clock = config, guard, resolver, clock
        self._session: aiohttp.ClientSession | None = None
        self._destinations = Destinations(guard, resolver)
        self._crowds: dict[int, Crowd] = {}  # by cap: pages, robots.txt and sitemaps do not crowd each other out
        self.on_connect: OnConnect | None = None
        """Told of every connection before it is opened. Set before the first request."""
        self.tls: ssl.SSLContext | None = None
        """Replaces the certificates trusted by the system and `ca_file`. Set before the first request."""
        self.grace = GRACE

    async def get(self, request: Request) -> Exchange:
        asking = self._destinations.known(request.url) or await self._destinations.find(request.url)
        started = self._clock.now()
        if isinstance(asking, End):
            return Exchange(
                request.url, started, started, failure=asking.reason, detail=asking.detail, lasting=asking.lasting
            )
        current.set(asking)
        asking.sent = (("Host", asking.named), *request.headers)
        try:
            response = await (self._session or self._open()).get(asking.target, allow_redirects=False)
            asking.response = response
            end = _refused_head(response, request) or await self._read(response, request, asking)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, HttpProcessingError) as error:
            end = _ended_by(error, asking)
        finally:
            await self._leave(asking, request)
        return self._exchanged(request, asking, started, end)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._resolver.close()

    async def _leave(self, asking: Asking, request: Request) -> None:
        """Hang up on an answer that is not wanted whole. It ends with this: a server hears of it at once.

        No farewell is waited for. The next request needs a new connection, so it reaches the server at least a round
        trip later than the reset, and by the server's log, too, no gap is shorter than by our clock.
        """
        crowd, response = self._crowds.get(request.max_body), asking.response
        if crowd is not None:
            crowd.left(asking)
        if response is None or response.closed:  # it has given its connection back by now
            return
        gone = hang_up(response)
        response.close()
        if gone is not None:
            await asyncio.wait([gone])
            gone.exception()  # looked at: how the connection was lost does not matter

    async def _read(self, response: aiohttp.ClientResponse, request: Request, asking: Asking) -> End | None:
        good = 200 <= response.status < 300
        limit = request.max_body if good else min(request.max_body, _ERROR_BODY)
        sniffed = not request.accept_types or not good or CONTENT_ENCODING in response.headers
        begun = self._clock.monotonic()
        chunks, size, content = asking.chunks, 0, response.content
        while not asking.crowded_out and not content.at_eof():
            # The end has often come with the beginning; then there is nothing to wait for.
            chunk = content.read_nowait() if content.is_eof() else await content.readany()
            size += len(chunk)
            if not sniffed:
                sniffed = True
                if is_binary(chunk):
                    return End(Reason.BINARY, f"begins with {chunk[:8]!r}")
            if size > limit:
                chunks.append(chunk[: len(chunk) - (size - limit)])
                return End(Reason.TOO_LARGE if good else None, f"more than {limit} bytes", "length")
            chunks.append(chunk)
            if size > SMALL:
                self._crowd(request.max_body).grown(asking, size)
            elapsed = self._clock.monotonic() - begun
            if elapsed > self.grace and size < elapsed * self._config.minimum_rate:
                return End(Reason.TOO_SLOW, f"{size} bytes in {elapsed:.1f} s", "time")
        return End(Reason.CROWDED, f"{size} bytes so far", "length") if asking.crowded_out else None

    def _crowd(self, cap: int) -> Crowd:
        return self._crowds.get(cap) or self._crowds.setdefault(cap, Crowd(cap))

    def _open(self) -> aiohttp.ClientSession:
        config = self._config
        tls = self.tls or trusted(config.ca_file)
        connector = GuardedConnector(self._guard, self.on_connect, config.max_headers, tls)
        self._session = aiohttp.ClientSession(
            connector=connector,
            request_class=ExactRequest,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            read_bufsize=_UNREAD,
            max_line_size=config.max_headers,
            max_field_size=config.max_headers,
            max_headers=_MAX_FIELDS,
            timeout=aiohttp.ClientTimeout(
                total=config.total_seconds,
                connect=config.connect_seconds,
                sock_connect=config.connect_seconds,
                sock_read=config.first_byte_seconds,
            ),
        )
        # aiohttp repeats a GET at once when a kept connection breaks: that would be a request without its gap.
        self._session._retry_connection = False
        return self._session

    def _exchanged(self, request: Request, asking: Asking, started: float, end: End | None) -> Exchange:
        response, chunks = asking.response, asking.chunks
        version = response.version if response else None
        dropped = _drop_large(chunks) if end and end.reason else 0
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.clear()  # the task's context keeps `asking` for a while
        return Exchange(
            url=request.url,
            started=started,
            finished=self._clock.now(),
            failure=end.reason if end else None,
            detail=end.detail if end else "",
            lasting=end.lasting if end else False,
            status=response.status if response else 0,
            version="1.1" if version is None or version is HttpVersion11 else f"{version.major}.{version.minor}",
            reply=_octets(response.reason or "") if response else "",
            headers=_as_text(response.raw_headers) if response else (),
            body=body,
            address=asking.address,
            sent=asking.sent,
            truncated=end.truncated if end else "",
            dropped=dropped,
        )


def _refused_head(response: aiohttp.ClientResponse, request: Request) -> End | None:
    """What the head alone rules out, so that the body is not read at all."""
    if not 200 <= response.status < 300:
        return None
    kind = response.headers.get(CONTENT_TYPE, "").partition(";")[0].strip().lower()
    if kind and request.accept_types and not kind.startswith(request.accept_types):
        return End(Reason.WRONG_TYPE, _octets(kind)[:100])
    length = response.content_length
    if length is not None and length > request.max_body and request.accept_types:
        return End(Reason.TOO_LARGE, f"{length} bytes announced", "length")
    return None


def _drop_large(chunks: list[bytes]) -> int:
    """Let go of a body that was given up, before it would be joined and so held twice; returns its bytes."""
    size = sum(map(len, chunks))
    if size <= _KEPT_OF_FAILED:
        return 0
    chunks.clear()
    return size


def _ended_by(error: BaseException, asking: Asking) -> End:
    if asking.refused and not asking.address:
        return End(Reason.ADDRESS_FORBIDDEN, asking.refused)
    if isinstance(error, HeadersTooLargeError):
        return End(Reason.HEADERS_TOO_LARGE, str(error))
    in_body = asking.response is not None
    reason = reason_of(error, in_body)
    truncated = "" if not in_body else "time" if reason is Reason.TOO_SLOW else "disconnect"
    return End(reason, sentence(error), truncated, is_untrusted(error))


def _as_text(raw: tuple[tuple[bytes, bytes], ...]) -> Headers:
    return tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw])


def _octets(text: str) -> str:
    """aiohttp's text (UTF-8 with escapes) as latin-1, which is what an Exchange holds."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")
