"""The filter before remote engines: it may say perhaps too often, it never forgets a key, whatever a crash tears."""

from random import Random

import pytest

from tests.frontier.driver import Desk, configured
from weft.config import Storage
from weft.engines.memory import MemoryTable
from weft.engines.torn import Crashed, TornTable
from weft.frontier.bloom import SeenFilter


def keys(start: int, stop: int) -> list[bytes]:
    random = Random(7)
    every = [random.randbytes(18) for _ in range(stop)]
    return every[start:]


async def test_a_chain_that_grew_says_perhaps_of_all_it_has_and_of_little_else() -> None:
    table = MemoryTable()
    seen = SeenFilter(table, first=1000, checkpoint=2500)
    every = keys(0, 40_000)
    for start in range(0, 20_000, 100):
        await table.write(seen.added(every[start : start + 100]))
        await seen.save()
    again = SeenFilter(table, first=1000, checkpoint=2500)
    await again.load()
    for known in (seen, again):
        assert known.perhaps(every[:20_000]) == set(every[:20_000])
        assert len(known.perhaps(every[20_000:])) < 0.06 * 20_000


@pytest.mark.parametrize("seed", range(12))
async def test_no_key_is_forgotten_whatever_a_crash_tears(seed: int) -> None:
    random = Random(seed)
    table, every, written = TornTable(seed, random.randrange(1, 60)), keys(0, 3000), set()
    for _ in range(8):
        seen = SeenFilter(table, first=100, checkpoint=300)
        try:
            await seen.load()
            for _ in range(100):
                batch = random.sample(every, 10)
                await table.write(seen.added(batch))
                written |= set(batch)
                await seen.save()
        except Crashed:
            pass
        table = table.reopened(random.randrange(1, 400))
        survivor = SeenFilter(table)
        await survivor.load()
        assert survivor.perhaps(list(written)) == written


async def test_the_frontier_with_a_filter_sees_what_it_saw() -> None:
    config = configured()
    desk = Desk(type(config)(storage=Storage(state="redis://there", partitions=4), scope=config.scope))
    urls = [f"http://a.example/{word}" for word in ("one", "two", "three")]
    assert (await desk.add(*urls)).new == 3
    await desk.reopened()
    assert (await desk.add(*urls, "http://a.example/four")).new == 1
