"""Proves that the corpus is what is registered: every file there and readable, every row once, made of what we have.

Reads only. Rows are read a row group at a time; of those of a pass (a share of all ids) eight bytes each are in memory.
Called by `check`.
"""

import bisect
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import xxhash

from weft.checked import Checked, Remark, Word
from weft.errors import EngineError
from weft.ports import Blobs, Journals, Table
from weft.records import Position

from . import read, sides
from .registry import Registry, Segment
from .shards import ANEW, CORPUS, DATA, PLANS, REMOVED, SEGMENTS

Captured: TypeAlias = tuple[str, float, Position]
"""The URL, moment and place of a capture that a row was made of."""

ARCHIVE: Final = "raw/"  # the folder of our own captures; others were read from files of others
PASS: Final = 4_000_000  # rows whose hashes are in memory at a time
_COLUMNS: Final = ("id", "url", "date", "file_path", "metadata")
_BROKEN: Final = (pa.ArrowException, OSError, ValueError, StopIteration, EngineError)


class Stores(NamedTuple):
    """Where the corpus lies; the registry is that of the side that counts, loaded."""

    journals: Journals
    blobs: Blobs
    table: Table
    registry: Registry


class Witnesses(NamedTuple):
    """What other stages say of rows."""

    captured: Callable[[Sequence[Captured]], Awaitable[Sequence[bool]]]  # the archive has these
    crawled: Callable[[Sequence[str]], Awaitable[Sequence[bool]]]  # the frontier knows these URLs
    known: Callable[[Sequence[str]], Awaitable[Sequence[bool]]]  # a fingerprint stands for these ids
    digest: Callable[[str], bytes]  # the same for texts that are the same


class File(NamedTuple):
    """A Parquet file that counts, and how many rows it should have (None: as its shard's neighbours leave it)."""

    name: str
    rows: int | None
    removed: bool


class _Place(msgspec.Struct):
    warc_record_offset: int = 0
    warc_record_length: int = 0


