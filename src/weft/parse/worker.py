"""A parser process: jobs come in on standard input, one page for each goes out on standard output, in order.

`python -m weft.parse.worker PARENT`, started by the pool. The kernel holds its limits: CPU time by a profiling timer
whose signal ends the process, memory by its address space. It dies with its parent.
"""

import contextlib
import ctypes
import logging
import mmap
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from weft.clock import cpu_seconds
from weft.config import Config
from weft.records import Page, Refusal

from .reader import Reader
from .wire import JobWire, PageWire, ParseJob, Stdio

Read: TypeAlias = Callable[[ParseJob], Page]
_log = logging.getLogger(__name__)
_PR_SET_PDEATHSIG: Final = 1
# Read before the first real page: it loads the models and fills the tables that are made on first use.
_FIRST: Final = ParseJob(
    "",
    "http://www.example.org/",
    b"<title>First</title><p>A page with some words, so that its language can be told, and <a href=/a>a link</a>.",
    (("Content-Type", "text/html"),),
)
_GROWN: Final = 0.5  # share of the memory limit held between two pages: time for a fresh process


def main(make: Callable[[Config], Read] = lambda config: Reader(config).read) -> None:
    """Serve until the parent closes the pipe. `make` builds what turns a job into a page."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    die_with(int(sys.argv[-1]))
    wire = Stdio()
    frames = wire.receive()
    config = msgspec.msgpack.decode(next(frames), type=Config)
    read = make(config)
    read(_FIRST)
    memory = Memory(config.parse.memory)
    memory.limit()
    wire.send(b"")  # ready
    # What native code says while it aborts on a hostile page is of no use in a person's terminal; our own faults are.
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    jobs, pages = JobWire(), PageWire()
    for payload in frames:
        page = attempt(read, jobs.job(payload), config.parse.seconds)
        wire.send(pages.payload(page))
        if page.refusal is Refusal.MEMORY or memory.used() > config.parse.memory * _GROWN:
            break
    os._exit(0)  # 0 tells the pool that nothing was wrong with the jobs not read


def attempt(read: Read, job: ParseJob, seconds: float) -> Page:
    """The page of a job, with the CPU time it took; a refusal when our own code fails on it."""
    begun = cpu_seconds()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    page = None
    try:
        page = read(job)
    except MemoryError:
        pass  # what was made of it is let go with the error
    except Exception as error:  # noqa: BLE001
        _log.exception("a fault of ours on %s", job.url)
        page = Page(id=job.id, url=job.url, refusal=Refusal.CRASH, detail=f"{type(error).__name__}: {error}"[:500])
    if page is None:
        page = _links_alone(read, job)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return msgspec.structs.replace(page, cpu=cpu_seconds() - begun)


def _links_alone(read: Read, job: ParseJob) -> Page:
    """Its tree did not fit; its links may."""
    try:
        return read(msgspec.structs.replace(job, ended=Refusal.MEMORY))
    except MemoryError:
        return Page(id=job.id, url=job.url, refusal=Refusal.MEMORY)


def die_with(parent: int) -> None:
    """Have the kernel kill us when the parent dies, even while we spin in native code."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we could say so
        os._exit(0)


class Memory:
    """What this process holds, and the most it may."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._statm = os.open("/proc/self/statm", os.O_RDONLY)

    def pages(self) -> tuple[int, int]:
        """Address space and resident set, in pages."""
        size, resident = os.pread(self._statm, 64, 0).split()[:2]
        return int(size), int(resident)

    def used(self) -> int:
        """Resident bytes."""
        return self.pages()[1] * mmap.PAGESIZE

    def limit(self) -> None:
        """What is mapped but never touched (libraries) does not count: the limit is moved up by as much."""
        size, resident = self.pages()
        most = self._most + (size - resident) * mmap.PAGESIZE
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a hostile page leaves no file behind
        with contextlib.suppress(ValueError, OSError):  # a stricter limit of the system's own stays
            resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    main()
