"""What is known: the same answers as the table's, from memory and a file wherever these can be sure."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.frontier.driver import Desk, configured
from weft.config import Config, Storage
from weft.config import Frontier as FrontierSection
from weft.engines.memory import MemoryTable
from weft.errors import EngineError
from weft.frontier import keys as rows
from weft.frontier.seen import Seen
from weft.ports import Key, Put, Step


class AskedTable(MemoryTable):
    """Counts the rows of URLs that are asked for; a write can be made to fail although it was carried out."""

    asked = 0
    fails = False

    async def get(self, keys: Sequence[Key]) -> list[bytes | None]:
        self.asked += sum(group[2:3] == rows.URL for group, _ in keys)
        return await super().get(keys)

    async def write(self, *steps: Step, sync: bool = False) -> None:
        await super().write(*steps, sync=sync)
        if self.fails:
            raise EngineError("the connection was lost")


async def opened(table: AskedTable, folder: Path, known_bytes: int = 1 << 24, state: str = "rocksdb") -> Seen:
    config = Config(frontier=FrontierSection(recent=256, known_bytes=known_bytes), storage=Storage(state=state))
    seen = Seen(table, config, folder)
    await seen.load(empty=True)
    return seen


async def taken_in(seen: Seen, table: AskedTable, keys: list[bytes]) -> None:
    await table.write(seen.announced(keys), [Put(rows.url_row(key), b"") for key in keys])
    await seen.remember(keys)


@pytest.mark.parametrize("known_bytes", [0, 100_000, 1 << 24])
async def test_every_answer_is_the_tables(tmp_path: Path, known_bytes: int) -> None:
    random, table, there = Random(8), AskedTable(), set[bytes]()
    seen = await opened(table, tmp_path, known_bytes)
    every = [random.randbytes(18) for _ in range(40_000)]
    for _ in range(300):
        batch = list(dict.fromkeys(random.choices(every, k=200)))
        new = await seen.unseen(batch)
        assert new == [key for key in batch if key not in there]
        await taken_in(seen, table, new)
        there.update(new)
    assert len(there) > 30_000
    seen.close()


async def test_a_crawl_that_began_empty_need_not_ask_the_table(tmp_path: Path) -> None:
    random, table = Random(9), AskedTable()
    seen = await opened(table, tmp_path)
    for _ in range(200):
        new = [random.randbytes(18) for _ in range(100)]
        assert await seen.unseen(new) == new
        await taken_in(seen, table, new)
        assert await seen.unseen(new) == []
    assert table.asked == 0
    seen.close()


@pytest.mark.parametrize("state", ["rocksdb", "redis://there"])
async def test_the_table_is_asked_when_it_may_know_more(tmp_path: Path, state: str) -> None:
    table = AskedTable()
    seen = await opened(table, tmp_path, state=state)
    keys = [Random(10).randbytes(18) for _ in range(100)]
    if state == "rocksdb":
        await seen.load(empty=False)
    else:
        await table.write(seen.announced(keys))  # as another process with the same filter might
        await seen.remember([])
    await table.write([Put(rows.url_row(key), b"") for key in keys])
    assert await seen.unseen(keys) == []
    seen.close()


async def test_what_a_failed_write_may_have_written_is_looked_for_in_the_table() -> None:
    table = AskedTable()
    desk = Desk(configured(), table)
    await desk.frontier.open()
    assert (await desk.add("http://a.example/1")).new == 1
    table.fails = True
    with pytest.raises(EngineError):
        await desk.add("http://a.example/2")
    table.fails = False
    assert table.asked == 0
    assert (await desk.add("http://a.example/2", "http://a.example/3")).new == 1
    assert table.asked == 2
