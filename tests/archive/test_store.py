"""Durable, announced, found again; and what a crash leaves is neither lost nor fetched twice."""

import io
import random

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from tests.archive.material import HTML, Disk, answer, answers, capture, exchange, outcomes
from weft.archive.announce import unpack
from weft.archive.store import Answer, Archive, Stored, Stores
from weft.engines.torn import Crashed, TornTable
from weft.killpoints import KillPoints
from weft.ports import Queue
from weft.records import Announcement, Kind, Reason


async def announced(pages: Queue) -> list[Announcement]:
    messages = await pages.receive(1000)
    await pages.ack(messages)
    return [one for message in messages for one in unpack(message.body)]


async def settled(archive: Archive, count: int, first: int = 0) -> Stored:
    stored = await archive.store(answers(count, first))
    await archive.checkpoint(stored)
    return stored


async def test_what_is_stored_is_announced_and_read_back() -> None:
    disk = Disk()
    archive = disk.archive()
    batch = answers(5)
    stored = await archive.store(batch)
    assert await announced(disk.pages) == stored.announcements
    assert [one.url for one in stored.announcements] == [captures[0].exchange.url for _, captures in batch]
    read = await archive.read([one.position for one in reversed(stored.announcements)])
    assert [one.id for one in read] == [captures[0].id for _, captures in reversed(batch)]
    assert all(one.exchange.body == HTML and one.exchange.status == 200 for one in read)
    first = stored.announcements[0]
    assert (first.depth, first.inside, first.seed, first.fetched) == (3, 1, True, batch[0][1][0].exchange.started)


async def test_only_whole_good_answers_are_announced() -> None:
    disk = Disk()
    robots = capture(exchange(1), Kind.ROBOTS)
    page = answer(capture(exchange(2)))
    batch = [
        answer(capture(exchange(0, status=404)), Reason.NOT_FOUND),
        (page[0], (robots, page[1][0])),
        answer(robots, Reason.ROBOTS_FETCHED),
        answer(capture(exchange(3), Kind.SITEMAP)),
        answer(capture(exchange(4)), Reason.TRUNCATED),
        (page[0], ()),
    ]
    stored = await disk.archive().store(batch)
    assert [(one.url[-5], one.kind) for one in stored.announcements] == [("2", Kind.PAGE), ("3", Kind.SITEMAP)]
    assert await disk.archive().lookup(exchange(0, status=404).url)


async def test_a_batch_without_captures_writes_nothing() -> None:
    disk = Disk()
    archive = disk.archive()
    await archive.checkpoint(await archive.store([(answers(1)[0][0], ())]))
    assert await disk.files() == {}


async def test_lookup_gives_all_answers_of_a_url_oldest_first() -> None:
    disk = Disk()
    archive = disk.archive()
    late, early = exchange(1), exchange(1, b"before")
    early = type(early)(url=early.url, started=early.started - 50, finished=early.started, status=200, body=b"before")
    await archive.store([answer(capture(late)), answer(capture(early)), *answers(3, 10)])
    found = await archive.read(await archive.lookup(late.url))
    assert [one.exchange.body for one in found] == [b"before", HTML]
    assert await archive.lookup("https://site.example/never") == []


async def test_after_a_crash_all_unsettled_captures_are_announced_again_and_their_outcomes_returned() -> None:
    disk = Disk()
    archive = disk.archive()
    await settled(archive, 3)
    batch = answers(4, 3)
    stored = await archive.store(batch)
    await announced(disk.pages)

    archive = disk.archive()  # the process died here
    recovered = await archive.recover()
    assert recovered.outcomes == outcomes(batch)
    assert recovered.stored.announcements == stored.announcements == await announced(disk.pages)
    assert recovered.torn == 0
    assert await archive.lookup(batch[0][1][0].exchange.url)

    await archive.checkpoint(recovered.stored)
    assert (await disk.archive().recover()).outcomes == []


async def test_a_checkpoint_counts_only_when_all_earlier_batches_are_settled() -> None:
    disk = Disk()
    archive = disk.archive()
    first, second = await archive.store(answers(2)), await archive.store(answers(2, 2))
    await archive.checkpoint(second)
    assert len((await disk.archive().recover()).outcomes) == 4
    await archive.checkpoint(first)
    assert (await disk.archive().recover()).outcomes == []
    await archive.checkpoint(first)  # once more does no harm
    third = await archive.store(answers(1, 4))
    assert len((await disk.archive().recover()).outcomes) == 1
    await archive.checkpoint(third)


async def test_a_full_file_is_sealed_when_all_in_it_is_settled_not_before() -> None:
    disk = Disk(file_bytes=2000)
    archive = disk.archive()
    first = await archive.store(answers(3))
    second = await archive.store(answers(1, 3))
    assert await disk.blobs.list("raw/") == []
    assert len(await disk.journals.unsealed()) == 2
    await archive.checkpoint(first)
    assert len(await disk.blobs.list("raw/")) == 1
    positions = [one.position for one in first.announcements + second.announcements]
    assert len(await archive.read(positions)) == 4
    await archive.checkpoint(second)
    await archive.close()
    assert await disk.journals.unsealed() == []
    assert len(await archive.read(positions)) == 4


