"""What flows between the stages, in the order of the flow. Everything is frozen; nothing here does anything.

    Link ─frontier─► Lease ─fetch─► Outcome (+ Captures) ─archive─► Announcement ─parse─► Page ─corpus─► Document
                                                                                    └─► Links, Findings ─► frontier
Times are wall seconds since 1970 (UTC) as floats; durations are seconds. URLs are canonical (weft.urls.canonical).
"""

from enum import Enum, IntEnum
from typing import NamedTuple, TypeAlias

import msgspec

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Header fields as sent: order, case and repetitions kept; values decoded as latin-1."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """A frozen value."""


class Kind(IntEnum):
    """What a URL is fetched for."""

    PAGE = 0
    ROBOTS = 1
    SITEMAP = 2
    POLICY = 3  # tdmrep.json, licence XML: evidence for consent


class Via(IntEnum):
    """How a URL became known."""

    SEED = 0
    ANCHOR = 1
    REDIRECT = 2
    SITEMAP = 3
    FEED = 4
    CANONICAL = 5
    ALTERNATE = 6  # <link rel=alternate|next|prev>, frames
    POLICY = 7
    MANUAL = 8  # dead retry, --again


class Fate(Enum):
    """What the frontier does with a URL after an outcome."""

    DONE = "done"  # settled; perhaps visited again by recrawl
    GONE = "gone"  # settled; not worth another request
    AGAIN = "again"  # keeps its place, no attempt counted: the lease was used for something else
    RETRY = "retry"  # later, with back-off; dead after the last attempt
    CLOSED = "closed"  # as RETRY, and the whole host waits; it is parked when it stays closed


class Reason(Enum):
    """Why a URL ended as it did: a word for programs, a fate for the frontier, a sentence for people."""

    STORED = "stored", Fate.DONE, "fetched and archived"
    UNCHANGED = "unchanged", Fate.DONE, "304: not changed since the last visit"
    REDIRECTED = "redirected", Fate.DONE, "redirected; the target is a link of its own"
    ROBOTS_FETCHED = "robots-fetched", Fate.AGAIN, "robots.txt was asked for first"
    HOST_BUSY = "host-busy", Fate.AGAIN, "the request could not be made in time"

    ROBOTS_DENIED = "robots-denied", Fate.GONE, "robots.txt disallows it"
    NOT_FOUND = "not-found", Fate.GONE, "404: not found"
    GONE = "gone", Fate.GONE, "410: gone"
    FORBIDDEN = "forbidden", Fate.GONE, "401, 403 or 451: the site does not want us here"
    CLIENT_ERROR = "client-error", Fate.GONE, "another 4xx"
    WRONG_TYPE = "wrong-type", Fate.GONE, "the content type is not one we keep"
    BINARY = "binary", Fate.GONE, "binary data, whatever its content type says"
    TOO_LARGE = "too-large", Fate.GONE, "the body is larger than the limit"
    BAD_ENCODING = "bad-encoding", Fate.GONE, "a content encoding we cannot read"
    ADDRESS_FORBIDDEN = (
        "address-forbidden",
        Fate.GONE,
        "its address is private, local or reserved, and not named by --own",
    )
    BAD_URL = "bad-url", Fate.GONE, "not a URL that can be fetched"
    BAD_REDIRECT = "bad-redirect", Fate.GONE, "redirects to something that is not a URL"
    REDIRECT_LOOP = "redirect-loop", Fate.GONE, "redirects to itself"
    TOO_MANY_REDIRECTS = "too-many-redirects", Fate.GONE, "more than 5 redirects in a row"
    ODD_STATUS = "odd-status", Fate.GONE, "a status that means nothing here"
    FORGOTTEN = "forgotten", Fate.GONE, "taken out by `weft forget`"

    SERVER_ERROR = "server-error", Fate.RETRY, "5xx: the server failed"
    RATE_LIMITED = "rate-limited", Fate.RETRY, "429: asked to slow down"
    OVERLOADED = "overloaded", Fate.RETRY, "503: asked to come back later"
    TIMEOUT = "timeout", Fate.RETRY, "no answer in time"
    TOO_SLOW = "too-slow", Fate.RETRY, "the body came slower than the minimum rate"
    RESET = "reset", Fate.RETRY, "the connection was cut"
    TRUNCATED = "truncated", Fate.RETRY, "the body ended early"
    MALFORMED = "malformed", Fate.RETRY, "not a valid HTTP answer"
    HEADERS_TOO_LARGE = "headers-too-large", Fate.RETRY, "the headers are larger than the limit"
    CROWDED = "crowded", Fate.RETRY, "too many large bodies came at once, and this was the largest"
    LEASE_EXPIRED = "lease-expired", Fate.RETRY, "a worker took it and never settled it"
    OUR_FAULT = "our-fault", Fate.RETRY, "a fault of ours; the log has the details"

    DNS_FAILED = "dns-failed", Fate.CLOSED, "the host name does not resolve"
    CONNECT_FAILED = "connect-failed", Fate.CLOSED, "no connection: refused, unreachable or timed out"
    TLS_FAILED = "tls-failed", Fate.CLOSED, "no trustworthy TLS connection"
    ROBOTS_UNREACHABLE = (
        "robots-unreachable",
        Fate.CLOSED,
        "robots.txt cannot be read, so nothing may be asked",
    )

    fate: Fate
    meaning: str

    def __new__(cls, word: str, fate: Fate, meaning: str) -> "Reason":
        member = object.__new__(cls)
        member._value_ = word
        member.fate = fate
        member.meaning = meaning
        return member


class Drop(Enum):
    """Why a link never entered the frontier. Counted per host, kept as a sample, recomputed by `inspect`."""

    BAD_URL = "bad-url"
    SCHEME = "scheme"
    TOO_LONG = "url-too-long"
    TOO_DEEP = "too-deep"
    TOO_DEEP_IN_DOMAIN = "too-deep-in-domain"
    OUT_OF_SCOPE = "out-of-scope"
    EXCLUDED = "excluded"
    BLOCKED = "blocked"
    ROBOTS_DENIED = "robots-denied"
    HOST_FULL = "pages-per-host"
    DOMAIN_FULL = "pages-per-domain"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    NOFOLLOW = "nofollow"
    TOO_MANY_LINKS = "too-many-links"
    FORGOTTEN = "forgotten"


class Hint(Record, frozen=True):
    """What a sitemap or feed says of a URL."""

    priority: float = 0.5
    modified: float | None = None
    changes: float | None = None  # seconds between changes


class Link(Record, frozen=True):
    """A URL that was found, on its way into the frontier."""

    url: str
    depth: int = 0  # links from the nearest seed
    via: Via = Via.ANCHOR
    source: str = ""  # the URL it was found on
    kind: Kind = Kind.PAGE
    hops: int = 0  # redirects in a row
    inside: int = 0  # links followed inside its registrable domain
    seed: bool = False  # a seed, or where a seed redirected to: widens the scope
    hint: Hint | None = None
    key: bytes = b""  # weft.urls.host.url_key(url), where the parser has computed it already


class Lease(Record, frozen=True):
    """Permission to make one request to a host, for this URL."""

    url: str
    host: str  # the host name (no port) that politeness is owed to
    attempt: int  # 1 for the first
    depth: int
    leased: float  # when
    expires: float
    via: Via = Via.ANCHOR
    source: str = ""
    kind: Kind = Kind.PAGE
    hops: int = 0
    inside: int = 0
    seed: bool = False
    etag: str = ""
    modified: str = ""  # Last-Modified of the copy we have, as the server wrote it
    place: bytes = b""  # the frontier's own: where the row lay


class Asked(Record, frozen=True):
    """One request that was made, for pace and for the politeness report."""

    host: str
    url: str
    started: float
    finished: float  # the end of the answer
    status: int  # 0: none came
    address: str = ""


class Outcome(Record, frozen=True):
    """How a lease ended."""

    lease: Lease
    reason: Reason
    finished: float
    status: int = 0
    asked: tuple[Asked, ...] = ()  # every request made under the lease, in order
    detail: str = ""  # for a person: what exactly
    lasting: bool = False  # nothing that heals by itself: a certificate nobody vouches for, a name that does not exist
    redirect: str = ""  # canonical target
    retry_after: float | None = None  # seconds the host wants to be left alone
    crawl_delay: float | None = None  # robots.txt's, where its rules are known; 0.0: known, none given
    etag: str = ""
    modified: str = ""
    fresh_until: float | None = None  # by Cache-Control: not to be asked for before
    mime: str = ""
    length: int = 0  # body bytes as transferred
    digest: str = ""  # of the body: sha1, base32


class Request(Record, frozen=True):
    """One GET, with its limits."""

    url: str
    headers: Headers
    max_body: int
    accept_types: tuple[str, ...] = ()  # prefixes of content types whose body is read; empty: all


class Exchange(Record, frozen=True):
    """What came of a request. `failure` says how the transport ended it, None for a whole answer."""

    url: str
    started: float
    finished: float
    failure: Reason | None = None
    detail: str = ""
    lasting: bool = False  # as in an Outcome
    status: int = 0
    version: str = "1.1"
    reply: str = ""  # the reason phrase
    headers: Headers = ()
    body: bytes = b""  # as sent: content encoding not undone
    address: str = ""
    sent: Headers = ()  # the request's fields as sent
    truncated: str = ""  # WARC-Truncated: length, time, disconnect
    dropped: int = 0  # bytes of a large body that was let go, because the answer failed


class Capture(Record, frozen=True):
    """An answer worth keeping, on its way into the archive."""

    id: str  # <urn:uuid:…>
    exchange: Exchange
    kind: Kind = Kind.PAGE
    lease: Lease | None = None  # none for robots.txt fetched on the way


class Position(NamedTuple):
    """Where a WARC record lies: a journal or blob name, and the bytes of its gzip member."""

    file: str
    offset: int
    length: int


class Announcement(Record, frozen=True):
    """A capture that is durable and waits to be refined. Pointers only: the body stays in the archive."""

    id: str
    url: str
    position: Position
    fetched: float
    status: int
    kind: Kind = Kind.PAGE
    depth: int = 0
    inside: int = 0
    seed: bool = False
    digest: str = ""
    attempt: int = 1
    source: str = ""  # the URL it was found on


class Refusal(Enum):
    """Why a capture gave no page."""

    TOO_DEEP = "html-too-deep"
    TOO_MANY_ATTRIBUTES = "html-too-many-attributes"
    TOO_MANY_NAMES = "html-too-many-names"
    TOO_LARGE = "html-too-large"
    BOMB = "decompression-bomb"
    BAD_ENCODING = "bad-content-encoding"
    TIMEOUT = "parse-timeout"
    MEMORY = "parse-memory"
    CRASH = "parse-crash"
    NOT_TEXT = "not-text"
    BAD_SITEMAP = "bad-sitemap"


class Removal(Enum):
    """Why a page is not in the corpus: the `filter_reason` of `_removed/`."""

    UNCHANGED = "unchanged"  # fetched again, and the same as the document we have of this URL
    DUPLICATE_BODY = "duplicate-body"
    DUPLICATE_TEXT = "duplicate-text"
    NEAR_DUPLICATE = "near-duplicate"
    EMPTY = "empty"
    NOINDEX = "noindex"
    CONSENT = "consent-deny"
    UNPARSABLE = "unparsable"
    FILTERED = "filtered"


class Language(Record, frozen=True):
    """Detected: ISO 639-3, ISO 15924 and a score comparable with FineWeb's."""

    code: str = "und"
    script: str = "Zyyy"
    score: float = 0.0


