"""Dead letters and parked hosts, for `weft dead DIR list|retry`; and visits once more, for `weft crawl --again`.

What waits for another attempt is no letter, but `retry` takes it too.
"""

from collections.abc import AsyncIterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from weft.ports import Delete, Put, Range
from weft.records import Record, Via, Visit
from weft.urls.host import host_of, registrable

from . import keys, pace
from .host import Host
from .moves import Batch, Moves
from .paging import pages
from .priority import Band
from .queues import FRONT
from .rows import (
    IN_QUEUE,
    IN_WAIT,
    IS_DEAD,
    IS_SETTLED,
    HostRow,
    Learned,
    Pending,
    Settled,
    decode_host,
    decode_learned,
    decode_pending,
    decode_settled,
)
from .state import State, milliseconds
from .waking import Waking

_CHUNK: Final = 500
_LAST: Final = keys.level(Band.LAST)
_LOOKED_AT: Final = 20  # URLs of a host that could not be reached


class Filter(Record, frozen=True):
    """Which of them: by host (or its domain), reason and pattern of the URL (`*` stands for anything)."""

    host: str = ""
    reason: str = ""
    pattern: str = ""

    def takes(self, url: str, reason: str) -> bool:
        host = host_of(url)
        return (
            (not self.host or self.host in (host, registrable(host)))
            and (not self.reason or self.reason == reason)
            and (not self.pattern or fnmatchcase(url, self.pattern) or self.pattern in url)
        )


class Letter(Record, frozen=True):
    """A URL that was given up, or a host (then `url` is its root and `pending` counts what waits there)."""

    url: str
    reason: str
    attempts: int
    visits: tuple[Visit, ...] = ()
    parked: bool = False
    pending: int = 0


