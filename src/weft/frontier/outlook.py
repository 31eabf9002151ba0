"""What a crawl that asks nobody waits for: until when, and whether that is worth waiting for. Called by `Frontier`.

`look` decides, from the next moments of hosts and URLs with their reasons. `Lookout` reads those: a few while something
is due within a minute, else every host's row, a page at a time.
"""

import heapq
from collections.abc import AsyncIterator, Iterable
from typing import Final, NamedTuple

from weft.ports import Range
from weft.records import Record
from weft.urls.host import url_key

from . import keys, pace
from .paging import pages
from .rows import HostRow, Pending, decode_host, decode_pending
from .state import State

PATIENCE: Final = 60.0  # seconds; what heals within them is waited for in any case
TOLD: Final = 2.0  # seconds; shorter waits are not spoken of
RETRY: Final = "another attempt"
_EXAMPLES: Final = 5
_SETTLED: Final = 5.0  # seconds; a URL is due a little after its host's pause, which begins before it is settled
_RETRIES: Final = 20  # waiting rows looked at for an example


class Moment(NamedTuple):
    """When a host may be asked, or a URL is due again, and why not before."""

    until: float  # wall seconds
    why: str
    host: str
    urls: int = 0

    def is_long(self, now: float) -> bool:
        """Is it for something that has to heal, and not within a minute? The gap of a host is not, however long."""
        return self.why not in pace.ORDINARY and self.until - now > PATIENCE


class Outlook(Record, frozen=True):
    """How it goes on while nothing is under way."""

    ready_in: float | None = None  # seconds until something may be asked; None: nothing ever may
    long: bool = False  # all that is left waits longer than a minute for something to heal
    waits: tuple[Moment, ...] = ()  # a few of what is waited for, soonest first
    urls: int = 0  # all that wait, where all were counted
    hosts: int = 0

    def plus(self, more: "Outlook") -> "Outlook":
        """Of both together."""
        if more.ready_in is None or self.ready_in is None:
            return self if more.ready_in is None else more
        waits = tuple(heapq.nsmallest(_EXAMPLES, (*self.waits, *more.waits)))
        urls, hosts = self.urls + more.urls, self.hosts + more.hosts
        return Outlook(min(self.ready_in, more.ready_in), self.long and more.long, waits, urls, hosts)


def look(moments: Iterable[Moment], now: float) -> Outlook:
    """Ready in so many seconds, or waiting: for what, until when, on how many URLs and hosts."""
    found = list(moments)
    if not found:
        return Outlook()
    return Outlook(
        ready_in=max(0.0, min(moment.until for moment in found) - now),
        long=all(moment.is_long(now) for moment in found),
        waits=tuple(heapq.nsmallest(_EXAMPLES, found)),
        urls=sum(moment.urls for moment in found),
        hosts=len({moment.host for moment in found}),
    )


def moment_of(row: HostRow, at: float | None, quiet: float | None, due: float | None) -> Moment | None:
    """What a host that is not parked waits for; None: it has nothing to be asked for.

    `at`: when it may be asked, if its queue has work; `quiet`: the end of the quiet hours that hold then; `due`: when
    the first of all URLs that wait for another attempt is due.
    """
    urls = row.pending + row.waiting
    if row.parked or (at is None and (due is None or row.waiting <= 0)):
        return None
    if at is None:
        return Moment(due or 0.0, RETRY, row.name, urls)
    if quiet is not None and quiet > at:
        return Moment(quiet, "quiet hours", row.name, urls)
    return Moment(at, row.pause, row.name, urls)


def retry_of(row: HostRow, due: float, pending: Pending) -> Moment:
    """What a URL waits for that failed: for its host, if that wants to be left alone as long, or for its own turn."""
    if row.pause not in pace.ORDINARY and row.next_ms / 1000 > due - _SETTLED:
        return Moment(due, row.pause, row.name, 1)
    trouble = pending.visits[-1].reason if pending.visits else "a failure"
    return Moment(due, f"{RETRY} after {trouble}", row.name, 1)