class Evidence(Record, frozen=True):
    """What a page brings, in few bytes: the frontier tells by it whether its pages still say something new."""

    digest: int = 0  # 64 bits of the whole visible text; 0: there is none
    raw: bytes = b""  # hashes of lines as they stand, 4 bytes each
    clean: bytes = b""  # of lines of prose, by a pair of their words, without digits and words of the page's own URL
    near: bytes = b""  # what such lines would be told by if another word of theirs stood in the URL


class Page(Record, frozen=True):
    """What the parser made of a capture."""

    id: str
    url: str
    refusal: Refusal | None = None
    detail: str = ""
    text: str = ""
    title: str = ""
    language: Language = Language()
    words: int = 0
    links: tuple[Link, ...] = ()
    links_seen: int = 0
    drops: tuple[tuple[str, int], ...] = ()  # Drop word, count: links the parser left out
    dropped: tuple[tuple[str, str], ...] = ()  # Drop word, one of them: a URL, or what stood there for one
    noindex: bool = False
    nofollow: bool = False
    canonical: str = ""
    text_digest: bytes = b""  # of the normalised text, 16 bytes
    body_digest: bytes = b""  # of the decoded body, 16 bytes
    simhash: int = 0
    charset: str = ""
    needs_rendering: bool = False
    extractor: str = ""
    metadata: str = "{}"  # JSON: description, author, dates, headings, alts, schema.org, Open Graph
    cpu: float = 0.0  # seconds the parser spent
    evidence: Evidence | None = None  # none for sitemaps, feeds and what could not be read


class Verdict(Record, frozen=True):
    """What dedup knows of a page: new, a duplicate of another document, or committed already (a redelivery)."""

    removal: Removal | None = None
    original: str = ""  # the id of the document it duplicates
    committed: bool = False  # this very capture: `removal` is what was decided then


class Document(Record, frozen=True):
    """A row of the corpus."""

    id: str
    url: str
    date: float
    text: str
    title: str
    language: Language
    file_path: str
    metadata: str
    extractor: str


class Finding(Record, frozen=True):
    """What refining learned of a URL, on its way back to the frontier."""

    url: str
    fetched: float
    body_digest: bytes = b""
    text_digest: bytes = b""
    simhash: int = 0
    title: str = ""
    language: str = ""
    words: int = 0
    removal: Removal | None = None
    refusal: Refusal | None = None
    needs_rendering: bool = False
    links_left_out: int = 0  # over [parse] max_links


class Visit(Record, frozen=True):
    """One line of a URL's history."""

    at: float
    reason: Reason
    status: int = 0
    detail: str = ""
    attempt: int = 1
