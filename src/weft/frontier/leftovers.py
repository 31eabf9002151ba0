"""What is left and will not be asked for by itself: groups of URLs that are held, and hosts whose cap is reached.

Reads only; `Frontier.leftovers` and `Frontier.left` come here, for the last lines of a crawl and for `weft status`.
"""

import heapq
from collections.abc import AsyncIterator, Iterable
from typing import Final

import msgspec

from weft.ports import Range
from weft.records import Record

from . import keys
from .paging import pages
from .rows import GroupRow, HostRow, decode_group, decode_host, decode_pending
from .state import State
from .story import HoldStory, hold_story

TOLD: Final = 20
"""Groups that are named one by one where nobody asks for more."""
_EXAMPLES: Final = 3
_SHARE: Final = 100  # looking again while a crawl runs may take this part of its time


class Cap(Record, frozen=True):
    """Hosts that have brought as many pages as they may."""

    word: str  # of Drop
    urls: int  # left in their queues
    hosts: int
    example: str  # one of them


class Left(Record, frozen=True):
    """Groups, most held first, and caps."""

    holds: tuple[HoldStory, ...] = ()
    groups: int = 0  # all of them
    caps: tuple[Cap, ...] = ()


class Leftovers:
    def __init__(self, state: State) -> None:
        self._state = state
        self._last = Left()
        self._next_ms = 0  # when it is worth looking again

    def last(self) -> Left:
        """What was found last."""
        return self._last

    async def refresh(self) -> None:
        """Look again, unless that was done lately."""
        began = self._state.time.now_ms()
        if began < self._next_ms:
            return
        await self.look()
        ended = self._state.time.now_ms()
        self._next_ms = ended + _SHARE * (ended - began)

    async def look(self, limit: int = TOLD) -> Left:
        """At the rows of every host, a page at a time; at the groups of those that hold something."""
        if not (self._state.totals.held or self._state.totals.capped):
            self._last = Left()  # no row need be read
            return self._last
        holds: list[HoldStory] = []
        groups, caps = 0, dict[str, Cap]()
        async for hosts in self._hosts():
            found = [story for key, row in hosts if row.held > 0 for story in await self._groups(key, row)]
            groups += len(found)
            holds = heapq.nlargest(limit, [*holds, *found], key=lambda story: story.held)
            for _, row in hosts:
                if row.full and not row.parked and row.pending:
                    caps[row.full] = _joined(caps.get(row.full), row)
        self._last = Left(tuple(holds), groups, tuple(sorted(caps.values(), key=lambda cap: -cap.urls)))
        return self._last

    async def _hosts(self) -> AsyncIterator[list[tuple[bytes, HostRow]]]:
        for number in range(self._state.config.storage.partitions):
            partition = number.to_bytes(2, "big")
            async for rows in pages(self._state.table, partition + keys.HOST):
                yield [self._newest(partition + item, decode_host(value)) for item, value in rows]

    def _newest(self, key: bytes, row: HostRow) -> tuple[bytes, HostRow]:
        host = self._state.hosts.live(key)
        return key, host.row if host is not None else row

    async def _groups(self, key: bytes, row: HostRow) -> list[HoldStory]:
        """What a host holds; groups that look alike, such as those of pages found inside and outside, as one."""
        host = self._state.hosts.live(key)
        groups = host.groups if host is not None else None
        if groups is None:
            groups = {}
            async for rows in pages(self._state.table, keys.group(key, keys.HOLD)):
                groups |= {name: decode_group(value) for name, value in rows}
        found = [await self._exemplified(key, name, group) for name, group in groups.items() if group.held > 0]
        return merged(row.name, found)

    async def _exemplified(self, holder: bytes, name: bytes, group: GroupRow) -> GroupRow:
        """With an example that is held still: those it was given first may have been tried."""
        if group.examples:
            return group
        first = Range(keys.group(holder, keys.HELD), max(group.first, name), name + b"\xff", limit=_EXAMPLES)
        (rows,) = await self._state.table.scan([first])
        return msgspec.structs.replace(group, examples=tuple(decode_pending(value).url for _, value in rows))


def merged(holder: str, groups: Iterable[GroupRow]) -> list[HoldStory]:
    """One story for all groups of a host that `release` cannot tell apart."""
    found: dict[str, HoldStory] = {}
    for group in groups:
        if group.held <= 0:
            continue
        story = hold_story(holder, group)
        found[story.looks] = _both(found[story.looks], story) if story.looks in found else story
    return list(found.values())


def _both(one: HoldStory, other: HoldStory) -> HoldStory:
    most = max(one, other, key=lambda story: story.held)
    return msgspec.structs.replace(
        most,
        held=one.held + other.held,
        tried=one.tried + other.tried,
        fruitful=one.fruitful + other.fruitful,
        examples=(*one.examples, *other.examples)[:_EXAMPLES],
    )


def _joined(cap: Cap | None, row: HostRow) -> Cap:
    """With one more host."""
    if cap is None:
        return Cap(row.full, row.pending, 1, row.name)
    return Cap(cap.word, cap.urls + row.pending, cap.hosts + 1, cap.example)
