"""How many other domains link to a host: counted from links on their way in, those already seen included.

Each pair of linking domain and linked host is looked at once in a while, not once per link.
"""

from collections.abc import Mapping
from typing import Final

import xxhash

from weft.records import Link
from weft.urls.host import host_of, registrable

from . import keys, sketch
from .host import Host
from .rows import DomainRow
from .seen import Recent

_PAIRS: Final = 200_000


class Authority:
    """Remembers the pairs it met lately."""

    def __init__(self) -> None:
        self._pairs = Recent(_PAIRS)

    def fresh(self, keyed: Mapping[bytes, Link]) -> dict[bytes, set[bytes]]:
        """By host, hashes of the domains that link to it, leaving out pairs met lately."""
        by_source: dict[str, set[bytes]] = {}
        for key, link in keyed.items():
            by_source.setdefault(link.source, set()).add(key[: keys.HOST_KEY])
        by_source.pop("", None)
        pairs: set[bytes] = set()
        for source, targets in by_source.items():
            domain = _hash(registrable(host_of(source)))
            pairs.update(domain + target for target in targets)
        fresh = self._pairs.unknown(pairs)
        self._pairs.remember(fresh)
        found: dict[bytes, set[bytes]] = {}
        for pair in fresh:
            found.setdefault(pair[8:], set()).add(pair[:8])
        return found


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
