"""Who has which message until when: the in-memory half of the embedded queues (memory, rocksdb).

One process holds the whole queue, so this book need not be durable: after a restart everything unacked is simply due.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from heapq import heappop, heappush

from weft.ports import Clock, Message


def receipt_of(number: int) -> bytes:
    return number.to_bytes(8, "big")


def numbers_of(messages: Iterable[Message]) -> list[int]:
    """The numbers that the receipts stand for; receipts that are none of ours are left out."""
    return [int.from_bytes(message.receipt, "big") for message in messages if len(message.receipt) == 8]


class Deliveries:
    """Messages, by number, that are out with a receiver; and the bell that wakes waiting receivers."""

    def __init__(self, clock: Clock, term: float) -> None:
        self._clock = clock
        self._term = term
        self._until: dict[int, float] = {}
        self._order: list[tuple[float, int]] = []  # may hold outdated pairs: `_until` decides
        self._bells: set[asyncio.Future[None]] = set()

    def __len__(self) -> int:
        return len(self._until)

    def hide(self, numbers: Iterable[int]) -> None:
        """These are out for a full term from now."""
        until = self._clock.monotonic() + self._term
        for number in numbers:
            self._until[number] = until
            heappush(self._order, (until, number))

    def extend(self, numbers: Iterable[int]) -> None:
        self.hide([number for number in numbers if number in self._until])

    def forget(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._until.pop(number, None)

    def take_due(self, limit: int) -> list[int]:
        """Up to `limit` numbers whose term is over; a new term begins for them at once."""
        now = self._clock.monotonic()
        due: list[int] = []
        while self._order and self._order[0][0] <= now and len(due) < limit:
            until, number = heappop(self._order)
            if self._until.get(number) == until:
                due.append(number)
        self.hide(due)
        return due

    def ring(self) -> None:
        """Something was sent: wake every waiting receiver."""
        for bell in self._bells:
            if not bell.done():
                bell.set_result(None)

    async def first(self, take: Callable[[], Awaitable[list[Message]]], wait: float) -> list[Message]:
        """What `take` gives as soon as it gives anything, or nothing after `wait` seconds."""
        end = self._clock.monotonic() + wait
        while True:
            bell: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._bells.add(bell)  # before taking, so that no send slips in between unheard
            try:
                messages = await take()
                left = end - self._clock.monotonic()
                if messages or left <= 0:
                    return messages
                await self._bell_or_time(bell, min(left, self._until_next()))
            finally:
                self._bells.discard(bell)

    def _until_next(self) -> float:
        """Seconds until a term may end; at most a term, for others may receive meanwhile."""
        if not self._order:
            return self._term
        return min(self._term, max(0.0, self._order[0][0] - self._clock.monotonic()))

    async def _bell_or_time(self, bell: asyncio.Future[None], seconds: float) -> None:
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({bell, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
