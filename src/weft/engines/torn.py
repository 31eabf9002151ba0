"""The memory table's evil twin: it crashes when told, and keeps no more than the port promises.

Everything written above ports must come through it: a step under way is torn at random, in any order of its operations;
power loss undoes what was not synced. All from one seed.
"""

import asyncio
from collections.abc import Sequence
from random import Random

from weft.engines.memory import MemoryTable
from weft.ports import Delete, Key, Put, Range, Rows, Step


class Crashed(BaseException):
    """The process is dead. Not an `Exception`, so that nothing on the way up survives it."""


class TornTable:
    """A table that can die. `reopened()` is what the next process finds."""

    def __init__(self, seed: int = 0, crash_at: int | None = None, rows: MemoryTable | None = None) -> None:
        """`crash_at`: die at that operation (1 is the first), leaving its step torn."""
        self._random = Random(seed)
        self._rows = rows or MemoryTable()
        self._under_way: dict[int, list[Put | Delete]] = {}
        self._unsynced: list[Put | Delete] = []  # what undoes each operation since the last sync, oldest first
        self._left = crash_at
        self.operations = 0
        self.crashed = False

    async def get(self, keys: Sequence[Key]) -> list[bytes | None]:
        self._alive()
        return await self._rows.get(keys)

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        self._alive()
        return await self._rows.scan(ranges)

    async def write(self, *steps: Step, sync: bool = False) -> None:
        for step in steps:
            await self._write_step(step)
        if sync:
            self._unsynced.clear()

    async def _write_step(self, step: Step) -> None:
        left = list({operation.key: operation for operation in step}.values())
        self._random.shuffle(left)  # stores that shard a batch apply it in any order
        ticket = id(left)
        self._under_way[ticket] = left
        try:
            while left:
                self._alive()
                self._tick()
                self._apply(left.pop())
                if self._random.random() < 0.25:  # others see a step half done, and a crash can fall here
                    await asyncio.sleep(0)
            self._alive()
        finally:
            self._under_way.pop(ticket, None)  # a cancelled step stays as torn as it is

    async def put_if(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        self._alive()
        if (await self._rows.get([key]))[0] != old:
            return False
        change = Delete(key) if new is None else Put(key, new)
        self._under_way[id(change)] = [change]
        self._tick()
        del self._under_way[id(change)]
        self._apply(change)
        self._unsynced.clear()
        return True

    async def close(self) -> None:
        self._alive()

    def crash(self, power: bool = False) -> None:
        """Die now: of every step under way a random part of the rest is kept. `power`: lose unsynced writes too."""
        self.crashed = True
        for rest in self._under_way.values():
            for operation in rest:
                if self._random.random() < 0.5:
                    self._apply(operation)
        self._under_way.clear()
        if power:
            for _ in range(self._random.randint(0, len(self._unsynced))):
                self._rows.apply(self._unsynced.pop())

    def reopened(self, crash_at: int | None = None) -> "TornTable":
        """A new table on the rows that survived; this one stays dead."""
        if not self.crashed:
            self.crash()
        return TornTable(self._random.getrandbits(64), crash_at, self._rows)

    def _alive(self) -> None:
        if self.crashed:
            raise Crashed

    def _tick(self) -> None:
        self.operations += 1
        if self._left is not None and self.operations >= self._left:
            self.crash()
            raise Crashed

    def _apply(self, operation: Put | Delete) -> None:
        before = self._rows.apply(operation)
        self._unsynced.append(Delete(operation.key) if before is None else Put(operation.key, before))
