"""The corpus on a table that tears every step: whatever a crash leaves, the same set of documents comes out."""

import pytest

from tests.corpus.material import START, Disk, refined
from weft.clock import ManualClock
from weft.config import Corpus as CorpusConfig
from weft.corpus.corpus import Corpus, Stores
from weft.corpus.registry import Registry
from weft.dedup.exact import Exact
from weft.engines.torn import Crashed, TornTable
from weft.killpoints import KillPoints

BATCHES = [
    [refined(batch * 4 + number, text=f"text {number * (batch % 2)}, {batch}") for number in range(4)]
    for batch in range(4)
]

SHARD_BYTES = 25_000  # two segments


async def refine(disk: Disk, table: TornTable, acked: set[int]) -> Corpus:
    """One life of a process: all that is not acked is delivered."""
    registry = Registry(table)
    stores = Stores(disk.journals, disk.blobs, table, registry)
    exact = Exact(table, registry.registered)
    corpus = Corpus(stores, exact, ManualClock(START), CorpusConfig(shard_bytes=SHARD_BYTES), KillPoints())
    await corpus.open()
    for number, batch in enumerate(BATCHES):
        if number not in acked:
            await corpus.commit(batch)
            acked.add(number)
            await corpus.compact()
    await corpus.compact(final=True)
    return corpus


@pytest.mark.parametrize("power", [False, True])
async def test_a_crash_at_every_operation_changes_nothing_in_the_end(power: bool) -> None:
    calm = TornTable()
    untouched = Disk()
    await refine(untouched, calm, set())
    wanted = sorted(row["id"] for row in await untouched.data())
    wanted_removed = sorted(row["id"] for row in await untouched.removed())
    assert (len(wanted), len(wanted_removed)) == (10, 6)
    for moment in range(1, calm.operations + 1):
        disk, acked = Disk(), set[int]()
        table = TornTable(seed=moment, crash_at=moment)
        with pytest.raises(Crashed):
            await refine(disk, table, acked)
        if power:
            table.crash(power=True)
        corpus = await refine(disk, table.reopened(), acked)
        assert sorted(row["id"] for row in await disk.data()) == wanted
        assert sorted(row["id"] for row in await disk.removed()) == wanted_removed
        assert corpus.counts().documents == len(wanted)
