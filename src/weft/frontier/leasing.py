"""Leases out: from hosts that may be asked now, each a durable permission for one request. Called by `Frontier.lease`.

Order of writing: rows of what is held from now on, lease rows, then the queue rows and their copies go. The lease row
is the durable word that the host is being asked: after a crash its host waits a full gap from the start on, and the URL
is put back where it lay, over a queue row that may have outlived the crash. The host's own row is written when the
lease is settled, before that only if what it holds has changed: first as if nothing had been drawn, then as it is.
"""

import struct
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import msgspec

from weft.errors import EngineError
from weft.ports import Delete, Put
from weft.records import Drop, Kind, Lease

from . import keys, pace
from .domains import Domains
from .holds import Held
from .host import Host, Row
from .queues import FRONT, HELD, Queues
from .rows import IN_QUEUE, DomainRow, Pending, decode_pending, encode, lease_of
from .state import Leased, State, milliseconds
from .trail import is_clean
from .trapping import Trapping

_LEASED: Final = struct.Struct(">d17s")  # when, and the queue item
_LOOK_AGAIN: Final = 1000  # ms after which a host is looked at again that waits for what its pages bring
_MOVED: Final = 512  # URLs that may come to be held, or be tried, in one call
_ROUND: Final = 256  # hosts looked at between two reads


class Taken(NamedTuple):
    """A URL about to be leased."""

    host: Host
    place: bytes  # queue item
    pending: Pending
    value: bytes
    again: bool = False  # its lease row is still there from the last time; it has no queue row
    held: Held | None = None  # it was held, and has no queue row either


class Draw:
    """What one call takes, and the rows that change with it."""

    def __init__(self) -> None:
        self.taken: list[Taken] = []
        self.held: list[tuple[Put, Put, Delete]] = []  # what must wait: held row, URL row, and the queue row goes
        self.holding: dict[Host, None] = {}  # whose it is
        self.rows: list[Put] = []
        self.urls: list[Put] = []
        self.gone: list[Delete] = []
        self.tried: list[Held] = []
        self.drawn: list[tuple[Host, bytes]] = []  # rows that were taken from queues
        self.holders: dict[Host, None] = {}
        self.domains: list[tuple[bytes, DomainRow]] = []  # by partition, whose counts changed


