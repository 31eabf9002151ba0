"""Pages become documents: judged, written to a segment, fingerprinted, registered. Called by the refine loop.

findings = await corpus.commit([(announcement, page), …])   all of it durable when it returns
await frontier.learn(findings)                               only then
await pages.ack(messages)
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from weft.config import Corpus as CorpusConfig
from weft.errors import EngineError
from weft.killpoints import KillPoints
from weft.ports import Blobs, Clock, Journals, Put, Table
from weft.records import Announcement, Document, Drop, Finding, Kind, Page, Removal, Verdict

from . import read, schema, sides
from .registry import Registry, Segment
from .shards import Shards
from .sides import Standing

Refined: TypeAlias = tuple[Announcement, Page]
Judged: TypeAlias = tuple[Page, Removal | None]


class Deduplicator(Protocol):
    """Knows which pages say nothing new; its fingerprints count while their segment is registered."""

    async def judge(self, pages: Sequence[Judged]) -> list[Verdict]: ...

    def fingerprints(self, segment: str, pages: Sequence[Judged]) -> list[Put]: ...

    def remember(self, rows: Sequence[Put]) -> None: ...


class Stores(NamedTuple):
    """Where a corpus keeps what it has. The deduplicator asks the same registry."""

    journals: Journals
    blobs: Blobs
    table: Table
    registry: Registry


class Counts(NamedTuple):
    """Of the whole crawl, over restarts."""

    documents: int
    duplicates: int
    near_duplicates: int
    removed: dict[str, int]  # by Removal, duplicates among them

    @property
    def pages(self) -> int:
        """All that were ever committed."""
        return self.documents + sum(self.removed.values())


class _Batch(NamedTuple):
    """What a commit writes."""

    documents: list[Refined]
    removed: list[tuple[Announcement, Page, Verdict]]

    @property
    def judged(self) -> list[Judged]:
        kept: list[Judged] = [(page, None) for _, page in self.documents]
        return kept + [(page, verdict.removal) for _, page, verdict in self.removed]


class Corpus:
    """One writer of segments and shards."""

    def __init__(
        self, stores: Stores, deduplicator: Deduplicator, clock: Clock, config: CorpusConfig, killpoints: KillPoints
    ) -> None:
        self._stores = stores
        self._registry = stores.registry
        self._deduplicator = deduplicator
        self._clock = clock
        self._config = config
        self._killpoints = killpoints
        self._committing = asyncio.Lock()
        self._shards = self._shards_of(stores.registry)

    async def open(self) -> None:
        """Call once, before anything else: finishes what was cut short, deletes segments that never counted."""
        standing = await sides.standing(self._stores.table)
        if standing.live is not self._registry.side:
            raise EngineError("the corpus was made anew meanwhile")
        if standing.dirty:
            await self._tidy_up()
        await self._registry.load()
        await self._shards.resume()
        await self._shards.sweep()

    async def begin(self) -> None:
        """Instead of `open`, for the side that does not count: empty, to be made anew beside the corpus that does."""
        await sides.write(self._stores.table, Standing(self._registry.side.other, dirty=True))
        self._shards.make_anew()
        await self.give_up()

    async def give_up(self) -> None:
        """Nothing of what was made anew is kept."""
        await self._registry.load()
        await self._registry.clear()
        await self._shards.clear_anew()

    async def take_place(self) -> None:
        """What was made anew counts from here on, and the old corpus no more: one row is the moment."""
        await self.compact(final=True)
        self._killpoints.reach("corpus.made")
        await sides.write(self._stores.table, Standing(self._registry.side, dirty=True))
        self._killpoints.reach("corpus.taken")
        await self._tidy_up()

    async def _tidy_up(self) -> None:
        """Put in place what was made anew, if it counts; drop whatever the other side holds."""
        other = Registry(self._stores.table, self._registry.side.other)
        await self._shards.take_place(other.writer)
        self._killpoints.reach("corpus.moved")
        await other.load()
        await other.clear()
        await self._shards_of(other).clear_anew()
        await sides.write(self._stores.table, Standing(self._registry.side))

    def _shards_of(self, registry: Registry) -> Shards:
        stores = self._stores
        return Shards(stores.journals, stores.blobs, stores.table, registry, self._killpoints)

    async def commit(self, pages: Sequence[Refined]) -> list[Finding]:
        """One finding per page, in order. What was committed before is recognised, not written again."""
        async with self._committing:
            judged = [(page, _removal(page)) for announced, page in pages if announced.kind is Kind.PAGE]
            verdicts = iter(await self._deduplicator.judge(judged))
            batch = _Batch([], [])
            findings = []
            for announced, page in pages:
                verdict = next(verdicts) if announced.kind is Kind.PAGE else Verdict(committed=True)
                findings.append(_finding(announced, page, verdict))
                if verdict.committed:
                    continue
                if verdict.removal is None:
                    batch.documents.append((announced, page))
                else:
                    batch.removed.append((announced, page, verdict))
            if batch.documents or batch.removed:
                await self._write(batch)
            return findings

    async def _write(self, batch: _Batch) -> None:
        """Segment durable → fingerprints name it → registered. Each step counts for nothing without the next."""
        name = self._registry.new_name()
        dating = schema.Dating(self._config.source, self._clock.now())
        kept, removed = await asyncio.to_thread(_encode, batch, dating)
        if kept:
            await self._stores.blobs.put(self._shards.segment_file(name), kept)
        if removed:
            await self._stores.blobs.put(self._shards.removed_file(name), removed)
        self._killpoints.reach("corpus.written")
        rows = self._deduplicator.fingerprints(name, batch.judged)
        await self._stores.table.write(rows)
        self._killpoints.reach("corpus.fingerprinted")
        reasons = Counter(verdict.removal.value for _, _, verdict in batch.removed if verdict.removal)
        await self._registry.register(
            Segment(name, len(batch.documents), dict(reasons), bytes=len(kept), removed_bytes=len(removed))
        )
        self._deduplicator.remember(rows)
        self._killpoints.reach("corpus.registered")

    async def compact(self, final: bool = False) -> None:
        """Put segments together to whole shards; `final`: all that are left too."""
        await self._shards.compact(self._config.shard_bytes, final=final)

    def counts(self) -> Counts:
        removed = self._registry.removed
        duplicates = removed[Removal.DUPLICATE_BODY.value] + removed[Removal.DUPLICATE_TEXT.value]
        return Counts(self._registry.documents, duplicates, removed[Removal.NEAR_DUPLICATE.value], dict(removed))

    async def documents(self, limit: int | None = None) -> AsyncIterator[Document]:
        """Committed documents, those in shards first."""
        names = await self._shards.data_files()
        async for document in read.documents(self._stores.blobs, names, limit):
            yield document


def _removal(page: Page) -> Removal | None:
    """Why this page is no document, whatever else there is in the corpus."""
    if page.refusal:
        return Removal.UNPARSABLE
    if page.noindex:
        return Removal.NOINDEX
    return None if page.text and not page.text.isspace() else Removal.EMPTY


def _finding(announced: Announcement, page: Page, verdict: Verdict) -> Finding:
    return Finding(
        url=announced.url,
        fetched=announced.fetched,
        body_digest=page.body_digest,
        text_digest=page.text_digest,
        simhash=page.simhash,
        title=page.title,
        language=page.language.code,
        words=page.words,
        removal=verdict.removal,
        refusal=page.refusal,
        needs_rendering=page.needs_rendering,
        links_left_out=dict(page.drops).get(Drop.TOO_MANY_LINKS.value, 0),
    )


def _encode(batch: _Batch, dating: schema.Dating) -> tuple[bytes, bytes]:
    kept = [schema.document(announced, page, dating) for announced, page in batch.documents]
    removed = [schema.removed(announced, page, dating, verdict) for announced, page, verdict in batch.removed]
    return (
        schema.encode(kept, schema.DOCUMENTS) if kept else b"",
        schema.encode(removed, schema.REMOVED) if removed else b"",
    )
