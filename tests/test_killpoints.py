"""A named moment ends the process as kill -9 would; unarmed it does nothing."""

import signal
import subprocess
import sys

import pytest

from weft.killpoints import NAMES, KillPoints

SCRIPT = """
from weft.killpoints import KillPoints
points = KillPoints.from_environment()
for turn in range(5):
    print(turn, flush=True)
    points.reach("archive.synced")
"""


@pytest.mark.parametrize(("armed", "turns"), [("archive.synced", 1), ("archive.synced:3", 3)])
def test_an_armed_point_kills(armed: str, turns: int) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], env={"WEFT_KILL_AT": armed}, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(done.stdout.splitlines()) == turns


def test_unarmed_points_are_passed() -> None:
    points = KillPoints(None)
    for name in NAMES:
        points.reach(name)
    assert (
        subprocess.run([sys.executable, "-c", SCRIPT], env={}, capture_output=True, check=True).stdout.count(b"\n") == 5
    )


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="no kill point"):
        KillPoints("archive.sinked")
