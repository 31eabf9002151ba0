"""An HTTP/1.1 server of our own: one socket per loopback address, one small protocol object per connection.

Ordinary answers leave inside `data_received`; scripts (drips, resets, endless bodies) run as tasks that heed the
client's pace. web.py starts it.
"""

import asyncio
import itertools
import socket
import struct
from typing import cast

import msgspec

from .answer import Answer, Hang, Repeat, Reset, Script, Send, Step, Wait
from .backend import Backend
from .log import Request
from .prepare import Prepared, prepare, retry_seconds, unchanged

MAX_HEAD = 64 * 1024
LARGE = 128 * 1024  # an answer beyond this may wait for its reader; smaller ones fit into the system's buffers
BAD_REQUEST = prepare(Answer(400, b"bad request", "text/plain"))


class Asked(msgspec.Struct):
    """A request under way, for the log."""

    wall: float
    arrived: float
    host: str
    target: str
    agent: str
    cookie: str
    status: int = 0
    sent: int = 0
    body: int = 0
    retry_after: float = 0.0


class Server:
    """Makes connections and knows the open ones."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._open: set[Connection] = set()
        self._ids = itertools.count(1)

    def connection(self) -> "Connection":
        return Connection(self.backend, self._open, next(self._ids))

    def abort(self) -> None:
        """Drop every connection."""
        for connection in list(self._open):
            connection.abort()


class Connection(asyncio.Protocol):
    """One client. Requests are answered one after the other; what comes early waits in the buffer."""

    def __init__(self, backend: Backend, opened: set["Connection"], number: int) -> None:
        self._backend = backend
        self._opened = opened
        self._number = number
        self._buffer = b""
        self._address = ""
        self._asked: Asked | None = None
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._address = transport.get_extra_info("sockname")[0]
        self._opened.add(self)

    def connection_lost(self, _: Exception | None) -> None:
        self._opened.discard(self)
        self._gone.set()
        self._writable.set()
        if self._asked is not None:
            self._finish(complete=False)
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def abort(self) -> None:
        self._transport.abort()

    # requests

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        while self._asked is None and not self._gone.is_set():
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                if len(head) > MAX_HEAD:
                    self._transport.close()
                return
            self._buffer = rest
            self._request(head)

    def _request(self, head: bytes) -> None:
        clock = self._backend.clock
        lines = head.decode("latin-1").split("\r\n")
        method, _, rest = lines[0].partition(" ")
        target, _, protocol = rest.partition(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        host = headers.get("host", self._address).rpartition(":")[0] or headers.get("host", self._address)
        agent, cookie = headers.get("user-agent", ""), headers.get("cookie", "")
        self._asked = Asked(clock.now(), clock.monotonic(), host.lower(), target, agent, cookie)
        keep = headers.get("connection", "").lower() != "close" and protocol == "HTTP/1.1"
        if method not in ("GET", "HEAD") or not target.startswith("/"):
            self._send(BAD_REQUEST, head_only=False, keep=False)
            return
        reply = self._backend.answer(self._asked.host, target, headers, self._asked.wall)
        latency = self._backend.latency(self._asked.host)
        if isinstance(reply, Prepared) and unchanged(reply, headers):
            reply = Prepared(304, reply.unchanged, b"")
        if isinstance(reply, Script):
            self._play((Wait(latency), *reply.steps), reply.status)
        elif latency:
            self._task = asyncio.get_running_loop().create_task(
                self._send_later(latency, reply, method == "HEAD", keep)
            )
        else:
            self._send(reply, method == "HEAD", keep)

    async def _send_later(self, seconds: float, reply: Prepared, head_only: bool, keep: bool) -> None:
        await self._backend.clock.sleep(seconds)
        self._task = None
        self._send(reply, head_only, keep)
        self.data_received(b"")

    def _send(self, reply: Prepared, head_only: bool, keep: bool) -> None:
        asked = self._asked
        if asked is None or self._gone.is_set():
            return
        ending = b"\r\n\r\n" if keep else b"\r\nConnection: close\r\n\r\n"
        body = b"" if head_only else reply.body
        data = reply.head + b"Date: " + self._backend.date(asked.wall) + ending + body
        asked.status, asked.sent, asked.body = reply.status, len(data), len(body)
        asked.retry_after = retry_seconds(reply.retry_after, asked.wall)
        if len(data) > LARGE:
            self._task = asyncio.get_running_loop().create_task(self._send_large(data, keep))
            return
        self._finish(complete=True)  # before the bytes leave: who has an answer finds it in the log
        self._transport.write(data)
        if not keep:
            self._transport.close()

    async def _send_large(self, data: bytes, keep: bool) -> None:
        """The answer is finished when its last bytes have left, not when they wait in our buffer."""
        self._transport.set_write_buffer_limits(high=0)
        self._transport.write(data)
        await self._writable.wait()
        self._task = None
        self._finish(complete=not self._gone.is_set())
        if keep:
            self.data_received(b"")
        else:
            self._transport.close()

    # scripts

    def _play(self, steps: tuple[Step, ...], status: int) -> None:
        if self._asked is not None:
            self._asked.status = status
        # With no room in the buffer, "writable" means that everything has left.
        self._transport.set_write_buffer_limits(high=0)
        self._task = asyncio.get_running_loop().create_task(self._run(steps))

    async def _run(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            await self._step(step)
        if self._asked is not None:
            self._finish(complete=True)
        self._transport.close()

    async def _step(self, step: Step) -> None:
        match step:
            case Send(data):
                await self._push(data)
            case Repeat(data, pause, times):
                rounds = range(times) if times else itertools.count()
                for _ in rounds:
                    await self._push(data)
                    await self._backend.clock.sleep(pause)
            case Wait(seconds):
                if seconds:
                    await self._backend.clock.sleep(seconds)
            case Hang():
                await self._gone.wait()
            case Reset():
                await self._reset()

    async def _push(self, data: bytes) -> None:
        self._transport.write(data)
        if self._asked is not None:
            self._asked.sent += len(data)
        await self._writable.wait()

    async def _reset(self) -> None:
        await self._writable.wait()  # what was sent before the reset shall arrive
        # A zero linger turns the close into a TCP reset.
        raw: socket.socket = self._transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._finish(complete=False)
        self._transport.abort()

    def _finish(self, complete: bool) -> None:
        asked, self._asked = self._asked, None
        if asked is None:
            return
        request = Request(
            wall=asked.wall,
            arrived=asked.arrived,
            finished=self._backend.clock.monotonic(),
            connection=self._number,
            address=self._address,
            host=asked.host,
            target=asked.target,
            status=asked.status,
            agent=asked.agent,
            sent=asked.sent,
            body=asked.body,
            complete=complete,
            retry_after=asked.retry_after,
            cookie=asked.cookie,
        )
        self._backend.log.add(request)
