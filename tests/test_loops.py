"""The plain functions of the two loops."""

import asyncio

from weft.loops import Mark, gather, portions
from weft.records import Announcement, Position


def announced(*lengths: int) -> list[Announcement]:
    return [
        Announcement(str(number), f"http://a.example/{number}", Position("file", 0, length), 0.0, 200)
        for number, length in enumerate(lengths)
    ]


def test_large_records_are_parsed_alone_and_small_ones_together() -> None:
    sizes = [10, 20, 400_000, 200_000, 9_000_000, 5, 6]
    found = [[one.position.length for one in portion] for portion in portions(announced(*sizes))]
    assert found == [[10, 20, 400_000], [200_000], [9_000_000], [5, 6]]
    assert list(portions([])) == []


async def test_a_mark_ends_what_is_gathered_and_means_nothing_alone() -> None:
    queue: asyncio.Queue[int | Mark] = asyncio.Queue()
    for item in (Mark.NOW, Mark.NOW, 1, 2, Mark.NOW, Mark.NOW, 3, 4, 5, 6):
        queue.put_nowait(item)
    assert await gather(queue, 3600.0, 3) == [1, 2]
    assert await gather(queue, 3600.0, 3) == [3, 4, 5]
    assert await gather(queue, 0.0, 3) == [6]
    queue.put_nowait(Mark.LAST)
    assert await gather(queue, 3600.0, 3) == []
