"""The pool's hold on one parser process: starts it, sends jobs, hands back pages, notices its end.

The process is a plain child (no fork of our memory) that talks over two pipes, so that every page it has answered can
still be read after its death, and the first unanswered job is the one it died of.
"""

import asyncio
import contextlib
import fcntl
import os
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO

import msgspec

from weft.config import Config
from weft.records import Page

from .wire import Frames, JobWire, PageWire, ParseJob, frame

_PIPE_BYTES = 1 << 20  # Linux' limit for everyone; a page then crosses in one call
# One thread per process: the pool is the parallelism. One malloc arena: the memory limit counts address space.
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
}


class Batch:
    """Jobs given to the pool together; `done` when every one has its page."""

    def __init__(self, size: int) -> None:
        self.pages: list[Page | None] = [None] * size
        self.left = size
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Task:
    """A job, its place in its batch, and how many processes died of it."""

    __slots__ = ("batch", "index", "job", "strikes")

    def __init__(self, job: ParseJob, batch: Batch, index: int) -> None:
        self.job = job
        self.batch = batch
        self.index = index
        self.strikes = 0

    def settle(self, page: Page) -> None:
        """The job has its page."""
        batch = self.batch
        if batch.pages[self.index] is None:
            batch.pages[self.index] = page
            batch.left -= 1
            if not batch.left and not batch.done.done():
                batch.done.set_result(None)


class ParserProcess(asyncio.Protocol):
    """One worker. `tasks` are the jobs sent and not answered, in order: it works on the first."""

    def __init__(self, on_ready: "Event", on_page: "Event", on_end: "Event") -> None:
        self.tasks: deque[Task] = deque()
        self.bytes = 0  # bodies in `tasks`
        self.ready = False
        self.overdue = False
        self.since = 0.0  # monotonic: when it began with the first of `tasks`
        self.status = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._jobs: asyncio.WriteTransport | None = None
        self._pages: asyncio.ReadTransport | None = None
        self._on_ready, self._on_page, self._on_end = on_ready, on_page, on_end
        self._frames = Frames()
        self._job_wire, self._page_wire = JobWire(), PageWire()

    async def launch(self, command: Sequence[str], config: Config) -> None:
        """Start the process and tell it the configuration; `on_ready` follows when its imports are done."""
        loop = asyncio.get_running_loop()
        process = self._process = _spawn(command)
        jobs, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, _pipe(process.stdin))
        self._jobs = jobs
        self._pages, _ = await loop.connect_read_pipe(lambda: self, _pipe(process.stdout))
        jobs.write(frame(msgspec.msgpack.encode(config)))

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def send(self, tasks: Sequence[Task], now: float) -> None:
        """Hand over jobs; they are answered in this order."""
        pieces = [piece for task in tasks for piece in self._job_wire.pieces(task.job)]
        if not self.tasks:
            self.since = now
        self.tasks.extend(tasks)
        self.bytes += sum(len(task.job.body) for task in tasks)
        if self._jobs:
            self._jobs.writelines(pieces)

    def kill(self) -> None:
        """End it, whatever it does; `on_end` follows."""
        if self._process:
            self._process.kill()

    def data_received(self, data: bytes) -> None:
        for payload in self._frames.feed(data):
            if not self.ready:
                self.ready = True
                self._on_ready(self)
                continue
            task = self.tasks.popleft()
            self.bytes -= len(task.job.body)
            task.settle(self._page_wire.page(payload))
        if self.ready:
            self._on_page(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Its end of the pipe is closed: it is gone, or as good as gone."""
        del exc
        self.reap()
        self._on_end(self)

    def reap(self) -> None:
        """Make sure of the end and learn how it came. A process closes its pipes last, so this hardly waits."""
        if self._process:
            self._process.kill()
            self.status = self._process.wait()
        for transport in (self._jobs, self._pages):
            if transport:
                transport.close()


Event = Callable[[ParserProcess], None]


def _spawn(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*command, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env={**os.environ, **_ENVIRONMENT},
        process_group=0,  # Ctrl-C reaches the parent alone, which decides
    )


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None
    with contextlib.suppress(OSError):  # over the user's pipe quota: works as well, in smaller pieces
        fcntl.fcntl(end.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return end
