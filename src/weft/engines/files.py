"""Journals as files, and what makes a file durable. Sealed journals go to a `Shelf`: the blobs of `engines/objects`.

A write is in the page cache when it returns and so survives SIGKILL; only fsync of the file, and of the folder that
names it, survives loss of power. The fsync is an argument, so that a test can count and cut.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar

from weft.engines.limits import check_blob_name, is_blob_name
from weft.errors import EngineError, Missing, Unavailable

Fsync: TypeAlias = Callable[[int], None]
Result = TypeVar("Result")

_SEALING: Final = "it is being sealed"
OPEN: Final = "+open"  # '+' is in no blob's name, so an open journal is never taken for a blob


class Shelf(Protocol):
    """Where sealed journals go."""

    async def has(self, name: str) -> bool: ...

    async def adopt(self, name: str, path: Path) -> None:
        """Make the finished, synced file at `path` the blob `name`; the file is gone afterwards."""
        ...


class FileJournal:
    """One open file. Appends go to the page cache at once; syncs run in a thread."""

    def __init__(self, name: str, descriptor: int, journals: "FileJournals") -> None:
        self._name = name
        self._descriptor = descriptor
        self._journals = journals
        self._end = os.fstat(descriptor).st_size
        self._fault = ""

    @property
    def name(self) -> str:
        return self._name

    async def append(self, chunk: bytes) -> int:
        self._usable()
        position = self._end
        with mapping(self._name):
            # At a position of our own: after a failure halfway (a full disk) the next append writes over the stump.
            left = memoryview(chunk)
            while left:
                left = left[os.pwrite(self._descriptor, left, position + len(chunk) - len(left)) :]
        self._end = position + len(chunk)
        return position

    async def sync(self) -> int:
        self._usable()
        return await self._sync()

    async def _sync(self) -> int:
        end = self._end
        try:
            await self._journals.in_thread(lambda: self._journals.fsync(self._descriptor), self._name)
        except EngineError:
            # The kernel may have dropped the pages it could not write, and would call the next sync a success.
            self._fault = "a sync failed"
            raise
        return end

    async def read(self, start: int, end: int) -> bytes:
        self._usable()
        length = max(0, min(end, self._end) - start)
        return await self._journals.in_thread(lambda: os.pread(self._descriptor, length, start), self._name)

    async def cut(self, length: int) -> None:
        self._usable()
        self._truncate(length)
        await self._sync()

    def _truncate(self, length: int) -> None:
        with mapping(self._name):  # not in a thread, where it might fall behind a later append
            os.ftruncate(self._descriptor, min(length, self._end))
        self._end = min(length, self._end)

    async def seal(self) -> str:
        self._usable()
        self._fault = _SEALING
        try:
            self._truncate(self._end)  # a failed append may have left a stump
            await self._sync()
            await self._journals.publish(self._name)
        except BaseException:
            if self._fault == _SEALING:
                self._fault = ""  # it can be sealed again, when the shelf is back
            raise
        self.close("it is sealed")
        return self._name

    def close(self, why: str) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._fault = -1, why

    def _usable(self) -> None:
        if self._fault:
            raise EngineError(f"journal {self._name} cannot be used: {self._fault}")


class FileJournals:
    """Journals under one folder, each a file `NAME+open` until it is sealed."""

    def __init__(self, root: Path, shelf: Shelf, fsync: Fsync = os.fsync) -> None:
        self._root = root.absolute()
        self._shelf = shelf
        self.fsync = fsync
        self._open: dict[str, FileJournal] = {}
        self._opening = asyncio.Lock()
        self._disk = ThreadPoolExecutor(2, thread_name_prefix="journal-sync")

    async def open(self, name: str) -> FileJournal:
        check_blob_name(name)
        async with self._opening:
            if name not in self._open:
                self._open[name] = await self._opened(name)
            return self._open[name]

    async def _opened(self, name: str) -> FileJournal:
        path = self._path(name)
        # A file that is still here outranks its blob: it was cut off while being sealed, and will be sealed again.
        if not path.exists() and await self._shelf.has(name):
            raise EngineError(f"journal {name} cannot be used: it is sealed")
        descriptor = await self.in_thread(lambda: self._create(path), name)
        return FileJournal(name, descriptor, self)

    def _create(self, path: Path) -> int:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # let go by the kernel when its owner dies
        except BlockingIOError as error:
            os.close(descriptor)
            raise Unavailable(f"{path} is in use by another process") from error
        sync_folders(path.parent, self._root.parent, self.fsync)
        return descriptor

    async def unsealed(self) -> list[str]:
        names = await self.in_thread(lambda: [self._name(path) for path in self._root.rglob("*" + OPEN)], "journals")
        return sorted(name for name in names if is_blob_name(name))

    async def publish(self, name: str) -> None:
        await self._shelf.adopt(name, self._path(name))
        del self._open[name]

    async def in_thread(self, work: Callable[[], Result], name: str) -> Result:
        with mapping(name):
            return await asyncio.get_running_loop().run_in_executor(self._disk, work)

    async def close(self) -> None:
        await asyncio.to_thread(self._disk.shutdown)
        for journal in self._open.values():
            journal.close("it is closed")

    def _path(self, name: str) -> Path:
        return self._root / (name + OPEN)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix().removesuffix(OPEN)


def sync_folders(folder: Path, top: Path, fsync: Fsync) -> None:
    """Make the names in `folder` durable, and in every folder above it up to `top`."""
    for named in (folder, *folder.parents):
        descriptor = os.open(named, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fsync(descriptor)
        finally:
            os.close(descriptor)
        if named == top:
            break


def write_file(path: Path, data: bytes, fsync: Fsync) -> None:
    """A new file that holds `data`, durable but for its name."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        fsync(file.fileno())


@contextmanager
def mapping(name: str) -> Iterator[None]:
    """The system's errors become ours."""
    try:
        yield
    except FileNotFoundError as error:
        raise Missing(f"{name}: {error.strerror}") from error
    except (PermissionError, IsADirectoryError, NotADirectoryError) as error:
        raise EngineError(f"{name}: {error.strerror}") from error
    except OSError as error:  # a full disk, a failing one, too many open files
        raise Unavailable(f"{name}: {error.strerror or error}") from error
