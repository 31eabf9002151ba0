"""Proves that every capture in the archive is readable, what was written, and in the index; and the index true.

Every WARC file is read whole, sealed or not, on behind damage. Reads only. Called by `check`.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import msgspec

from weft.checked import Checked, Remark, Word
from weft.errors import Corrupt, EngineError
from weft.ports import Blobs, Journals, Range, Table
from weft.records import Kind, Outcome, Position, Reason

from . import announce, member, recovery, replay, warc
from .files import FOLDER
from .recovery import Found, Kept
from .store import CHECKPOINTS, INDEX, index_key
from .survey import Lost, records

Read: TypeAlias = Callable[[int, int], Awaitable[bytes]]
_AT_ONCE: Final = 256  # groups of the index read at once
_NEAR: Final = 2  # microseconds: a date that was read back may be rounded the other way
_BEYOND: Final = b"\xff" * 8
_SIZE: Final = 1 << 40


class File(NamedTuple):
    """One WARC file, as far as it is settled."""

    name: str
    size: int
    read: Read
    settled: int | None = None  # the checkpoint of an open one


class Stores(NamedTuple):
    """Where the archive lies."""

    journals: Journals
    blobs: Blobs
    table: Table


class Checking:
    def __init__(self, stores: Stores, checked: Checked) -> None:
        self._stores = stores
        self._checked = checked
        self._files: dict[str, File] = {}
        self._indexed = 0  # captures that the index names rightly
        self.totals: Counter[str] = Counter()  # outcomes that the archive tells of, by the names of the tally

    async def remarks(self) -> AsyncIterator[Remark]:
        """Files first, then the index."""
        self._files = {file.name: file async for file in self._found()}
        for file in self._files.values():
            self._checked["warc files"] += 1
            async for remark in self._file(file):
                yield remark
        async for remark in self._index():
            yield remark

    async def archived(self, urls: Sequence[str]) -> list[bool]:
        """Which of these URLs have an answer in the index."""
        rows = await self._stores.table.scan([_visits(url) for url in urls])
        return [bool(found) for found in rows]

    async def has(self, captures: Sequence[Kept]) -> list[bool]:
        """Which of these captures are where they are said to be: in the index, or else in the file."""
        return [
            (is_indexed and one.position.file in self._files) or await self._is_there(one.position)
            for one, is_indexed in zip(captures, await self._are_indexed(captures), strict=True)
        ]

    async def announced(self, messages: Sequence[bytes]) -> list[Remark]:
        """Of these messages of the pages queue, what they announce that is nowhere."""
        told = [one for message in messages for one in announce.unpack(message)]
        self._checked["announced"] += len(told)
        there = await self.has([Kept(one.url, one.fetched, one.position) for one in told])
        return [
            Remark(Word.ANNOUNCED_NOWHERE, one.url, f"{one.position.file} at {one.position.offset}")
            for one, is_there in zip(told, there, strict=True)
            if not is_there
        ]

    async def _found(self) -> AsyncIterator[File]:
        blobs = self._stores.blobs
        unsealed = [name for name in await self._stores.journals.unsealed() if name.startswith(FOLDER)]
        for name, size in await blobs.list(FOLDER):
            if name not in unsealed:
                yield File(name, size, partial(blobs.get, name))
        marks = await self._stores.table.get([(CHECKPOINTS, name.encode()) for name in unsealed])
        for name, mark in zip(unsealed, marks, strict=True):
            journal = await self._stores.journals.open(name)
            yield File(name, _SIZE, journal.read, int.from_bytes(mark or b"", "big"))

    async def _file(self, file: File) -> AsyncIterator[Remark]:
        gathered = recovery.Gathered(file.name)
        lost: Lost | None = None  # it is known with the next record whether the file ends there
        async for some in records(file.name, file.read):
            if lost is not None:
                yield _damage(lost)
            lost = some if isinstance(some, Lost) else None
            if isinstance(some, Lost):
                gathered.forget_answer()
                continue
            self._checked["records"] += len(some)
            for remark in await asyncio.to_thread(_wrong, file.name, some):
                yield remark
            for remark in _take(gathered, some, file.name):
                yield remark
            for remark in await self._captures(file, gathered):
                yield remark
        if lost is not None:
            is_tail = file.settled is not None and lost.offset >= file.settled
            yield Remark(Word.TORN_TAIL, file.name, f"from byte {lost.offset} on") if is_tail else _damage(lost)
        elif gathered.owed is not None:
            is_tail = file.settled is not None and gathered.owed.offset >= file.settled
            word = Word.TORN_TAIL if is_tail else Word.INCOMPLETE
            yield Remark(word, file.name, f"the answer at byte {gathered.owed.offset}")

    async def _captures(self, file: File, gathered: recovery.Gathered) -> list[Remark]:
        kept = list(gathered.kept)
        self._count(gathered.outcomes)
        gathered.handed_over()
        self._checked["captures"] += len(kept)
        remarks = []
        for one, is_indexed in zip(kept, await self._are_indexed(kept), strict=True):
            self._indexed += is_indexed
            if not is_indexed:
                owed = file.settled is not None and one.position.offset >= file.settled
                word = Word.INDEX_OWED if owed else Word.NOT_INDEXED
                remarks.append(Remark(word, one.url, f"{file.name} at {one.position.offset}"))
        return remarks

    def _count(self, outcomes: Sequence[Outcome]) -> None:
        """As `metrics.Tally` counts them."""
        for outcome in outcomes:
            self.totals["archived"] += bool(outcome.status) and outcome.reason is not Reason.UNCHANGED
            self.totals["fetched"] += outcome.reason is Reason.STORED and outcome.lease.kind is Kind.PAGE

    async def _are_indexed(self, captures: Sequence[Kept]) -> list[bool]:
        ranges = []
        for one in captures:
            group, item = index_key(one.url, one.fetched)
            moment = int.from_bytes(item[-8:], "big")
            start, stop = (max(0, moment + by).to_bytes(8, "big") for by in (-_NEAR, _NEAR + 1))
            ranges.append(Range(group, item[:-8] + start, item[:-8] + stop))
        found = await self._stores.table.scan(ranges) if ranges else []
        return [
            one.position in [_position(value) for _, value in rows] for one, rows in zip(captures, found, strict=True)
        ]

    async def _index(self) -> AsyncIterator[Remark]:
        """Rows that name nothing. Records are read only when there are more rows than captures."""
        missing: Counter[str] = Counter()
        rows, doubtful = 0, False
        async for position in self._index_rows():
            rows += 1
            file = self._files.get(position.file)
            missing[position.file] += file is None
            doubtful = doubtful or (file is not None and position.offset + position.length > file.size)
        self._checked["index rows"] += rows
        for name, count in (+missing).items():
            yield Remark(Word.WARC_MISSING, name, f"{count:,} captures")
        if doubtful or rows > self._indexed + missing.total():
            async for position in self._index_rows():
                if position.file in self._files and not await self._is_there(position):
                    yield Remark(Word.NOT_THERE, position.file, f"at {position.offset}, {position.length} bytes")

    async def _index_rows(self) -> AsyncIterator[Position]:
        for first in range(0, 1 << 16, _AT_ONCE):
            left = [Range(INDEX + number.to_bytes(2, "big")) for number in range(first, first + _AT_ONCE)]
            while left:
                found = await self._stores.table.scan(left)
                for rows in found:
                    for _, value in rows:
                        yield _position(value)
                left = [
                    one._replace(start=rows[-1][0] + b"\0")
                    for one, rows in zip(left, found, strict=True)
                    if len(rows) == one.limit
                ]

    async def _is_there(self, position: Position) -> bool:
        """Does a whole answer lie there?"""
        file = self._files.get(position.file)
        if file is None:
            return False
        try:
            data = await file.read(position.offset, position.offset + position.length)
            whole = await asyncio.to_thread(member.first, data, replay.LARGEST)
        except EngineError:
            return False
        return whole is not None and whole.length == position.length


def _take(gathered: recovery.Gathered, some: Sequence[Found], name: str) -> Iterator[Remark]:
    """Each answer is followed by its metadata."""
    for one in some:
        before = gathered.owed
        try:
            gathered.take(one)
        except Corrupt as error:
            yield Remark(Word.DAMAGED, name, f"the record at byte {one.offset}: {error}")
            gathered.forget_answer()
            continue
        if before is not None and gathered.last != "metadata":
            yield Remark(Word.INCOMPLETE, name, f"the answer at byte {before.offset}")
            if gathered.owed == before:
                gathered.forget_answer()


def _wrong(name: str, some: Sequence[Found]) -> list[Remark]:
    """Records whose digests are not those of their bytes."""
    remarks = []
    for record, offset, _ in some:
        answer = record.fields.get("warc-type") in ("response", "revisit")
        digests = [("warc-block-digest", record.block)]
        if answer:
            digests.append(("warc-payload-digest", record.block.partition(b"\r\n\r\n")[2]))
        for field, data in digests:
            told = record.fields.get(field, "")
            if (told or answer) and told != f"sha1:{warc.sha1(data)}":
                url = record.fields.get("warc-target-uri", "")
                remarks.append(Remark(Word.DIGEST_WRONG, url or name, f"{name} at {offset}: {field}"))
    return remarks


def _damage(lost: Lost) -> Remark:
    return Remark(Word.DAMAGED, lost.file, f"from byte {lost.offset} on, {lost.records} or more records")


def _position(value: bytes) -> Position:
    try:
        return msgspec.msgpack.decode(value, type=Position)
    except msgspec.DecodeError:
        return Position("(a row that cannot be read)", 0, 0)


def _visits(url: str) -> Range:
    group, item = index_key(url, 0.0)
    return Range(group, item, item[:-8] + _BEYOND, limit=1)
