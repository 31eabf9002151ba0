"""Milliseconds for the frontier: counted by the monotonic clock, so that a jump of the wall clock makes no host early.

Rows hold wall time. Moments of the process are wall time at its start plus what has passed since.
"""

from weft.ports import Clock


class Timekeeper:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = clock.now() - clock.monotonic()

    def now_ms(self) -> int:
        return int((self._clock.monotonic() + self._offset) * 1000)

    def wall(self) -> float:
        return self._clock.now()

    def wall_ms(self) -> int:
        return int(self._clock.now() * 1000)

    def drift_ms(self) -> int:
        """By how much our milliseconds are ahead of the wall clock: 0 unless it jumped."""
        drift = self._clock.monotonic() + self._offset - self._clock.now()
        return int(drift * 1000) if abs(drift) > 0.1 else 0

    def at_ms(self, wall: float) -> int:
        """A moment of the last instants, given in wall time; now, if the wall clock jumped since."""
        since = self._clock.now() - wall
        return self.now_ms() - (int(since * 1000) if 0.0 <= since <= 0.25 else 0)

    async def sleep_until(self, at_ms: int) -> None:
        await self._clock.sleep(max(0, at_ms - self.now_ms()) / 1000 + 0.001)
