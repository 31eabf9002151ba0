"""How many other domains link to a host: counted from links on their way in, those already seen included.

Each pair of linking domain and linked host is looked at once in a while, not once per link, and many at a time. A host
has its sketch from its first URL on, in a row of its own: most links lead to hosts that are not in memory.
"""

import struct
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

import xxhash

from weft.ports import Put, Table
from weft.records import Link
from weft.urls.host import host_key, host_of, registrable

from . import keys, sketch
from .host import Host, Hosts
from .recent import Recent
from .rows import DomainRow

_MARK: Final = struct.Struct(">Q")
_PAIRS: Final = 1_000_000  # pairs remembered as counted
_GATHERED: Final = 30_000  # pairs that wait to be counted, about
_PATIENCE: Final = 5000  # ms that they wait, about
_AT_ONCE: Final = 500  # hosts counted at a time that nobody asked for


class Authority:
    """Gathers pairs and counts them by host: those that wait longest, or when the host is touched anyway.

    A crash forgets what is gathered; the same domains will link there again.
    """

    def __init__(self, table: Table, hosts: Hosts, partitions: int) -> None:
        self._table = table
        self._hosts = hosts
        self._partitions = partitions
        self._pairs = Recent(_PAIRS)
        self._gathered: dict[bytes, bytes] = {}  # host → hashes of domains that link to it, 8 bytes each
        self._count = 0
        self._since = 0

    def note(self, keyed: Mapping[bytes, Link]) -> None:
        """Links on their way in."""
        by_source: dict[str, dict[bytes, str]] = {}
        for key, link in keyed.items():
            by_source.setdefault(link.source, {})[key[: keys.HOST_KEY]] = link.url
        by_source.pop("", None)
        for source, targets in by_source.items():
            name = host_of(source)
            own, domain = host_key(name, self._partitions)[:2], registrable(name)
            mark = xxhash.xxh3_64_digest(domain.encode())
            others = [
                target for target, url in targets.items() if target[:2] != own or registrable(host_of(url)) != domain
            ]
            pairs = self._pairs.unknown([target[:2] + mark + target[2:] for target in others])
            self._pairs.remember(pairs)
            self._count += len(pairs)
            for pair in pairs:
                host = pair[:2] + pair[10:]
                self._gathered[host] = self._gathered.get(host, b"") + mark

    async def counted(self, hosts: Iterable[bytes]) -> list[Put]:
        """Count what was gathered for these hosts; the rows that change."""
        return await self._counted([host for host in hosts if host in self._gathered])

    async def write(self, now_ms: int) -> None:
        """Count for those hosts that waited longest, if pairs are many or wait long."""
        if self._count > _GATHERED or now_ms - self._since > _PATIENCE:
            await self._table.write(await self._counted(list(islice(self._gathered, _AT_ONCE))))
            if not self._gathered:
                self._since = now_ms

    async def write_all(self) -> None:
        await self._table.write(await self._counted(list(self._gathered)))

    async def _counted(self, hosts: list[bytes]) -> list[Put]:
        if not hosts:
            return []
        taken = {host: self._gathered.pop(host) for host in hosts}
        self._count -= sum(map(len, taken.values())) // 8
        changes = {}
        for key, links in (await self._hosts.sketches_of(hosts)).items():  # out of scope there are others
            wider = sketch.added(links, (one for (one,) in _MARK.iter_unpack(taken[key])))
            if wider is not links:
                changes[key] = wider
                if (host := self._hosts.live(key)) is not None:
                    host.linked_from(wider)
        self._hosts.sketches.remember(changes)
        return [Put(keys.authority_row(key), changes[key]) for key in sorted(changes)]  # neighbours are written faster


def vouch(domain: DomainRow, host: Host) -> None:
    """Whoever links to the host links to its domain."""
    known = sketch.union(domain.sketch, host.sketch)
    if known is not domain.sketch:
        domain.sketch, domain.authority, domain.dirty = known, sketch.estimate(known), True