class Checking:
    def __init__(self, stores: Stores, witnesses: Witnesses, checked: Checked, at_once: int = PASS) -> None:
        self._stores = stores
        self._witnesses = witnesses
        self._checked = checked
        self._at_once = at_once
        self._reasons: Counter[str] = Counter()
        self._rows: Counter[str] = Counter()  # by file
        self._unreadable: set[str] = set()

    async def remarks(self) -> AsyncIterator[Remark]:
        files: list[File] = []
        async for found in self._files():
            if isinstance(found, File):
                files.append(found)
            else:
                yield found
        for file in files:
            async for remark in self._file(file):
                yield remark
        for remark in self._counted(files):
            yield remark
        async for remark in self._twice([file for file in files if file.name not in self._unreadable]):
            yield remark

    async def _files(self) -> AsyncIterator[File | Remark]:
        """What is registered, and what lies there beside it."""
        there = {name for name, _ in await self._stores.blobs.list(CORPUS)}
        registry = self._stores.registry
        wanted: set[str] = set()
        for segment in registry.all():
            for name, rows, removed in _files_of(segment):
                path = _placed(name, there)
                wanted.add(path)
                if path in there:
                    yield File(path, rows, removed)
                else:
                    yield Remark(Word.SEGMENT_MISSING, path, f"{rows:,} rows")
        doubtful = {segment.name for segment in registry.all() if not segment.compacted}
        for name in sorted(there - wanted):
            folder, _, stem = name.removeprefix(ANEW).removeprefix(CORPUS).rpartition("/")
            if f"{folder}/" not in (DATA, REMOVED, SEGMENTS):
                continue
            ours = stem.startswith(f"{registry.writer}-") and name == _placed(f"{folder}/{stem}", there)
            if ours and f"{folder}/" != SEGMENTS and stem.partition(".")[0] not in doubtful:
                yield File(name, None, f"{folder}/" == REMOVED)
            else:
                yield Remark(Word.UNREGISTERED, name, "the folder of the corpus")
        async for remark in self._unfinished():
            yield remark

    async def _unfinished(self) -> AsyncIterator[Remark]:
        registry = self._stores.registry
        (plan,) = await self._stores.table.get([(PLANS, registry.writer.encode())])
        if plan is not None:
            yield Remark(Word.UNFINISHED, "the plan of a shard", registry.writer)
        for name in await self._stores.journals.unsealed():
            if name.startswith(CORPUS):
                yield Remark(Word.UNFINISHED, name, "not sealed")
        if (await sides.standing(self._stores.table)).dirty:
            yield Remark(Word.UNFINISHED, "a corpus made anew", "`weft refine` was cut short")

    async def _file(self, file: File) -> AsyncIterator[Remark]:
        """Every row of it was made of a capture that we have, and would be recognised."""
        self._checked["corpus files"] += 1
        columns = (*_COLUMNS, "filter_reason") if file.removed else _COLUMNS
        try:
            async for rows in read.rows(self._stores.blobs, file.name, columns):
                self._rows[file.name] += len(rows)
                self._checked["removed rows" if file.removed else "documents"] += len(rows)
                if file.removed:
                    self._reasons.update(row["filter_reason"] for row in rows)
                for remark in await self._made(file.name, rows):
                    yield remark
        except _BROKEN as error:
            self._unreadable.add(file.name)
            yield Remark(Word.UNREADABLE, file.name, str(error).partition("\n")[0])
            return
        if file.rows is not None and file.rows != self._rows[file.name]:
            yield Remark(Word.ROWS_WRONG, file.name, f"{file.rows:,} registered, {self._rows[file.name]:,} there")

    async def _made(self, name: str, rows: Sequence[dict[str, Any]]) -> list[Remark]:
        ours = [row for row in rows if row["file_path"].startswith(ARCHIVE)]
        self._checked["rows of foreign captures"] += len(rows) - len(ours)
        asked = (
            (Word.CAPTURE_MISSING, ours, await self._witnesses.captured([_capture(row) for row in ours])),
            (Word.UNKNOWN_URL, ours, await self._witnesses.crawled([row["url"] for row in ours])),
            (Word.NO_FINGERPRINT, rows, await self._witnesses.known([row["id"] for row in rows])),
        )
        return [
            Remark(word, row["url"], f"{name}: {row['id']}")
            for word, some, answers in asked
            for row, is_so in zip(some, answers, strict=True)
            if not is_so
        ]

    def _counted(self, files: Sequence[File]) -> Iterator[Remark]:
        """Shards hold what their segments held; what one lacks is told of it, as far as its segments are known."""
        compacted = [segment for segment in self._stores.registry.all() if segment.compacted]
        for folder, removed in ((DATA, False), (REMOVED, True)):
            shards = sorted(file.name for file in files if file.rows is None and file.removed is removed)
            told = sum(_rows_of(segment, removed) for segment in compacted)
            if self._unreadable.intersection(shards) or told == sum(self._rows[name] for name in shards):
                continue
            yield from self._short(compacted, files, CORPUS + folder, removed)
        pending = self._unreadable or any(self._rows[file.name] != file.rows for file in files if file.rows is not None)
        counted = self._stores.registry.removed
        if not pending and self._reasons != +counted and self._reasons.total() == counted.total():
            yield Remark(Word.ROWS_WRONG, CORPUS + REMOVED, f"{dict(counted)} registered, {dict(self._reasons)} there")

    def _short(
        self, compacted: Sequence[Segment], files: Sequence[File], folder: str, removed: bool
    ) -> Iterator[Remark]:
        """A shard is named for its first segment, and holds those up to the next shard's, of either kind."""
        firsts = sorted({_stem(file.name) for file in files if file.rows is None})
        told: Counter[str] = Counter()
        for segment in compacted:
            number = bisect.bisect_right(firsts, segment.name) - 1
            told[firsts[number] if number >= 0 else ""] += _rows_of(segment, removed)
        found = {_stem(name): count for name, count in self._rows.items() if name.startswith(folder)}
        for first in sorted(told.keys() | found.keys()):
            if told[first] != found.get(first, 0):
                where = f"{folder}{first}.parquet" if first else folder
                yield Remark(Word.ROWS_WRONG, where, f"{told[first]:,} registered, {found.get(first, 0):,} there")

    async def _twice(self, files: Sequence[File]) -> AsyncIterator[Remark]:
        """Rows that share an id, and documents that share a text: as many at a time as memory may hold."""
        shares = 1 + sum(self._rows.values()) // self._at_once
        for share in range(shares):
            for word, kind, digest in (
                (Word.ROW_TWICE, "id", _hash_of_id),
                (Word.TEXT_TWICE, "text", lambda row: self._witnesses.digest(row["text"])),
            ):
                some = [file for file in files if kind == "id" or not file.removed]
                hashes = array("Q")
                async for _, row in self._all(some, ("id", kind) if kind != "id" else ("id",)):
                    if (number := int.from_bytes(digest(row)[:8], "big")) % shares == share:
                        hashes.append(number)
                values, counts = np.unique(np.frombuffer(hashes, np.uint64), return_counts=True) if hashes else ((), ())
                if repeated := {int(value) for value, count in zip(values, counts, strict=True) if count > 1}:
                    async for remark in self._repeated(word, some, repeated, digest):
                        yield remark

    async def _repeated(
        self, word: Word, files: Sequence[File], repeated: set[int], digest: Callable[[dict[str, Any]], bytes]
    ) -> AsyncIterator[Remark]:
        """Name them; the whole digest decides."""
        first: dict[bytes, str] = {}
        columns = ("id", "url", "text") if word is Word.TEXT_TWICE else ("id", "url")
        async for name, row in self._all(files, columns):
            whole = digest(row)
            if int.from_bytes(whole[:8], "big") not in repeated:
                continue
            place = f"{name}: {row['id']}"
            if whole in first:
                yield Remark(word, row["url"], f"{place}, and {first[whole]}")
            else:
                first[whole] = place

    async def _all(self, files: Sequence[File], columns: Sequence[str]) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        for file in files:
            async for rows in read.rows(self._stores.blobs, file.name, columns):
                for row in rows:
                    yield file.name, row


def _files_of(segment: Segment) -> Iterator[tuple[str, int, bool]]:
    """The files of a segment that is not in a shard yet, and their rows."""
    if not segment.compacted and segment.documents:
        yield f"{SEGMENTS}{segment.name}.parquet", segment.documents, False
    if not segment.compacted and (removed := sum(segment.removed.values())):
        yield f"{SEGMENTS}{segment.name}.removed.parquet", removed, True


def _placed(name: str, there: set[str]) -> str:
    """Where a file of the corpus lies: one that was made anew may still be where it was made."""
    return ANEW + name if CORPUS + name not in there and ANEW + name in there else CORPUS + name


def _rows_of(segment: Segment, removed: bool) -> int:
    return sum(segment.removed.values()) if removed else segment.documents


def _stem(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".parquet")


def _hash_of_id(row: dict[str, Any]) -> bytes:
    return xxhash.xxh3_128_digest(row["id"].encode())


def _capture(row: dict[str, Any]) -> Captured:
    place = msgspec.json.decode(row["metadata"], type=_Place)
    position = Position(row["file_path"], place.warc_record_offset, place.warc_record_length)
    return row["url"], datetime.fromisoformat(row["date"]).timestamp(), position
