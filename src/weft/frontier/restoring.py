"""URLs that are held, or queued behind fruitless pages, are taken up again: by a better link, or by a person.

Order of writing: host and group rows, queue rows, URL rows, then held rows go. Doing it twice gives the same rows.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from weft.ports import Put
from weft.records import Link, Via
from weft.urls.host import host_of

from . import keys, traps
from .holds import Held, Holds, looks, place_of
from .host import Host
from .moves import Batch, Moves
from .paging import pages
from .queues import FRONT
from .rows import IN_HOLD, IN_QUEUE, decode_host, decode_pending
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
        links: dict[bytes, tuple[Link, Trail]] = {}
        for key, link in keyed.items():
            origin = origins.get(link.source)
            if key in unseen or (origin is None and not _vouches(link)) or not self._is_doubted(key, link):
                continue
            trail = self._trapping.trail(link, origin)
            if not (traps.is_dry(trail) or trail.ingrown):
                links[key] = link, trail
        if links:
            await self._lift(links)

    def _is_doubted(self, key: bytes, link: Link) -> bool:
        """Perhaps. Whatever a host or family in memory holds is, unless more is known."""
        site = self._trapping.live_site(key[: keys.HOST_KEY])
        if site is not None and site.doubts(key):
            return True
        name = host_of(link.url)
        if self._trapping.is_sprout(name):
            family = self._state.hosts.live(self._trapping.family_key(name))
            if family is not None and family.row.held:
                return True
        host = self._state.hosts.live(key[: keys.HOST_KEY])
        return site is None and (_vouches(link) if host is None else host.row.held > 0)

    async def _lift(self, links: Mapping[bytes, tuple[Link, Trail]]) -> None:
        rows = await self._state.table.get([keys.url_row(key) for key in links])
        batch = Batch()
        for (key, (link, trail)), row in zip(links.items(), rows, strict=True):
            if row is None or key in self._state.leases:
                continue
            if row[:1] == IN_HOLD:
                await self._from_hold(key, row, (link, trail), batch)
            elif row[:1] == IN_QUEUE:
                await self._in_queue(key, row[1:], trail, batch)
        await self._moves.write(batch)

    async def _from_hold(self, key: bytes, row: bytes, better: tuple[Link, Trail], batch: Batch) -> None:
        holder_key, item = place_of(row)
        holder = (await self._state.hosts.load([holder_key])).get(holder_key)
        if holder is None:
            return
        await self._holds.load([holder])
        link, trail = better
        for held in await self._holds.find([(holder, item, key)]):
            before = trail_of(held.pending.trail)
            # A host that is held by its family for what others are like is vouched for by a page of its own.
            by_itself = holder.is_family and host_of(link.source or link.url) == host_of(link.url)
            if _vouches(link) or by_itself or _is_better(trail, before):
                pending = msgspec.structs.replace(held.pending, seed=held.pending.seed or link.seed)
                trail = trail._replace(sprout=before.sprout, pardoned=before.pardoned or _vouches(link))
                await self._requeue(held._replace(pending=pending), trail, batch)

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
        batch.hosts[held.holder] = None
        self._moves.requeue(held.key, member, (place, pending), batch)
        batch.urls.append(Put(keys.url_row(held.key), IN_QUEUE + place))
        batch.ends.append(self._holds.take_out(held))
        batch.released.append(held)
        self._state.queued(member, 1)

    async def release(self, wanted: str) -> int:
        """Whatever is held and looks so (`example.org/p*`) goes back to its queue, never to be held again; how many."""
        count = 0
        for host in await self._holders():
            await self._holds.load([host])
            found, kept = list[Held](), Counter[bytes]()
            async for held in self._holds.all_of(host):
                if held.key not in self._state.leases and _is_wanted(held, wanted):
                    found.append(held)
                else:
                    kept[held.item[:8]] += 1
                if len(found) == _CHUNK:
                    count += await self._release(found)
                    found = []
            count += await self._release(found)
            self._holds.recount(host, kept)
            await self._state.table.write(self._holds.rows([host]))
        return count

    async def _release(self, found: Sequence[Held]) -> int:
        batch = Batch()
        for held in found:
            await self._requeue(held, trail_of(held.pending.trail)._replace(dry=0, pardoned=True), batch)
        await self._moves.write(batch)
        return len(found)

    async def _holders(self) -> list[Host]:
        found = []
        for number in range(self._state.config.storage.partitions):
            partition = number.to_bytes(2, "big")
            async for rows in pages(self._state.table, partition + keys.HOST):
                found += [partition + item for item, value in rows if decode_host(value).held]
        return list((await self._state.hosts.load(found)).values())


def _is_wanted(held: Held, wanted: str) -> bool:
    """By what it is, or by the name of its group: some of those stand for URLs that do not look alike."""
    group = (held.holder.groups or {}).get(held.item[:8])
    named = group is not None and looks(held.holder.row.name, group) == wanted
    return named or looks_like(held.pending.url, wanted)


def _vouches(link: Link) -> bool:
    """Is it more than a page that names the URL: a person, or a list that its site has made?"""
    return link.seed or link.via in (Via.SITEMAP, Via.FEED)


def _is_better(trail: Trail, before: Trail) -> bool:
    return trail.dry < before.dry or (before.ingrown and not trail.ingrown and trail.dry == before.dry)


def looks_like(url: str, wanted: str) -> bool:
    """`example.org/p*`, `*.example.org` or a whole URL; `*` stands for anything. The port may be left out."""
    bare = url.partition("://")[2]
    authority, _, path = bare.partition("/")
    host = host_of(url)
    return any(fnmatchcase(text, wanted) for text in (url, bare, authority, host, f"{host}/{path}"))
