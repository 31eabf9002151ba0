"""Table, Queue, Journals and Blobs in this process's memory: for tests, and for crawls that need not survive.

They keep every promise of the ports but durability. Opened by URL `memory:`.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence

from weft.errors import TooLarge
from weft.ports import Delete, Key, Put, Range, Rows, Step

MAX_KEY_PART = 1024


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
        if len(group) > MAX_KEY_PART or len(item) > MAX_KEY_PART:
            raise TooLarge(f"a key of {len(group)} + {len(item)} bytes; at most {MAX_KEY_PART} each")
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
