"""The transport against a server that misbehaves: every way an exchange can end has its reason."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.fetch.crew import Crew, request
from tests.fetch.misbehaving import Answer, Say, Server, drip, flood, page
from weft.clock import SystemClock
from weft.records import Reason

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
LENGTH = OK + b"Content-Length: 5\r\n\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

# name: (answer, failure, status, body)
ENDS: dict[str, tuple[Answer, Reason | None, int, bytes]] = {
    "whole": (page(b"hello"), None, 200, b"hello"),
    "chunked": (Say(CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", "keep"), None, 200, b"hello"),
    "until the connection ends": (Say(OK + b"\r\nhello"), None, 200, b"hello"),
    "HTTP/1.0": (Say(b"HTTP/1.0 200 OK\r\n\r\nhello"), None, 200, b"hello"),
    "line feeds alone": (Say(b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", "keep"), None, 200, b"hello"),
    "interim answers": (Say(b"HTTP/1.1 103 Hints\r\nX: y\r\n\r\n" + LENGTH + b"hello", "keep"), None, 200, b"hello"),
    "no content type": (Say(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "keep"), None, 200, b"hello"),
    "an error with a body": (page(b"gone", "404 Not Found"), None, 404, b"gone"),
    "an error of another type": (page(b"gone", "404 Not Found", kind="image/png"), None, 404, b"gone"),
    "a redirect": (page(b"", "301 Moved", "Location: /x"), None, 301, b""),
    "nothing, closed": (Say(b""), Reason.RESET, 0, b""),
    "nothing, reset": (Say(b"", "reset"), Reason.RESET, 0, b""),
    "nothing, silent": (Say(b"", "hold"), Reason.TIMEOUT, 0, b""),
    "half a head, closed": (Say(OK), Reason.RESET, 0, b""),
    "half a head, reset": (Say(OK, "reset"), Reason.RESET, 0, b""),
    "half a head, silent": (Say(OK, "hold"), Reason.TIMEOUT, 0, b""),
    "a head that drips": (partial(drip, octets=OK * 100, pause=0.1), Reason.TIMEOUT, 0, b""),
    "a body cut by closing": (Say(LENGTH + b"hel"), Reason.TRUNCATED, 200, b""),
    "a body cut by a reset": (Say(LENGTH + b"hel", "reset"), Reason.TRUNCATED, 200, b""),
    "a body that stops": (Say(LENGTH + b"hel", "hold"), Reason.TOO_SLOW, 200, b"hel"),
    "a body that drips": (
        partial(drip, octets=OK + b"Content-Length: 900\r\n\r\n" + b"a" * 900, pause=0.01),
        Reason.TOO_SLOW,
        200,
        b"",
    ),
    "a chunk cut": (Say(CHUNKED + b"5\r\nhel"), Reason.TRUNCATED, 200, b""),
    "the last chunk missing": (Say(CHUNKED + b"5\r\nhello\r\n"), Reason.TRUNCATED, 200, b""),
    "a chunk of bad size": (Say(CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n"), Reason.MALFORMED, 0, b""),
    "a later chunk of bad size": (Say(CHUNKED + b"5\r\nhello\r\nzz\r\n"), Reason.MALFORMED, 0, b""),
    "a bad chunk long after the head": (
        partial(drip, octets=CHUNKED + b"5\r\nhello\r\nzz\r\n", pause=0.001),
        Reason.MALFORMED,
        200,
        b"hello",
    ),
    "two lengths": (Say(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), Reason.MALFORMED, 0, b""),
    "the same length twice": (
        Say(OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
        Reason.MALFORMED,
        0,
        b"",
    ),
    "length and chunks": (
        Say(OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        Reason.MALFORMED,
        0,
        b"",
    ),
    "a negative length": (Say(OK + b"Content-Length: -5\r\n\r\nhello"), Reason.MALFORMED, 0, b""),
    "a length in words": (Say(OK + b"Content-Length: five\r\n\r\nhello"), Reason.MALFORMED, 0, b""),
    "octets behind the body": (Say(LENGTH + b"hello and more"), Reason.MALFORMED, 0, b""),
    "not HTTP": (Say(b"SSH-2.0-OpenSSH_9.6\r\n"), Reason.MALFORMED, 0, b""),
    "HTTP/0.9": (Say(b"<html>hello</html>\r\n\r\n"), Reason.MALFORMED, 0, b""),
    "a status of five digits": (Say(b"HTTP/1.1 20000 OK\r\n\r\n"), Reason.MALFORMED, 0, b""),
    "a NUL in a field": (Say(OK + b"X: a\0b\r\n\r\n"), Reason.MALFORMED, 0, b""),
    "one huge field": (Say(OK + b"X: " + b"a" * 9000 + b"\r\n\r\n"), Reason.HEADERS_TOO_LARGE, 0, b""),
    "many small fields": (Say(OK + b"X: a\r\n" * 2000 + b"\r\n"), Reason.HEADERS_TOO_LARGE, 0, b""),
    "endless fields": (
        partial(flood, piece=OK + b"X: aaaa\r\n" * 100, octets=1 << 26),
        Reason.HEADERS_TOO_LARGE,
        0,
        b"",
    ),
    "one endless field": (
        partial(flood, piece=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 4000, octets=1 << 26),
        Reason.HEADERS_TOO_LARGE,
        0,
        b"",
    ),
    "endless interim answers": (
        partial(flood, piece=b"HTTP/1.1 100 Continue\r\n\r\n" * 10, octets=1 << 26),
        Reason.HEADERS_TOO_LARGE,
        0,
        b"",
    ),
    "another type": (page(b"hello", kind="image/png"), Reason.WRONG_TYPE, 200, b""),
    "a length over the limit": (Say(OK + b"Content-Length: 100001\r\n\r\nhello", "hold"), Reason.TOO_LARGE, 200, b""),
    "a body over the limit": (Say(OK + b"\r\n" + b"a" * 100_001), Reason.TOO_LARGE, 200, b"a" * 100_000),
    "an endless body": (partial(flood, piece=OK + b"\r\n" + b"a" * 65536, octets=1 << 28), Reason.TOO_LARGE, 200, b""),
    "a PDF called HTML": (page(b"%PDF-1.7 and so on"), Reason.BINARY, 200, b""),
    "a PNG called HTML": (page(b"\x89PNG\r\n\x1a\n\0\0"), Reason.BINARY, 200, b""),
}


@pytest.fixture
async def crew() -> AsyncIterator[Crew]:
    crew = Crew()
    yield crew
    await crew.close()


@pytest.mark.parametrize("name", ENDS)
async def test_every_end_has_its_reason(name: str, crew: Crew) -> None:
    answer, failure, status, body = ENDS[name]
    server = await Server({"/": answer, "/next": page(b"still here")}).listen()
    exchange = await crew.transport.get(request(f"http://h.test:{server.port}/"))
    assert (exchange.failure, exchange.status) == (failure, status), exchange.detail
    assert exchange.body.startswith(body)
    assert exchange.failure is None or exchange.detail
    assert exchange.address == "127.0.0.1"
    following = await crew.transport.get(request(f"http://h.test:{server.port}/next"))
    assert following.body == b"still here"  # on a connection of its own where the first one is spoilt
    await server.close()


async def test_a_small_answer_cut_at_every_octet(crew: Crew) -> None:
    whole = LENGTH + b"hello"
    server = Server(
        {f"/{end}/{then}": Say(whole[:end], then) for end in range(len(whole) + 1) for then in ("close", "reset")}
    )
    await server.listen()
    for end in range(len(whole) + 1):
        closed = await crew.transport.get(request(f"http://h.test:{server.port}/{end}/close"))
        cut = await crew.transport.get(request(f"http://h.test:{server.port}/{end}/reset"))
        expected = None if end == len(whole) else Reason.TRUNCATED if end >= len(LENGTH) else Reason.RESET
        assert closed.failure is expected, end
        assert cut.failure in (expected, Reason.RESET), end  # a reset may overtake what was sent before it
    await server.close()


async def test_a_large_body_that_is_given_up_is_let_go_but_counted(crew: Crew) -> None:
    """Joined, it would be held twice just when others need the room."""
    limit = 2 << 20
    server = await Server({"/": partial(flood, piece=OK + b"\r\n" + b"a" * 65536, octets=1 << 28)}).listen()
    exchange = await crew.transport.get(request(f"http://h.test:{server.port}/", max_body=limit))
    assert (exchange.failure, exchange.body, exchange.dropped) == (Reason.TOO_LARGE, b"", limit)
    await server.close()


@pytest.mark.parametrize(
    "answer",
    [
        page(b"x" * 90_000, kind="image/png"),
        Say(OK + b"Content-Length: 100001\r\n\r\nhello", "hold"),
        partial(flood, piece=OK + b"\r\n" + b"a" * 65536, octets=1 << 28),
    ],
)
async def test_a_cut_answer_ends_with_its_connection_and_not_later(answer: Answer, crew: Crew) -> None:
    server = await Server({"/": answer}).listen()
    exchange = await crew.transport.get(request(f"http://h.test:{server.port}/"))
    assert exchange.failure in (Reason.WRONG_TYPE, Reason.TOO_LARGE)
    assert exchange.finished <= SystemClock().now()
    async with asyncio.timeout(10):
        await server.idle()
    await server.close()


async def test_the_minimum_rate_ends_a_body_before_its_time_is_up(crew: Crew) -> None:
    octets = OK + b"Content-Length: 900\r\n\r\n" + b"a" * 900
    server = await Server({"/": partial(drip, octets=octets, pause=0.01)}).listen()
    exchange = await crew.transport.get(request(f"http://h.test:{server.port}/"))
    assert (exchange.failure, exchange.truncated) == (Reason.TOO_SLOW, "time")
    assert "bytes in" in exchange.detail  # not the total timeout
    await server.close()


async def test_nothing_listens(crew: Crew) -> None:
    server = await Server({}).listen()
    await server.close()
    exchange = await crew.transport.get(request(f"http://h.test:{server.port}/"))
    assert exchange.failure is Reason.CONNECT_FAILED


async def test_a_name_that_does_not_resolve(crew: Crew) -> None:
    exchange = await crew.transport.get(request("http://unknown.test/"))
    assert exchange.failure is Reason.DNS_FAILED
    assert not crew.connected


@pytest.mark.parametrize(
    "url",
    ["", "h.test", "ftp://h.test/", "file:///etc/passwd", "http://", "http://u:p@h.test/", "http://h.test:99999/"],
)
async def test_what_is_no_url(url: str, crew: Crew) -> None:
    assert (await crew.transport.get(request(url))).failure is Reason.BAD_URL


async def test_connections_are_kept_and_nothing_is_repeated(crew: Crew) -> None:
    server = await Server({"/": page(b"one"), "/bad": Say(b"", "reset")}).listen()
    for _ in range(5):
        await crew.transport.get(request(f"http://h.test:{server.port}/"))
    assert server.connections == 1
    assert len(crew.connected) == 1
    # A request on a kept connection that breaks is not sent again: that would be a request without its gap.
    assert (await crew.transport.get(request(f"http://h.test:{server.port}/bad"))).failure is Reason.RESET
    assert server.paths().count("/bad") == 1
    await server.close()


async def test_heads_are_kept_as_they_came(crew: Crew) -> None:
    fields = b"Set-Cookie: a=1\r\nset-cookie: b=2\r\nX-Odd: caf\xe9\r\nContent-Length: 2\r\n"
    octets = b"HTTP/1.1 200 Gr\xfc\xdfe\r\n" + fields + b"\r\nhi"
    server = await Server({"/a": Say(octets, "keep"), "/b": page()}).listen()
    exchange = await crew.transport.get(request(f"http://h.test:{server.port}/a"))
    assert exchange.reply == "Gr\xfc\xdfe"
    assert exchange.headers[:3] == (("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("X-Odd", "caf\xe9"))
    assert exchange.sent == (("Host", f"h.test:{server.port}"), ("User-Agent", "weft/0.1"))
    await crew.transport.get(request(f"http://h.test:{server.port}/b"))
    assert server.seen[0].fields == {"host": f"h.test:{server.port}", "user-agent": "weft/0.1"}
    assert "cookie" not in server.seen[1].fields
    await server.close()


async def test_cancelling_ends_the_connection(crew: Crew) -> None:
    asked = asyncio.Event()

    async def silence(_: asyncio.StreamWriter) -> None:
        asked.set()
        await asyncio.Event().wait()

    server = await Server({"/": silence}).listen()
    task = asyncio.create_task(crew.transport.get(request(f"http://h.test:{server.port}/")))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.close()
