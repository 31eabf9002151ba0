"""The check of an archive: open files and sealed ones, what a crash owes and what is damage."""

from collections import Counter

from tests.archive.material import Disk, answers
from weft.archive.checking import Checking, Stores
from weft.archive.member import first
from weft.archive.store import index_key
from weft.checked import Word
from weft.ports import Delete

PAGES = 20


async def said_of(disk: Disk) -> Counter[Word]:
    checking = Checking(Stores(disk.journals, disk.blobs, disk.table), Counter())
    return Counter([remark.word async for remark in checking.remarks()])


async def sealed() -> tuple[Disk, str]:
    disk = Disk()
    archive = disk.archive()
    await archive.checkpoint(await archive.store(answers(PAGES)))
    await archive.close()
    ((name, _),) = await disk.blobs.list("raw/")
    return disk, name


async def unsealed(settled: bool) -> tuple[Disk, str]:
    disk = Disk()
    archive = disk.archive()
    stored = await archive.store(answers(PAGES))
    if settled:
        await archive.checkpoint(stored)
    (name,) = await disk.journals.unsealed()
    return disk, name


def without(data: bytes, record: int) -> bytes:
    """The file without one of its records."""
    place = 0
    for _ in range(record):
        whole = first(data[place:], 1 << 20)
        assert whole
        place += whole.length
    whole = first(data[place:], 1 << 20)
    assert whole
    return data[:place] + data[place + whole.length :]


async def tear(disk: Disk, name: str) -> None:
    journal = await disk.journals.open(name)
    await journal.cut(len(await journal.read(0, 1 << 30)) - 7)


async def forget_one(disk: Disk) -> None:
    _, (capture,) = answers(1)[0]
    await disk.table.write([Delete(index_key(capture.exchange.url, capture.exchange.started))])


async def test_a_whole_file_is_sound() -> None:
    disk, _ = await sealed()
    checked: Counter[str] = Counter()
    checking = Checking(Stores(disk.journals, disk.blobs, disk.table), checked)
    assert [remark async for remark in checking.remarks()] == []
    assert checked == {"warc files": 1, "records": 1 + 3 * PAGES, "captures": PAGES, "index rows": PAGES}
    assert checking.totals == {"fetched": PAGES, "archived": PAGES}


async def test_an_open_file_is_sound() -> None:
    for settled in (True, False):
        disk, _ = await unsealed(settled)
        assert not await said_of(disk)


async def test_the_index_is_owed_behind_the_checkpoint_only() -> None:
    disk, _ = await unsealed(settled=False)
    await forget_one(disk)
    assert await said_of(disk) == {Word.INDEX_OWED: 1}
    disk, _ = await unsealed(settled=True)
    await forget_one(disk)
    assert await said_of(disk) == {Word.NOT_INDEXED: 1}


async def test_an_open_file_may_be_torn_behind_the_checkpoint_only() -> None:
    disk, name = await unsealed(settled=False)
    await tear(disk, name)
    assert await said_of(disk) == {Word.TORN_TAIL: 1}
    disk, name = await unsealed(settled=True)
    await tear(disk, name)
    assert Word.DAMAGED in await said_of(disk)


async def test_an_answer_without_its_metadata() -> None:
    disk, name = await sealed()
    await disk.blobs.put(name, without(await disk.blobs.get(name), 6))
    assert (await said_of(disk))[Word.INCOMPLETE] == 1


async def test_behind_damage_reading_goes_on() -> None:
    disk, name = await sealed()
    data = bytearray(await disk.blobs.get(name))
    data[len(data) // 2] ^= 0xFF
    await disk.blobs.put(name, bytes(data))
    checked: Counter[str] = Counter()
    found = [r.word async for r in Checking(Stores(disk.journals, disk.blobs, disk.table), checked).remarks()]
    assert Word.DAMAGED in found
    assert checked["captures"] >= PAGES - 1
