"""URLs that are held, or queued behind fruitless pages, are taken up again: by a better link, or by a person.

Order of writing: host rows, queue rows, URL rows, then held rows go; only then host and group rows count fewer that are
held. A crash must never leave fewer counted than there are: nobody would look for them again.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from weft.ports import Delete, Put
from weft.records import Link
from weft.urls.host import host_of

from . import keys, traps
from .holds import Held, Holds, looks, place_of
from .host import Host
from .moves import Batch, Moves
from .paging import pages
from .queues import FRONT
from .rows import IN_HOLD, IN_QUEUE, HostRow, decode_host, decode_pending
from .state import State
from .trail import Trail, trail_of
from .trapping import Origin, Trapping

_CHUNK: Final = 500


class Restoring:
    def __init__(self, state: State, moves: Moves, holds: Holds, trapping: Trapping) -> None:
        self._state = state
        self._moves = moves
        self._holds = holds
        self._trapping = trapping

    async def better(
        self, keyed: Mapping[bytes, Link], unseen: Collection[bytes], origins: Mapping[str, Origin]
    ) -> None:
        """Of these links, those to URLs that were known, and doubted, lift the doubt if they would raise none."""
        trails: dict[bytes, Trail] = {}
        for key, link in keyed.items():
            origin = origins.get(link.source)
            if key in unseen or origin is None:
                continue
            site = self._trapping.live_site(key[: keys.HOST_KEY])
            if site is None or not site.doubts(key):
                continue
            trail = self._trapping.trail(link, origin)
            if not (traps.is_dry(trail) or trail.ingrown):
                trails[key] = trail
        if trails:
            await self._lift(trails)

    async def _lift(self, trails: Mapping[bytes, Trail]) -> None:
        rows = await self._state.table.get([keys.url_row(key) for key in trails])
        batch, taken = Batch(), list[Held]()
        for (key, trail), row in zip(trails.items(), rows, strict=True):
            if row is None or key in self._state.leases:
                continue
            if row[:1] == IN_HOLD:
                for held in await self._found(key, row):
                    before = trail_of(held.pending.trail)
                    if _is_better(trail, before):
                        await self._requeue(held, trail._replace(sprout=before.sprout), batch)
                        taken.append(held)
            elif row[:1] == IN_QUEUE:
                await self._in_queue(key, row[1:], trail, batch)
        await self._write(batch, taken)

    async def _found(self, key: bytes, row: bytes) -> list[Held]:
        """The held URL that its row names."""
        holder_key, item = place_of(row)
        holder = (await self._state.hosts.load([holder_key])).get(holder_key)
        if holder is None:
            return []
        await self._holds.load([holder])
        return await self._holds.find([(holder, item, key)])

    async def _in_queue(self, key: bytes, item: bytes, trail: Trail, batch: Batch) -> None:
        host = (await self._state.hosts.load([key[: keys.HOST_KEY]])).get(key[: keys.HOST_KEY])
        (value,) = await self._state.table.get([keys.queue_row(key, item)])
        if host is None or value is None:
            return
        pending = decode_pending(value)
        if _is_better(trail, trail_of(pending.trail)):
            better = msgspec.structs.replace(pending, trail=trail.packed())
            if host.row.first == item:
                host.row.first = b""  # its copy would be leased
            self._moves.requeue(key, host, (item, better), batch)

    async def _requeue(self, held: Held, trail: Trail, batch: Batch) -> None:
        """From the hold to the front of its host's queue."""
        member = held.holder if not held.holder.is_family else await self._trapping.member(held)
        place = keys.queue_item(FRONT, self._state.next_sequence(), held.key)
        pending = msgspec.structs.replace(held.pending, trail=trail.packed())
        self._moves.requeue(held.key, member, (place, pending), batch)
        batch.urls.append(Put(keys.url_row(held.key), IN_QUEUE + place))
        batch.ends.append(Delete(keys.held_row(held.holder.key, held.item)))
        self._state.queued(member, 1)

    async def _write(self, batch: Batch, taken: Sequence[Held]) -> None:
        await self._moves.write(batch)
        for held in taken:
            self._holds.take_out(held)
        await self._write_counts({held.holder for held in taken})

    async def _write_counts(self, holders: Collection[Host]) -> None:
        hosts = [self._state.hosts.saved(holder) for holder in holders]
        if hosts:
            await self._state.table.write(hosts + self._holds.changes(holders))

    async def release(self, wanted: str) -> int:
        """Whatever is held and looks so (`example.org/p*`) goes back to its queue, never to be held again; how many."""
        count = 0
        for key in await self._holders():
            for host in (await self._state.hosts.load([key])).values():
                count += await self._release_of(host, wanted)
        return count

    async def _release_of(self, host: Host, wanted: str) -> int:
        await self._holds.load([host])
        count, found, kept = 0, list[Held](), Counter[bytes]()
        async for held in self._holds.all_of(host):
            if held.key in self._state.leases:
                continue
            if not _is_wanted(held, wanted):
                kept[held.item[:8]] += 1
                continue
            found.append(held)
            if len(found) == _CHUNK:
                count += await self._released(found)
                found = []
        count += await self._released(found)
        self._holds.recount(host, kept)
        await self._write_counts([host])
        return count

    async def _released(self, found: Sequence[Held]) -> int:
        batch = Batch()
        for held in found:
            await self._requeue(held, trail_of(held.pending.trail)._replace(dry=0, pardoned=True), batch)
        await self._write(batch, found)
        return len(found)

    async def _holders(self) -> list[bytes]:
        found = []
        for number in range(self._state.config.storage.partitions):
            partition = number.to_bytes(2, "big")
            async for rows in pages(self._state.table, partition + keys.HOST):
                found += [partition + item for item, value in rows if _may_hold(decode_host(value))]
        return found


def _may_hold(row: HostRow) -> bool:
    """A crash at a trial may have left too few counted, but it left the trial's debt."""
    return row.held > 0 or row.debt > 0


def _is_wanted(held: Held, wanted: str) -> bool:
    """By what it is, or by the name of its group: some of those stand for URLs that do not look alike."""
    group = (held.holder.groups or {}).get(held.item[:8])
    named = group is not None and looks(held.holder.row.name, group) == wanted
    return named or looks_like(held.pending.url, wanted)


def _is_better(trail: Trail, before: Trail) -> bool:
    return trail.dry < before.dry or (before.ingrown and not trail.ingrown and trail.dry == before.dry)


def looks_like(url: str, wanted: str) -> bool:
    """`example.org/p*`, `*.example.org` or a whole URL; `*` stands for anything. The port may be left out."""
    bare = url.partition("://")[2]
    authority, _, path = bare.partition("/")
    host = host_of(url)
    return any(fnmatchcase(text, wanted) for text in (url, bare, authority, host, f"{host}/{path}"))
