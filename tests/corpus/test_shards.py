"""Compaction, interrupted where it hurts: no row is lost, doubled or seen twice."""

import asyncio

import pytest

from tests.corpus.material import Disk, refined
from weft.corpus.corpus import Corpus
from weft.killpoints import KillPoints
from weft.ports import Journal, Journals


class Interrupted(BaseException):
    """The process is dead."""


class Interrupting(KillPoints):
    """Dies by an exception, so that the test lives on."""

    def reach(self, name: str) -> None:
        if name == "corpus.compacted":
            raise Interrupted


async def filled(disk: Disk, killpoints: KillPoints | None = None) -> Corpus:
    corpus = await disk.corpus(killpoints)
    for batch in range(4):
        await corpus.commit([refined(batch * 5 + number) for number in range(5)])
    return corpus


async def complete(disk: Disk, corpus: Corpus) -> None:
    """After the restart, more documents and the end of the crawl."""
    await corpus.commit([refined(100)])
    await corpus.compact(final=True)
    rows = [row["id"] for row in await disk.data()]
    assert len(rows) == len(set(rows)) == 21
    assert await disk.blobs.list("corpus/segments/") == []
    assert await disk.journals.unsealed() == []


async def test_a_shard_that_is_not_yet_registered_is_not_shown_twice() -> None:
    disk = Disk()
    corpus = await filled(disk, Interrupting())
    with pytest.raises(Interrupted):
        await corpus.compact(final=True)
    assert len(await disk.data()) == 20
    assert len([document async for document in corpus.documents()]) == 20
    await complete(disk, await disk.corpus())


class DyingJournal:
    """A journal whose process dies in the middle of an append."""

    def __init__(self, journal: Journal) -> None:
        self.name = journal.name
        self.sync, self.read, self.cut, self.seal = journal.sync, journal.read, journal.cut, journal.seal
        self._journal = journal

    async def append(self, chunk: bytes) -> int:
        await self._journal.append(chunk[: len(chunk) // 2])
        raise Interrupted


class DyingJournals:
    """Leaves what was written to the next process."""

    def __init__(self, journals: Journals) -> None:
        self._journals = journals
        self.unsealed, self.close = journals.unsealed, journals.close

    async def open(self, name: str) -> Journal:
        return DyingJournal(await self._journals.open(name))


async def test_a_half_written_shard_is_written_anew() -> None:
    disk = Disk()
    healthy, disk.journals = disk.journals, DyingJournals(disk.journals)
    corpus = await filled(disk)
    with pytest.raises(Interrupted):
        await corpus.compact(final=True)
    disk.journals = healthy
    assert await disk.data() == []
    (half,) = await disk.journals.unsealed()
    assert await (await disk.journals.open(half)).read(0, 4) == b"PAR1"
    await complete(disk, await disk.corpus())


async def test_segments_committed_while_a_shard_is_written_go_to_the_next() -> None:
    disk = Disk()
    corpus = await filled(disk)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(corpus.compact(final=True))
        tasks.create_task(corpus.commit([refined(200)]))
    assert corpus.counts().documents == 21
    await corpus.compact(final=True)
    rows = [row["id"] for row in await disk.data()]
    assert len(rows) == len(set(rows)) == 21
