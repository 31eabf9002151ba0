"""Blobs on an object store, by obstore: `s3://`, `gs://`, `az://` URLs, and `file:` for a folder.

obstore renames local files into place but never syncs them, so a folder's puts and deletes are ours.
"""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import obstore
from obstore import exceptions
from obstore.store import LocalStore, ObjectStore, from_url

from weft.engines.files import Fsync, mapping, sync_folders, write_file
from weft.engines.limits import check_blob_name, is_blob_name
from weft.errors import ConfigError, EngineError, Missing, Unavailable


class ObjectBlobs:
    """Objects of any store obstore knows. The store's own put is atomic and durable."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def put(self, name: str, data: bytes) -> None:
        check_blob_name(name)
        async with _mapping(name):
            await obstore.put_async(self._store, name, data)

    async def get(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        check_blob_name(name)
        async with _mapping(name):
            if start == 0 and end is None:
                whole = await obstore.get_async(self._store, name)
                return (await whole.bytes_async()).to_bytes()
            # Stores differ in what they say to a range that is empty or beyond the end: ask only for what is there.
            size = (await obstore.head_async(self._store, name))["size"]
            stop = size if end is None else min(end, size)
            if start >= stop:
                return b""
            part = await obstore.get_range_async(self._store, name, start=start, end=stop)
            return part.to_bytes()

    async def list(self, prefix: str = "") -> list[tuple[str, int]]:
        folder, _, _ = prefix.rpartition("/")  # stores list by whole folders
        found: list[tuple[str, int]] = []
        async with _mapping(prefix):
            async for chunk in obstore.list(self._store, prefix=folder or None, chunk_size=1000):
                found += [(meta["path"], meta["size"]) for meta in chunk]
        return sorted((name, size) for name, size in found if name.startswith(prefix) and is_blob_name(name))

    async def delete(self, names: Sequence[str]) -> None:
        for name in names:
            check_blob_name(name)
        async with _mapping(f"{len(names)} blobs"):
            try:
                await obstore.delete_async(self._store, names)
            except FileNotFoundError:  # some stores stop at the first that does not exist
                for name in names:
                    with suppress(FileNotFoundError):
                        await obstore.delete_async(self._store, name)

    async def move(self, name: str, to: str) -> None:
        check_blob_name(name)
        check_blob_name(to)
        async with _mapping(name):
            await obstore.head_async(self._store, name)  # stores differ in what they say to a copy of nothing
            if name != to:
                await obstore.rename_async(self._store, name, to)

    async def has(self, name: str) -> bool:
        try:
            async with _mapping(name):
                await obstore.head_async(self._store, name)
        except Missing:
            return False
        return True

    async def adopt(self, name: str, path: Path) -> None:
        """Upload the file, in parts if it is large, then remove it."""
        async with _mapping(name):
            await obstore.put_async(self._store, name, path)
        await asyncio.to_thread(path.unlink)


class FolderBlobs(ObjectBlobs):
    """Objects as files under a folder."""

    def __init__(self, root: Path, fsync: Fsync = os.fsync) -> None:
        with mapping(str(root)):
            root.mkdir(parents=True, exist_ok=True)
            super().__init__(cast("ObjectStore", LocalStore(root)))
        self.root = root.absolute()
        self._fsync = fsync
        self._numbers = itertools.count()
        self._named: set[Path] = set()  # folders whose own names are durable already

    async def put(self, name: str, data: bytes) -> None:
        check_blob_name(name)
        target = self.root / name
        draft = target.with_name(f"{target.name}+new-{os.getpid()}-{next(self._numbers)}")

        def work() -> None:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                write_file(draft, data, self._fsync)
                self._place(draft, target)
            finally:
                draft.unlink(missing_ok=True)

        await self._in_thread(work, name)

    async def adopt(self, name: str, path: Path) -> None:
        target = self.root / name

        def work() -> None:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._place(path, target)

        await self._in_thread(work, name)

    def _place(self, path: Path, target: Path) -> None:
        path.replace(target)
        folder = target.parent
        sync_folders(folder, folder if folder in self._named else self.root.parent, self._fsync)
        self._named.add(folder)

    async def delete(self, names: Sequence[str]) -> None:
        for name in names:
            check_blob_name(name)
        paths = [self.root / name for name in names]

        def work() -> None:
            for path in paths:
                path.unlink(missing_ok=True)
            for folder in {path.parent for path in paths if path.parent.exists()}:
                sync_folders(folder, folder, self._fsync)

        await self._in_thread(work, f"{len(paths)} blobs")

    async def move(self, name: str, to: str) -> None:
        check_blob_name(name)
        check_blob_name(to)
        target = self.root / to

        def work() -> None:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._place(self.root / name, target)
            sync_folders((self.root / name).parent, (self.root / name).parent, self._fsync)

        await self._in_thread(work, name)

    async def _in_thread(self, work: Callable[[], None], name: str) -> None:
        with mapping(name):
            await asyncio.to_thread(work)


def open_objects(url: str) -> ObjectBlobs:
    """Credentials come from the environment, as each store's own tools read them."""
    try:
        return ObjectBlobs(from_url(url))
    except (exceptions.BaseError, ValueError) as error:
        raise ConfigError(f"{url}: {_line(error)}") from error


@asynccontextmanager
async def _mapping(name: str) -> AsyncIterator[None]:
    """obstore's errors become ours."""
    try:
        yield
    except FileNotFoundError as error:
        raise Missing(f"no blob {name}") from error
    except (exceptions.UnauthenticatedError, exceptions.UnknownConfigurationKeyError) as error:
        raise ConfigError(f"{name}: {_line(error)}") from error
    except (exceptions.GenericError, exceptions.JoinError, OSError) as error:
        raise Unavailable(f"{name}: {_line(error)}") from error
    except (exceptions.BaseError, ValueError) as error:
        raise EngineError(f"{name}: {_line(error)}") from error


def _line(error: Exception) -> str:
    """What obstore says, without the dump of its inside that follows."""
    return str(error).partition("\n")[0]
