"""A refine loop without parsers, on real files and RocksDB, that dies where WEFT_KILL_AT says. Run by test_kill.

`python refine_and_die.py DIR`: batches are committed, then acked; what was not acked is delivered again.
"""

import asyncio
import sys
from pathlib import Path

from tests.corpus.material import refined, unparsable
from weft.clock import SystemClock
from weft.config import Corpus as CorpusConfig
from weft.corpus.corpus import Corpus, Refined, Stores
from weft.corpus.registry import Registry
from weft.dedup.exact import Exact
from weft.engines.choose import open_blobs, open_journals, open_table
from weft.killpoints import KillPoints
from weft.ports import Put

BATCHES, PAGES, SHARD_BYTES = 6, 10, 30_000


def delivered(batch: int) -> list[Refined]:
    """Mostly new pages; the last but one repeats the batch's first text, the last cannot be parsed."""
    first = batch * PAGES
    pages = [refined(first + number) for number in range(PAGES - 2)]
    return [*pages, refined(first + PAGES - 2, text=pages[0][1].text), unparsable(first + PAGES - 1)]


async def refine(root: Path) -> None:
    killpoints = KillPoints.from_environment()
    table = await open_table("rocksdb:state", root)
    blobs = await open_blobs("file:.", root)
    journals = await open_journals(blobs, root)
    registry = Registry(table)
    stores, exact = Stores(journals, blobs, table, registry), Exact(table, registry.registered)
    corpus = Corpus(stores, exact, SystemClock(), CorpusConfig(shard_bytes=SHARD_BYTES), killpoints)
    await corpus.open()
    acked = await table.get([(b"acked", b"%d" % batch) for batch in range(BATCHES)])
    for batch in [batch for batch, row in enumerate(acked) if row is None]:
        await corpus.commit(delivered(batch))
        await table.write([Put((b"acked", b"%d" % batch), b"1")])
        await corpus.compact()
    await corpus.compact(final=True)
    counts = corpus.counts()
    assert counts.documents == BATCHES * (PAGES - 2), counts
    assert counts.removed == {"duplicate-text": BATCHES, "unparsable": BATCHES}, counts
    for engine in (journals, table):
        await engine.close()


if __name__ == "__main__":
    asyncio.run(refine(Path(sys.argv[1])))
