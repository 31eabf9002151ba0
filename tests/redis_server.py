"""A real redis-server in a folder of its own, with append-only persistence: started, killed and restarted by tests."""

import contextlib
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest


class RedisServer:
    """One server process. Its data outlives it: `start` after `kill` finds what was acknowledged."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self, *options: str) -> None:
        """Returns when the server answers. `options` override ours, as on redis-server's command line."""
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--save", ""]
        arguments += ["--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no", *options]
        self._process = subprocess.Popen(
            [program(), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self._folder,
            preexec_fn=_die_with_parent,
        )
        assert self._process.stdout is not None
        said = []
        for line in self._process.stdout:  # ends with the process, should it fail to start
            said.append(line.decode(errors="replace"))
            if b"Ready to accept connections" in line:
                break
        else:
            pytest.fail(f"redis-server did not start: {''.join(said)}")
        # Somebody must read on, or the server stops when the pipe is full.
        self._reader = threading.Thread(target=self._process.stdout.read, daemon=True)
        self._reader.start()

    def kill(self) -> None:
        """SIGKILL: whatever the server had not given to its disk is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._reader is not None:
            self._reader.join()
            self._reader = None


def _die_with_parent() -> None:
    """A test run that is itself killed leaves no server behind (Linux: PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def program() -> str:
    found = shutil.which("redis-server")
    if found:
        return found
    word = "redis-server is not installed (Debian: apt-get install redis-server)"
    if os.environ.get("CI") == "true":
        pytest.fail(word)
    pytest.skip(word)


def free_port() -> int:
    """Below those that the kernel gives to connections: no crawl beside us takes it while the server is down."""
    for port in random.Random(os.getpid()).sample(range(20_000, 32_000), 1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("a thousand ports are taken")
