"""How a request can fail: exceptions of aiohttp and asyncio come in, a Reason and a sentence go out. Called by http.py.

ClientConnectorError            CONNECT_FAILED   (with no file descriptor left: HOST_BUSY, which is our trouble)
├── ClientConnectorDNSError     DNS_FAILED
└── ClientSSLError              TLS_FAILED       (certificates too)
ConnectionTimeoutError          CONNECT_FAILED
SocketTimeoutError, TimeoutError   TIMEOUT before the body, TOO_SLOW within
ServerDisconnectedError, ClientOSError, …   RESET before the body, TRUNCATED within
ClientPayloadError              TRUNCATED, or MALFORMED where the framing is broken
ClientResponseError             MALFORMED; HEADERS_TOO_LARGE where a line or their number passes the limit
InvalidURL, ValueError          BAD_URL
"""

import asyncio
import errno
import os
from collections.abc import Iterator

import aiohttp
from aiohttp import http_exceptions

from weft.records import Reason

_NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def reason_of(error: BaseException, in_body: bool) -> Reason:
    """Why the exchange ended, by the types of the exception and its causes."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return _not_connected(error)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Reason.CONNECT_FAILED
    if isinstance(error, aiohttp.ServerFingerprintMismatch):
        return Reason.TLS_FAILED
    if isinstance(error, asyncio.TimeoutError):  # aiohttp's own among them
        return Reason.TOO_SLOW if in_body else Reason.TIMEOUT
    if isinstance(error, aiohttp.ClientPayloadError):
        return Reason.MALFORMED if _broken_framing(error) else Reason.TRUNCATED
    if isinstance(error, aiohttp.ClientResponseError | http_exceptions.HttpProcessingError):
        too_long = any(isinstance(cause, http_exceptions.LineTooLong) for cause in _causes(error))
        return Reason.HEADERS_TOO_LARGE if too_long else Reason.MALFORMED
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError | ValueError):
        return Reason.BAD_URL
    return Reason.TRUNCATED if in_body else Reason.RESET


def is_untrusted(error: BaseException) -> bool:
    """Whether the server showed a certificate that nobody we trust vouches for: for this name, and today."""
    return isinstance(error, aiohttp.ClientConnectorCertificateError)


def sentence(error: BaseException) -> str:
    """One line for a person, without control characters, at most 200 characters."""
    text = " ".join(str(error).split())
    if isinstance(error, aiohttp.ClientConnectorError) and not isinstance(error, aiohttp.ClientSSLError):
        number = error.os_error.errno
        text = f"{os.strerror(number)} ({error.host} port {error.port})" if number else text
    else:
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return "".join(char if char.isprintable() else "?" for char in text)[:200]


def _not_connected(error: aiohttp.ClientConnectorError) -> Reason:
    if isinstance(error, aiohttp.ClientSSLError | aiohttp.ClientConnectorCertificateError):
        return Reason.TLS_FAILED
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Reason.DNS_FAILED
    return Reason.HOST_BUSY if error.os_error.errno in _NO_DESCRIPTORS else Reason.CONNECT_FAILED


def _broken_framing(error: BaseException) -> bool:
    """Whether octets came that cannot be right; a body that only ended early is cut, not malformed."""
    return any(
        isinstance(cause, http_exceptions.BadHttpMessage)
        and not isinstance(cause, http_exceptions.PayloadEncodingError)
        for cause in _causes(error)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen = 0
    current: BaseException | None = error
    while current is not None and seen < 10:
        yield current
        current = current.__cause__ or current.__context__
        seen += 1
