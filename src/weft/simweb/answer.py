"""What a site answers: an ordinary `Answer`, or a `Script` of steps on the wire for what no honest server does.

Sites make them (site.py and the misbehaviours), server.py sends them.
"""

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

import msgspec

HTML = "text/html; charset=utf-8"


class Visit(msgspec.Struct, frozen=True):
    """A request as a site sees it."""

    target: str  # path and query
    headers: dict[str, str]  # names in lower case
    numeric: bool  # asked by address: answer with addresses in links
    count: int = 1  # how often this target was asked, this time included
    version: int = 0  # how often the web was advanced
    wall: float = 0.0
    host: str = ""  # as asked, without the port


class Answer(msgspec.Struct, frozen=True):
    """A status, header fields and a body; the server adds Date, length and connection."""

    status: int
    body: bytes = b""
    type: str = HTML
    headers: tuple[tuple[str, str], ...] = ()
    lasting: bool = False  # the same for every visitor: may be kept


class Send(msgspec.Struct, frozen=True):
    data: bytes


class Repeat(msgspec.Struct, frozen=True):
    """The same bytes again and again, `pause` seconds apart; `times` 0: until the client leaves."""

    data: bytes
    pause: float = 0.0
    times: int = 0


class Wait(msgspec.Struct, frozen=True):
    seconds: float


class Reset(msgspec.Struct, frozen=True):
    """Drop the connection with a TCP reset."""


class Hang(msgspec.Struct, frozen=True):
    """Say nothing more, but keep the connection until the client leaves."""


Step: TypeAlias = Send | Repeat | Wait | Reset | Hang


class Script(msgspec.Struct, frozen=True):
    """Steps on the wire; the connection is closed after the last. `status` is what the log says."""

    status: int
    steps: tuple[Step, ...]


Reply: TypeAlias = Answer | Script
Handler: TypeAlias = Callable[[Visit], Reply]


class Fate(Enum):
    """What a perfect polite crawler makes of a URL."""

    STORED = "stored"  # its text is in the corpus (once, however many URLs bear it)
    OPTIONAL = "optional"  # honest crawlers differ: storing the text is neither wanted nor wrong
    UNWANTED = "unwanted"  # fetched, but its text stays out: noindex, consent denied
    REDIRECT = "redirect"
    GONE = "gone"  # 404, 410
    DEAD = "dead"  # given up after the last attempt
    SKIPPED = "skipped"  # nothing to read: binary, too big, no text
    POLICY = "policy"  # robots.txt, sitemaps, feeds, licences: may be asked, hold no text
    FORBIDDEN = "forbidden"  # must never be asked
    TRAP = "trap"  # a sample is enough


class Plant(msgspec.Struct, frozen=True):
    """One URL of a misbehaviour on one host: what it answers and what should come of it."""

    path: str
    fate: Fate
    answer: Handler
    kind: str  # the misbehaviour's name
    text: tuple[int, int] | None = None  # (host, number) of the text it bears
    linked: bool = True  # an ordinary page of the host links to it
    prefix: bool = False  # stands for every target that begins with `path`
    sample: str = ""  # for links: a target inside the prefix
    consent: str = ""  # allow or deny, when the page itself says so; goes before its host's
    beyond: str = ""  # a URL out of reach to which only this page links
