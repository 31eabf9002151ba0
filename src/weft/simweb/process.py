"""simweb in a process of its own, for tests that kill the crawler: `with running(config, folder) as web`.

The child prints one line of JSON when it is ready; it ends when its standard input does, so none is left behind.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from weft.errors import WeftError

from .config import SimWebConfig
from .log import Request, read_log
from .planting import Sites
from .scene import Scene
from .truth import Truth, truth_of
from .world import World


class RunningWeb:
    """A web served by another process. It has the names of SimWeb, without await."""

    def __init__(self, child: "subprocess.Popen[str]", config: SimWebConfig, log_path: Path) -> None:
        self._child = child
        self._version = 0
        self.config = config
        self.world = World(config)
        self.log_path = log_path
        self.pid = child.pid
        self.port: int = self._reply()["port"]

    def seeds(self, numeric: bool = False) -> list[str]:
        return Sites(self.world, self.port).seeds(numeric)

    def hosts(self) -> dict[str, str]:
        return self.world.hosts()

    def truth(self, numeric: bool = False) -> Truth:
        return truth_of(Sites(self.world, self.port), numeric, self._version)

    def scene(self, index: int) -> Scene:
        """A host of a web of scenes, with its truth."""
        return Sites(self.world, self.port).scene(index)

    def requests(self) -> list[Request]:
        """Every request answered so far."""
        return read_log(self.log_path)

    def advance(self) -> int:
        """Let the changing pages change; returns when they have."""
        assert self._child.stdin is not None
        self._child.stdin.write("advance\n")
        self._child.stdin.flush()
        self._version = self._reply()["version"]
        return self._version

    def stop(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait(timeout=10)

    def _reply(self) -> dict[str, int]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise WeftError("simweb's process ended before it answered")
        reply: dict[str, int] = json.loads(line)
        return reply


@contextmanager
def running(config: SimWebConfig, folder: Path) -> Iterator[RunningWeb]:
    """Starts a web that logs to `folder`/requests.jsonl and waits until it listens."""
    log_path = folder / "requests.jsonl"
    log_path.touch()
    command = [sys.executable, "-m", "weft.simweb", msgspec.json.encode(config).decode(), os.fspath(log_path)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        web = RunningWeb(child, config, log_path)
        yield web
        web.stop()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
