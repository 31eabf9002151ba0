"""What `ports.Table` promises, as plain functions of an opener; each raises AssertionError when an engine breaks it.

An opener gives the same rows each time it is called: what was closed is opened again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from random import Random
from typing import TypeAlias

import pytest

from weft.errors import TooLarge
from weft.ports import Delete, Key, Put, Range, Rows, Table

Opener: TypeAlias = Callable[[], Awaitable[Table]]
Check: TypeAlias = Callable[[Opener], Awaitable[None]]


async def rows_read_back(opener: Opener) -> None:
    table = await opener()
    await table.write([Put((b"g", b"a"), b"1"), Put((b"g", b"b"), b""), Put((b"h", b"a"), bytes(range(256)) * 800)])
    keys = [(b"h", b"a"), (b"g", b"none"), (b"g", b"b"), (b"g", b"a"), (b"none", b"a"), (b"g", b"a")]
    assert await table.get(keys) == [bytes(range(256)) * 800, None, b"", b"1", None, b"1"]
    assert await table.get([]) == []
    await table.write()
    await table.write([], [])
    await table.close()


async def the_last_operation_on_a_key_wins(opener: Opener) -> None:
    table = await opener()
    put_last, deleted_last = (b"g", b"put"), (b"g", b"deleted")
    step: list[Put | Delete] = [
        Put(put_last, b"1"),
        Delete(put_last),
        Put(deleted_last, b"2"),
        Put(put_last, b"3"),
        Delete(deleted_last),
    ]
    await table.write(step, [Delete((b"g", b"never there"))])
    assert await table.get([put_last, deleted_last]) == [b"3", None]
    assert await table.scan([Range(b"g")]) == [[(b"put", b"3")]]
    long = [
        Put(put_last, b"first"),
        *(Put((b"other", b"%d" % row), b"") for row in range(1100)),
        Put(put_last, b"last"),
    ]
    await table.write(long)
    assert await table.get([put_last]) == [b"last"], "however long the step"
    await table.close()


async def scans_are_ordered_and_bounded(opener: Opener) -> None:
    table = await opener()
    items = [b"\x00", b"\x00\x00", b"a", b"a\x00", b"ab", b"b", b"\x7f", b"\x80", b"\xff", b"\xff\xff"]
    await table.write([Put((b"g", item), b"v" + item) for item in Random(1).sample(items, len(items))])
    rows = [(item, b"v" + item) for item in sorted(items)]
    ranges = [
        (Range(b"g"), rows),
        (Range(b"g", limit=3), rows[:3]),
        (Range(b"g", start=b"a", stop=b"b"), [row for row in rows if b"a" <= row[0] < b"b"]),
        (Range(b"g", start=b"a\x00\x00"), [row for row in rows if row[0] > b"a\x00"]),
        (Range(b"g", start=b"\xff", limit=1), [(b"\xff", b"v\xff")]),
        (Range(b"g", start=b"b", stop=b"b"), []),
        (Range(b"g", start=b"b", stop=b"a"), []),
        (Range(b"g", start=b"\xff\xff\xff"), []),
        (Range(b"none"), []),
    ]
    assert await table.scan([wanted for wanted, _ in ranges]) == [expected for _, expected in ranges]
    assert await table.scan([]) == []
    await table.close()


async def groups_do_not_run_into_each_other(opener: Opener) -> None:
    table = await opener()
    groups = [b"a", b"aa", b"ab", b"a\xff", b"b", b"b\x00", b"\xff", b"\xff\xff", b"\x01", b"\x01a", b"a" * 127]
    groups += [b"a" * 128, b"a" * 255, b"a" * 256, b"\xff" * 300, b"\xff" * 1024]
    items = [b"\x00", b"a", b"aa", b"\xff\xff"]
    await table.write([Put((group, item), group[:9] + item) for group in groups for item in items])
    for found, group in zip(await table.scan([Range(group) for group in groups]), groups, strict=True):
        assert found == [(item, group[:9] + item) for item in sorted(items)], group
    await table.write([Delete((b"a", item)) for item in items])
    assert [len(rows) for rows in await table.scan([Range(b"a"), Range(b"aa"), Range(b"\x01")])] == [0, 4, 4]
    await table.close()


async def large_steps_are_whole(opener: Opener) -> None:
    table = await opener()
    keys = [(b"g", b"%06d" % number) for number in range(3000)]
    await table.write([Put(key, key[1]) for key in keys], [Delete(key) for key in keys[::2]])
    assert await table.get(keys) == [key[1] if number % 2 else None for number, key in enumerate(keys)]
    (rows, part) = await table.scan([Range(b"g", limit=10_000), Range(b"g", limit=1000)])
    assert rows == [(item, item) for _, item in keys[1::2]]
    assert part == rows[:1000]
    await table.close()


async def a_later_step_never_shows_first(opener: Opener) -> None:
    """Readers look all the while; whoever sees a row of a step sees all rows of the steps before."""
    table = await opener()
    steps = [[Put((b"g", b"%d-%04d" % (step, row)), b"x") for row in range(1001)] for step in range(3)]
    writing = asyncio.ensure_future(table.write(*steps))
    for _ in range(2000):
        (rows,) = await table.scan([Range(b"g", limit=4000)])
        await asyncio.sleep(0)
        counts = [sum(item.startswith(b"%d-" % step) for item, _ in rows) for step in range(3)]
        for earlier, later in pairwise(counts):
            assert earlier == 1001 or later == 0, f"rows seen per step: {counts}"
        if writing.done():
            break
    await writing
    await table.close()


async def what_returned_is_visible(opener: Opener) -> None:
    """Several tasks write at once; each sees what it wrote as soon as its write returns."""
    table = await opener()

    async def work(task: int) -> None:
        for turn in range(20):
            mine: list[Key] = [(b"%d" % task, b"%d" % row) for row in range(7)]
            await table.write(
                [Put(key, b"%d" % turn) for key in mine[:4]], [Put(key, b"%d" % turn) for key in mine[4:]]
            )
            assert await table.get(mine) == [b"%d" % turn] * 7

    async with asyncio.TaskGroup() as tasks:
        for task in range(8):
            tasks.create_task(work(task))
    await table.close()


async def put_if_compares(opener: Opener) -> None:
    table = await opener()
    key = (b"owner", b"7")
    assert not await table.put_if(key, b"", b"x"), "no row is not an empty row"
    assert await table.put_if(key, None, b"")
    assert not await table.put_if(key, None, b"x"), "an empty row is not no row"
    assert await table.put_if(key, b"", b"one")
    assert not await table.put_if(key, b"two", b"three")
    assert await table.get([key]) == [b"one"]
    assert await table.scan([Range(b"owner")]) == [[(b"7", b"one")]]
    assert await table.put_if(key, b"one", None)
    assert await table.get([key]) == [None]
    assert await table.scan([Range(b"owner")]) == [[]]
    await table.close()


async def put_if_has_one_winner(opener: Opener) -> None:
    table = await opener()
    key = (b"owner", b"7")

    async def add_one() -> None:
        for _ in range(200):
            (old,) = await table.get([key])
            await asyncio.sleep(0)  # all look before anyone writes
            if await table.put_if(key, old, b"%d" % (int(old or b"0") + 1)):
                return
        raise AssertionError("never won")

    await asyncio.gather(*(add_one() for _ in range(12)))
    assert await table.get([key]) == [b"12"]
    await table.close()


async def long_keys_are_refused(opener: Opener) -> None:
    table = await opener()
    longest = (b"g" * 1024, b"i" * 1024)
    await table.write([Put(longest, b"fits")], sync=True)
    assert await table.get([longest]) == [b"fits"]
    for key in ((b"g" * 1025, b"i"), (b"g", b"i" * 1025)):
        with pytest.raises(TooLarge):
            await table.write([Put(key, b"")])
        with pytest.raises(TooLarge):
            await table.put_if(key, None, b"")
    await table.close()


GROUPS = (b"p", b"pq", b"r", b"a long name", b"a long name, longer")


async def it_equals_a_dictionary(opener: Opener) -> None:
    """Random steps, gets and scans, beside a dictionary that shows what they should find."""
    table, random = await opener(), Random(5)
    model: dict[Key, bytes] = {}
    keys = [(group, b"%02x" % random.randrange(256)) for group in GROUPS for _ in range(15)]
    for turn in range(60):
        steps = [
            [Put(key, b"%d" % turn) if random.random() < 0.6 else Delete(key) for key in random.sample(keys, 5)]
            for _ in range(random.randint(1, 3))
        ]
        await table.write(*steps, sync=turn % 20 == 0)
        for operation in (operation for step in steps for operation in step):
            model.pop(operation.key, None)
            if isinstance(operation, Put):
                model[operation.key] = operation.value
        asked = random.sample(keys, 10)
        assert await table.get(asked) == [model.get(key) for key in asked]
        wanted = Range(random.choice(keys)[0], b"%02x" % random.randrange(256), None, random.randint(1, 20))
        assert await table.scan([wanted]) == [expected_rows(model, wanted)]
    await table.close()


def expected_rows(model: dict[Key, bytes], wanted: Range) -> Rows:
    found = sorted((item, value) for (group, item), value in model.items() if group == wanted.group)
    return [row for row in found if row[0] >= wanted.start][: wanted.limit]


async def closing_keeps_everything(opener: Opener) -> None:
    table = await opener()
    await table.write([Put((b"g", b"%d" % row), b"old") for row in range(300)])
    await table.write([Put((b"g", b"0"), b"new")], [Delete((b"g", b"1"))])
    assert await table.put_if((b"o", b"k"), None, b"mine")
    before = await table.scan([Range(b"g"), Range(b"o")])
    await table.close()
    for _ in range(2):
        table = await opener()
        assert await table.scan([Range(b"g"), Range(b"o")]) == before
        assert (await table.get([(b"g", b"0"), (b"g", b"1")])) == [b"new", None]
        await table.close()


CHECKS: tuple[Check, ...] = (
    rows_read_back,
    the_last_operation_on_a_key_wins,
    scans_are_ordered_and_bounded,
    groups_do_not_run_into_each_other,
    large_steps_are_whole,
    a_later_step_never_shows_first,
    what_returned_is_visible,
    put_if_compares,
    put_if_has_one_winner,
    long_keys_are_refused,
    it_equals_a_dictionary,
    closing_keeps_everything,
)
