"""Which segments count. A segment exists from the moment its row is written: that one key is the commit.

The rows also hold the counts, so that they can never disagree with the corpus; and they stay when a segment has become
part of a shard, because its fingerprints go on counting.
"""

import secrets
from collections import Counter
from collections.abc import Collection
from typing import Final

import msgspec

from weft.ports import Delete, Key, Put, Range, Table
from weft.records import Record

from .sides import Side

_GROUP: Final = b"corpus.segment"
_PAGE: Final = 1000


class Segment(Record, frozen=True):
    """A committed batch of pages."""

    name: str
    documents: int
    removed: dict[str, int]  # by Removal
    bytes: int  # of the file with the documents; 0: there is none
    removed_bytes: int
    compacted: bool = False  # its rows are in a shard


class Registry:
    """All segments of one side, in memory; those of other writers are looked up when they are met."""

    def __init__(self, table: Table, side: Side = Side.FIRST) -> None:
        self._table = table
        self._group = _GROUP + side.mark
        self.side = side
        self.writer = f"main{side.value}"
        self._segments: dict[str, Segment] = {}
        self._pending: dict[str, Segment] = {}  # ours, not in a shard
        self._serial = 0
        self.documents = 0
        self.removed: Counter[str] = Counter()

    async def load(self) -> None:
        start = b""
        while True:
            (rows,) = await self._table.scan([Range(self._group, start, None, _PAGE)])
            for _, value in rows:
                self._take(msgspec.msgpack.decode(value, type=Segment))
            if len(rows) < _PAGE:
                break
            start = rows[-1][0] + b"\0"
        self._serial = len(self._segments)

    def _take(self, segment: Segment) -> None:
        if segment.name not in self._segments:
            self.documents += segment.documents
            self.removed.update(segment.removed)
        self._segments[segment.name] = segment
        if segment.compacted:
            self._pending.pop(segment.name, None)
        elif segment.name.startswith(f"{self.writer}-"):
            self._pending[segment.name] = segment

    def new_name(self) -> str:
        """Never used before: fingerprints of a segment that was given up may still name it."""
        self._serial += 1
        return f"{self.writer}-{self._serial:08d}-{secrets.token_hex(4)}"

    async def register(self, segment: Segment) -> None:
        """The commit: durable, against loss of power too, when it returns."""
        await self._table.write([self._put(segment)], sync=True)
        self._take(segment)

    async def compacted(self, names: Collection[str]) -> None:
        """These are in a shard now; counted and registered they stay."""
        changed = [msgspec.structs.replace(self._segments[name], compacted=True) for name in names]
        await self._table.write([self._put(segment) for segment in changed], sync=True)
        for segment in changed:
            self._take(segment)

    async def clear(self) -> None:
        """No segment counts any more, and so no fingerprint of one."""
        await self._table.write([Delete(self._key(name)) for name in self._segments], sync=True)
        self._segments.clear()
        self._pending.clear()
        self.removed.clear()
        self.documents = 0

    async def registered(self, names: Collection[str]) -> set[str]:
        unknown = [name for name in names if name not in self._segments]
        rows = await self._table.get([self._key(name) for name in unknown]) if unknown else []
        for value in rows:
            if value is not None:
                self._take(msgspec.msgpack.decode(value, type=Segment))
        return {name for name in names if name in self._segments}

    def pending(self) -> list[Segment]:
        """Our segments that are not in a shard, oldest first."""
        return [self._pending[name] for name in sorted(self._pending)]

    def all(self) -> list[Segment]:
        """Every segment that counts, oldest first."""
        return [self._segments[name] for name in sorted(self._segments)]

    def _key(self, name: str) -> Key:
        return self._group, name.encode()

    def _put(self, segment: Segment) -> Put:
        return Put(self._key(segment.name), msgspec.msgpack.encode(segment))
