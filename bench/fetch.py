"""CPU per request of the whole fetch stage (lease in, outcome and capture out), beside aiohttp alone: the same GETs
with the same fields and timeouts, read to the end, and nothing else.

`python -m bench.fetch [REQUESTS]`. A small server in a process of its own answers with 40 KB, kept alive or closing;
16 hosts are asked at once, each one request at a time. Figures are CPU of this process; the ratio's line is 1.5.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import cast

import aiohttp
import uvloop

from weft.clock import SystemClock
from weft.config import Config, Fetch, Scope
from weft.engines.memory import MemoryTable
from weft.fetch.fetcher import Fetcher
from weft.fetch.identity import Identity
from weft.records import Kind, Lease, Reason
from weft.urls.host import host_of

HOSTS = [f"h{number}.test" for number in range(16)]
FETCH = Fetch(contact="https://bot.example/", hosts=dict.fromkeys(HOSTS, "127.0.0.1"))
ROUNDS = 15
BODY = b"x" * 40_000
FIELDS = (
    b'Content-Type: text/html\r\nServer: bench\r\nETag: "abc"\r\nCache-Control: max-age=60\r\nVary: Accept-Encoding\r\n'
)
Get = Callable[[str], Awaitable[None]]


class Answering(asyncio.Protocol):
    """The same answer to everything; 404 for robots.txt; closes where the path begins with /new."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ", 2)[1]
        status, body = (b"404 None", b"") if path == b"/robots.txt" else (b"200 OK", BODY)
        close = b"Connection: close\r\n" if path.startswith(b"/new") else b""
        head = b"HTTP/1.1 %b\r\nContent-Length: %d\r\n%b%b\r\n" % (status, len(body), FIELDS, close)
        self.transport.write(head + body)
        if close:
            self.transport.close()


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def spend(get: Get, urls: list[str]) -> float:
    """CPU microseconds per request."""
    await asyncio.gather(*(get(url) for url in urls[: len(HOSTS)]))  # connections, names, robots.txt

    async def one_host(part: list[str]) -> None:
        for url in part:
            await get(url)

    start = time.process_time()
    await asyncio.gather(*(one_host(urls[number :: len(HOSTS)]) for number in range(len(HOSTS))))
    return (time.process_time() - start) / len(urls) * 1e6


async def with_aiohttp(urls: list[str]) -> float:
    fields = dict(Identity(FETCH).fields(Kind.PAGE))
    timeout = aiohttp.ClientTimeout(FETCH.total_seconds, FETCH.connect_seconds, FETCH.first_byte_seconds)
    async with aiohttp.ClientSession(
        auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar(), headers=fields, timeout=timeout
    ) as session:

        async def get(url: str) -> None:
            async with session.get(url, allow_redirects=False) as response:
                assert len(await response.read()) == len(BODY)

        return await spend(get, urls)


async def with_weft(urls: list[str], port: int) -> float:
    async def turn(host: str, holder: str) -> bool:
        return bool(host and holder)

    config = Config(scope=Scope(own=("127.0.0.0/8",)), fetch=FETCH)
    fetcher = Fetcher.build(config, MemoryTable(), SystemClock(), turn)

    async def get(url: str) -> None:
        fetched = await fetcher.fetch(Lease(url, host_of(url), 1, 0, leased=0.0, expires=1e10))
        assert fetched.outcome.reason is Reason.STORED
        assert len(fetched.captures[0].exchange.body) == len(BODY)

    for host in HOSTS:
        await fetcher.book.ask(f"http://{host}:{port}")
    try:
        return await spend(get, urls)
    finally:
        await fetcher.close()


async def compare(requests: int, port: int) -> None:
    for kind in ("kept", "new"):
        paths = [f"/{kind}/{number}" for number in range(requests)]
        plain = [f"http://127.0.0.1:{port}{path}" for path in paths]
        named = [f"http://{HOSTS[n % len(HOSTS)]}:{port}{path}" for n, path in enumerate(paths)]
        alone, ours = [], []
        for _ in range(ROUNDS):  # in turns, so that a busy machine is unfair to neither
            alone.append(await with_aiohttp(plain))
            ours.append(await with_weft(named, port))
        low, high = min(alone), min(ours)
        print(f"{kind:4} connections: aiohttp alone {low:4.0f} µs, fetch stage {high:4.0f} µs, ratio {high / low:.2f}")


def main() -> None:
    requests = int(sys.argv[1]) if sys.argv[1:] else 800
    server = subprocess.Popen([sys.executable, "-m", "bench.fetch", "serve"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        uvloop.run(compare(requests, int(server.stdout.readline())))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        uvloop.run(serve())
    else:
        main()
