"""Opens engines by URL. The composition root calls these; relative paths are under `root`, the crawl's DIR.

A `rocksdb:` folder holds a database of its own for the table and for each queue. Journals go where the blobs are; if
those are remote, journals grow in `root/spool` and are uploaded when sealed.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from weft.clock import SystemClock
from weft.engines.files import FileJournals
from weft.engines.memory import MemoryBlobs, MemoryJournals, MemoryQueue, MemoryTable
from weft.engines.objects import FolderBlobs, ObjectBlobs, open_objects
from weft.engines.redis import check_redis, open_redis_queue, open_redis_table
from weft.engines.rocksdb import RocksTable, is_made
from weft.engines.rocksqueue import RocksQueue, waiting
from weft.errors import ConfigError, Unavailable
from weft.ports import Blobs, Clock, Journals, Queue, Table

REDIS = ("redis", "rediss", "unix")
OBJECTS = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss")


async def open_table(url: str, root: Path, memory: int = 256 << 20, *, read_only: bool = False) -> Table:
    """`memory`: bytes of cache, for an embedded engine. `read_only`: to look at it while another process writes."""
    scheme, rest = _split(url)
    if scheme == "rocksdb":
        path = root / rest / "table"
        if read_only and not is_made(path):
            return MemoryTable()
        # It waits only for its disk, and that on the real clock whatever clock the crawl runs on.
        return await asyncio.to_thread(RocksTable, path, SystemClock(), memory, read_only=read_only)
    if scheme in REDIS:
        return await open_redis_table(url)
    if scheme == "memory":
        return MemoryTable()
    raise _unknown_state(url)


async def open_queue(url: str, name: str, term: float, root: Path, clock: Clock) -> Queue:
    """`term`: seconds for which a received message is hidden."""
    scheme, rest = _split(url)
    if scheme == "rocksdb":
        return await asyncio.to_thread(RocksQueue, root / rest / f"queue-{name}", clock, term)
    if scheme in REDIS:
        return await open_redis_queue(url, name, term, await asyncio.to_thread(_consumer, root))
    if scheme == "memory":
        return MemoryQueue(clock, term)
    raise _unknown_state(url)


async def messages_at_rest(url: str, name: str, root: Path) -> AsyncIterator[list[bytes]]:
    """What waits in an embedded queue that nobody has open, without receiving it. A server's queue has no such view."""
    scheme, rest = _split(url)
    path = root / rest / f"queue-{name}"
    if scheme == "rocksdb" and is_made(path):
        async for bodies in waiting(path):
            yield bodies


async def open_blobs(url: str, root: Path) -> Blobs:
    scheme, rest = _split(url)
    if scheme == "file":
        return FolderBlobs(root / rest.removeprefix("//"))
    if scheme in OBJECTS:
        return open_objects(url)
    if scheme == "memory":
        return MemoryBlobs()
    raise _unknown_blobs(url)


async def open_journals(blobs: Blobs, root: Path) -> Journals:
    """Journals that are sealed into `blobs`, which came from `open_blobs`."""
    if isinstance(blobs, MemoryBlobs):
        return MemoryJournals(blobs)
    if isinstance(blobs, FolderBlobs):
        return FileJournals(blobs.root, blobs)
    if isinstance(blobs, ObjectBlobs):
        return FileJournals(root / "spool", blobs)
    raise ConfigError(f"no journals can be sealed into {type(blobs).__name__}")


def check(state: str, blobs: str) -> None:
    """Refuse URLs by which nothing can be opened. Nothing is opened; a server of the state is greeted."""
    if _split(state)[0] in REDIS:
        check_redis(state)
    elif _split(state)[0] not in ("rocksdb", "memory"):
        raise _unknown_state(state)
    if _split(blobs)[0] in OBJECTS:
        open_objects(blobs)
    elif _split(blobs)[0] not in ("file", "memory"):
        raise _unknown_blobs(blobs)


def _consumer(root: Path) -> str:
    """Who receives for this DIR: one process at a time, as DIR is locked, and under the same name after a kill."""
    file = root / "state" / "consumer"
    try:
        if file.exists() and (name := file.read_text()):
            return name
        file.parent.mkdir(parents=True, exist_ok=True)
        name = secrets.token_hex(8)
        file.write_text(name)
    except OSError as error:
        raise Unavailable(f"{file}: {error.strerror}") from error
    return name


def _split(url: str) -> tuple[str, str]:
    scheme, _, rest = url.partition(":")
    return scheme.lower(), rest


def _unknown_state(url: str) -> ConfigError:
    return _unknown(url, "rocksdb:PATH", "redis://HOST:PORT/DB", "memory:")


def _unknown_blobs(url: str) -> ConfigError:
    return _unknown(url, "file:PATH", "s3://BUCKET/PREFIX", "gs://…", "az://…", "memory:")


def _unknown(url: str, *known: str) -> ConfigError:
    return ConfigError(f"no storage for {url!r}: use {', '.join(known)}")
