"""A crawl without a network, on real files and RocksDB, that dies where WEFT_KILL_AT says. Run by test_kill.

`python crawl_and_die.py DIR`: batches of captures are stored, settled and checkpointed; every "fetch" is logged.
"""

import asyncio
import sys
from pathlib import Path

from tests.archive.material import answer, capture, exchange
from weft.archive.store import Archive, Stores
from weft.clock import SystemClock
from weft.config import Archive as ArchiveConfig
from weft.engines.choose import open_blobs, open_journals, open_queue, open_table
from weft.killpoints import KillPoints
from weft.ports import Put, Table
from weft.records import Outcome

BATCHES, PAGES, FILE_BYTES = 6, 5, 20_000


async def crawl(root: Path) -> None:
    clock, killpoints = SystemClock(), KillPoints.from_environment()
    table = await open_table("rocksdb:state", root)
    pages = await open_queue("rocksdb:state", "pages", 60.0, root, clock)
    blobs = await open_blobs("file:.", root)
    journals = await open_journals(blobs, root)
    archive = Archive(Stores(journals, blobs, table, pages), clock, ArchiveConfig(file_bytes=FILE_BYTES), killpoints)
    recovered = await archive.recover()
    await settle(table, recovered.outcomes)
    await archive.checkpoint(recovered.stored)
    for batch in range(BATCHES):
        exchanges = [exchange(batch * PAGES + number) for number in range(PAGES)]
        settled = await table.get([(b"settled", one.url.encode()) for one in exchanges])
        wanted = [one for one, row in zip(exchanges, settled, strict=True) if row is None]
        with (root / "fetched.log").open("a") as log:
            log.writelines(f"{one.url}\n" for one in wanted)
        answers = [answer(capture(one)) for one in wanted]
        stored = await archive.store(answers)
        await settle(table, [outcome for outcome, _ in answers])
        killpoints.reach("frontier.settled")
        await archive.checkpoint(stored)
    await archive.close()
    for engine in (pages, journals, table):
        await engine.close()


async def settle(table: Table, outcomes: list[Outcome]) -> None:
    if outcomes:
        await table.write([Put((b"settled", outcome.lease.url.encode()), b"1") for outcome in outcomes])


if __name__ == "__main__":
    asyncio.run(crawl(Path(sys.argv[1])))
