"""Where the frontier's rows lie in the table. Every other module of the frontier names rows through here.

A URL's key is partition (2 bytes), hash of the host (8), hash of the URL (8). Groups of a partition hold one row per
host, lease, due time or dead letter; groups of a host hold its URLs, so that they lie together. Rows of one sort lie
together first: the seen check, which asks for single URL rows, then has their filters and no others in the cache.
"""

from typing import Final

from weft.ports import Key

# Groups of a partition, by their letter.
HOST: Final = b"h"  # host hash → HostRow
AUTHORITY: Final = b"a"  # host hash → sketch of the domains that link to it
FIRST: Final = b"n"  # host hash → item and Pending of the queue row that the host's own row calls its first
LEASE: Final = b"l"  # host hash, URL hash → Pending: permission given, not yet settled
WAITING: Final = b"w"  # due, host hash, URL hash → Pending: to be tried again then
DEAD: Final = b"d"  # host hash, URL hash → Pending: given up
DOMAIN: Final = b"g"  # domain hash → DomainRow
SCOPE: Final = b"s"  # hash of a host or domain that seeds brought into the scope
DROPS: Final = b"x"  # host hash, reason → how often, with examples

# Groups of a host.
QUEUE: Final = b"q"  # level, sequence, URL hash → Pending
URL: Final = b"u"  # URL hash → what became of it, or where its pending row lies
FINDING: Final = b"f"  # URL hash → what refining learned

HOLD: Final = b"t"  # group → GroupRow: URLs that are held together
HELD: Final = b"y"  # group, dry, sequence, URL hash → Pending: must wait until the group's turn to be tried
EVIDENCE: Final = b"e"  # nothing → SiteRow; pattern hash → PatternRow: what the host's pages have said

HOST_KEY: Final = 10  # bytes of a URL key that name its host
_LEVEL: Final = 2
_SEQUENCE: Final = 7  # microseconds since 1970 fit for 2,000 years


def group(host: bytes, letter: bytes) -> bytes:
    """A group of a host, by the first bytes of any key of it."""
    return host[:2] + letter + host[2:10]


def host_row(host: bytes) -> Key:
    return host[:2] + HOST, host[2:]


def authority_row(host: bytes) -> Key:
    return host[:2] + AUTHORITY, host[2:]


def first_row(host: bytes) -> Key:
    return host[:2] + FIRST, host[2:]


def lease_row(key: bytes) -> Key:
    return key[:2] + LEASE, key[2:]


def dead_row(key: bytes) -> Key:
    return key[:2] + DEAD, key[2:]


def waiting_row(key: bytes, due_ms: int) -> Key:
    return key[:2] + WAITING, due_ms.to_bytes(8, "big") + key[2:]


def url_row(key: bytes) -> Key:
    return group(key, URL), key[10:]


def of_url_row(row: Key) -> bytes:
    """The key of the URL."""
    group, item = row
    return group[:2] + group[3:] + item


def finding_row(key: bytes) -> Key:
    return group(key, FINDING), key[10:]


def queue_row(key: bytes, item: bytes) -> Key:
    return group(key, QUEUE), item


def held_item(held_by: bytes, dry: int, sequence: int, key: bytes) -> bytes:
    """`held_by`: the group, 8 bytes."""
    return held_by + bytes((dry,)) + sequence.to_bytes(_SEQUENCE, "big") + key[10:]


def held_row(holder: bytes, item: bytes) -> Key:
    """Holder: the host, or the family of hosts, on whose budget the URL is tried."""
    return group(holder, HELD), item


def hold_row(holder: bytes, held_by: bytes) -> Key:
    return group(holder, HOLD), held_by


def level(band: int) -> int:
    """Inside a host, rows are ordered by band, then number: every branch of the host has its turn."""
    return band << 8


def queue_item(of_level: int, sequence: int, key: bytes) -> bytes:
    return of_level.to_bytes(_LEVEL, "big") + sequence.to_bytes(_SEQUENCE, "big") + key[10:]


def place(host: bytes, item: bytes) -> bytes:
    """A lease's place: the queue row it was made of."""
    return host + item


def key_of(place: bytes) -> bytes:
    """The URL key of a place."""
    return place[:10] + place[-8:]


def item_of(place: bytes) -> bytes:
    return place[10:]


def level_of(item: bytes) -> int:
    return item[0] << 8 | item[1]


def sequence_of(item: bytes) -> int:
    return int.from_bytes(item[_LEVEL : _LEVEL + _SEQUENCE], "big")


def url_hash_of(item: bytes) -> bytes:
    """The hash of the URL, with which every item of a URL ends."""
    return item[-8:]


def level_start(of_level: int, sequence: int) -> bytes:
    return of_level.to_bytes(_LEVEL, "big") + sequence.to_bytes(_SEQUENCE, "big")


def level_stop(of_level: int) -> bytes:
    return (of_level + 1).to_bytes(_LEVEL, "big")