async def test_a_full_file_whose_last_batch_is_not_settled_stays_open() -> None:
    disk = Disk(file_bytes=4000)
    archive = disk.archive()
    first, _, _ = (
        await archive.store(answers(1)),
        await archive.store(answers(2, 1)),
        await archive.store(answers(1, 3)),
    )
    await archive.checkpoint(first)
    assert await disk.blobs.list("raw/") == []
    assert len((await disk.archive().recover()).outcomes) == 3


async def test_closing_keeps_open_what_is_not_settled() -> None:
    disk = Disk()
    archive = disk.archive()
    await archive.store(answers(1))
    await archive.close()
    assert len((await disk.archive().recover()).outcomes) == 1


async def test_a_crash_while_two_files_are_open_loses_neither() -> None:
    disk = Disk(file_bytes=2000)
    archive = disk.archive()
    await archive.store(answers(3))
    await archive.store(answers(1, 3))
    archive = disk.archive()
    recovered = await archive.recover()
    assert len(recovered.outcomes) == 4
    await archive.checkpoint(recovered.stored)
    assert len(await disk.blobs.list("raw/")) == 1
    await archive.close()
    assert len(await disk.blobs.list("raw/")) == 2
    assert await disk.journals.unsealed() == []


async def torn(disk: Disk, name: str, data: bytes, whole: int) -> None:
    """A file that a crash left: `whole` captures are found, and writing goes on behind them."""
    await (await disk.journals.open(name)).append(data)
    archive = disk.archive()
    recovered = await archive.recover()
    assert len(recovered.outcomes) == len(recovered.stored.announcements) == whole
    await archive.checkpoint(recovered.stored)
    stored = await settled(archive, 1, 5)
    positions = [one.position for one in (*recovered.stored.announcements, *stored.announcements)]
    assert all(one.exchange.body == HTML for one in await archive.read(positions))
    await archive.close()
    read = list(ArchiveIterator(io.BytesIO(await disk.blobs.get(name)), check_digests="raise"))
    assert [record.rec_type for record in read] == ["warcinfo", *["request", "response", "metadata"] * (whole + 1)]


async def test_a_torn_tail_is_cut_off_at_every_byte_of_the_last_capture() -> None:
    disk = Disk()
    archive = disk.archive()
    first = await archive.store(answers(1))
    await archive.store(answers(1, 1))
    ((name, data),) = (await disk.files()).items()
    start = first.ends[name]
    for length in range(start, len(data)):
        await torn(Disk(), name, data[:length], 1)
    await torn(Disk(), name, data, 2)


@pytest.mark.parametrize("length", [0, 1, 9, 200])
async def test_a_torn_beginning_is_begun_again(length: int) -> None:
    disk = Disk()
    await disk.archive().store(answers(1))
    ((name, data),) = (await disk.files()).items()
    await torn(Disk(), name, data[:length], 0)


@pytest.mark.parametrize("garbage", [b"\0" * 3_000_000, b"\x1f\x8b\x08\0" * 999, random.Random(1).randbytes(2_500_000)])
async def test_garbage_behind_the_last_capture_is_cut_off(garbage: bytes) -> None:
    """After loss of power a file may end in anything, and more of it than is read at once."""
    disk = Disk()
    await disk.archive().store(answers(2))
    ((name, data),) = (await disk.files()).items()
    await torn(Disk(), name, data + garbage, 2)


async def test_a_capture_larger_than_what_is_read_at_once_is_recovered() -> None:
    disk = Disk()
    body = random.Random(2).randbytes(5_000_000)
    await disk.archive().store([answer(capture(exchange(1, body))), *answers(2, 2)])
    archive = disk.archive()
    recovered = await archive.recover()
    read = await archive.read([one.position for one in recovered.stored.announcements])
    assert [len(one.exchange.body) for one in read] == [len(body), len(HTML), len(HTML)]


async def test_a_crash_at_every_write_of_the_table_loses_nothing() -> None:
    """The table tears; journals and queue are whole. Every batch is settled by its outcomes or by recovery."""
    calm = TornTable()
    batches = [answers(2, first) for first in range(0, 6, 2)]
    await live(Disk(file_bytes=3000), calm, batches, set())
    for moment in range(1, calm.operations + 1):
        disk, table, settled_urls = Disk(file_bytes=3000), TornTable(moment, moment), set[str]()
        with pytest.raises(Crashed):
            await live(disk, table, batches, settled_urls)
        await live(disk, table.reopened(), batches, settled_urls)
        assert {one.url for one in await announced(disk.pages)} == settled_urls
        assert len(settled_urls) == 6
        assert await disk.journals.unsealed() == []


async def live(disk: Disk, table: TornTable, batches: list[list[Answer]], settled_urls: set[str]) -> None:
    """One life of a process: what recovery returns is settled, what is not settled is fetched."""
    stores = Stores(disk.journals, disk.blobs, table, disk.pages)
    archive = Archive(stores, disk.clock, disk.config, KillPoints())
    recovered = await archive.recover()
    settled_urls |= {outcome.lease.url for outcome in recovered.outcomes}
    await archive.checkpoint(recovered.stored)
    for batch in batches:
        wanted = [one for one in batch if one[0].lease.url not in settled_urls]
        stored = await archive.store(wanted)
        settled_urls |= {outcome.lease.url for outcome, _ in wanted}
        await archive.checkpoint(stored)
    await archive.close()
