"""The frontier's rows as bytes: compact arrays whose missing end stands for defaults, so that most rows are short."""

from typing import Final, NamedTuple

import msgspec

from weft.records import Evidence, Kind, Lease, Link, Reason, Via, Visit


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
    trail: int = 0  # how it was come by (trail.py)
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
    trial: bytes = b""  # holder and group (18 bytes) whose debt the request added to, if the URL was held


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
    trail: int = 0
    trial: bytes = b""


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
    trail: int = 0
    verdict: int = 0  # traps.Verdict: whether the page brought something
    evidence: Evidence | None = None  # what the verdict was made from
    view: str = ""  # the pattern of views that the page is one more of (traps.view_of)
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
    admitted: int = 0  # URLs asked for, once each
    asked_ms: int = 0  # the last request
    pause: str = ""  # why next_ms lies where it does
    domain: int = 0  # characters at the end of the name that are its registrable domain
    first: bytes = b""  # queue item of the row that its level begins with, of one level, where it is known
    marks: dict[int, int] = {}  # level → the last number drawn
    branches: dict[int, int] = {}  # branch → its last number
    judged: int = 0  # pages that evidence was taken of
    fruitful: int = 0  # of those, pages that brought something
    barren: int = 0  # patterns that have stopped bringing new pages: URLs are looked at when they are drawn
    debt: int = 0  # spent on trying what is held
    full: str = ""  # the cap that is reached; what is in its queue stays there


class DomainRow(msgspec.Struct, array_like=True, gc=False):
    """What is counted over all hosts of a registrable domain."""

    name: str
    admitted: int = 0
    hosts: int = 0
    authority: int = 0
    sketch: bytes = b""
    dirty: bool = False  # the row in the table is older


class GroupRow(msgspec.Struct, array_like=True, gc=False):
    """URLs of a host that are held together: those of a pattern, of a branch, or new hosts of a family."""

    text: str  # how their paths look
    why: str  # a word of holds.Why
    held: int = 0
    debt: int = 0
    tried: int = 0
    fruitful: int = 0  # of the trials
    first: bytes = b""  # nothing lies before this item
    examples: tuple[str, ...] = ()


_encoder: Final = msgspec.msgpack.Encoder()
encode: Final = _encoder.encode
decode_pending: Final = msgspec.msgpack.Decoder(Pending).decode
decode_settled: Final = msgspec.msgpack.Decoder(Settled).decode
decode_learned: Final = msgspec.msgpack.Decoder(Learned).decode
decode_host: Final = msgspec.msgpack.Decoder(HostRow).decode
decode_group: Final = msgspec.msgpack.Decoder(GroupRow).decode
decode_domain: Final = msgspec.msgpack.Decoder(DomainRow).decode

# The first byte of a URL row says where the URL is; the rest says more.
IN_QUEUE: Final = b"q"  # the item of its queue row
IN_WAIT: Final = b"w"  # due, 8 bytes
IN_HOLD: Final = b"y"  # holder (10 bytes) and the item of its held row
IS_DEAD: Final = b"d"
IS_SETTLED: Final = b"u"  # Settled


def encode_link(link: Link, discovered: int, trail: int, trial: bytes = b"") -> bytes:
    """The pending row of a new link."""
    if link.kind or link.hops or link.seed or link.hint or trial:
        return encode(_pending_of(link, discovered, trail, trial))
    return encode((link.url, discovered, link.depth, link.via, link.source, link.inside, trail))


def _pending_of(link: Link, discovered: int, trail: int, trial: bytes) -> Pending:
    hint = link.hint
    return Pending(
        url=link.url,
        discovered=discovered,
        depth=link.depth,
        via=link.via,
        source=link.source,
        inside=link.inside,
        trail=trail,
        kind=link.kind,
        hops=link.hops,
        seed=link.seed,
        priority=hint.priority if hint else 0.5,
        changed=int(hint.modified or 0) if hint else 0,
        trial=trial,
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
