"""Pages, and a corpus on memory engines that can crash. Imported by the tests beside it."""

import io
import json
from typing import Any

import pyarrow.parquet as pq

from weft.clock import ManualClock
from weft.config import Corpus as CorpusConfig
from weft.corpus import sides
from weft.corpus.corpus import Corpus, Refined, Stores
from weft.corpus.registry import Registry
from weft.corpus.sides import Side
from weft.dedup.exact import Exact
from weft.engines.memory import MemoryBlobs, MemoryJournals, MemoryTable
from weft.killpoints import KillPoints
from weft.parse.fingerprint import body_digest, text_digest
from weft.ports import Journals
from weft.records import Announcement, Kind, Language, Page, Position, Refusal

START = 1_700_000_000.25


def refined(number: int, text: str | None = None, body: bytes | None = None, **fields: Any) -> Refined:
    """Page `number`, whose text and body nobody shares unless they are given."""
    words = f"Page {number} tells of cloth, and of wool." if text is None else text
    identity, url = f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>", f"https://site.example/{number}"
    kind = fields.pop("kind", Kind.PAGE)
    announced = Announcement(identity, url, Position("raw/a.warc.gz", number * 100, 99), START + number, 200, kind)
    page = Page(
        id=identity,
        url=url,
        text=words,
        title=f"Title {number}",
        language=Language("eng", "Latn", 0.97),
        words=8,
        body_digest=body_digest(b"body %d" % number if body is None else body),
        text_digest=text_digest(words) if words else b"",
        extractor="weft-1",
        metadata=json.dumps({"author": "Ada", "published": "2020-01-02"}),
        **fields,
    )
    return announced, page


def unparsable(number: int) -> Refined:
    announced, _ = refined(number)
    return announced, Page(announced.id, announced.url, refusal=Refusal.TIMEOUT, detail="2.1 s")


class Disk:
    """What outlives a crash of the process. `corpus()` is the next process."""

    def __init__(self, shard_bytes: int = 400_000_000) -> None:
        self.clock = ManualClock(START)
        self.blobs = MemoryBlobs()
        self.journals: Journals = MemoryJournals(self.blobs)
        self.table = MemoryTable()
        self.config = CorpusConfig(shard_bytes=shard_bytes)

    async def corpus(self, killpoints: KillPoints | None = None) -> Corpus:
        made = self.on((await sides.standing(self.table)).live, killpoints)
        await made.open()
        return made

    async def anew(self, killpoints: KillPoints | None = None) -> Corpus:
        """A corpus to be made beside the one that counts."""
        made = self.on((await sides.standing(self.table)).live.other, killpoints)
        await made.begin()
        return made

    def on(self, side: Side, killpoints: KillPoints | None = None) -> Corpus:
        registry = Registry(self.table, side)
        stores = Stores(self.journals, self.blobs, self.table, registry)
        exact = Exact(self.table, registry.registered, side=side.mark)
        return Corpus(stores, exact, self.clock, self.config, killpoints or KillPoints())

    async def rows(self, prefix: str) -> list[dict[str, Any]]:
        return [
            row
            for name, _ in await self.blobs.list(prefix)
            for row in pq.read_table(io.BytesIO(await self.blobs.get(name))).to_pylist()
        ]

    async def data(self) -> list[dict[str, Any]]:
        return await self.rows("corpus/data/")

    async def removed(self) -> list[dict[str, Any]]:
        return await self.rows("corpus/_removed/")
