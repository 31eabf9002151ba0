"""The server on real sockets: names and addresses, keep-alive, conditional requests, encodings, the log."""

import asyncio
import gzip
import socket

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from tests.simweb.raw import ask
from weft.errors import ConfigError
from weft.simweb import SimWeb, SimWebConfig, expand


async def test_name_and_address_reach_the_same_site() -> None:
    async with SimWeb(SimWebConfig(hosts=3, pages=3)) as web:
        by_name = await ask(web, "/", host=1)
        there = web.world.host(1)
        reader, writer = await asyncio.open_connection(there.address, web.port)
        writer.write(f"GET / HTTP/1.0\r\nHost: {there.address}:{web.port}\r\n\r\n".encode())
        by_address = await reader.read()
        writer.close()
        marker = web.world.marker(1, 0).encode()
        assert marker in by_name.body
        assert marker in by_address
        assert f"http://{web.world.host(0).address}:{web.port}".encode() in by_address + by_name.body
        assert there.name.encode() not in by_address.replace(f"hello@{there.name}".encode(), b"")
        assert web.resolve(there.name) == [there.address]
        assert web.resolve("nobody.example") == []


async def test_each_host_has_its_own_loopback_address_and_nothing_else_listens() -> None:
    async with SimWeb(SimWebConfig(hosts=300, pages=1)) as web:
        assert len({web.world.host(index).address for index in range(300)}) == 300
        assert web.world.host(0).address == "127.1.0.1"
        assert web.world.host(255).address == "127.1.1.0"
        for address in ("127.0.0.1", "127.9.9.9"):
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(address, web.port)
        assert (await ask(web, "/", host=299)).status == 200


async def test_a_thousand_names_on_one_address() -> None:
    async with SimWeb(SimWebConfig(hosts=1000, pages=2, hosts_per_address=1000)) as web:
        assert set(web.hosts().values()) == {"127.1.0.1"}
        assert len(web.hosts()) == 1000
        for host in (0, 1, 999):
            assert web.world.marker(host, 0).encode() in (await ask(web, "/", host=host)).body
        assert {request.address for request in web.requests()} == {"127.1.0.1"}


async def test_a_taken_port_is_one_clear_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.1.0.2", 0))
        taken.listen()
        with pytest.raises(ConfigError, match=r"cannot listen on 127\.1\.0\.2"):
            await SimWeb(SimWebConfig(hosts=3, pages=1, port=taken.getsockname()[1])).start()


async def test_many_requests_on_one_connection_in_pieces_and_at_once() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=3)) as web:
        reader, writer = await asyncio.open_connection("127.1.0.1", web.port)
        request = f"GET /robots.txt HTTP/1.1\r\nHost: {web.world.host(0).name}\r\n\r\n".encode()
        writer.write(request[:20])
        await writer.drain()
        writer.write(
            request[20:]
            + request
            + request.replace(b"GET", b"HEAD").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        )
        answers = (await reader.read()).split(b"HTTP/1.1 200 OK")
        writer.close()
        assert len(answers) == 4
        assert (
            answers[1].partition(b"\r\n\r\n")[2]
            == answers[2].partition(b"\r\n\r\n")[2]
            == b"User-agent: *\nDisallow:\n"
        )
        assert answers[3].endswith(b"Connection: close\r\n\r\n")
        log = web.requests()
        assert [row.status for row in log] == [200, 200, 200]
        assert len({row.connection for row in log}) == 1


@pytest.mark.parametrize(
    "request_bytes", [b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", b"nonsense\r\n\r\n", b"GET x HTTP/1.1\r\n\r\n"]
)
async def test_what_is_no_request_gets_400(request_bytes: bytes) -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=1)) as web:
        reader, writer = await asyncio.open_connection("127.1.0.1", web.port)
        writer.write(request_bytes)
        assert (await reader.read()).startswith(b"HTTP/1.1 400")
        writer.close()


async def test_unknown_names_and_paths() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=3)) as web:
        assert (await ask(web, "/nothing/here-2")).status == 404
        assert (await ask(web, "/static/photo-1.png")).header("Content-Type") == "image/png"
        reader, writer = await asyncio.open_connection("127.1.0.1", web.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 421")
        writer.close()


async def test_validators_and_what_changes_them() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=30, misbehaviours=expand("validators,changing"))) as web:
        site = web.truth()
        changed = 0
        for row in site.urls[:30]:
            target = row.url.partition(str(web.port))[2]
            first = await ask(web, target)
            tag = f"If-None-Match: {first.header('ETag')}\r\n"
            date = f"If-Modified-Since: {first.header('Last-Modified')}\r\n"
            for condition in (tag, date):
                again = await ask(web, target, headers=condition)
                assert (again.status, again.body) == (304, b"")
                assert again.header("ETag") == first.header("ETag")
            web.advance(8)
            later = await ask(web, target, headers=tag)
            changed += later.status == 200
            assert (later.status == 200) == ((await ask(web, target, headers=date)).status == 200)
        assert 15 < changed < 30
        assert sum(row.body for row in web.requests() if row.status == 304) == 0
        assert all(row.validators for row in site.urls if row.kind == "page")


@pytest.mark.parametrize(
    ("name", "token", "decode"),
    [("gzip", "gzip", gzip.decompress), ("brotli", "br", brotli.decompress), ("zstd", "zstd", zstandard.decompress)],
)
async def test_encodings_only_when_accepted(name: str, token: str, decode: object) -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=1, misbehaviours=expand(name))) as web:
        plain = await ask(web, "/")
        packed = await ask(web, "/", headers=f"Accept-Encoding: {token}\r\n")
        assert plain.header("Content-Encoding") == ""
        assert packed.header("Content-Encoding") == token
        assert len(packed.body) < len(plain.body) / 2
        assert callable(decode)
        assert decode(packed.body) == plain.body


async def test_the_log_tells_who_asked_for_what_and_when() -> None:
    async with SimWeb(SimWebConfig(hosts=2, pages=2, misbehaviours=expand("latency"), latency=0.05)) as web:
        await ask(web, "/", host=1, headers="User-Agent: tester/1\r\n", seconds=2)
        (row,) = web.requests()
        assert (row.host, row.address, row.target) == (web.world.host(1).name, "127.1.0.2", "/")
        assert (row.status, row.agent, row.complete) == (200, "tester/1", True)
        assert row.finished - row.arrived >= 0.05
        assert row.wall > 1_700_000_000
        assert row.sent > row.body > 4000
