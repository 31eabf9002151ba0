"""The frontier's rows as bytes: compact arrays whose missing end stands for defaults, so that most rows are short."""

from typing import Final, NamedTuple

import msgspec

from weft.records import Kind, Lease, Link, Reason, Via, Visit


class VisitRow(NamedTuple):
    """One attempt."""

    at: float
    reason: str
    status: int
    attempt: int
    detail: str

    def visit(self) -> Visit:
        return Visit(self.at, msgspec.convert(self.reason, Reason), self.status, self.detail, self.attempt)


class Pending(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL that waits: everything a lease needs, so that leasing takes no second look-up."""

    url: str
    discovered: int  # seconds since 1970
    depth: int
    via: int
    source: str
    inside: int = 0
    kind: int = 0
    hops: int = 0
    seed: bool = False
    priority: float = 0.5  # the sitemap's
    changed: int = 0  # the sitemap's lastmod, seconds since 1970
    attempt: int = 1
    agains: int = 0  # times in a row the lease was used for something else
    visits: tuple[VisitRow, ...] = ()
    first: float = 0.0  # first fetch that gave content
    fetches: int = 0
    etag: str = ""
    modified: str = ""


class Settled(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What became of a URL: the frontier's part of the URL table."""

    url: str
    reason: str
    status: int
    leased: float  # names the lease that ended so
    finished: float
    discovered: int
    depth: int
    via: int
    source: str
    inside: int
    seconds: float = 0.0  # response time
    mime: str = ""
    length: int = 0
    digest: str = ""
    visits: tuple[VisitRow, ...] = ()
    first: float = 0.0
    fetches: int = 0
    etag: str = ""
    modified: str = ""
    fresh_until: float = 0.0
    redirect: str = ""
    detail: str = ""
    kind: int = 0
    hops: int = 0
    seed: bool = False


class Learned(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What refining learned of a URL: the other part of the URL table."""

    url: str
    fetched: float
    body_digest: bytes
    text_digest: bytes
    simhash: int
    title: str
    language: str
    words: int
    removal: str
    refusal: str
    needs_rendering: bool
    links_left_out: int = 0  # over [parse] max_links


class HostRow(msgspec.Struct, array_like=True, gc=False):
    """All that is kept of a host. Times are milliseconds of the wall clock."""

    name: str
    next_ms: int = 0  # not to be asked before
    levels: dict[int, int] = {}  # level that may hold rows → sequence of its first
    address: str = ""
    crawl_delay: float = -1.0  # robots.txt's; below 0: not known
    latency: float = 0.0  # of the last answers, a moving average
    strain: int = 0  # rises with every sign of overload, falls by one with every good answer
    closed: int = 0  # times in a row it could not be reached or its robots.txt not be read
    failed: int = 0  # requests in a row that came to nothing
    parked: str = ""  # the reason, once it has been given up
    drawn: int = 0  # leases so far; picks the band
    pending: int = 0  # in its queue or leased
    waiting: int = 0
    held: int = 0
    dead: int = 0
    done: int = 0
    gone: int = 0
    admitted: int = 0
    asked_ms: int = 0  # the last request
    pause: str = ""  # why next_ms lies where it does
    domain: int = 0  # characters at the end of the name that are its registrable domain
    first: bytes = b""  # queue item of the row that its level begins with, of one level, where it is known


class DomainRow(msgspec.Struct, array_like=True, gc=False):
    """What is counted over all hosts of a registrable domain."""

    name: str
    admitted: int = 0
    hosts: int = 0
    authority: int = 0
    sketch: bytes = b""
    dirty: bool = False  # the row in the table is older
    held: int = 0  # URLs beyond the samples of traps


class PatternRow(msgspec.Struct, array_like=True, gc=False):
    """URLs of one shape: how many were taken in, and what their pages turned out to be."""

    rule: str
    text: str
    admitted: int = 0
    held: int = 0
    judged: int = 0  # pages whose content is known, older ones counting less
    different: int = 0  # of those, pages unlike the others
    proven: int = 0  # different pages in all
    simhashes: tuple[int, ...] = ()  # of the last different pages
    examples: tuple[str, ...] = ()  # of what is held; most rows have none and are short


_encoder: Final = msgspec.msgpack.Encoder()
encode: Final = _encoder.encode
decode_pending: Final = msgspec.msgpack.Decoder(Pending).decode
decode_settled: Final = msgspec.msgpack.Decoder(Settled).decode
decode_learned: Final = msgspec.msgpack.Decoder(Learned).decode
decode_host: Final = msgspec.msgpack.Decoder(HostRow).decode
decode_pattern: Final = msgspec.msgpack.Decoder(PatternRow).decode
decode_domain: Final = msgspec.msgpack.Decoder(DomainRow).decode

# The first byte of a URL row says where the URL is; the rest says more.
IN_QUEUE: Final = b"q"  # the item of its queue row
IN_WAIT: Final = b"w"  # due, 8 bytes
IN_HOLD: Final = b"y"  # the item of its held row
IS_DEAD: Final = b"d"
IS_SETTLED: Final = b"u"  # Settled


def encode_link(link: Link, discovered: int) -> bytes:
    """The pending row of a new link."""
    if link.kind or link.hops or link.seed or link.hint:
        return encode(_pending_of(link, discovered))
    return encode((link.url, discovered, link.depth, link.via, link.source, link.inside))


def _pending_of(link: Link, discovered: int) -> Pending:
    hint = link.hint
    return Pending(
        url=link.url,
        discovered=discovered,
        depth=link.depth,
        via=link.via,
        source=link.source,
        inside=link.inside,
        kind=link.kind,
        hops=link.hops,
        seed=link.seed,
        priority=hint.priority if hint else 0.5,
        changed=int(hint.modified or 0) if hint else 0,
    )


_VIAS: Final = tuple(Via)  # both count from 0
_KINDS: Final = tuple(Kind)


def lease_of(pending: Pending, host: str, place: bytes, leased: float, expires: float) -> Lease:
    """`place`: the host's key and the queue item."""
    return Lease(
        url=pending.url,
        host=host,
        attempt=pending.attempt,
        depth=pending.depth,
        leased=leased,
        expires=expires,
        via=_VIAS[pending.via],
        source=pending.source,
        kind=_KINDS[pending.kind],
        hops=pending.hops,
        inside=pending.inside,
        seed=pending.seed,
        etag=pending.etag,
        modified=pending.modified,
        place=place,
    )
