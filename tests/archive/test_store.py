"""Durable, announced, found again; and what a crash leaves is neither lost nor fetched twice."""

from tests.archive.material import HTML, Disk, answer, answers, capture, exchange, outcomes

from weft.archive.announce import unpack
from weft.archive.store import Archive, Stored
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


async def test_a_torn_tail_is_cut_off_at_every_byte() -> None:
    whole = Disk()
    await whole.archive().store(answers(2))
    ((name, data),) = (await whole.files()).items()
    before = Disk()
    await before.archive().store(answers(1))
    ((_, shorter),) = (await before.files()).items()
    for length in range(len(data)):
        disk = Disk()
        await (await disk.journals.open(name)).append(data[:length])
        archive = disk.archive()
        recovered = await archive.recover()
        assert len(recovered.outcomes) in (0, 1)
        if length >= len(shorter) + 40:
            assert len(recovered.outcomes) == 1
        await archive.checkpoint(recovered.stored)
        stored = await settled(archive, 1, 5)
        read = await archive.read([one.position for one in (*recovered.stored.announcements, *stored.announcements)])
        assert all(one.exchange.body == HTML for one in read)
        assert (await disk.archive().recover()).outcomes == []
