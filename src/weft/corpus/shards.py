"""Segments become shards: `corpus/data/*.parquet` and `corpus/_removed/*.parquet`. Called by corpus.

A shard appears whole or not at all, and its segments lie in another folder, so whoever reads `corpus/data` never sees
a row twice. The plan is written first: a compaction that was cut short is done again under the same names.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from weft.killpoints import KillPoints
from weft.ports import Blobs, Delete, Journals, Put, Table
from weft.records import Record

from . import card, schema
from .registry import Registry, Segment

CORPUS: Final = "corpus/"
ANEW: Final = "corpus/anew/"  # where the next corpus is made; nobody who reads `corpus/data` looks there
DATA, REMOVED, SEGMENTS = "data/", "_removed/", "segments/"
PLANS: Final = b"corpus.plan"
MOST_SEGMENTS: Final = 1000  # a slow crawl makes many small ones; a folder and a start should not grow with its age


class Plan(Record, frozen=True):
    """These segments become these shards; "" where there are no rows."""

    segments: tuple[str, ...]
    data: str
    removed: str


class _Sink:
    """A file that Parquet is written to, emptied into a journal between row groups: a shard is never held in memory."""

    def __init__(self) -> None:
        self.closed = False
        self._written = 0
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


class Shards:
    """Compaction, one at a time."""

    def __init__(
        self, journals: Journals, blobs: Blobs, table: Table, registry: Registry, killpoints: KillPoints
    ) -> None:
        self._journals = journals
        self._blobs = blobs
        self._table = table
        self._registry = registry
        self._killpoints = killpoints
        self._key = (PLANS, registry.writer.encode())
        self._compacting = asyncio.Lock()
        self._root = CORPUS

    def make_anew(self) -> None:
        """From now on everything is written where nobody looks, until `take_place`."""
        self._root = ANEW

    def segment_file(self, name: str) -> str:
        return f"{self._root}{SEGMENTS}{name}.parquet"

    def removed_file(self, name: str) -> str:
        return f"{self._root}{SEGMENTS}{name}.removed.parquet"

    async def resume(self) -> None:
        """Finish the plan that a crash left, if any."""
        (row,) = await self._table.get([self._key])
        if row is not None:
            await self._carry_out(msgspec.msgpack.decode(row, type=Plan))

    async def sweep(self) -> None:
        """Delete files of our segments that were never registered, or are in a shard."""
        wanted = {segment.name for segment in self._registry.pending()}
        folder = f"{self._root}{SEGMENTS}"
        found = [name for name, _ in await self._blobs.list(f"{folder}{self._registry.writer}-")]
        stale = [name for name in found if name.removeprefix(folder).partition(".")[0] not in wanted]
        await self._blobs.delete(stale)

    async def clear_anew(self) -> None:
        """Delete what a corpus that was given up has left, and its plan."""
        await self._table.write([Delete(self._key)])
        for name in await self._journals.unsealed():
            if name.startswith(ANEW):
                journal = await self._journals.open(name)
                await journal.cut(0)
                await journal.seal()
        await self._delete(ANEW)

    async def take_place(self, replaced: str) -> None:
        """Put the shards made anew where those of the writer `replaced` lie. Every step may have been done before."""
        self._root = CORPUS
        for folder in (DATA, REMOVED, SEGMENTS):
            await self._delete(f"{CORPUS}{folder}{replaced}-")  # first, so that nobody ever sees a row twice
            self._killpoints.reach("corpus.cleared")
            for name, _ in await self._blobs.list(f"{ANEW}{folder}{self._registry.writer}-"):
                await self._blobs.move(name, CORPUS + name.removeprefix(ANEW))
        await self._write_card()

    async def _delete(self, prefix: str) -> None:
        await self._blobs.delete([name for name, _ in await self._blobs.list(prefix)])

    async def _write_card(self) -> None:
        removed = bool(await self._blobs.list(f"{CORPUS}{REMOVED}"))
        await self._blobs.put(card.NAME, card.card(removed=removed).encode())

    async def compact(self, shard_bytes: int, *, final: bool) -> None:
        """Make shards of about `shard_bytes` while there is enough for one; `final`: of whatever there is."""
        async with self._compacting:
            while chosen := _choose(self._registry.pending(), shard_bytes, final=final):
                suffix = f"{chosen[0].name}.parquet"
                plan = Plan(
                    segments=tuple(segment.name for segment in chosen),
                    data=f"{self._root}{DATA}{suffix}" if any(segment.bytes for segment in chosen) else "",
                    removed=f"{self._root}{REMOVED}{suffix}"
                    if any(segment.removed_bytes for segment in chosen)
                    else "",
                )
                await self._table.write([Put(self._key, msgspec.msgpack.encode(plan))], sync=True)
                await self._carry_out(plan)

    async def data_files(self) -> list[str]:
        """All files with documents, each row in one of them: a shard counts when its segments no longer do."""
        pending = [self.segment_file(segment.name) for segment in self._registry.pending() if segment.documents]
        doubtful = {name.replace(SEGMENTS, DATA) for name in pending}  # a shard is named for its first segment
        folder = f"{self._root}{DATA}{self._registry.writer}-"
        shards = [name for name, _ in await self._blobs.list(folder) if name not in doubtful]
        return shards + pending

    async def _carry_out(self, plan: Plan) -> None:
        """Every step may have been done before."""
        pending = {segment.name: segment for segment in self._registry.pending()}
        segments = [pending[name] for name in plan.segments if name in pending]
        if segments:
            kept = [self.segment_file(segment.name) for segment in segments if segment.bytes]
            removed = [self.removed_file(segment.name) for segment in segments if segment.removed_bytes]
            await self._write(plan.data, kept, schema.DOCUMENTS)
            await self._write(plan.removed, removed, schema.REMOVED)
            if self._root == CORPUS:
                await self._write_card()
            self._killpoints.reach("corpus.compacted")
            await self._registry.compacted(plan.segments)
        names = [file for name in plan.segments for file in (self.segment_file(name), self.removed_file(name))]
        await self._blobs.delete(names)
        await self._table.write([Delete(self._key)])

    async def _write(self, shard: str, files: Sequence[str], columns: pa.Schema) -> None:
        if not shard:
            return
        if shard not in await self._journals.unsealed() and await self._blobs.list(shard):
            return  # it was finished before the crash
        journal = await self._journals.open(shard)
        await journal.cut(0)
        sink = _Sink()
        writer = schema.writer(sink, columns)
        waiting: list[pa.Table] = []
        rows = size = 0
        for number, file in enumerate(files, 1):
            table = await asyncio.to_thread(_read, await self._blobs.get(file))
            waiting.append(table)
            rows += table.num_rows
            size += table.nbytes
            if rows >= schema.ROWS_PER_GROUP or size >= schema.BYTES_PER_GROUP or number == len(files):
                await asyncio.to_thread(schema.write, writer, pa.concat_tables(waiting))
                await journal.append(sink.take())
                waiting, rows, size = [], 0, 0
        writer.close()
        await journal.append(sink.take())
        await journal.seal()


def _choose(pending: Sequence[Segment], shard_bytes: int, *, final: bool) -> list[Segment]:
    """The oldest segments that fill a shard (of either kind) or a folder; all there are if that is wanted."""
    kept = removed = 0
    for number, segment in enumerate(pending, 1):
        kept += segment.bytes
        removed += segment.removed_bytes
        if max(kept, removed) >= shard_bytes or number >= MOST_SEGMENTS:
            return list(pending[:number])
    return list(pending) if final else []


def _read(data: bytes) -> pa.Table:
    return pq.read_table(pa.BufferReader(data))
