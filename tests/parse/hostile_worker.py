"""A parser process that does what a page's path says: the worst that can happen, on demand. Run by test_pool."""

import ctypes
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from weft.config import Config
from weft.parse.wire import ParseJob
from weft.parse.worker import Read, main
from weft.records import Hint, Link, Page


def spin() -> None:
    """Native code that never looks at signals: catastrophic backtracking."""
    re.match(r"(?:a|a)*b", "a" * 60)


def crash() -> None:
    ctypes.string_at(0)


def allocate() -> None:
    held = [bytes(1 << 26) for _ in range(4096)]
    raise AssertionError(len(held))


def grow() -> None:
    """Keeps more than half of what the process may use, as a leak would."""
    sys.modules["leak"] = b"x" * (300 << 20)  # type: ignore[assignment]


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def fail() -> None:
    raise RuntimeError("a fault of ours")


ACTS: dict[str, Callable[[], None]] = {act.__name__: act for act in (spin, crash, allocate, grow, kill, stop, fail)}


def hostile(config: Config) -> Read:
    """Acts on http://hostile/ACT, and on http://hostile/ACT-once/FILE the first time it is met."""
    del config

    def act(job: ParseJob) -> Page:
        if job.url.startswith("http://hostile/"):
            name, _, once = job.url.removeprefix("http://hostile/").partition("-once")
            if not once:
                ACTS[name]()
            elif not Path(once).exists():
                Path(once).touch()
                ACTS[name]()
        link = Link("http://site.example/next", depth=1, source=job.url, hint=Hint(priority=0.9), key=b"key")
        return Page(job.id, job.url, text=job.body.decode(), links=(link, link))

    return act


if __name__ == "__main__":
    main(hostile)
