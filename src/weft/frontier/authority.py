"""How many other domains link to a host: counted from links on their way in, those already seen included.

Each pair of linking domain and linked host is looked at once in a while, not once per link, and many at a time.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import xxhash

from weft.records import Link
from weft.urls.host import host_of, registrable

from . import keys, sketch
from .host import Host
from .rows import DomainRow
from .seen import Recent

_PAIRS: Final = 200_000  # pairs remembered as counted
_GATHERED: Final = 2000  # pairs that wait to be counted, at most
_PATIENCE: Final = 5000  # ms that they wait, at most


class Authority:
    """Gathers pairs and gives them out by host: when there are many, or when the host is touched anyway."""

    def __init__(self) -> None:
        self._pairs = Recent(_PAIRS)
        self._gathered: dict[bytes, set[bytes]] = {}  # host → hashes of domains that link to it
        self._count = 0
        self._since = 0

    def note(self, keyed: Mapping[bytes, Link]) -> None:
        """Links on their way in."""
        by_source: dict[str, set[bytes]] = {}
        for key, link in keyed.items():
            by_source.setdefault(link.source, set()).add(key[: keys.HOST_KEY])
        by_source.pop("", None)
        for source, targets in by_source.items():
            domain = _hash(registrable(host_of(source)))
            pairs = self._pairs.unknown({domain + target for target in targets})
            self._pairs.remember(pairs)
            self._count += len(pairs)
            for pair in pairs:
                self._gathered.setdefault(pair[8:], set()).add(domain)

    def of(self, hosts: Iterable[bytes], now_ms: int) -> dict[bytes, set[bytes]]:
        """By host, the domains gathered for it: of these hosts, or of all when they are many or waited long.

        A crash forgets what is gathered; the same domains will link there again.
        """
        if self._count > _GATHERED or now_ms - self._since > _PATIENCE:
            found, self._gathered = self._gathered, {}
            self._count, self._since = 0, now_ms
            return found
        return {host: self._gathered.pop(host) for host in hosts if host in self._gathered}


def linked(host: Host, domain: DomainRow, sources: set[bytes]) -> bool:
    """Count the domains with these hashes as linking to the host; False if that tells nothing new."""
    members = [int.from_bytes(source, "big") for source in sources - {_hash(host.domain)}]
    wider = _with(domain.sketch, members)
    if wider is not domain.sketch:
        domain.sketch, domain.authority, domain.dirty = wider, sketch.estimate(wider), True
    known = _with(host.row.sketch, members)
    if known is host.row.sketch:
        return False
    host.row.sketch, host.row.authority = known, sketch.estimate(known)
    return True


def _with(known: bytes, members: list[int]) -> bytes:
    for member in members:
        known = sketch.added(known, member)
    return known


def _hash(domain: str) -> bytes:
    return xxhash.xxh3_64_digest(domain.encode())
