"""Every exception aiohttp knows has a reason, chosen by its type."""

import errno
from collections.abc import Iterator

import aiohttp
import pytest
from aiohttp import http_exceptions
from aiohttp.client_reqrep import ConnectionKey

from weft.fetch.failures import reason_of, sentence
from weft.records import Reason

KEY = ConnectionKey("h.test", 80, False, True, None, None, None)


def _below(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def _made(kind: type[BaseException]) -> BaseException:
    if issubclass(kind, aiohttp.ClientConnectorCertificateError):
        return kind(KEY, ValueError("bad certificate"))
    if issubclass(kind, aiohttp.ClientConnectorError):
        return kind(KEY, OSError(errno.ECONNREFUSED, "refused"))
    return kind.__new__(kind)


KINDS = {kind.__name__: kind for kind in _below(aiohttp.ClientError)}
KINDS.pop("UnixClientConnectorError")  # never used, and made otherwise


@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("in_body", [False, True])
def test_all_of_them(name: str, in_body: bool) -> None:
    assert isinstance(reason_of(_made(KINDS[name]), in_body), Reason)


def _caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


CASES = [
    (aiohttp.ClientConnectorError(KEY, OSError(errno.ECONNREFUSED, "")), False, Reason.CONNECT_FAILED),
    (aiohttp.ClientConnectorError(KEY, OSError(errno.EMFILE, "")), False, Reason.HOST_BUSY),
    (aiohttp.ClientConnectorDNSError(KEY, OSError(errno.EIO, "")), False, Reason.DNS_FAILED),
    (aiohttp.ClientConnectorSSLError(KEY, OSError(1, "")), False, Reason.TLS_FAILED),
    (aiohttp.ConnectionTimeoutError(), False, Reason.CONNECT_FAILED),
    (aiohttp.SocketTimeoutError(), False, Reason.TIMEOUT),
    (aiohttp.SocketTimeoutError(), True, Reason.TOO_SLOW),
    (TimeoutError(), False, Reason.TIMEOUT),
    (aiohttp.ServerDisconnectedError(), False, Reason.RESET),
    (aiohttp.ClientOSError(errno.ECONNRESET, ""), True, Reason.TRUNCATED),
    (aiohttp.ClientPayloadError(), True, Reason.TRUNCATED),
    (_caused(aiohttp.ClientPayloadError(), http_exceptions.ContentLengthError("short")), True, Reason.TRUNCATED),
    (_caused(aiohttp.ClientPayloadError(), http_exceptions.BadHttpMessage("zz")), True, Reason.MALFORMED),
    (http_exceptions.BadHttpMessage("zz"), True, Reason.MALFORMED),
    (http_exceptions.LineTooLong(b"a", 1), False, Reason.HEADERS_TOO_LARGE),
    (aiohttp.InvalidURL("x"), False, Reason.BAD_URL),
]


@pytest.mark.parametrize(("error", "in_body", "reason"), CASES)
def test_by_type_and_cause(error: BaseException, in_body: bool, reason: Reason) -> None:
    assert reason_of(error, in_body) is reason


def test_the_sentence_is_one_printable_line() -> None:
    text = sentence(aiohttp.ClientPayloadError("a\r\nEvil: 1\0" + "x" * 500))
    assert text.isprintable()
    assert len(text) <= 200