class Letters:
    def __init__(self, state: State, moves: Moves, waking: Waking) -> None:
        self._state = state
        self._moves = moves
        self._waking = waking

    async def dead(self, wanted: Filter) -> AsyncIterator[Letter]:
        """Hosts first, then URLs."""
        async for _, row in self.hosts():
            if row.parked and wanted.takes(f"http://{row.name}/", row.parked):
                yield Letter(f"http://{row.name}/", row.parked, row.failed, parked=True, pending=row.pending)
        async for _, pending in self._dead_urls(wanted):
            visits = tuple(visit.visit() for visit in pending.visits)
            yield Letter(pending.url, visits[-1].reason.value if visits else "", pending.attempt, visits)

    async def hosts(self) -> AsyncIterator[tuple[bytes, HostRow]]:
        """Every host with its key."""
        async for hosts in self.host_pages():
            for pair in hosts:
                yield pair

    async def host_pages(self) -> AsyncIterator[list[tuple[bytes, HostRow]]]:
        """The same, many at a time."""
        for number in range(self._state.config.storage.partitions):
            partition = number.to_bytes(2, "big")
            async for rows in pages(self._state.table, partition + keys.HOST):
                yield [(partition + item, decode_host(value)) for item, value in rows]

    async def _dead_urls(self, wanted: Filter) -> AsyncIterator[tuple[bytes, Pending]]:
        for number in range(self._state.config.storage.partitions):
            partition = number.to_bytes(2, "big")
            async for rows in pages(self._state.table, partition + keys.DEAD):
                # A crash may have left a letter of a URL that lived on: the URL's own row decides.
                states = await self._state.table.get([keys.url_row(partition + item) for item, _ in rows])
                for (item, value), state in zip(rows, states, strict=True):
                    pending = decode_pending(value)
                    if state == IS_DEAD and _takes(wanted, pending):
                        yield partition + item, pending

    async def revive(self, wanted: Filter) -> int:
        """Back into the queues, with all attempts before them: how many hosts and URLs, those that wait among them."""
        parked = [
            key async for key, row in self.hosts() if row.parked and wanted.takes(f"http://{row.name}/", row.parked)
        ]
        urls = [pair async for pair in self._dead_urls(wanted)]
        shut = [key async for key, row in self.hosts() if row.closed and await self._is_shut(key, row, wanted)]
        for start in range(0, len(parked), _CHUNK):
            await self._unpark(parked[start : start + _CHUNK])
        for start in range(0, len(shut), _CHUNK):
            await self._reopen(shut[start : start + _CHUNK])
        for start in range(0, len(urls), _CHUNK):
            await self._requeue_dead(urls[start : start + _CHUNK])
        return len(parked) + len(shut) + len(urls) + await self._end_waits(wanted)

    async def _unpark(self, parked: Sequence[bytes]) -> None:
        batch = Batch()
        for host in (await self._state.hosts.load(parked)).values():
            self._state.park(host, "")
            host.row.strain = 0
            self._forgive(host)
            batch.hosts[host] = None
            batch.woken.append(host)
        await self._moves.write(batch)

    async def _is_shut(self, key: bytes, row: HostRow, wanted: Filter) -> bool:
        """Does the host wait, not parked yet, because one of these URLs found it unreachable? They lie in its queue."""
        if row.parked:
            return False
        where = Range(keys.group(key, keys.QUEUE), keys.level_start(_LAST, 0), keys.level_stop(_LAST), _LOOKED_AT)
        (rows,) = await self._state.table.scan([where])
        return any(_takes(wanted, decode_pending(value)) for _, value in rows)

    async def _reopen(self, shut: Sequence[bytes]) -> None:
        batch = Batch()
        for host in (await self._state.hosts.load(shut)).values():
            self._forgive(host)
            batch.hosts[host] = None
            batch.woken.append(host)
        await self._moves.write(batch)

    def _forgive(self, host: Host) -> None:
        """Its failures count no more. Manners hold: only a pause for a host that could not be reached is cut short."""
        host.row.closed = host.row.failed = 0
        if host.row.pause == pace.UNREACHABLE:
            owed = self._state.gap(host)
            soon = self._state.time.now_ms() + milliseconds(owed.seconds)
            host.row.next_ms, host.row.pause = min(host.row.next_ms, soon), owed.why
        host.dirty = True

    async def _end_waits(self, wanted: Filter) -> int:
        """What waits for another attempt has it as soon as its host may be asked."""
        count = 0
        for number in range(self._state.config.storage.partitions):
            partition = number.to_bytes(2, "big")
            async for rows in pages(self._state.table, partition + keys.WAITING):
                states = await self._state.table.get([keys.url_row(partition + item[8:]) for item, _ in rows])
                found = [
                    (partition + row[0][8:], row)
                    for row, state in zip(rows, states, strict=True)
                    if state == IN_WAIT + row[0][:8] and _takes(wanted, decode_pending(row[1]))
                ]
                await self._forget_leases([key for key, _ in found])
                hosts = await self._waking.move(found, anew=True)
                for host in dict.fromkeys(hosts):
                    self._forgive(host)
                    self._state.schedule(host)
                count += len(hosts)
        return count

    async def _requeue_dead(self, urls: Sequence[tuple[bytes, Pending]]) -> None:
        """Order of writing: hosts, queue rows, URL rows, then the dead rows go."""
        await self._forget_leases([key for key, _ in urls])
        batch = Batch()
        hosts = await self._state.hosts.load(list({key[: keys.HOST_KEY] for key, _ in urls}))
        for key, pending in urls:
            host = hosts[key[: keys.HOST_KEY]]
            self._enqueue(key, msgspec.structs.replace(pending, attempt=1, agains=0), batch)
            host.row.dead -= 1
            self._state.totals.dead -= 1
            batch.ends.append(Delete(keys.dead_row(key)))
        await self._moves.write(batch)

    async def _forget_leases(self, failed: Sequence[bytes]) -> None:
        """A crash may have left the lease under which a URL failed; it must not bring the URL back a second time."""
        late = [entry for key in failed if (entry := self._state.leases.get(key)) is not None]
        if late:
            await self._state.table.write([Delete(keys.lease_row(entry.key)) for entry in late])
        for entry in late:
            self._state.take_back(entry)

    def _enqueue(self, key: bytes, pending: Pending, batch: Batch) -> None:
        host = self._state.hosts.live(key[: keys.HOST_KEY])
        if host is None:
            return
        place = keys.queue_item(FRONT, self._state.next_sequence(), key)
        self._moves.requeue(key, host, (place, pending), batch)
        batch.urls.append(Put(keys.url_row(key), IN_QUEUE + place))
        self._state.queued(host, 1)

    async def url_rows(self) -> AsyncIterator[tuple[Settled, Learned | None]]:
        async for host, _ in self.hosts():
            async for rows in pages(self._state.table, keys.group(host, keys.URL)):
                found = [(item, value[1:]) for item, value in rows if value[:1] == IS_SETTLED]
                learned = await self._state.table.get([keys.finding_row(host + item) for item, _ in found])
                for (_, value), finding in zip(found, learned, strict=True):
                    yield decode_settled(value), decode_learned(finding) if finding else None

    async def again(self) -> int:
        """Every page that was fetched goes back into its queue, with its validators. How many.

        What its server has declared fresh (Cache-Control) is left alone.
        """
        count, now = 0, self._state.time.wall()
        hosts = [key async for key, row in self.hosts() if row.done]
        for host in hosts:
            async for rows in pages(self._state.table, keys.group(host, keys.URL)):
                settled = [(host + item, decode_settled(value[1:])) for item, value in rows if value[:1] == IS_SETTLED]
                due = [(key, row) for key, row in settled if row.fetches and row.fresh_until <= now]
                count += await self._visit_again(due)
        return count

    async def _visit_again(self, found: Sequence[tuple[bytes, Settled]]) -> int:
        batch = Batch()
        await self._state.hosts.load(list({key[: keys.HOST_KEY] for key, _ in found}))
        for key, row in found:
            host = self._state.hosts.live(key[: keys.HOST_KEY])
            if host is None or key in self._state.leases:
                continue
            host.row.done -= 1
            self._state.totals.done -= 1
            self._enqueue(key, _once_more(row), batch)
        await self._moves.write(batch)
        return len(batch.urls)


def _takes(wanted: Filter, pending: Pending) -> bool:
    """By what went wrong last."""
    return wanted.takes(pending.url, pending.visits[-1].reason if pending.visits else "")


def _once_more(row: Settled) -> Pending:
    return Pending(
        url=row.url,
        discovered=row.discovered,
        depth=row.depth,
        via=Via.MANUAL,
        source=row.source,
        inside=row.inside,
        kind=row.kind,
        seed=row.seed,
        visits=row.visits,
        first=row.first,
        fetches=row.fetches,
        etag=row.etag,
        modified=row.modified,
        trail=row.trail,
    )
