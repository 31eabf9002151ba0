"""Time in hand."""

import asyncio
import resource
import subprocess
import sys

import pytest

from weft.clock import ManualClock, SystemClock, cpu_seconds


async def test_sleepers_wake_in_order_at_their_time() -> None:
    clock = ManualClock()
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async with asyncio.TaskGroup() as group:
        group.create_task(sleeper("week", 7 * 86_400))
        group.create_task(sleeper("second", 1))
        await asyncio.sleep(0)
        assert clock.next_wake() == 1
        await clock.advance(7 * 86_400)
    assert woken == [("second", 1.0), ("week", 7 * 86_400.0)]


async def test_wall_time_jumps_alone() -> None:
    clock = ManualClock(now=1000)
    clock.jump(-500)
    assert clock.now() == 500
    assert clock.monotonic() == 0
    await clock.advance(3)
    assert clock.now() == 503


async def test_system_clock_moves() -> None:
    clock = SystemClock()
    before = clock.monotonic()
    await clock.sleep(0)
    assert clock.monotonic() >= before
    assert clock.now() > 1_700_000_000


@pytest.mark.clock
def test_cpu_time_is_that_of_this_process_alone() -> None:
    before, others = cpu_seconds(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
    assert cpu_seconds() - before < resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - others
