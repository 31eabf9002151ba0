"""Parser processes: batches of jobs come in, as many pages go out, whatever the jobs hold. Called by the refine loop.

A page that takes too long, too much memory or the whole process with it gets a refusal; the process is replaced by one
that is already warm, and the jobs behind that page go to another. Nothing a page contains can fail a batch.
"""

import asyncio
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import Final

import msgspec

from weft.config import Config
from weft.errors import WeftError
from weft.ports import Clock
from weft.records import Page, Refusal

from .process import Batch, ParserProcess, Task
from .wire import ParseJob

WORKER: Final = (sys.executable, "-m", "weft.parse.worker")
_log = logging.getLogger(__name__)

_WINDOW: Final = 12  # jobs with a process at once: some 30 ms of work, more than the loop ever lags
_WINDOW_BYTES: Final = 2 << 20
_REFILL: Final = _WINDOW // 2  # sent in one write
_BATCHES: Final = 4  # per process; callers beyond that wait
_WORTH: Final = 64 << 10  # bytes as sent: no smaller page holds links that are worth a second look
_STARTS: Final = 3  # failures to start, in a row, before we give up
# The kernel counts each page's CPU time. This many times as much by the wall clock, and it does not run but hang.
_WALL_FACTOR: Final = 15.0


class ParserPool:
    """`start`, `parse` as often and as concurrently as you like, `close`."""

    def __init__(self, config: Config, clock: Clock, command: Sequence[str] = WORKER) -> None:
        self.size = config.parse.workers or max(1, len(os.sched_getaffinity(0)) - 1)
        self.restarts = 0  # processes that were replaced
        self._config, self._clock, self._command = config, clock, command
        self._all: set[ParserProcess] = set()
        self._active: set[ParserProcess] = set()
        self._spare: list[ParserProcess] = []  # warm, without work: takes over at once
        self._waiting: deque[Task] = deque()
        self._suspects: deque[Task] = deque()  # a process died of it: tried once more, alone
        self._batches: set[Batch] = set()
        self._room = asyncio.Semaphore(_BATCHES * self.size)
        self._background: set[asyncio.Task[None]] = set()
        self._up = asyncio.Event()
        self._failed_starts = 0
        self._broken: WeftError | None = None
        self._closed = False

    async def start(self) -> None:
        """Start all processes and one to spare; returns when they are ready to parse."""
        for _ in range(self.size + 1):
            self._launch()
        self._run(self._watch())
        await self._up.wait()
        if self._broken:
            raise self._broken

    async def parse(self, jobs: Sequence[ParseJob]) -> list[Page]:
        """A page for each job, in their order; a page with a refusal where there is none to be had."""
        if not jobs:
            return []
        async with self._room:
            if self._broken or self._closed:
                raise self._broken or WeftError("the parsers are stopped")
            batch = Batch(len(jobs))
            self._batches.add(batch)
            self._waiting.extend(Task(job, batch, index) for index, job in enumerate(jobs))
            self._feed_all()
            try:
                await batch.done
            finally:
                self._batches.discard(batch)
        return [page for page in batch.pages if page is not None]

    async def close(self) -> None:
        """End all processes, at once: they hold nothing."""
        self._closed = True
        self._fail(WeftError("the parsers are stopped"))
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        for process in tuple(self._all):
            process.reap()
        self._all.clear()
        await asyncio.sleep(0)  # the pipes close

    def processes(self) -> list[int]:
        """Process ids of the parsers at work."""
        return [process.pid for process in self._active]

    # Jobs to processes

    def _feed_all(self) -> None:
        for process in self._active:
            if not self._waiting and not self._suspects:
                break
            self._feed(process)

    def _feed(self, process: ParserProcess) -> None:
        """Keep a process busy; a suspect only goes to one with nothing else to lose."""
        if process.tasks and (self._suspects or process.tasks[0].strikes or len(process.tasks) > _REFILL):
            return
        if self._suspects:
            process.send([self._suspects.popleft()], self._clock.monotonic())
            return
        tasks: list[Task] = []
        size = process.bytes
        fair = -(-len(self._waiting) // len(self._active))  # few jobs are shared out, not given to one
        most = min(fair, _WINDOW - len(process.tasks))
        while self._waiting and len(tasks) < most and (size < _WINDOW_BYTES or not tasks):
            task = self._waiting.popleft()
            if not task.batch.done.done():  # else its caller has gone
                tasks.append(task)
                size += len(task.job.body)
        if tasks:
            process.send(tasks, self._clock.monotonic())

    # Processes

    def _launch(self) -> None:
        process = ParserProcess(self._ready, self._progressed, self._ended)
        self._all.add(process)
        self._run(process.launch(self._command, self._config))

    def _ready(self, process: ParserProcess) -> None:
        self._failed_starts = 0
        if len(self._active) < self.size:
            self._active.add(process)
        else:
            self._spare.append(process)
        if len(self._active) == self.size and self._spare:
            self._up.set()

    def _progressed(self, process: ParserProcess) -> None:
        process.since = self._clock.monotonic()
        if process in self._active:
            self._feed(process)

    def _ended(self, process: ParserProcess) -> None:
        """A process is gone: settle or re-queue what it had, and put another in its place."""
        self._all.discard(process)
        if self._closed:
            return
        if not process.ready:
            self._failed_starts += 1
            if self._failed_starts >= _STARTS:
                self._fail(WeftError(f"the parsers cannot start: {' '.join(self._command)} ended at once"))
                return
        self.restarts += 1
        _log.info("parser %d ended with status %d; %d replaced so far", process.pid, process.status, self.restarts)
        self._take_back(process)
        if process in self._spare:
            self._spare.remove(process)
        if process in self._active:
            self._active.remove(process)
            if self._spare:
                self._active.add(self._spare.pop())
        self._launch()
        self._feed_all()

    def _take_back(self, process: ParserProcess) -> None:
        """Jobs it never came to go to the head of the queue; the one it worked on is judged."""
        tasks = process.tasks
        if tasks and process.status != 0:  # 0: it retired, between two pages
            task = tasks.popleft()
            task.strikes += 1
            refusal = _refusal(process, task)
            verdict = refusal.value if refusal else "tried once more"
            _log.warning("parser ended with status %d on %s: %s", process.status, task.job.url, verdict)
            if refusal is None:
                self._suspects.append(task)
            else:
                self._refuse(task, refusal)
        self._waiting.extendleft(reversed(tasks))

    def _refuse(self, task: Task, refusal: Refusal) -> None:
        """No parser reads this page; what a large one links to is asked for once more, alone."""
        if task.job.ended or len(task.job.body) < _WORTH:
            task.settle(Page(id=task.job.id, url=task.job.url, refusal=task.job.ended or refusal))
            return
        task.job = msgspec.structs.replace(task.job, ended=refusal)
        task.strikes = 1
        self._suspects.append(task)

    async def _watch(self) -> None:
        """Kill what hangs without using time. Rare: a stopped process, a machine in trouble."""
        limit = self._config.parse.seconds * _WALL_FACTOR
        while limit:
            await self._clock.sleep(limit / 4)
            now = self._clock.monotonic()
            for process in self._active:
                if process.tasks and now - process.since > limit:
                    process.overdue = True
                    process.kill()

    # The pool's own tasks

    def _run(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._fail(WeftError(f"the parsers cannot start: {error}"))

    def _fail(self, error: WeftError) -> None:
        """Nobody may wait for a pool that cannot go on."""
        self._broken = error
        self._up.set()
        for batch in self._batches:
            if not batch.done.done():
                batch.done.set_exception(error)


def _refusal(process: ParserProcess, task: Task) -> Refusal | None:
    """Why the job gives no page; None: try it once more."""
    if process.status == -signal.SIGPROF:  # the worker's own limit, counted by the kernel: no accident
        return Refusal.TIMEOUT
    if task.strikes < 2:
        return None
    if process.overdue:
        return Refusal.TIMEOUT
    # Nobody but the kernel short of memory kills the same page's process twice.
    return Refusal.MEMORY if process.status == -signal.SIGKILL else Refusal.CRASH
