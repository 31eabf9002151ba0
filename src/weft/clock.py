"""Time: the only module that reads a clock or sleeps.

`SystemClock` is real; `ManualClock` moves only when told, so that a week of crawl-delay passes in a moment of test.
"""

import asyncio
import heapq
import itertools
import resource
import time


def cpu_seconds() -> float:
    """CPU time of this process alone: parsers tell what each page cost them, and would be counted twice."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class SystemClock:
    """The machine's clocks."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class ManualClock:
    """A clock in the hand of a test: `advance` wakes sleepers at their time; `jump` moves wall time only."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._wall = now
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self._wall

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), wake))
        await wake

    def tick(self, seconds: float) -> None:
        """Move both clocks, waking nobody: for code that never sleeps."""
        self._wall += seconds
        self._elapsed += seconds

    def jump(self, seconds: float) -> None:
        """Move the wall clock alone, as NTP or a person does."""
        self._wall += seconds

    async def advance(self, seconds: float) -> None:
        """Move both clocks, stopping at every sleeper on the way so that it runs at its own time."""
        end = self._elapsed + seconds
        await asyncio.sleep(0)
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, wake = heapq.heappop(self._sleepers)
            self.tick(at - self._elapsed)
            if not wake.done():
                wake.set_result(None)
            for _ in range(3):  # let the sleeper and whoever awaits it run before time goes on
                await asyncio.sleep(0)
        self.tick(end - self._elapsed)

    def next_wake(self) -> float | None:
        """Seconds until the next sleeper wakes; None when nobody sleeps."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] - self._elapsed if self._sleepers else None
