"""How many other domains link to a host: counted from links on their way in, those already seen included.

A host has its sketch from its first URL on, in a row of its own: most links lead to hosts that are not in memory.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Final

import numpy as np
import xxhash

from weft.ports import Put, Table
from weft.records import Link
from weft.urls.host import host_key, host_of, registrable

from . import keys, sketch
from .host import Host, Hosts
from .rows import DomainRow
from .sketches import KEY, KEYS

_LINK: Final = np.dtype([*KEYS.descr, ("url", "<u8")])
_SOURCE: Final = np.dtype([*KEYS.descr, ("mark", "<u8"), ("register", "<i8"), ("rank", "<i8")])
_NO_SOURCE: Final = (0, 0, 0, 0, 0)
_GATHERED: Final = 5000  # hosts whose sketches wait to be read, about
_CHANGED: Final = 30_000  # sketches that wait to be written, about
_PATIENCE: Final = 5000  # ms that they wait, about
_AT_ONCE: Final = 500  # hosts read or written at a time that nobody asked for


class Authority:
    """Counts at once where the host's sketch is in memory; for others gathers who links to them, to read many together.

    A crash forgets what is not written; the same domains will link there again.
    """

    def __init__(self, table: Table, hosts: Hosts, partitions: int) -> None:
        self._table = table
        self._hosts = hosts
        self._sketches = hosts.sketches
        self._partitions = partitions
        self._gathered: dict[bytes, set[int]] = {}  # host → hashes of domains that link to it
        self._since = 0

    def note(self, keyed: Mapping[bytes, Link]) -> None:
        """Links on their way in."""
        urls = [link.source for link in keyed.values()]
        numbers = {url: number for number, url in enumerate(dict.fromkeys(urls))}
        sources = np.array([self._source(url) for url in numbers], _SOURCE).take([numbers[url] for url in urls])
        links = np.frombuffer(b"".join(keyed), _LINK)
        ranks = np.where(links["host"] == sources["host"], 0, sources["rank"])
        near = (links["partition"] == sources["partition"]) & (ranks > 0)
        if near.any():
            ranks[[place for place, link in enumerate(keyed.values()) if near[place] and _is_inside(link)]] = 0
        foreign = np.flatnonzero(ranks)
        places = self._sketches.find(links["host"][foreign])
        here = places >= 0
        counted, away = foreign[here], foreign[~here]
        self._sketches.add(places[here], sources["register"][counted], ranks[counted])
        if len(away):
            every = list(keyed)
            for place, mark in zip(away.tolist(), sources["mark"][away].tolist(), strict=True):
                self._gathered.setdefault(every[place][: keys.HOST_KEY], set()).add(mark)

    async def counted(self, hosts: Mapping[bytes, Host]) -> list[Put]:
        """Count what was gathered for these hosts; the rows that change."""
        gathered = await self._counted([host for host in hosts if host in self._gathered])
        return self._rows(gathered | self._sketches.changes_of(hosts)) if hosts else []

    async def write(self, now_ms: int) -> None:
        """Count and write for those hosts that waited longest, if they are many or wait long."""
        late = now_ms - self._since > _PATIENCE
        changes = {}
        if late or len(self._gathered) > _GATHERED:
            changes = await self._counted(list(islice(self._gathered, _AT_ONCE)))
        if late or self._sketches.waiting > _CHANGED:
            changes |= self._sketches.changes(_AT_ONCE)
        if changes:
            await self._table.write(self._rows(changes))
        if late and not (self._gathered or self._sketches.waiting):
            self._since = now_ms

    async def write_all(self) -> None:
        changes = await self._counted(list(self._gathered))
        await self._table.write(self._rows(changes | self._sketches.changes(self._sketches.waiting)))

    async def _counted(self, hosts: list[bytes]) -> dict[bytes, bytes]:
        """The sketches that change by what was gathered."""
        if not hosts:
            return {}
        taken = {host: self._gathered.pop(host) for host in hosts}
        changes = {}
        for key, links in (await self._hosts.sketches_of(hosts)).items():  # out of scope there are others
            wider = sketch.added(links, taken[key])
            if wider is not links:
                changes[key] = wider
        self._sketches.remember(changes)
        return changes

    def _rows(self, changes: dict[bytes, bytes]) -> list[Put]:
        for key, links in changes.items():
            if (host := self._hosts.live(key)) is not None:
                host.linked_from(links)
        return [Put(keys.authority_row(key), changes[key]) for key in sorted(changes)]  # neighbours are written faster

    def _source(self, url: str) -> tuple[int, int, int, int, int]:
        """Partition and hash of the host, hash of the domain, and where that stands in a sketch."""
        if not url:
            return _NO_SOURCE
        name = host_of(url)
        partition, host = KEY.unpack(host_key(name, self._partitions))
        mark = xxhash.xxh3_64_intdigest(registrable(name).encode())
        return partition, host, mark, *sketch.register(mark)


def _is_inside(link: Link) -> bool:
    """Whether it leads to its own domain."""
    return registrable(host_of(link.url)) == registrable(host_of(link.source))


def vouch(domain: DomainRow, host: Host) -> None:
    """Whoever links to the host links to its domain."""
    known = sketch.union(domain.sketch, host.sketch)
    if known is not domain.sketch:
        domain.sketch, domain.authority, domain.dirty = known, sketch.estimate(known), True
