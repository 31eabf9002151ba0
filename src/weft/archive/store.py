"""Makes captures durable, announces them, and after a crash knows what was archived but not yet settled.

stored = await archive.store([(outcome, captures), …])   appended → synced → announced
await frontier.settle(outcomes)                           only then
await archive.checkpoint(stored)                          recovery need not look at it again
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Final, NamedTuple, TypeAlias

import msgspec
import xxhash

from weft.config import Archive as ArchiveConfig
from weft.errors import EngineError
from weft.killpoints import KillPoints
from weft.ports import Blobs, Clock, Delete, Journals, Key, Put, Queue, Range, Table
from weft.records import Announcement, Capture, Outcome, Position

from . import announce, recovery, replay, warc
from .files import FOLDER, File, Files
from .recovery import Kept
from .survey import Lost, survey

Answer: TypeAlias = tuple[Outcome, Sequence[Capture]]
"""How a lease ended, and what was captured on the way."""

CHECKPOINTS: Final = b"archive.checkpoint"
INDEX: Final = b"archive.url"  # and two bytes of the hash of the URL
_MOST_VISITS = 100_000  # of one URL
_CHUNK = 4 << 20  # bytes of bodies encoded in one go: bounds memory, and the time the thread holds on to it
_RUN = 8 << 20  # bytes read at once for neighbouring records
_GAP = 64 << 10  # bytes read in vain rather than asking twice


class Stores(NamedTuple):
    """Where an archive keeps what it has."""

    journals: Journals
    blobs: Blobs
    table: Table
    pages: Queue


class Stored(NamedTuple):
    """A batch that is durable and announced. Hand it to `checkpoint` when its leases are settled."""

    number: int
    announcements: list[Announcement]
    ends: dict[str, int]  # how far each file it touched is filled with it


class Recovered(NamedTuple):
    """What lay between the checkpoint and the crash: announced again, still to be settled."""

    outcomes: list[Outcome]
    places: list[tuple[str, int]]  # for each outcome the file, and where its record ends there
    stored: Stored
    torn: int  # bytes cut off


class Archive:
    """One writer. Batches may overlap; checkpoints count in the order in which batches were stored."""

    def __init__(self, stores: Stores, clock: Clock, config: ArchiveConfig, killpoints: KillPoints) -> None:
        self._stores = stores
        self._killpoints = killpoints
        self._files = Files(stores.journals, clock, config)
        self._writing = asyncio.Lock()
        self._numbers = count()
        self._outstanding: dict[int, Stored] = {}  # in the order in which they were stored
        self._settled: set[int] = set()  # outstanding batches that were settled before their turn
        self._ends: dict[str, int] = {}  # how far each unsealed file is settled

    async def recover(self) -> Recovered:
        """Call once, before anything else. Outcomes come oldest first; some of them may be settled already."""
        outcomes: list[Outcome] = []
        places: list[tuple[str, int]] = []
        announcements: list[Announcement] = []
        ends: dict[str, int] = {}
        torn = 0
        for name in [name for name in await self._stores.journals.unsealed() if name.startswith(FOLDER)]:
            file, tail = await self._reopen(name)
            await self._index(tail.kept)
            outcomes += tail.outcomes
            places += [(name, end) for end in tail.ends]
            announcements += tail.announcements
            torn += tail.size - tail.end
            ends[name] = file.length
        self._files.close_all_but_last()
        await self._stores.pages.send(announce.pack(announcements))
        return Recovered(outcomes, places, self._hold(announcements, ends), torn)

    async def _reopen(self, name: str) -> tuple[File, recovery.Tail]:
        (mark,) = await self._stores.table.get([(CHECKPOINTS, name.encode())])
        journal = await self._stores.journals.open(name)
        start = int.from_bytes(mark or b"", "big")
        tail = await recovery.read_tail(name, journal.read, start)
        if tail.end < tail.size:
            await journal.cut(tail.end)
        await journal.sync()
        info = await recovery.info_of(journal.read) if start else tail.info
        return await self._files.adopt(journal, info, tail.end), tail

    async def store(self, answers: Sequence[Answer]) -> Stored:
        """Durable and announced when it returns. Outcomes without captures leave nothing to archive."""
        async with self._writing:
            kept: list[Kept] = []
            announcements: list[Announcement] = []
            touched: dict[str, File] = {}
            for chunk in _chunks(answers):
                file = await self._files.current()
                touched[file.name] = file
                entries = await asyncio.to_thread(_encode, chunk, file.info)
                offset = await file.append(b"".join([entry.data for entry in entries]))
                for part, position in _placed(entries, file.name, offset):
                    kept.append(Kept(part.capture.exchange.url, part.capture.exchange.started, position))
                    if part.announcement:
                        announcements.append(msgspec.structs.replace(part.announcement, position=position))
            if touched:
                self._killpoints.reach("archive.appended")
                for file in touched.values():
                    await file.sync()
                self._killpoints.reach("archive.synced")
                await self._index(kept)
                await self._stores.pages.send(announce.pack(announcements))
                self._killpoints.reach("archive.announced")
            return self._hold(announcements, {name: file.length for name, file in touched.items()})

    def _hold(self, announcements: list[Announcement], ends: dict[str, int]) -> Stored:
        stored = Stored(next(self._numbers), announcements, ends)
        self._outstanding[stored.number] = stored
        return stored

    async def checkpoint(self, stored: Stored) -> None:
        """All of this batch is settled. Files that are full and settled to the end are sealed."""
        async with self._writing:
            self._settled.add(stored.number)
            changed: dict[str, int] = {}
            while (first := next(iter(self._outstanding), None)) is not None and first in self._settled:
                self._settled.remove(first)
                changed |= self._outstanding.pop(first).ends
            self._ends |= changed
            rows = [Put((CHECKPOINTS, name.encode()), end.to_bytes(8, "big")) for name, end in changed.items()]
            if rows:
                await self._stores.table.write(rows)
            await self._seal(lambda file: file.closed and self._is_settled(file))

    async def close(self) -> None:
        """Seal what is settled; what is not stays open for `recover`."""
        async with self._writing:
            await self._seal(self._is_settled)

    def _is_settled(self, file: File) -> bool:
        return self._ends.get(file.name) == file.length

    async def _seal(self, may: Callable[[File], bool]) -> None:
        for name in await self._files.seal(may):
            del self._ends[name]
            # a crash before this leaves a row of a few bytes that nobody asks for again
            await self._stores.table.write([Delete((CHECKPOINTS, name.encode()))])

    async def survey(self) -> AsyncIterator[list[Announcement] | Lost]:
        """Every page that we have, to be refined anew, and every gap that damage has made."""
        sealed = [name for name, _ in await self._stores.blobs.list(FOLDER)]
        for name in sorted({*sealed, *self._files.names()}):
            async for told in survey(name, partial(self._bytes, name)):
                yield told

    async def read(self, positions: Sequence[Position]) -> list[Capture]:
        """The captures at these positions, in their order. Neighbours are read together."""
        found: dict[Position, Capture] = {}
        for run in _runs(positions):
            data = await self._bytes(run[0].file, run[0].offset, run[-1].offset + run[-1].length)
            found |= await asyncio.to_thread(_decode, run, data)
        return [found[position] for position in positions]

    async def _bytes(self, name: str, start: int, end: int) -> bytes:
        file = self._files.get(name)
        if file is not None:
            with contextlib.suppress(EngineError):  # sealed this very moment: it is a blob now
                return await file.journal.read(start, end)
        return await self._stores.blobs.get(name, start, end)

    @staticmethod
    def announcements(message: bytes) -> list[Announcement]:
        """What a message of the pages queue announces."""
        return announce.unpack(message)

    async def lookup(self, url: str) -> list[Position]:
        """Where the answers for a URL lie, oldest first."""
        group, start = index_key(url, 0.0)
        (rows,) = await self._stores.table.scan([Range(group, start, start[:-8] + b"\xff" * 8, _MOST_VISITS)])
        return [msgspec.msgpack.decode(value, type=Position) for _, value in rows]

    async def _index(self, kept: Sequence[Kept]) -> None:
        rows = [Put(index_key(url, date), msgspec.msgpack.encode(position)) for url, date, position in kept]
        if rows:
            await self._stores.table.write(rows)


def index_key(url: str, date: float) -> Key:
    """Rows spread over 65,536 groups; in a group the answers for one URL lie together, by date."""
    digest = xxhash.xxh3_128_digest(url.encode())
    return INDEX + digest[:2], digest[2:] + int(date * 1_000_000).to_bytes(8, "big")


def _chunks(answers: Sequence[Answer]) -> Iterator[list[Answer]]:
    chunk: list[Answer] = []
    size = 0
    for outcome, captures in answers:
        if not captures:
            continue
        chunk.append((outcome, captures))
        size += sum([len(capture.exchange.body) for capture in captures])
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _encode(answers: Sequence[Answer], info: str) -> list[warc.Entry]:
    return [warc.encode(outcome, captures, info) for outcome, captures in answers]


def _placed(entries: Sequence[warc.Entry], name: str, offset: int) -> Iterator[tuple[warc.Part, Position]]:
    for entry in entries:
        for part in entry.parts:
            yield part, Position(name, offset + part.start, part.length)
        offset += len(entry.data)


def _runs(positions: Sequence[Position]) -> Iterator[list[Position]]:
    """Positions that are worth reading in one go, in the order of the file."""
    run: list[Position] = []
    for position in sorted(set(positions)):
        if run:
            near = position.file == run[0].file and position.offset <= run[-1].offset + run[-1].length + _GAP
            if not near or position.offset + position.length - run[0].offset > _RUN:
                yield run
                run = []
        run.append(position)
    if run:
        yield run


def _decode(run: Sequence[Position], data: bytes) -> dict[Position, Capture]:
    first = run[0].offset
    return {place: replay.decode(data[place.offset - first : place.offset - first + place.length]) for place in run}
