"""Standard input, output and error made fit for any text, before a verb runs, and put away when one fails.

In: the streams as the shell left them: in any charset, closed, full. Out: streams that take any text. Called by `main`.
"""

import contextlib
import errno
import io
import os
import sys
from pathlib import Path
from typing import TextIO


class _Missing(io.RawIOBase):
    """In place of a stream that the shell closed: complains when it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, _buffer: object) -> int:
        raise OSError(errno.EBADF, "closed", self._name)

    def write(self, _data: object) -> int:
        raise OSError(errno.EBADF, "closed", self._name)


def prepare() -> None:
    """Let every verb write any text, and find out by one line that a stream is missing."""
    _occupy()
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BufferedReader(_Missing("standard input")))
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BufferedWriter(_Missing("standard output")))
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as we live
    # Files and programs get UTF-8, whatever the locale; a terminal its own charset, with "?" for what that has not.
    _configure(sys.stdin, "utf-8")
    _configure(sys.stdout, None if sys.stdout.isatty() else "utf-8")


def _occupy() -> None:
    """Else the next file that is opened takes the number of a closed stream, and gets what is printed there."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def _configure(stream: TextIO, encoding: str | None) -> None:
    if isinstance(stream, io.TextIOWrapper):  # a test's own stream may be none
        stream.reconfigure(encoding=encoding, errors="replace")


def complain(message: str) -> None:
    """One line on standard error, if that can be written."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"weft: {message}\n")
        sys.stderr.flush()


def give_up() -> None:
    """What is still to be written goes nowhere: else Python would try, and complain, when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as we live
