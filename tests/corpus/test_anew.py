"""A corpus made anew beside the old one: whichever counts is whole, at every moment and whatever is cut short."""

import pytest

from tests.corpus.material import Disk, refined
from weft.corpus.corpus import Refined
from weft.killpoints import REFINING, KillPoints

OLD = [refined(number) for number in range(30)]
NEW = [refined(number, text=f"Page {number} told better.") for number in range(31)]


class DiedError(Exception):
    """In place of a kill."""


class Deadly(KillPoints):
    """Ends the test's process where a kill would."""

    def __init__(self, moment: str) -> None:
        super().__init__()
        self._moment, _, count = moment.partition(":")
        self._count = int(count or 1)

    def reach(self, name: str) -> None:
        self._count -= name == self._moment
        if name == self._moment and self._count == 0:
            raise DiedError(name)


async def with_old(shard_bytes: int = 8_000) -> Disk:
    disk = Disk(shard_bytes)
    corpus = await disk.corpus()
    for start in range(0, 30, 10):
        await corpus.commit(OLD[start : start + 10])
    await corpus.compact(final=True)
    return disk


async def texts(disk: Disk) -> list[str]:
    return sorted(str(row["text"]) for row in await disk.data())


async def make(disk: Disk, killpoints: KillPoints | None = None) -> None:
    corpus = await disk.anew(killpoints)
    for start in range(0, 31, 10):
        await corpus.commit(NEW[start : start + 10])
        await corpus.compact()
    await corpus.take_place()


def wanted(pages: list[Refined]) -> list[str]:
    return sorted(page.text for _, page in pages)


async def test_it_takes_the_place_of_the_old_one_and_leaves_nothing_behind() -> None:
    disk = await with_old()
    for _ in range(3):  # to the other side, and back
        await make(disk)
        assert await texts(disk) == wanted(NEW)
        corpus = await disk.corpus()
        assert corpus.counts().documents == 31
        findings = await corpus.commit([NEW[3], refined(99, text=NEW[4][1].text)])
        assert [finding.removal and finding.removal.value for finding in findings] == [None, "duplicate-text"]
        assert corpus.counts().documents == 31
        assert len([document async for document in corpus.documents()]) == 31
    assert await disk.blobs.list("corpus/anew/") == []


async def test_until_then_the_old_one_is_untouched_and_stays_when_it_is_given_up() -> None:
    disk = await with_old()
    before = await disk.blobs.list("corpus/")
    anew = await disk.anew()
    await anew.commit(NEW[:25])
    await anew.compact(final=True)
    assert [row for row in await disk.blobs.list("corpus/") if "/anew/" not in row[0]] == before
    await anew.give_up()
    corpus = await disk.corpus()
    assert await texts(disk) == wanted(OLD)
    findings = await corpus.commit([OLD[2], refined(50, text=OLD[3][1].text)])
    assert [finding.removal and finding.removal.value for finding in findings] == [None, "duplicate-text"]
    assert await disk.blobs.list("corpus/anew/") == []


async def test_half_a_shard_of_one_that_was_given_up_is_dropped() -> None:
    disk = await with_old()
    await disk.anew()
    await (await disk.journals.open("corpus/anew/data/main2-00000001-abcdef00.parquet")).append(b"half")
    await disk.corpus()
    assert await disk.blobs.list("corpus/anew/") == []
    assert await disk.journals.unsealed() == []


MOMENTS = [*REFINING, *(f"corpus.{word}:2" for word in ("written", "fingerprinted", "registered", "compacted"))]


@pytest.mark.parametrize("moment", [*MOMENTS, "corpus.cleared:2", "corpus.cleared:3"])
async def test_cut_short_anywhere_one_of_the_two_is_whole_after_the_next_start(moment: str) -> None:
    disk = await with_old()
    with pytest.raises(DiedError):
        await make(disk, Deadly(moment))
    rows = [row["id"] for row in await disk.data()]
    assert len(rows) == len(set(rows)), "nobody sees a row twice"
    taken = moment.partition(":")[0] in ("corpus.taken", "corpus.cleared", "corpus.moved")
    corpus = await disk.corpus()
    assert await texts(disk) == wanted(NEW if taken else OLD)
    assert corpus.counts().documents == (31 if taken else 30)
    assert await disk.blobs.list("corpus/anew/") == []
    await make(disk)
    assert await texts(disk) == wanted(NEW)
    assert [name for name, _ in await disk.blobs.list("corpus/segments/")] == []
