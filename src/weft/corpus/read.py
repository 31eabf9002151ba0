"""Documents read back from Parquet files among the blobs, a row group at a time. Called by corpus, for people."""

import asyncio
import io
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from weft.ports import Blobs
from weft.records import Document, Language

_WANTED = [
    "id",
    "url",
    "date",
    "text",
    "title",
    "language",
    "language_script",
    "language_score",
    "file_path",
    "metadata",
]


class _BlobFile(io.RawIOBase):
    """A blob as a seekable file, for pyarrow in a thread: each read is asked of the loop that owns the blobs."""

    def __init__(self, blobs: Blobs, name: str, size: int, loop: asyncio.AbstractEventLoop) -> None:
        self._blobs, self._name, self._size, self._loop = blobs, name, size, loop
        self._offset = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._offset, io.SEEK_END: self._size}[whence]
        self._offset = origin + offset
        return self._offset

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._size, self._offset + size)
        wanted = self._blobs.get(self._name, self._offset, end)
        data = asyncio.run_coroutine_threadsafe(wanted, self._loop).result()
        self._offset += len(data)
        return data


async def documents(blobs: Blobs, names: Sequence[str], limit: int | None) -> AsyncIterator[Document]:
    """All documents of these files, in order, at most `limit`."""
    left = limit
    for name in names:
        async for some in rows(blobs, name, _WANTED):
            for row in some if left is None else some[:left]:
                yield _document(row)
            left = None if left is None else left - min(left, len(some))
            if left == 0:
                return


async def rows(blobs: Blobs, name: str, columns: Sequence[str]) -> AsyncIterator[list[dict[str, Any]]]:
    """These columns of one file, a row group at a time."""
    groups = _groups(_BlobFile(blobs, name, await _size(blobs, name), asyncio.get_running_loop()), columns)
    while (some := await asyncio.to_thread(next, groups, None)) is not None:
        yield some


async def _size(blobs: Blobs, name: str) -> int:
    return next(size for found, size in await blobs.list(name) if found == name)


def _groups(file: _BlobFile, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    parquet = pq.ParquetFile(pa.PythonFile(file, mode="r"))
    for number in range(parquet.num_row_groups):
        yield parquet.read_row_group(number, columns=list(columns)).to_pylist()


def _document(row: dict[str, Any]) -> Document:
    return Document(
        id=row["id"],
        url=row["url"],
        date=datetime.fromisoformat(row["date"]).timestamp(),
        text=row["text"],
        title=row["title"],
        language=Language(row["language"], row["language_script"], row["language_score"]),
        file_path=row["file_path"],
        metadata=row["metadata"],
        extractor=msgspec.json.decode(row["metadata"], type=_Extractor).extractor,
    )


class _Extractor(msgspec.Struct):
    extractor: str = ""
