"""Work in a child: its answer comes back, its end has a reason, and we are none the worse for it."""

import os
import signal
from collections.abc import Callable

import pytest

from weft.config import Config, Parse, override
from weft.errors import Refused
from weft.parse.bounded import bounded


def limits(seconds: float = 0.2) -> Parse:
    return override(Config(), "parse", seconds=seconds, memory=200_000_000).parse


def test_the_answer_comes_back() -> None:
    answer = os.urandom(5_000_000)
    assert bounded(lambda: answer, limits()) == answer


def spin() -> bytes:
    while True:
        pass


def native_spin() -> bytes:
    return bytes(pow(3, 10**9))


def refuse() -> bytes:
    raise Refused("html-too-deep")


def fail() -> bytes:
    raise ValueError("a fault of ours")


def die() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (spin, "parse-timeout"),
        (native_spin, "parse-timeout"),
        (lambda: bytes(1 << 30), "parse-memory"),
        (refuse, "html-too-deep"),
        (fail, "parse-crash"),
        (die, "parse-crash"),
    ],
)
def test_every_end_has_a_reason(work: Callable[[], bytes], reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Refused, match=f"^{reason}$"):
        bounded(work, limits())
    assert capfd.readouterr() == ("", "")
