"""The check of a corpus: every row once however many passes it takes, segments beside shards, a corpus on its way."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tests.corpus.material import Disk, refined
from weft.checked import Word
from weft.corpus import schema
from weft.corpus.checking import PASS, Checking, Stores, Witnesses
from weft.corpus.registry import Registry
from weft.corpus.sides import standing
from weft.killpoints import KillPoints
from weft.parse.fingerprint import text_digest


async def yes(asked: Sequence[Any]) -> list[bool]:
    return [True] * len(asked)


async def no(asked: Sequence[Any]) -> list[bool]:
    return [False] * len(asked)


async def said_of(disk: Disk, witnesses: Witnesses, at_once: int = PASS) -> Counter[Word]:
    registry = Registry(disk.table, (await standing(disk.table)).live)
    await registry.load()
    stores = Stores(disk.journals, disk.blobs, disk.table, registry)
    return Counter([remark.word async for remark in Checking(stores, witnesses, Counter(), at_once).remarks()])


ALL_WELL = Witnesses(yes, yes, yes, text_digest)


async def filled(final: bool = True) -> Disk:
    """Two segments in a shard, and two beside it if they are not to be final."""
    disk = Disk()
    corpus = await disk.corpus()
    for start in (0, 10, 20, 30):
        await corpus.commit([refined(number) for number in range(start, start + 10)] + [refined(start + 9, text="")])
        if start == 10 or final:
            await corpus.compact(final=True)
    return disk


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("at_once", [PASS, 7])
async def test_a_corpus_is_sound(final: bool, at_once: int) -> None:
    assert not await said_of(await filled(final), ALL_WELL, at_once)


@pytest.mark.parametrize("at_once", [PASS, 7, 1])
async def test_a_row_is_found_twice_in_two_files(at_once: int) -> None:
    disk = await filled()
    name, other, *_ = [name for name, _ in await disk.blobs.list("corpus/data/")]
    rows = await disk.rows(name)
    more = [*await disk.rows(other), rows[4]]
    await disk.blobs.put(other, schema.encode(more, schema.DOCUMENTS))
    found = await said_of(disk, ALL_WELL, at_once)
    assert found == {Word.ROWS_WRONG: 1, Word.ROW_TWICE: 1, Word.TEXT_TWICE: 1}


async def test_witnesses_are_asked_of_every_row() -> None:
    found = await said_of(await filled(), Witnesses(no, no, no, text_digest))
    assert found == {Word.CAPTURE_MISSING: 40, Word.UNKNOWN_URL: 40, Word.NO_FINGERPRINT: 40}


async def test_a_shard_that_is_gone_is_told_from_its_neighbours() -> None:
    disk = await filled()
    names = [name for name, _ in await disk.blobs.list("corpus/data/")]
    await disk.blobs.delete([names[2]])
    assert (await said_of(disk, ALL_WELL))[Word.ROWS_WRONG] >= 1


class Died(Exception):
    pass


class DyingAt(KillPoints):
    """Raises where a process would be killed."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def reach(self, name: str) -> None:
        if name == self._name:
            raise Died


@pytest.mark.parametrize("name", ["corpus.made", "corpus.taken", "corpus.cleared", "corpus.moved"])
async def test_a_corpus_made_anew_and_cut_short_is_sound(name: str) -> None:
    disk = await filled()
    anew = await disk.anew(DyingAt(name))
    await anew.commit([refined(number) for number in range(40)])
    with pytest.raises(Died):
        await anew.take_place()
    found = await said_of(disk, ALL_WELL)
    assert {word.sort.value for word in found} == {"leftover"}


@pytest.mark.parametrize("name", ["corpus.written", "corpus.fingerprinted"])
async def test_a_commit_cut_short_is_sound(name: str) -> None:
    disk = await filled(final=False)
    corpus = await disk.corpus(DyingAt(name))
    with pytest.raises(Died):
        await corpus.commit([refined(50)])
    assert await said_of(disk, ALL_WELL) == {Word.UNREGISTERED: 1}


async def test_a_compaction_cut_short_is_sound() -> None:
    disk = await filled(final=False)
    corpus = await disk.corpus(DyingAt("corpus.compacted"))
    with pytest.raises(Died):
        await corpus.compact(final=True)
    assert {word.sort.value for word in await said_of(disk, ALL_WELL)} == {"leftover"}
