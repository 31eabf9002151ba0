"""Loss of power: what was synced is on the disk, name and bytes; an engine that lies about it is caught."""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.engines.disk import Disk
from weft.engines.files import FileJournals
from weft.engines.objects import FolderBlobs
from weft.errors import EngineError, Unavailable

Fsync = Callable[[int], None]


async def journal_survives(root: Path, copy: Path, disk: Disk, fsync: Fsync) -> None:
    folder = FolderBlobs(root, fsync)
    journals = FileJournals(root, folder, fsync)
    journal = await journals.open("raw/deep/a.warc.gz")
    await journal.append(b"synced")
    safe = await journal.sync()
    await journal.append(b"lost")
    found = FolderBlobs(disk.after_power_loss(root, copy))
    left = FileJournals(found.root, found)
    assert await left.unsealed() == ["raw/deep/a.warc.gz"]
    again = await left.open("raw/deep/a.warc.gz")
    assert (await again.read(0, 99))[:safe] == b"synced"
    await left.close()
    await journal.seal()
    found = FolderBlobs(disk.after_power_loss(root, copy))
    assert await found.list() == [("raw/deep/a.warc.gz", 10)]
    assert await found.get("raw/deep/a.warc.gz") == b"syncedlost"
    assert await FileJournals(found.root, found).unsealed() == []
    await journals.close()


async def blobs_survive(root: Path, copy: Path, disk: Disk, fsync: Fsync) -> None:
    blobs = FolderBlobs(root, fsync)
    for name in ("corpus/data/1", "corpus/data/2", "corpus/other", "top"):
        await blobs.put(name, b"old")
        await blobs.put(name, name.encode())
        found = FolderBlobs(disk.after_power_loss(root, copy))
        assert await found.get(name) == name.encode()
    await blobs.delete(["corpus/data/1", "top"])
    found = FolderBlobs(disk.after_power_loss(root, copy))
    assert [name for name, _ in await found.list()] == ["corpus/data/2", "corpus/other"]


CHECKS = (journal_survives, blobs_survive)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_what_was_synced_survives(check: Callable[..., object], tmp_path: Path) -> None:
    disk = Disk()
    await check(tmp_path / "crawl", tmp_path / "copy", disk, disk.fsync)  # type: ignore[misc]


def no_files(disk: Disk) -> Fsync:
    """Syncs folders, never a file."""
    return lambda descriptor: disk.fsync(descriptor) if is_folder(descriptor) else None


def no_folders(disk: Disk) -> Fsync:
    """Syncs files, never the folder that names them."""
    return lambda descriptor: None if is_folder(descriptor) else disk.fsync(descriptor)


def is_folder(descriptor: int) -> bool:
    return Path(f"/proc/self/fd/{descriptor}").readlink().is_dir()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("lie", [no_files, no_folders])
async def test_a_sync_that_lies_is_caught(
    check: Callable[..., object], lie: Callable[[Disk], Fsync], tmp_path: Path
) -> None:
    disk = Disk()
    with pytest.raises((AssertionError, EngineError)):
        await check(tmp_path / "crawl", tmp_path / "copy", disk, lie(disk))  # type: ignore[misc]


async def test_a_failed_sync_ends_the_journal(tmp_path: Path) -> None:
    """After a failed fsync the kernel may have dropped the pages: a second one must not say that all is well."""
    healthy = True

    def fsync(descriptor: int) -> None:
        if not healthy:
            raise OSError(5, "Input/output error")
        os.fsync(descriptor)

    journals = FileJournals(tmp_path, FolderBlobs(tmp_path), fsync)
    journal = await journals.open("j")
    await journal.append(b"x")
    healthy = False
    with pytest.raises(Unavailable, match="j: Input/output error"):
        await journal.sync()
    healthy = True
    for use in (journal.sync(), journal.append(b"y"), journal.seal()):
        with pytest.raises(EngineError, match="a sync failed"):
            await use
    await journals.close()
    journals = FileJournals(tmp_path, FolderBlobs(tmp_path))
    assert await (await journals.open("j")).append(b"y") == 1, "reopened, it goes on with what is there"
    await journals.close()


@contextmanager
def small_disk() -> Iterator[None]:
    """No file grows beyond ten bytes: a write is cut short there and the next one fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_full_disk_leaves_no_stump(tmp_path: Path) -> None:
    journals = FileJournals(tmp_path, FolderBlobs(tmp_path))
    journal, other = await journals.open("j"), await journals.open("other")
    for each in (journal, other):
        await each.append(b"before")
    for each in (journal, other):
        with small_disk(), pytest.raises(Unavailable, match="File too large"):
            await each.append(b", too much")
    assert (tmp_path / "j+open").read_bytes() == b"before, to", "there is a stump"
    assert await journal.read(0, 99) == b"before"
    assert await journal.append(b"!") == 6
    for each in (journal, other):
        await each.seal()
    assert (tmp_path / "j").read_bytes() == b"before!"
    assert (tmp_path / "other").read_bytes() == b"before"
    await journals.close()