class Lookout:
    def __init__(self, state: State) -> None:
        self._state = state
        self._last = Outlook()
        self._ordinary_until = 0.0  # wall; until then a host has work that waits for nothing but its gap

    def ready_in(self) -> float | None:
        """Seconds until a host may be asked; None: nothing can become ready but by `settle`, `add` or a revival."""
        state = self._state
        moments: list[float] = []
        firsts = () if state.lookups.full else (state.bench.next_ms(), state.budgets.next_ms())
        moments += [(first - state.time.now_ms()) / 1000 for first in firsts if first is not None]
        if (due := self._due()) is not None:
            moments.append(due - state.time.wall())
        if state.lookups.blocked:
            moments.append(1.0)  # `resolved` makes them ready; this only says that they can be
        if state.leases:
            oldest = next(iter(state.leases.values()))
            if not oldest.answered:
                moments.append(oldest.lease.expires - state.time.wall() + 0.001)
        return max(0.0, min(moments)) if moments else None

    def last(self) -> Outlook:
        """What `outlook` found, while it still holds."""
        past = any(wait.until <= self._state.time.wall() for wait in self._last.waits)
        holds = not past and not self._state.leases and (self.ready_in() or 0.0) > 0.0
        return self._last if holds else Outlook()

    async def outlook(self) -> Outlook:
        """How it goes on. To be asked when nothing is under way."""
        now, ready = self._state.time.wall(), self.ready_in()
        if ready is None or ready < TOLD:
            self._last = Outlook(ready)
        elif ready <= PATIENCE or self._state.budgets.next_ms() is not None or now < self._ordinary_until:
            self._last = Outlook(ready, waits=tuple(await self._first()))
        else:
            self._last = await self._survey(now)
        return self._last

    async def _survey(self, now: float) -> Outlook:
        """Of every host, until one is found whose gap is all that it waits for. A page of rows at a time."""
        found, due = Outlook(), self._due()
        async for hosts in self._hosts():
            moments = [moment for key, row in hosts if (moment := self._moment(key, row, due)) is not None]
            if own := [moment.until for moment in moments if not moment.is_long(now)]:
                self._ordinary_until = max(own)
                return Outlook(self.ready_in(), waits=tuple(await self._first()))
            found = found.plus(look(moments, now))
        waits = [wait for wait in found.waits if wait.why != RETRY]
        named = {wait.host for wait in waits}
        retries = [wait for wait in await self._retries() if wait.host not in named]
        waits = heapq.nsmallest(_EXAMPLES, waits + retries)
        ready = self.ready_in()  # something may have come in meanwhile
        return Outlook(ready, found.long and (ready or 0.0) > PATIENCE, tuple(waits), found.urls, found.hosts)

    async def _first(self) -> list[Moment]:
        """What is waited for first."""
        moments = await self._retries()
        key = self._state.bench.next_key()
        row = await self._row(key) if key is not None else None
        if key is not None and row is not None and (moment := self._moment(key, row, None)) is not None:
            moments.append(moment)
        return heapq.nsmallest(1, moments)

    def _moment(self, key: bytes, row: HostRow, due: float | None) -> Moment | None:
        """`row` as the table has it; what is in memory is newer."""
        state = self._state
        has_work = not row.full and (row.levels or state.hosts.may_try(row))
        at = row.next_ms / 1000 if has_work else None
        if (host := state.hosts.live(key)) is not None:
            row = host.row
            at = state.time.wall() + (row.next_ms - state.time.now_ms()) / 1000 if host.has_work else None
        quiet = None
        if state.quiet and at is not None:
            quiet = pace.quiet_until(state.quiet, row.name, max(at, state.time.wall()))
        return moment_of(row, at, quiet, due)

    def _due(self) -> float | None:
        """When the first URL that waits for another attempt may be due, where one of them can lead to a request."""
        due, totals = self._state.due, self._state.totals
        return min(due.values()) / 1000 if due and totals.waiting > totals.waiting_parked else None

    async def _retries(self) -> list[Moment]:
        """The first URLs that are due, of a few hosts."""
        if self._due() is None:
            return []
        number = min(self._state.due, key=self._state.due.__getitem__)
        (rows,) = await self._state.table.scan([Range(number.to_bytes(2, "big") + keys.WAITING, limit=_RETRIES)])
        found: dict[str, Moment] = {}
        for item, value in rows:
            pending = decode_pending(value)
            key = url_key(pending.url, self._state.config.storage.partitions)
            row = await self._row(key[: keys.HOST_KEY])
            if row is not None and not row.parked and row.name not in found:
                found[row.name] = retry_of(row, int.from_bytes(item[:8], "big") / 1000, pending)
        return list(found.values())

    async def _row(self, key: bytes) -> HostRow | None:
        if (host := self._state.hosts.live(key)) is not None:
            return host.row
        (value,) = await self._state.table.get([keys.host_row(key)])
        return decode_host(value) if value else None

    async def _hosts(self) -> AsyncIterator[list[tuple[bytes, HostRow]]]:
        for number in range(self._state.config.storage.partitions):
            partition = number.to_bytes(2, "big")
            async for rows in pages(self._state.table, partition + keys.HOST):
                yield [(partition + item, decode_host(value)) for item, value in rows]
