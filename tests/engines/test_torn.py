"""The torn table: it keeps no more than the port promises, and no less."""

import asyncio

import pytest

from tests.engines.load import ROW, ROWS, check_table, load_table, steps_of
from weft.engines.torn import Crashed, TornTable
from weft.ports import Put, Range, Table


async def crashed_at(operation: int, seed: int) -> tuple[TornTable, list[str]]:
    table, reports = TornTable(seed, crash_at=operation), list[str]()
    with pytest.raises(BaseExceptionGroup) as caught:
        await load_table(table, 0, reports.append)
    assert caught.value.split(Crashed)[1] is None
    return table.reopened(), reports


async def test_every_crash_keeps_the_promise() -> None:
    torn = 0
    for operation in range(1, 1500, 37):
        table, reports = await crashed_at(operation, seed=operation)
        await check_table(table, reports)
        rows = (await table.scan([Range(ROW + b"0", limit=10_000)]))[0]
        torn += len(rows) % ROWS != 0
    assert torn > 20, "a crash inside a step leaves it torn nearly always"


async def test_the_subset_is_not_a_prefix() -> None:
    table = TornTable(seed=4, crash_at=50)
    with pytest.raises(Crashed):
        await table.write(*steps_of(0, 0))
    rows = [int(item.rpartition(b"-")[2]) for item, _ in (await table.reopened().scan([Range(ROW + b"0")]))[0]]
    assert 0 < len(rows) < ROWS
    assert not set(range(40)) <= set(rows), "the first operations were not the first to be kept"


async def test_the_same_seed_tears_alike() -> None:
    async def left(seed: int) -> list[tuple[bytes, bytes]]:
        table, _ = await crashed_at(333, seed)
        return (await table.scan([Range(ROW + b"1", limit=10_000)]))[0]

    assert await left(1) == await left(1)
    assert await left(1) != await left(2)


async def test_the_dead_stay_dead() -> None:
    table: Table = TornTable()
    await table.write([Put((b"g", b"i"), b"v")])
    assert isinstance(table, TornTable)
    table.crash()
    for use in (table.get, table.scan):
        with pytest.raises(Crashed):
            await use([])
    with pytest.raises(Crashed):
        await table.write([Put((b"g", b"j"), b"v")])
    with pytest.raises(Crashed):
        await table.put_if((b"o", b"k"), None, b"")
    again = table.reopened()
    assert await again.get([(b"g", b"i"), (b"g", b"j")]) == [b"v", None]


async def test_a_crash_from_outside_tears_the_write_under_way() -> None:
    outcomes = set()
    for seed in range(40):
        table = TornTable(seed)
        writing = asyncio.ensure_future(table.write([Put((b"g", b"%d" % row), b"v") for row in range(40)]))
        for _ in range(5):
            await asyncio.sleep(0)
        table.crash()
        await asyncio.gather(writing, return_exceptions=True)
        outcomes.add(len((await table.reopened().scan([Range(b"g")]))[0]))
    assert len(outcomes) > 5


async def test_power_loss_takes_only_what_was_not_synced() -> None:
    kept = []
    for seed in range(30):
        table = TornTable(seed)
        await table.write([Put((b"g", b"1"), b"old")], sync=True)
        await table.write([Put((b"g", b"1"), b"new")], [Put((b"g", b"2"), b"")])
        table.crash(power=True)
        kept.append((await table.reopened().scan([Range(b"g")]))[0])
    outcomes = {tuple(rows) for rows in kept}
    old, new, both = ((b"1", b"old"),), ((b"1", b"new"),), ((b"1", b"new"), (b"2", b""))
    assert outcomes == {old, new, both}, "any point since the sync, in order"


async def test_a_crash_in_put_if_leaves_it_open_whether_it_happened() -> None:
    outcomes = set()
    for seed in range(20):
        table = TornTable(seed, crash_at=1)
        with pytest.raises(Crashed):
            await table.put_if((b"o", b"k"), None, b"mine")
        outcomes.update(await table.reopened().get([(b"o", b"k")]))
    assert outcomes == {None, b"mine"}


async def test_put_if_survives_power_loss() -> None:
    for seed in range(10):
        table = TornTable(seed)
        await table.write([Put((b"g", b"before"), b"v")])
        assert await table.put_if((b"o", b"k"), None, b"mine")
        table.crash(power=True)
        assert await table.reopened().get([(b"o", b"k"), (b"g", b"before")]) == [b"mine", b"v"]


async def test_a_cancelled_write_does_not_come_back_later() -> None:
    for seed in range(20):
        table, keys = TornTable(seed), [(b"g", b"%d" % row) for row in range(40)]
        writing = asyncio.ensure_future(table.write([Put(key, b"cancelled") for key in keys]))
        await asyncio.sleep(0)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await table.write([Put(key, b"later") for key in keys])
        assert await table.reopened().get(keys) == [b"later"] * 40
