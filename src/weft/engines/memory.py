"""Table, Queue, Journals and Blobs in this process's memory: for tests, and for crawls that need not survive.

They keep every promise of the ports but durability. Opened by URL `memory:`.
"""

import asyncio
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence

from weft.engines.deliveries import Deliveries, numbers_of, receipt_of
from weft.engines.limits import check_blob_name, check_key, check_messages
from weft.errors import EngineError, Missing
from weft.ports import Clock, Delete, Key, Message, Put, Range, Rows, Step


class MemoryTable:
    """A dictionary per group, and its items in order."""

    def __init__(self) -> None:
        self._values: dict[bytes, dict[bytes, bytes]] = {}
        self._items: dict[bytes, list[bytes]] = {}

    async def get(self, keys: Sequence[Key]) -> list[bytes | None]:
        return [self._get(key) for key in keys]

    def _get(self, key: Key) -> bytes | None:
        group, item = key
        values = self._values.get(group)
        return None if values is None else values.get(item)

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        return [self._rows(wanted) for wanted in ranges]

    def _rows(self, wanted: Range) -> Rows:
        items = self._items.get(wanted.group, [])
        first = bisect_left(items, wanted.start)
        last = len(items) if wanted.stop is None else bisect_left(items, wanted.stop)
        values = self._values.get(wanted.group, {})
        return [(item, values[item]) for item in items[first : min(last, first + wanted.limit)]]

    async def write(self, *steps: Step, sync: bool = False) -> None:  # noqa: ARG002 - nothing here outlives the process
        for step in steps:
            for operation in step:
                self.apply(operation)

    def apply(self, operation: Put | Delete) -> bytes | None:
        """Carry out one operation; the value that was there before."""
        group, item = operation.key
        check_key(group, item)
        values = self._values.setdefault(group, {})
        items = self._items.setdefault(group, [])
        before = values.get(item)
        if isinstance(operation, Put):
            if before is None:
                insort(items, item)
            values[item] = operation.value
        elif before is not None:
            del values[item], items[bisect_left(items, item)]
        return before

    async def put_if(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        if self._get(key) != old:
            return False
        self.apply(Delete(key) if new is None else Put(key, new))
        return True

    async def close(self) -> None:
        pass


class MemoryQueue:
    """Numbered messages; those not out with a receiver wait in a line."""

    def __init__(self, clock: Clock, term: float) -> None:
        self._deliveries = Deliveries(clock, term)
        self._bodies: dict[int, bytes] = {}
        self._waiting: deque[int] = deque()
        self._next = 0

    async def send(self, bodies: Sequence[bytes]) -> None:
        check_messages(bodies)
        for body in bodies:
            self._bodies[self._next] = body
            self._waiting.append(self._next)
            self._next += 1
        self._deliveries.ring()

    async def receive(self, limit: int, wait: float = 0.0) -> list[Message]:
        async def take() -> list[Message]:
            numbers = self._deliveries.take_due(limit)
            new = [self._waiting.popleft() for _ in range(min(len(self._waiting), limit - len(numbers)))]
            self._deliveries.hide(new)
            numbers += new
            return [Message(receipt_of(number), self._bodies[number]) for number in numbers]

        return await self._deliveries.first(take, wait)

    async def ack(self, messages: Sequence[Message]) -> None:
        numbers = numbers_of(messages)
        self._deliveries.forget(numbers)
        for number in numbers:
            self._bodies.pop(number, None)

    async def extend(self, messages: Sequence[Message]) -> None:
        self._deliveries.extend(numbers_of(messages))

    async def size(self) -> int:
        return len(self._bodies)

    async def close(self) -> None:
        pass


class MemoryBlobs:
    """A dictionary of names."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    async def put(self, name: str, data: bytes) -> None:
        check_blob_name(name)
        self._blobs[name] = bytes(data)

    async def get(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        check_blob_name(name)
        if name not in self._blobs:
            raise Missing(f"no blob {name}")
        return self._blobs[name][start:end]

    async def list(self, prefix: str = "") -> list[tuple[str, int]]:
        return sorted((name, len(data)) for name, data in self._blobs.items() if name.startswith(prefix))

    async def delete(self, names: Sequence[str]) -> None:
        for name in names:
            check_blob_name(name)
            self._blobs.pop(name, None)

    async def move(self, name: str, to: str) -> None:
        check_blob_name(to)
        data = await self.get(name)
        del self._blobs[name]
        self._blobs[to] = data


class MemoryJournal:
    """A growing array of bytes."""

    def __init__(self, name: str, blobs: MemoryBlobs) -> None:
        self._name = name
        self._blobs = blobs
        self._data = bytearray()
        self.sealed = False

    @property
    def name(self) -> str:
        return self._name

    async def append(self, chunk: bytes) -> int:
        self._usable()
        position = len(self._data)
        self._data += chunk
        return position

    async def sync(self) -> int:
        self._usable()
        end = len(self._data)
        await asyncio.sleep(0)  # as any real sync, it lets others run
        return end

    async def read(self, start: int, end: int) -> bytes:
        self._usable()
        return bytes(self._data[start:end])

    async def cut(self, length: int) -> None:
        self._usable()
        del self._data[length:]

    async def seal(self) -> str:
        self._usable()
        self.sealed = True
        await self._blobs.put(self._name, bytes(self._data))
        return self._name

    def _usable(self) -> None:
        if self.sealed:
            raise EngineError(f"journal {self._name} cannot be used: it is sealed")


class MemoryJournals:
    """Journals that become blobs of `blobs`."""

    def __init__(self, blobs: MemoryBlobs) -> None:
        self._blobs = blobs
        self._journals: dict[str, MemoryJournal] = {}

    async def open(self, name: str) -> MemoryJournal:
        check_blob_name(name)
        journal = self._journals.setdefault(name, MemoryJournal(name, self._blobs))
        if journal.sealed:
            raise EngineError(f"journal {name} cannot be used: it is sealed")
        return journal

    async def unsealed(self) -> list[str]:
        return sorted(name for name, journal in self._journals.items() if not journal.sealed)

    async def close(self) -> None:
        pass
