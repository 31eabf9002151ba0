"""`weft` called in the process of the test: one of its own takes half a second to start."""

from typing import NamedTuple

import pytest

from weft.cli import main


class Done(NamedTuple):
    """What a call left, named as `subprocess` names it."""

    returncode: int
    stdout: str
    stderr: str


class Weft:
    """Called with the words of a command line; the fixture `called` is one."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Done:
        status = _status([str(word) for word in arguments])
        return Done(status, *self._capsys.readouterr())


def _status(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as ended:  # argparse leaves so after `--help`
        return int(ended.code or 0)
