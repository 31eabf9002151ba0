"""A real redis-server in a folder of its own, with append-only persistence: started, killed and restarted by tests."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest


class RedisServer:
    """One server process. Its data outlives it: `start` after `kill` finds what was acknowledged."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self, *options: str) -> None:
        """Returns when the server answers. `options` override ours, as on redis-server's command line."""
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--save", ""]
        arguments += ["--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no", *options]
        self._process = subprocess.Popen(
            [program(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self._folder
        )
        assert self._process.stdout is not None
        said = []
        for line in self._process.stdout:  # ends with the process, should it fail to start
            said.append(line.decode(errors="replace"))
            if b"Ready to accept connections" in line:
                return
        pytest.fail(f"redis-server did not start: {''.join(said)}")

    def kill(self) -> None:
        """SIGKILL: whatever the server had not given to its disk is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def program() -> str:
    found = shutil.which("redis-server")
    if found:
        return found
    word = "redis-server is not installed (Debian: apt-get install redis-server)"
    if os.environ.get("CI") == "true":
        pytest.fail(word)
    pytest.skip(word)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