class Leasing:
    def __init__(self, state: State, queues: Queues, trapping: Trapping, domains: Domains) -> None:
        self._state = state
        self._queues = queues
        self._trapping = trapping
        self._domains = domains
        self._cap = state.config.scope.pages_per_host or 1 << 62

    async def lease(self, limit: int) -> list[Lease]:
        draw = Draw()
        while len(draw.taken) < limit and len(draw.held) + len(draw.tried) < _MOVED:
            hosts = await self._candidates(min(limit - len(draw.taken), _ROUND))
            if not hosts:
                break
            draw.gone += await self._queues.ready(hosts)
            await self._trapping.ready([host for host in hosts if host.row.barren])
            await self._domains.load({(host.key[:2], host.domain) for host in hosts})
            for host in hosts:
                await self._take(host, draw)
        return await self._grant(draw)

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
        return host.is_family or state.exempt(host) or self._within_budget(host, now_ms)

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

    async def _take(self, host: Host, draw: Draw) -> None:
        """The host's next URL that may be asked for and is not leased already, or the host is let go."""
        if host.again:
            place, pending = host.again.pop(0)
            draw.taken.append(Taken(host, place, pending, encode(pending), again=True))
            return
        while not host.row.full:
            if self._queues.next_level(host) == HELD:
                if not host.is_family and (cap := self._cap_of(host)):
                    self._fill(host, cap, draw)
                    break
                if self._trapping.awaited.is_ahead(host.key):
                    break
                if host in draw.holding:
                    await self._write_held(draw)  # or what came to be held just now would not be found there
                if await self._try(host, draw):
                    return
                continue  # it held nothing after all
            row = self._queues.take(host)
            if row is None or self._use(host, row, draw):
                break
        if not draw.taken or draw.taken[-1].host is not host:
            self._let_go(host)

    def _use(self, host: Host, row: Row, draw: Draw) -> bool:
        """Take the row, if its URL may be asked for now. True: the host's turn is over."""
        item, value = row
        key = host.key + keys.url_hash_of(item)
        if key in self._state.leases:
            # A second row of a URL, left by a crash: the lease that is out will settle it.
            self._state.queued(host, -1)
            draw.gone.append(Delete(keys.queue_row(key, item)))
            return False
        pending = decode_pending(value)
        if host.row.barren and self._trapping.stops(host, pending):
            held, url = self._trapping.hold(host, key, pending)
            self._state.queued(host, -1)
            draw.held.append((held, url, Delete(keys.queue_row(key, item))))
            draw.holding[host] = None
            draw.drawn.append((host, item))
            return False
        if not is_clean(pending.trail) and self._trapping.awaited.is_ahead(host.key):
            self._queues.put_back(host, row)
            return True
        if _is_first(pending):
            if not pending.seed and (cap := self._cap_of(host)):
                self._queues.put_back(host, row)
                self._fill(host, cap, draw)
                return True
            self._count(host, draw)
        draw.taken.append(Taken(host, item, pending, value))
        draw.drawn.append((host, item))
        return True

    async def _try(self, host: Host, draw: Draw) -> bool:
        """Take what the host holds, if there is anything after all."""
        held = await self._trapping.draw(host)
        draw.holders[host] = None
        if held is None:
            return False
        pending = msgspec.structs.replace(held.pending, trial=host.key + held.item[:8])
        place = keys.queue_item(FRONT, self._state.next_sequence(), held.key)
        draw.tried.append(held)
        draw.urls.append(Put(keys.url_row(held.key), IN_QUEUE + place))
        draw.gone.append(Delete(keys.held_row(host.key, held.item)))
        if not host.is_family:
            self._state.queued(host, 1)
            self._count(host, draw)
            draw.taken.append(Taken(host, place, pending, encode(pending), held=held))
            return True
        member = await self._trapping.member(held)
        draw.rows.append(Put(keys.queue_row(held.key, place), encode(pending)))
        draw.holders[member] = None
        member.lower(place)
        member.heads.pop(FRONT, None)
        self._state.queued(member, 1)
        self._state.enlist(member)
        self._let_go(host)
        return True

    def _fill(self, host: Host, cap: Drop, draw: Draw) -> None:
        self._state.fill(host, cap.value)
        draw.holders[host] = None

    def _cap_of(self, host: Host) -> Drop | None:
        if host.row.admitted >= self._cap:
            return Drop.HOST_FULL
        full = self._domains.room(self._domains.get(host.key[:2], host.domain)) <= 0
        return Drop.DOMAIN_FULL if full else None

    def _count(self, host: Host, draw: Draw) -> None:
        domain = self._domains.get(host.key[:2], host.domain)
        host.row.admitted += 1
        self._domains.count(host.key[:2], domain, 1)
        draw.domains.append((host.key[:2], domain))

    def _let_go(self, host: Host) -> None:
        """It had no row after all, or not in the heads that were read."""
        host.busy_until = 0
        self._state.square(host)
        if host.granted_ms:
            self._state.budgets.give_back(host.row.address, host.domain, host.granted_ms)
            host.granted_ms = 0
        if not host.has_work:  # as its row must say: a host with work, once out of memory, is taken to be scheduled
            host.dirty = True
            self._state.urgent.append(host)
        ahead = _LOOK_AGAIN if self._trapping.awaited.is_ahead(host.key) else 0
        self._state.schedule(host, self._state.time.now_ms() + ahead if ahead else 0)

    async def _grant(self, draw: Draw) -> list[Lease]:
        state = self._state
        wall = state.next_sequence() / 1_000_000  # its time names a lease: never the same
        expires = wall + state.config.frontier.lease_seconds
        entries: list[Leased] = []
        leased: list[Put] = []
        for taken in draw.taken:
            host, place, pending = taken.host, taken.place, taken.pending
            key = host.key + keys.url_hash_of(place)
            lease = lease_of(pending, host.row.name, keys.place(host.key, place), wall, expires)
            entries.append(Leased(key, lease, pending, host))
            leased.append(Put(keys.lease_row(key), _LEASED.pack(wall, place) + taken.value))
            if not taken.again and taken.held is None:
                draw.gone.append(Delete(keys.queue_row(key, place)))
            host.before_ms = host.row.next_ms
            host.row.drawn += 1
            host.dirty = True
        await self._write(draw, leased)
        for entry in entries:
            state.give(entry)
            self._trapping.awaited.leased(entry.key, entry.pending)
        state.hosts.trim()
        return [entry.lease for entry in entries]

    async def _write_held(self, draw: Draw) -> None:
        """What must wait."""
        if not draw.held:
            return
        held, urls, gone = zip(*draw.held, strict=True)
        first = self._before(draw.holding, draw)
        try:
            await self._state.table.write([*first, *held], urls, gone)
        except EngineError:
            self._undo(draw.taken)
            raise
        draw.holders |= draw.holding  # what they gave for leases is not written yet
        draw.held.clear()
        draw.holding.clear()

    def _before(self, hosts: Collection[Host], draw: Draw) -> list[Put]:
        """Rows of hosts to be written before what was drawn is: they still reach down to it, and count it."""
        kept = [(host, dict(host.row.levels), host.row.first) for host in hosts]
        for host, item in draw.drawn:
            if host in hosts:
                host.lower(item)
        self._trapping.stay(draw.tried)
        rows = self._trapping.rows(hosts)
        self._trapping.leave(draw.tried)
        for host, levels, item in kept:
            host.row.levels, host.row.first = levels, item
        return rows

    async def _write(self, draw: Draw, leased: list[Put]) -> None:
        await self._write_held(draw)
        if not (leased or draw.gone or draw.holders):
            return
        first = self._before(draw.holders, draw)
        last = self._trapping.rows(draw.holders)
        first += self._domains.changes(draw.domains)
        try:
            await self._state.table.write(first + draw.rows, leased, draw.urls, [*last, *draw.gone])
        except EngineError:
            self._undo(draw.taken)
            raise

    def _undo(self, taken: Sequence[Taken]) -> None:
        """The engine failed: hosts are as they were, their heads are read again."""
        for one in taken:
            host = one.host
            if one.again:
                host.again.insert(0, (one.place, one.pending))
            elif one.held is not None:
                self._state.queued(host, -1)
                self._trapping.put_back(one.held)
            else:
                host.lower(one.place)
            host.heads.clear()
            host.row.next_ms = host.before_ms
            host.busy_until = 0
            self._state.schedule(host)


def _is_first(pending: Pending) -> bool:
    """Is this the first request for a page? Only that counts against the caps of its host and domain."""
    return pending.kind == Kind.PAGE and not (pending.visits or pending.agains or pending.fetches)


def read_lease(value: bytes) -> tuple[float, bytes, Pending]:
    """When it was given, the queue item and the record of a lease row."""
    leased, place = _LEASED.unpack_from(value)
    return leased, place, decode_pending(value[_LEASED.size :])
