"""Requests per second and core of simweb, beside a minimal aiohttp server that sends the same bytes from a dict.

`python -m bench.simweb [REQUESTS]`: both servers run in processes of their own under the same load; what counts is the
server's CPU time per request, which other work on the machine hardly disturbs.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import msgspec
import uvloop
from aiohttp import web as aiohttp_web

from weft.simweb import SimWebConfig
from weft.simweb.answer import Answer, Visit
from weft.simweb.planting import Sites
from weft.simweb.process import running
from weft.simweb.world import World

CONFIG = SimWebConfig(hosts=40, pages=25)
CONNECTIONS = 64
FLOOR = 5000


class Measured(msgspec.Struct, frozen=True):
    """One server under load."""

    requests: int
    megabytes: float
    server_cpu: float
    seconds: float

    @property
    def per_core(self) -> float:
        return self.requests / self.server_cpu


class Client(asyncio.Protocol):
    """Asks for one page after the other on one connection; reads no more than it must to know where an answer ends."""

    def __init__(self, load: "Load") -> None:
        self._load = load
        self._left = 0
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(next(self._load.asked))

    def data_received(self, data: bytes) -> None:
        self._load.received += len(data)
        if not self._left:
            self._head += data
            head, found, rest = self._head.partition(b"\r\n\r\n")
            if not found:
                return
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            self._left, data, self._head = int(length), rest, b""
        self._left -= len(data)
        if not self._left:
            self._load.count += 1
            if self._load.count >= self._load.wanted:
                self._load.done.set()
            else:
                self._transport.write(next(self._load.asked))


class Load:
    """What all clients share."""

    def __init__(self, targets: list[tuple[str, str]], port: int, wanted: int) -> None:
        self.asked = cycle(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode() for host, path in targets)
        self.wanted = wanted
        self.count = 0
        self.received = 0
        self.done = asyncio.Event()


async def drive(targets: list[tuple[str, str]], address: tuple[str, int], wanted: int) -> Load:
    load = Load(targets, address[1], wanted)
    loop = asyncio.get_running_loop()
    opened = [await loop.create_connection(lambda: Client(load), *address) for _ in range(CONNECTIONS)]
    await asyncio.wait_for(load.done.wait(), 120)
    for transport, _ in opened:
        transport.abort()
    return load


def measure(pid: int, targets: list[tuple[str, str]], address: tuple[str, int], wanted: int) -> Measured:
    cpu, start = cpu_of(pid), time.perf_counter()
    load = uvloop.run(drive(targets, address, wanted))
    return Measured(load.count, load.received / 1e6, cpu_of(pid) - cpu, time.perf_counter() - start)


def cpu_of(pid: int) -> float:
    """User and system seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def all_pages(port: int) -> tuple[list[tuple[str, str]], dict[tuple[str, str], bytes]]:
    """(host, path) of every ordinary page, and what it holds."""
    sites = Sites(World(CONFIG), port)
    bodies = {}
    for index in range(CONFIG.hosts):
        site = sites(index)
        for page in range(CONFIG.pages):
            reply = site.answer(Visit(site.path(page), {}, numeric=False))
            assert isinstance(reply, Answer)
            bodies[site.host.name, site.path(page)] = reply.body
    return list(bodies), bodies


def serve_rival() -> None:
    """The child: aiohttp's own server, one handler, bytes from a dict, no log."""
    _, bodies = all_pages(80)

    async def handle(request: aiohttp_web.Request) -> aiohttp_web.Response:
        return aiohttp_web.Response(
            body=bodies[request.host.partition(":")[0], request.raw_path], content_type="text/html"
        )

    async def serve() -> None:
        runner = aiohttp_web.ServerRunner(aiohttp_web.Server(handle))  # type: ignore[arg-type]
        await runner.setup()
        site = aiohttp_web.TCPSite(runner, "127.1.0.1", 0)
        await site.start()
        sys.stdout.write(f"{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        await runner.cleanup()

    uvloop.run(serve())


@contextmanager
def rival() -> Iterator[tuple[int, int]]:
    """(pid, port) of the aiohttp server."""
    command = [sys.executable, "-m", "bench.simweb", "--rival"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield child.pid, int(child.stdout.readline())
    finally:
        child.stdin.close()
        child.wait(timeout=10)
        child.stdout.close()


def main(wanted: int) -> None:
    with TemporaryDirectory() as folder, running(CONFIG, Path(folder)) as web:
        targets, bodies = all_pages(web.port)
        address = ("127.1.0.1", web.port)
        cold = measure(web.pid, targets, address, len(targets))
        warm = measure(web.pid, targets, address, wanted)
    with rival() as (pid, port):
        measure(pid, targets, ("127.1.0.1", port), len(targets))
        other = measure(pid, targets, ("127.1.0.1", port), wanted)
    size = sum(map(len, bodies.values())) / len(bodies) / 1000
    print(f"pages of {size:.1f} KB, {CONNECTIONS} connections kept alive; simweb logs to a file, aiohttp does not")
    for name, row in (("simweb, first time", cold), ("simweb", warm), ("aiohttp.web", other)):
        cost, wall = row.server_cpu / row.requests * 1e6, row.requests / row.seconds
        print(f"{name:20} {row.per_core:9,.0f} requests/s and core {cost:8.0f} µs CPU {wall:9,.0f}/s wall")
    print(f"simweb serves {warm.per_core / other.per_core:.1f} times as many as aiohttp; floor {FLOOR:,}: "
          f"{'held' if warm.per_core >= FLOOR else 'MISSED'}")  # fmt: skip


if __name__ == "__main__":
    if "--rival" in sys.argv:
        serve_rival()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 40_000)
