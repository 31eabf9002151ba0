"""A pages queue that holds all pages of the archive, once, and nothing else: what a corpus is made anew from.

In memory, and read from the archive as far as it is asked for: after a crash it is simply told again from the start.
"""

from collections import deque
from collections.abc import AsyncIterator, Sequence

from weft.ports import Clock, Message
from weft.records import Announcement

from . import announce
from .survey import Lost


class Retelling:
    """See `ports.Queue`; for one receiver. `lost` is complete when all was received."""

    def __init__(self, told: AsyncIterator[list[Announcement] | Lost], clock: Clock) -> None:
        self._told, self._clock = told, clock
        self._waiting: deque[bytes] = deque()
        self._unacked = 0
        self._ended = False
        self.lost: list[Lost] = []

    async def send(self, bodies: Sequence[bytes]) -> None:
        self._waiting.extend(bodies)

    async def receive(self, limit: int, wait: float = 0.0) -> list[Message]:
        while not self._waiting and not self._ended:
            await self._read()
        if not self._waiting and wait:
            await self._clock.sleep(wait)
        taken = [Message(b"", self._waiting.popleft()) for _ in range(min(limit, len(self._waiting)))]
        self._unacked += len(taken)
        return taken

    async def _read(self) -> None:
        told = await anext(self._told, None)
        if told is None:
            self._ended = True
        elif isinstance(told, Lost):
            self.lost.append(told)
        else:
            self._waiting.extend(announce.pack(told))

    async def ack(self, messages: Sequence[Message]) -> None:
        self._unacked -= len(messages)

    async def extend(self, messages: Sequence[Message]) -> None:
        """Nothing is delivered twice."""

    async def size(self) -> int:
        return len(self._waiting) + self._unacked + (not self._ended)

    async def close(self) -> None:
        """Nothing is open."""
