"""`weft check`: asks each stage to prove its invariants over all that is stored, and gathers what they say. Reads only.

Order: the archive, the frontier (what is settled as stored is archived), the corpus (its rows are made of captures that
the archive has), what is announced, the totals. Made by build.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec

from .archive.checking import Checking as ArchiveChecking
from .archive.checking import Stores as ArchiveStores
from .archive.recovery import Kept
from .checked import Checked, Remark, Sort, Word
from .corpus.checking import Captured, Witnesses
from .corpus.checking import Checking as CorpusChecking
from .corpus.checking import Stores as CorpusStores
from .corpus.registry import Registry
from .frontier.checking import Checking as FrontierChecking
from .metrics import Tally
from .ports import Blobs, Clock, Journals, Table

Watch: TypeAlias = Callable[[Checked], None]
"""Is told now and then how much has been looked at."""

TOLD: Final = 20
"""Remarks of a kind that are told one by one."""
_EVERY: Final = 10.0  # seconds between two words to who watches


class Stores(NamedTuple):
    """Where everything lies."""

    journals: Journals
    blobs: Blobs
    table: Table
    registry: Registry
    announced: AsyncIterator[list[bytes]]  # messages of the pages queue


class Knowledge(NamedTuple):
    """What else is asked."""

    tally: Tally
    known: Callable[[Sequence[str]], Awaitable[Sequence[bool]]]  # captures that are recognised if they come again
    digest: Callable[[str], bytes]  # of a text


class Told(msgspec.Struct, frozen=True):
    """One remark, for programs."""

    kind: str
    what: str
    where: str
    meaning: str
    remedy: str


class Result(msgspec.Struct, frozen=True):
    """What was looked at and what was found: of each kind the first, and all counted."""

    clean: bool
    checked: dict[str, int]
    faults: list[Told]
    leftovers: list[Told]
    drift: list[Told]
    counts: dict[str, int]  # by kind, of faults, leftovers and drift


class Check:
    def __init__(self, stores: Stores, clock: Clock, partitions: int, knowledge: Knowledge) -> None:
        self._stores = stores
        self._clock = clock
        self._knowledge = knowledge
        self._checked: Checked = Counter()
        self._archive = ArchiveChecking(ArchiveStores(*stores[:3]), self._checked)
        self._frontier = FrontierChecking(stores.table, partitions, self._archive.archived, self._checked)
        witnesses = Witnesses(self._captured, self._frontier.knows, knowledge.known, knowledge.digest)
        self._corpus = CorpusChecking(CorpusStores(*stores[:4]), witnesses, self._checked)

    async def run(self, watch: Watch) -> Result:
        watching = asyncio.create_task(self._watch(watch))
        try:
            return await self._run()
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def _run(self) -> Result:
        told: dict[Sort, list[Told]] = {sort: [] for sort in Sort}
        counts: Counter[Word] = Counter()
        async for word, what, where in self._remarks():
            counts[word] += 1
            if counts[word] <= TOLD:
                told[word.sort].append(Told(word.value, what, where, word.meaning, word.remedy))
        return Result(
            clean=not told[Sort.FAULT],
            checked=dict(self._checked),
            faults=told[Sort.FAULT],
            leftovers=told[Sort.LEFTOVER],
            drift=told[Sort.DRIFT],
            counts={word.value: count for word, count in counts.items()},
        )

    async def _remarks(self) -> AsyncIterator[Remark]:
        for remarks in (self._archive.remarks(), self._frontier.remarks(), self._corpus.remarks()):
            async for remark in remarks:
                yield remark
        async for messages in self._stores.announced:
            for remark in await self._archive.announced(messages):
                yield remark
        for remark in self._totals():
            yield remark

    def _totals(self) -> list[Remark]:
        tally, stored = self._knowledge.tally, self._archive.totals
        pairs = (("fetched", tally.fetched), ("archived", tally.counts["archived"]))
        return [
            Remark(Word.TOTAL_OFF, name, f"{told:,} told, {stored[name]:,} stored")
            for name, told in pairs
            if told != stored[name]
        ]

    async def _captured(self, captures: Sequence[Captured]) -> list[bool]:
        return await self._archive.has([Kept(*capture) for capture in captures])

    async def _watch(self, watch: Watch) -> None:
        while True:
            await self._clock.sleep(_EVERY)
            watch(self._checked)
