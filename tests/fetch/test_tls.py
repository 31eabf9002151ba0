"""TLS is verified, and what is wrong with it is said. tls.pem: a certificate for tls.test and its key."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fetch.crew import Crew, request
from tests.fetch.misbehaving import Server, page
from weft.records import Reason

CERTIFICATE = Path(__file__).with_name("tls.pem")


@pytest.fixture
async def crew() -> AsyncIterator[Crew]:
    crew = Crew({"tls.test": [("127.0.0.1",)], "other.test": [("127.0.0.1",)]})
    crew.transport.tls = ssl.create_default_context(cafile=CERTIFICATE)
    yield crew
    await crew.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    server = await Server({"/": page(b"secret")}).listen(tls=context)
    yield server
    await server.close()


async def test_a_trusted_certificate(crew: Crew, server: Server) -> None:
    for _ in range(2):
        exchange = await crew.transport.get(request(f"https://tls.test:{server.port}/"))
        assert (exchange.failure, exchange.body) == (None, b"secret")
    assert server.connections == 1


async def test_a_certificate_for_another_name(crew: Crew, server: Server) -> None:
    exchange = await crew.transport.get(request(f"https://other.test:{server.port}/"))
    assert exchange.failure is Reason.TLS_FAILED
    assert "other.test" in exchange.detail
    assert exchange.lasting
    assert not server.seen


async def test_a_certificate_nobody_vouches_for(crew: Crew, server: Server) -> None:
    crew.transport.tls = None  # the system's trust
    exchange = await crew.transport.get(request(f"https://tls.test:{server.port}/"))
    assert (exchange.failure, exchange.lasting) == (Reason.TLS_FAILED, True)
    assert not server.seen


async def test_no_tls_at_all(crew: Crew) -> None:
    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    exchange = await crew.transport.get(request(f"https://tls.test:{server.sockets[0].getsockname()[1]}/"))
    assert (exchange.failure, exchange.lasting) == (Reason.TLS_FAILED, False)  # it may have TLS in a minute
    server.close()


async def test_http_asked_of_a_tls_port(crew: Crew, server: Server) -> None:
    exchange = await crew.transport.get(request(f"http://tls.test:{server.port}/"))
    assert exchange.failure in (Reason.RESET, Reason.MALFORMED)
