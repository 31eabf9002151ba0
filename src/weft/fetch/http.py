"""The Transport on aiohttp: one GET, streamed, capped, guarded. A Request comes in, an Exchange goes out.

Called by the fetcher and the robots book. Redirects are not followed, cookies not kept, bodies not decompressed; a
connection is kept only behind a whole and flawless answer.
"""

import re
import ssl
from typing import Final, NamedTuple

import ada_url
import aiohttp
import yarl
from aiohttp.http_exceptions import HttpProcessingError
from multidict import CIMultiDict

from weft.config import Fetch
from weft.ports import Clock
from weft.records import Exchange, Headers, Reason, Request

from .connector import Asking, GuardedConnector, HeadersTooLargeError, OnConnect, set_asking
from .dns import Resolver
from .failures import reason_of, sentence
from .guard import Guard, parse_address
from .magic import is_binary

GRACE: Final = 5.0
"""Seconds before the minimum rate counts."""

_ERROR_BODY: Final = 64 * 1024  # read of answers other than 2xx, so that their connection can be kept
_MAX_FIELDS: Final = 16_384  # aiohttp counts fields; we bound their octets
# What ada makes of a URL; in its own spelling, the parts stand where this finds them.
_PARTS: Final = re.compile(r"https?://(\[[0-9a-f:.]+\]|[^/?#@:\[\]]+)(?::\d+)?/")


class _End(NamedTuple):
    """How an exchange ended before its time. Without a reason: what was left out does not matter."""

    reason: Reason | None
    detail: str
    truncated: str = ""


