"""After a start or a crash: the workbench is filled, leases of the process before are found, parked hosts get a chance.

`load` only reads, so that looking at a crawl changes nothing; `resume` writes, when the first lease is asked for.
"""

from typing import Final

from weft.ports import Delete, Put, Range, Rows
from weft.records import Lease

from . import keys, retry, sketch
from .host import Host
from .leasing import read_lease
from .moves import Batch, Moves
from .paging import pages
from .rows import IN_HOLD, IN_QUEUE, IS_SETTLED, decode_host, decode_settled, lease_of
from .state import Leased, State, milliseconds

_CHUNK: Final = 500


class Recovery:
    def __init__(self, state: State, moves: Moves) -> None:
        self._state = state
        self._moves = moves
        self._parked: list[bytes] = []
        self._orphans: list[bytes] = []
        self.needed = False  # `resume` has something to do

    async def load(self) -> None:
        """Every host's row and every lease; never the URLs."""
        for partition in range(self._state.config.storage.partitions):
            name = partition.to_bytes(2, "big")
            await self._load_hosts(name)
            async for rows in pages(self._state.table, name + keys.LEASE):
                await self._adopt_leases(name, rows)
            (first,) = await self._state.table.scan([Range(name + keys.WAITING, limit=1)])
            if first:
                self._state.due[partition] = int.from_bytes(first[0][0][:8], "big")
        self.needed = bool(self._parked or self._orphans)

    async def _load_hosts(self, partition: bytes) -> None:
        entries: list[tuple[int, bytes, bool]] = []
        high = await self._of_high_authority(partition)
        async for rows in pages(self._state.table, partition + keys.HOST):
            for item, value in rows:
                row = decode_host(value)
                self._state.totals.include(row)
                if row.parked or row.full:
                    self._parked.append(partition + item)
                elif row.levels or self._state.hosts.may_try(row):
                    entries.append((row.next_ms, partition + item, item in high))
                self._state.hosts.known += not row.name.startswith("*.")
        self._state.bench.load(entries)

    async def _of_high_authority(self, partition: bytes) -> set[bytes]:
        least = self._state.config.frontier.authority_domains
        hosts: set[bytes] = set()
        async for rows in pages(self._state.table, partition + keys.AUTHORITY):
            hosts.update(item for item, links in rows if sketch.estimate(links) >= least)
        return hosts

    async def _adopt_leases(self, partition: bytes, rows: Rows) -> None:
        """They count as out until they are settled or put back. The crash cut the request: the gap starts now."""
        state = self._state
        hosts = await state.hosts.load(list({partition + item[:8] for item, _ in rows}))
        for item, value in rows:
            key = partition + item
            host = hosts[key[: keys.HOST_KEY]]
            leased, place, pending = read_lease(value)
            lease = lease_of(pending, host.row.name, keys.place(host.key, place), leased, leased)
            entry = Leased(key, lease, pending, host)
            entry.answered = entry.orphan = True
            state.give(entry)
            self._orphans.append(key)
            self._wait(host)

    def _wait(self, host: Host) -> None:
        owed = self._state.gap(host)
        moment = self._state.time.now_ms() + milliseconds(owed.seconds)
        if moment > host.row.next_ms:
            host.row.next_ms, host.row.pause = moment, owed.why
            self._state.schedule(host)
        host.dirty = True  # keeps it in memory until this is written

    def slow_down(self, host: Host, crawl_delay: float) -> None:
        """Its robots.txt was read, but the crash came before that was settled."""
        host.row.crawl_delay = max(host.row.crawl_delay, crawl_delay)
        self._wait(host)

    async def resume(self) -> None:
        """Put back the leases nobody settled, and let parked hosts try once more."""
        self.needed = False
        orphans, self._orphans = self._orphans, []
        for start in range(0, len(orphans), _CHUNK):
            await self._put_back(orphans[start : start + _CHUNK])
        parked, self._parked = self._parked, []
        for start in range(0, len(parked), _CHUNK):
            await self._revive(parked[start : start + _CHUNK])

    async def _put_back(self, orphans: list[bytes]) -> None:
        entries = [entry for key in orphans if (entry := self._state.leases.get(key)) is not None and entry.orphan]
        where = await self._state.table.get([keys.url_row(entry.key) for entry in entries])
        moved = await self._moved(entries, where)
        batch = Batch()
        for entry, row in zip(entries, where, strict=True):
            self._state.take_back(entry)
            batch.ends.append(Delete(keys.lease_row(entry.key)))
            if entry.key not in moved and not _was_settled(row, entry.lease):
                item = keys.item_of(entry.lease.place)
                self._moves.requeue(entry.key, entry.host, (item, entry.pending), batch)
                if row is not None and row[:1] == IN_HOLD:  # it was to be tried
                    batch.urls.append(Put(keys.url_row(entry.key), IN_QUEUE + item))
        await self._moves.write(batch)

    async def _moved(self, entries: list[Leased], where: list[bytes | None]) -> set[bytes]:
        """Those whose settling got as far as the row that brings them to another place in their queue."""
        named = [
            (entry.key, row[1:])
            for entry, row in zip(entries, where, strict=True)
            if row is not None and row[:1] == IN_QUEUE and row[1:] != keys.item_of(entry.lease.place)
        ]
        found = await self._state.table.get([keys.queue_row(key, item) for key, item in named])
        return {key for (key, _), row in zip(named, found, strict=True) if row is not None}

    async def _revive(self, parked: list[bytes]) -> None:
        """One attempt: the first failure parks it again."""
        config = self._state.config.frontier
        batch = Batch()
        for host in (await self._state.hosts.load(parked)).values():
            if host.row.full:  # the cap may be another one today
                self._state.fill(host, "")
                batch.hosts[host] = None
                batch.woken.append(host)
            if not host.row.parked:
                continue
            self._state.park(host, "")
            host.row.closed = retry.attempts(config) - 1
            host.row.failed = config.park_after - 1
            batch.hosts[host] = None
            batch.woken.append(host)
        await self._moves.write(batch)


def _was_settled(row: bytes | None, lease: Lease) -> bool:
    """Does the URL row tell of this lease's end? Then only the lease row's going was lost."""
    if row is None:
        return False
    if row[:1] == IS_SETTLED:
        return decode_settled(row[1:]).leased >= lease.leased
    return row[:1] in (b"w", b"d")
