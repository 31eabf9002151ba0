"""Queue on an embedded RocksDB: numbered rows of a table of its own. URL `rocksdb:PATH`."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from weft.clock import SystemClock
from weft.engines.deliveries import Deliveries, numbers_of, receipt_of
from weft.engines.limits import check_messages
from weft.engines.rocksdb import RocksTable
from weft.ports import Clock, Delete, Key, Message, Put, Range

_MESSAGES: Final = b"message"


class RocksQueue:
    """Messages as numbered rows of a table of their own, for one process at a time.

    Who has which message is kept in memory only: after a restart every unacked message is delivered again at once.
    Receiving goes on from a cursor and never walks the tombstones of what was acked before.
    """

    def __init__(self, path: Path, clock: Clock, term: float) -> None:
        # A stalled disk is waited for on the real clock, whatever clock the terms run on.
        self._table = RocksTable(path, SystemClock(), block_cache_bytes=8 << 20, write_buffer_bytes=4 << 20)
        self._deliveries = Deliveries(clock, term)
        first, last = self._table.ends(_MESSAGES)
        self._cursor = int.from_bytes(first, "big")
        self._next = int.from_bytes(last, "big") + 1 if last else 0
        self._sending = asyncio.Lock()
        self._taking = asyncio.Lock()

    async def send(self, bodies: Sequence[bytes]) -> None:
        check_messages(bodies)
        async with self._sending:  # in order of number, so that the cursor never passes a row not yet written
            first = self._next
            self._next += len(bodies)  # before writing: a number is never used twice, even if the write fails
            rows = [Put(_message_key(first + place), body) for place, body in enumerate(bodies)]
            # Synced: what follows an announcement (the checkpoint) lies in another log, and may outlive this one.
            await self._table.write(rows, sync=True)
        self._deliveries.ring()

    async def receive(self, limit: int, wait: float = 0.0) -> list[Message]:
        async def take() -> list[Message]:
            async with self._taking:
                return await self._take(limit)

        return await self._deliveries.first(take, wait)

    async def _take(self, limit: int) -> list[Message]:
        due = [_message_key(number) for number in self._deliveries.take_due(limit)]
        again = zip(due, await self._table.get(due), strict=True)
        messages = [Message(item, body) for (_, item), body in again if body is not None]
        if len(messages) < limit:
            messages += await self._take_new(limit - len(messages))
        return messages

    async def _take_new(self, limit: int) -> list[Message]:
        settled = self._cursor if self._sending.locked() else self._next
        (rows,) = await self._table.scan([Range(_MESSAGES, receipt_of(self._cursor), limit=limit)])
        messages = [Message(item, body) for item, body in rows]
        numbers = numbers_of(messages)
        self._deliveries.hide(numbers)
        self._cursor = numbers[-1] + 1 if numbers else max(self._cursor, settled)  # a failed send leaves a gap
        return messages

    async def ack(self, messages: Sequence[Message]) -> None:
        numbers = [number for number in numbers_of(messages) if number < self._next]
        self._deliveries.forget(numbers)
        await self._table.write([Delete(_message_key(number)) for number in numbers])

    async def extend(self, messages: Sequence[Message]) -> None:
        self._deliveries.extend(numbers_of(messages))

    async def size(self) -> int:
        return len(self._deliveries) + self._next - self._cursor

    async def close(self) -> None:
        await self._table.close()


async def waiting(path: Path) -> AsyncIterator[list[bytes]]:
    """The bodies of all messages of a queue that nobody has open, some at a time; none of them is received."""
    table = RocksTable(path, SystemClock(), block_cache_bytes=8 << 20, read_only=True)
    try:
        start = b""
        while rows := (await table.scan([Range(_MESSAGES, start)]))[0]:
            yield [body for _, body in rows]
            start = rows[-1][0] + b"\0"
    finally:
        await table.close()


def _message_key(number: int) -> Key:
    return _MESSAGES, receipt_of(number)
