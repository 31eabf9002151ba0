"""Pages become documents: judged, written to a segment, fingerprinted, registered. Called by the refine loop.

findings = await corpus.commit([(announcement, page), …])   all of it durable when it returns
await frontier.learn(findings)                               only then
await pages.ack(messages)
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from weft.config import Corpus as CorpusConfig
from weft.killpoints import KillPoints
from weft.ports import Blobs, Clock, Delete, Journals, Put, Table
from weft.records import Announcement, Document, Drop, Finding, Kind, Page, Removal, Verdict

from . import read, schema
from .registry import Registry, Segment
from .shards import Shards, removed_file, segment_file

Refined: TypeAlias = tuple[Announcement, Page]
Judged: TypeAlias = tuple[Page, Removal | None]
_RENEWAL: Final = (b"corpus.renewal", b"under way")


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
        self._shards = Shards(stores.journals, stores.blobs, stores.table, stores.registry, killpoints)

    async def open(self) -> None:
        """Call once, before anything else: finishes a compaction cut short, deletes segments that never counted."""
        await self._registry.load()
        await self._shards.resume()
        await self._shards.sweep()
        if (await self._stores.table.get([_RENEWAL]))[0] is not None:
            await self._start_over()

    async def renew(self) -> None:
        """Empty the corpus, to be made anew. Before the first commit only; a crash midway is finished by `open`."""
        async with self._committing:
            await self._stores.table.write([Put(_RENEWAL, b"")], sync=True)
            await self._start_over()

    async def _start_over(self) -> None:
        await self._registry.clear()
        await self._shards.clear()
        await self._stores.table.write([Delete(_RENEWAL)])

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
            await self._stores.blobs.put(segment_file(name), kept)
        if removed:
            await self._stores.blobs.put(removed_file(name), removed)
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
