"""Leases out: from hosts that may be asked now, each a durable permission for one request. Called by `Frontier.lease`.

Order of writing: lease rows, then the queue rows and their copies go. The lease row is the durable word that the host
is being asked: after a crash its host waits a full gap from the start on, and the URL is put back where it lay, over a
queue row that may have outlived the crash. The host's own row is written when the lease is settled.
"""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from weft.errors import EngineError
from weft.ports import Delete, Put
from weft.records import Lease

from . import keys, pace
from .host import Host
from .queues import Queues
from .rows import Pending, decode_pending, encode, lease_of
from .state import Leased, State, milliseconds

_LEASED: Final = struct.Struct(">d17s")  # when, and the queue item
_ROUND: Final = 256  # hosts looked at between two reads


class Taken(NamedTuple):
    """A URL about to be leased."""

    host: Host
    place: bytes  # queue item
    pending: Pending
    value: bytes
    again: bool  # its lease row is still there from the last time; it has no queue row


class Leasing:
    def __init__(self, state: State, queues: Queues) -> None:
        self._state = state
        self._queues = queues

    async def lease(self, limit: int) -> list[Lease]:
        taken: list[Taken] = []
        spare: list[Delete] = []
        while len(taken) < limit:
            hosts = await self._candidates(min(limit - len(taken), _ROUND))
            if not hosts:
                break
            spare += await self._queues.ready(hosts)
            for host in hosts:
                self._take(host, taken, spare)
        return await self._grant(taken, spare) if taken else []

    async def _candidates(self, limit: int) -> list[Host]:
        """Hosts that may be asked now, in memory, with their budgets charged."""
        state = self._state
        found: list[Host] = []
        while len(found) < limit and not state.lookups.full:
            now_ms = state.time.now_ms()
            due = self._due(now_ms, limit - len(found))
            if not due:
                break
            for host in (await state.hosts.load(due)).values():
                if self._may_ask(host, now_ms):
                    host.busy_until = now_ms + milliseconds(state.config.frontier.lease_seconds)
                    found.append(host)
            state.budgets.regroup()
        return found

    def _due(self, now_ms: int, limit: int) -> list[bytes]:
        """Hosts whose moment has come: those that stood in a line first."""
        due = self._state.budgets.released(now_ms, limit)
        while len(due) < limit and (key := self._state.bench.pop(now_ms)) is not None:
            due.append(key)
        return due

    def _may_ask(self, host: Host, now_ms: int) -> bool:
        """Whether the host may be asked now; if later, it is put back for then."""
        state, row = self._state, host.row
        if host.busy_until or host.resolving or host.claims or row.parked or not host.has_work:
            return False  # whoever holds it puts it back
        if row.next_ms > now_ms:
            state.schedule(host)  # perhaps it is there twice now; the second is dropped while the first is asked
            return False
        if (quiet := self._quiet_ms(host)) is not None:
            state.schedule(host, now_ms + quiet)
            return False
        return state.exempt(host) or self._within_budget(host, now_ms)

    def _quiet_ms(self, host: Host) -> int | None:
        if not self._state.quiet:
            return None
        wall = self._state.time.wall()
        end = pace.quiet_until(self._state.quiet, host.row.name, wall)
        return None if end is None else milliseconds(end - wall)

    def _within_budget(self, host: Host, now_ms: int) -> bool:
        state = self._state
        if not host.row.address and not state.addressed(host):
            return False
        if state.exempt(host):  # by its address, which is known only now
            return True
        if state.budgets.grant(host.key, host.row.address, host.domain, now_ms):
            host.granted_ms = now_ms
            return True
        return False

    def _take(self, host: Host, taken: list[Taken], spare: list[Delete]) -> None:
        """The host's next URL that is not leased already, or the host is let go."""
        if host.again:
            place, pending = host.again.pop(0)
            taken.append(Taken(host, place, pending, encode(pending), True))
            return
        while (row := self._queues.take(host)) is not None:
            item, value = row
            key = host.key + keys.url_hash_of(item)
            if key not in self._state.leases:
                taken.append(Taken(host, item, decode_pending(value), value, False))
                return
            # A second row of a URL, left by a crash: the lease that is out will settle it.
            self._state.queued(host, -1)
            spare.append(Delete(keys.queue_row(key, item)))
        self._let_go(host)

    def _let_go(self, host: Host) -> None:
        """It had no row after all, or not in the heads that were read."""
        host.busy_until = 0
        if host.granted_ms:
            self._state.budgets.give_back(host.row.address, host.domain, host.granted_ms)
            host.granted_ms = 0
        if not host.has_work:  # as its row must say: a host with work, once out of memory, is taken to be scheduled
            host.dirty = True
            self._state.urgent.append(host)
        self._state.schedule(host)

    async def _grant(self, taken: Sequence[Taken], spare: Sequence[Delete]) -> list[Lease]:
        state = self._state
        wall = state.next_sequence() / 1_000_000  # its time names a lease: never the same
        expires = wall + state.config.frontier.lease_seconds
        entries: list[Leased] = []
        leased: list[Put] = []
        gone = list(spare)
        for host, place, pending, value, again in taken:
            key = host.key + keys.url_hash_of(place)
            lease = lease_of(pending, host.row.name, keys.place(host.key, place), wall, expires)
            entries.append(Leased(key, lease, pending, host))
            leased.append(Put(keys.lease_row(key), _LEASED.pack(wall, place) + value))
            if not again:
                gone.append(Delete(keys.queue_row(key, place)))
            host.before_ms = host.row.next_ms
            host.row.drawn += 1
            host.dirty = True
        try:
            await state.table.write(leased, gone)
        except EngineError:
            self._undo(taken)
            raise
        for entry in entries:
            state.give(entry)
        state.hosts.trim()
        return [entry.lease for entry in entries]

    def _undo(self, taken: Sequence[Taken]) -> None:
        """The engine failed: hosts are as they were, their heads are read again."""
        for host, place, pending, _, again in taken:
            if again:
                host.again.insert(0, (place, pending))
            else:
                host.lower(keys.level_of(place), keys.sequence_of(place))
            host.heads.clear()
            host.row.next_ms = host.before_ms
            host.busy_until = 0
            self._state.schedule(host)


def read_lease(value: bytes) -> tuple[float, bytes, Pending]:
    """When it was given, the queue item and the record of a lease row."""
    leased, place = _LEASED.unpack_from(value)
    return leased, place, decode_pending(value[_LEASED.size :])