class _Answer:
    """What has come of an exchange so far."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        self.response: aiohttp.ClientResponse | None = None
        self.chunks: list[bytes] = []


class HttpTransport:
    """See `ports.Transport`."""

    def __init__(self, config: Fetch, guard: Guard, resolver: Resolver, clock: Clock) -> None:
        self._config, self._guard, self._resolver, self._clock = config, guard, resolver, clock
        self._session: aiohttp.ClientSession | None = None
        self.on_connect: OnConnect | None = None
        """Told of every connection before it is opened. Set before the first request."""
        self.tls: ssl.SSLContext | None = None
        """Replaces the system's trusted certificates. Set before the first request."""
        self.grace = GRACE

    async def get(self, request: Request) -> Exchange:
        asking = await self._destination(request.url)
        started = self._clock.now()
        if isinstance(asking, _End):
            return Exchange(request.url, started, started, failure=asking.reason, detail=asking.detail)
        set_asking(asking)
        answer = _Answer(asking)
        failed: _End | None
        try:
            failed = await self._exchange(request, answer)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, HttpProcessingError) as error:
            failed = _ended_by(error, answer)
        return self._exchanged(request, answer, started, failed)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._resolver.close()

    async def _destination(self, url: str) -> Asking | _End:
        """The host, by the parser that made the URL canonical, and its addresses, all of them checked."""
        try:
            href = ada_url.normalize_url(url).partition("#")[0]
        except ValueError:
            return _End(Reason.BAD_URL, "not a URL")
        parts = _PARTS.match(href)
        host = parts[1].strip("[]") if parts else ""
        if not host or yarl.URL(href, encoded=True).raw_host != host:
            return _End(Reason.BAD_URL, "not an http or https URL with a host and without a user")
        if parse_address(host) is not None:
            addresses: tuple[str, ...] = (host,)
        else:
            found = self._resolver.cached(host) or await self._resolver.resolve(host)
            if not found.addresses:
                return _End(Reason.DNS_FAILED, found.problem)
            addresses = found.addresses
        refusals = [self._guard.refusal(address, host) for address in addresses]
        checked = tuple(address for address, refusal in zip(addresses, refusals, strict=True) if refusal is None)
        if not checked:
            return _End(Reason.ADDRESS_FORBIDDEN, "; ".join(filter(None, refusals)))
        return Asking(host, href, checked)

    async def _exchange(self, request: Request, answer: _Answer) -> _End | None:
        session = self._session or self._open()
        target = yarl.URL(answer.asking.url, encoded=True)
        response = await session.get(target, headers=CIMultiDict(request.headers), allow_redirects=False)
        answer.response = response
        try:
            size = sum([len(name) + len(value) + 4 for name, value in response.raw_headers])
            if size > self._config.max_headers:
                return _End(Reason.HEADERS_TOO_LARGE, f"{size} bytes of headers")
            return _refused_head(response, request) or await self._read(response, request, answer.chunks)
        finally:
            # Ends a connection that is still busy; one whose answer was whole is already back in the pool.
            response.close()

    async def _read(self, response: aiohttp.ClientResponse, request: Request, chunks: list[bytes]) -> _End | None:
        good = 200 <= response.status < 300
        limit = request.max_body if good else min(request.max_body, _ERROR_BODY)
        sniffed = not request.accept_types or not good or "Content-Encoding" in response.headers
        begun = self._clock.monotonic()
        size = 0
        while chunk := await response.content.readany():
            size += len(chunk)
            if not sniffed:
                sniffed = True
                if is_binary(chunk):
                    return _End(Reason.BINARY, f"begins with {chunk[:8]!r}")
            if size > limit:
                chunks.append(chunk[: len(chunk) - (size - limit)])
                return _End(Reason.TOO_LARGE if good else None, f"more than {limit} bytes", "length")
            chunks.append(chunk)
            elapsed = self._clock.monotonic() - begun
            if elapsed > self.grace and size < elapsed * self._config.minimum_rate:
                return _End(Reason.TOO_SLOW, f"{size} bytes in {elapsed:.1f} s", "time")
        return None

    def _open(self) -> aiohttp.ClientSession:
        config = self._config
        connector = GuardedConnector(self._guard, self.on_connect, config.max_headers, self.tls)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
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

    def _exchanged(self, request: Request, answer: _Answer, started: float, end: _End | None) -> Exchange:
        response, chunks = answer.response, answer.chunks
        version = response.version if response else None
        return Exchange(
            url=request.url,
            started=started,
            finished=self._clock.now(),
            failure=end.reason if end else None,
            detail=end.detail if end else "",
            status=response.status if response else 0,
            version=f"{version.major}.{version.minor}" if version else "1.1",
            reply=_octets(response.reason or "") if response else "",
            headers=_as_text(response.raw_headers) if response else (),
            body=chunks[0] if len(chunks) == 1 else b"".join(chunks),
            address=answer.asking.address,
            sent=(("Host", yarl.URL(answer.asking.url).host_port_subcomponent or ""), *request.headers),
            truncated=end.truncated if end else "",
        )


def _refused_head(response: aiohttp.ClientResponse, request: Request) -> _End | None:
    """What the head alone rules out, so that the body is not read at all."""
    if not 200 <= response.status < 300:
        return None
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind and request.accept_types and not kind.startswith(request.accept_types):
        return _End(Reason.WRONG_TYPE, _octets(kind)[:100])
    length = response.content_length
    if length is not None and length > request.max_body and request.accept_types:
        return _End(Reason.TOO_LARGE, f"{length} bytes announced", "length")
    return None


def _ended_by(error: BaseException, answer: _Answer) -> _End:
    if answer.asking.refused and not answer.asking.address:
        return _End(Reason.ADDRESS_FORBIDDEN, answer.asking.refused)
    if isinstance(error, HeadersTooLargeError):
        return _End(Reason.HEADERS_TOO_LARGE, str(error))
    in_body = answer.response is not None
    reason = reason_of(error, in_body)
    truncated = "" if not in_body else "time" if reason is Reason.TOO_SLOW else "disconnect"
    return _End(reason, sentence(error), truncated)


def _as_text(raw: tuple[tuple[bytes, bytes], ...]) -> Headers:
    return tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw])


def _octets(text: str) -> str:
    """aiohttp's text (UTF-8 with escapes) as latin-1, which is what an Exchange holds."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
