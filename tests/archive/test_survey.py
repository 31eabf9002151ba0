"""A whole archive told again: damage costs the records it hit, is named, and nothing behind it is lost."""

import random

import pytest

from tests.archive.material import Disk, answers
from weft.archive.member import first
from weft.archive.retelling import Retelling
from weft.archive.store import Archive
from weft.archive.survey import Lost

PAGES = 20


async def archive_of(disk: Disk) -> tuple[str, list[str]]:
    """One sealed file; its name and the ids of its pages."""
    archive = disk.archive()
    stored = await archive.store(answers(PAGES))
    await archive.checkpoint(stored)
    await archive.close()
    ((name, _),) = await disk.blobs.list("raw/")
    return name, [one.id for one in stored.announcements]


def starts(data: bytes) -> list[int]:
    """Where each record begins."""
    places, place = [], 0
    while place < len(data):
        places.append(place)
        whole = first(data[place:], 1 << 20)
        assert whole
        place += whole.length
    return places


async def told(archive: Archive) -> tuple[list[str], list[Lost]]:
    ids: list[str] = []
    lost: list[Lost] = []
    async for one in archive.survey():
        if isinstance(one, Lost):
            lost.append(one)
        else:
            ids += [announcement.id for announcement in one]
    return ids, lost


async def test_all_of_it_is_told_once() -> None:
    disk = Disk()
    _, ids = await archive_of(disk)
    archive = disk.archive()
    await archive.store(answers(3, PAGES))  # in a file that is not sealed
    found, lost = await told(archive)
    assert set(ids) < set(found)
    assert len(found) == len(set(found)) == PAGES + 3
    assert lost == []


@pytest.mark.parametrize(
    ("hurt", "gone", "records"),
    [
        ((20, 21), [6], 1),  # the answer of page 6: records are warcinfo, then three to a page
        ((21, 22), [6], 1),  # its metadata, so that nobody knows what it was
        ((19, 22), [6], 3),
        ((20, 23), [6], 3),
        ((20, 24), [6, 7], 1),  # as many as there must have been: here four, by the order of kinds at least one
        ((0, 1), [], 1),
        ((58, 61), [19], 1),  # to the end of the file: how many there were cannot be known
    ],
)
async def test_damage_costs_the_pages_it_hit(hurt: tuple[int, int], gone: list[int], records: int) -> None:
    disk = Disk()
    name, ids = await archive_of(disk)
    data = bytearray(await disk.blobs.get(name))
    places = [*starts(bytes(data)), len(data)]
    begin, end = places[hurt[0]], places[hurt[1]]
    data[begin:end] = random.Random(1).randbytes(end - begin)
    await disk.blobs.put(name, bytes(data))
    found, lost = await told(disk.archive())
    assert found == [identity for number, identity in enumerate(ids) if number not in gone]
    assert lost == [Lost(name, begin, records)]
    await disk.archive().read([])  # nothing of it is kept open


@pytest.mark.parametrize("seed", range(30))
async def test_300_garbled_bytes_anywhere_cost_their_neighbours_only(seed: int) -> None:
    disk = Disk()
    name, ids = await archive_of(disk)
    data = bytearray(await disk.blobs.get(name))
    chance = random.Random(seed)
    place = chance.randrange(len(data) - 300)
    data[place : place + 300] = chance.randbytes(300)
    await disk.blobs.put(name, bytes(data))
    archive = disk.archive()
    found, lost = await told(archive)
    assert len(found) >= PAGES - 2
    assert found == [identity for identity in ids if identity in found]
    assert sum(gap.records for gap in lost) >= 1
    for gap in lost:
        assert place - 2000 < gap.offset < place + 300


async def test_a_file_cut_off_is_told_up_to_there() -> None:
    disk = Disk()
    name, ids = await archive_of(disk)
    data = await disk.blobs.get(name)
    places = starts(data)
    await disk.blobs.put(name, data[: places[31] - 10])
    found, lost = await told(disk.archive())
    assert found == ids[:9]
    assert lost == [Lost(name, places[30], 1)]
    await disk.blobs.put(name, b"no WARC file at all" * 1000)
    assert await told(disk.archive()) == ([], [Lost(name, 0, 1)])


async def test_damage_longer_than_a_window() -> None:
    disk = Disk()
    name, ids = await archive_of(disk)
    data = await disk.blobs.get(name)
    half = starts(data)[31]
    await disk.blobs.put(name, data[:half] + random.Random(2).randbytes(3_000_001) + data[half:])
    found, lost = await told(disk.archive())
    assert found == ids
    assert [(gap.offset, gap.records) for gap in lost] == [(half, 3)]


async def test_the_queue_hands_out_everything_once_and_knows_when_that_is_done() -> None:
    disk = Disk()
    _, ids = await archive_of(disk)
    queue = Retelling(disk.archive().survey(), disk.clock)
    assert await queue.size()
    messages = await queue.receive(100)
    assert [one.id for message in messages for one in Archive.announcements(message.body)] == ids
    assert await queue.receive(1) == []
    assert await queue.size() == len(messages)
    await queue.ack(messages)
    assert await queue.size() == 0
