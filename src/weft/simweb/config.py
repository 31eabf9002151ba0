"""What a miniature internet is made of: its size, its seed and which misbehaviours it has.

The command line and tests make a `SimWebConfig`; everything else in simweb reads it. One line of help per misbehaviour.
"""

import difflib
from collections.abc import Iterable
from typing import Literal

import msgspec

from weft.errors import ConfigError


class Misbehaviour(msgspec.Struct, frozen=True):
    """Something the real web does; `group` is a name that switches on all its members."""

    name: str
    group: str
    help: str


def _group(group: str, *members: tuple[str, str]) -> tuple[Misbehaviour, ...]:
    return tuple(Misbehaviour(name, group, text) for name, text in members)


MISBEHAVIOURS: tuple[Misbehaviour, ...] = (
    *_group(
        "redirects",
        ("moved", "301, 302, 303, 307, 308: relative, to other hosts, three in a row; texts only found that way"),
        ("redirect-loops", "redirects to itself and in a circle"),
        ("redirect-chains", "eight redirects in a row before a text"),
    ),
    *_group(
        "errors",
        ("not-found", "404 with a page that looks like any other"),
        ("gone", "410"),
        ("heals", "500 for the first requests, then a text and its links"),
        ("failing", "500 for ever"),
        ("unavailable", "503 once with Retry-After in seconds, then a text"),
        ("unavailable-date", "503 once with Retry-After as a date, then a text"),
        ("busy", "429 once with Retry-After, then a text"),
        ("unresolvable", "links to names without an address"),
        ("refused", "links to an address where nobody listens"),
    ),
    *_group(
        "slow",
        ("latency", "hosts that take their time over every answer"),
        ("timeouts", "a request that is never answered"),
        ("drips", "a body of one byte at a time"),
        ("endless-body", "a body without end"),
        ("endless-headers", "header fields without end"),
        ("huge-header", "one header field of 300 KB"),
    ),
    *_group(
        "malformed",
        ("resets", "the connection is reset: at once, in the headers, in the body; /odd/reset/N: after N bytes"),
        ("truncated", "fewer bytes than Content-Length says"),
        ("double-length", "two Content-Length fields that differ"),
        ("bad-chunks", "a chunk whose size is no number"),
        ("charsets", "pages in old encodings, declared rightly, wrongly and not at all"),
        ("types", "HTML as octet-stream, PDF as HTML, no type at all, plain text"),
        ("binaries", "images, archives and PDFs behind ordinary links"),
    ),
    *_group(
        "encodings",
        ("gzip", "hosts that compress with gzip when asked"),
        ("brotli", "hosts that compress with br when asked"),
        ("zstd", "hosts that compress with zstd when asked"),
    ),
    *_group(
        "bombs",
        ("gzip-bomb", "a small gzip body that becomes 256 MB"),
        ("brotli-bomb", "a small br body that becomes 256 MB"),
        ("zstd-bomb", "a small zstd body that becomes 256 MB"),
        ("html-bomb", "deep nesting, 100,000 attributes, 300,000 links"),
    ),
    *_group(
        "duplicates",
        ("mirrors", "the same bytes at another path and on another host"),
        ("reprints", "the same text in another page, on another host"),
        ("near-duplicates", "a text with one sentence changed"),
        ("canonical", "print views that name the original by rel=canonical"),
    ),
    *_group(
        "robots",
        ("robots-disallow", "paths disallowed, a longer Allow inside them"),
        ("robots-own", "a group for our agent that differs from the one for *"),
        ("robots-wildcard", "rules with * and $"),
        ("robots-delay", "Crawl-delay"),
        ("robots-closed", "Disallow: / for everyone"),
        ("robots-missing", "404: everything is allowed"),
        ("robots-forbidden", "403: everything is allowed"),
        ("robots-failing", "500 for ever: nothing may be asked"),
        ("robots-heals", "500 at first, then rules"),
        ("robots-timeout", "never answered: nothing may be asked"),
        ("robots-redirect", "rules behind three redirects, the last to another host"),
        ("robots-html", "a web page instead of rules: everything is allowed"),
        ("robots-huge", "600 KB of rules, the ones that matter first"),
        ("robots-bom", "rules that begin with a byte order mark"),
        ("robots-utf16", "rules in UTF-16"),
        ("robots-cr", "rules whose lines end with CR alone"),
    ),
    *_group(
        "discovery",
        ("sitemaps", "index, gz, lastmod, changefreq, priority; texts found only there"),
        ("feeds", "RSS and Atom; texts found only there"),
    ),
    *_group(
        "traps",
        ("calendar", "a calendar with a page for every month, for ever"),
        ("facets", "a catalogue with every permutation of its filters"),
        ("sessions", "ten texts under ever new session ids"),
        ("subdomains", "subdomains that link to new subdomains (by name only)"),
        ("segments", "a relative link that repeats its path segments"),
        ("fanout", "pages with 500 links each to more of the same"),
    ),
    *_group(
        "freshness",
        ("validators", "ETag and Last-Modified on most hosts, 304 when unchanged"),
        ("cache-control", "hosts with Cache-Control: max-age"),
        ("changing", "pages that change when `advance` is called: always, or every 2nd, 4th, 8th time"),
    ),
    *_group(
        "markup",
        ("noindex", "pages that ask not to be indexed, in markup and in a header"),
        ("nofollow", "pages that ask not to follow their links, in markup and in a header"),
        ("base-href", "relative links that only work with base href"),
        ("refresh", "a page that only refreshes to another"),
        ("cookies", "hosts that set a cookie with every answer; the log says who sends it back"),
        ("tracking", "links with tracking parameters, fragments and odd spelling"),
    ),
    *_group(
        "consent",
        ("aipref-header", "Content-Usage: train-ai=n as a header"),
        ("aipref-robots", "Content-Usage in robots.txt, with a path that is allowed"),
        ("content-signal", "Content-Signal: ai-train=no in robots.txt"),
        ("tdmrep-file", "/.well-known/tdmrep.json reserves"),
        ("tdmrep-header", "tdm-reservation: 1 as a header"),
        ("tdmrep-meta", "tdm-reservation in a meta element"),
        ("rsl-robots", "License: in robots.txt, the licence prohibits training"),
        ("rsl-header", "Link rel=license as a header, the licence prohibits training"),
        ("rsl-link", "link rel=license in the page, the licence prohibits training"),
        ("noai-meta", "meta robots noai"),
        ("noai-header", "X-Robots-Tag: noai"),
        ("training-tokens", "robots.txt disallows crawlers that train, not us"),
        ("consent-allowed", "the same signals saying yes"),
    ),
)

GROUPS: tuple[str, ...] = tuple(dict.fromkeys(kind.group for kind in MISBEHAVIOURS))
POSITIONS: dict[str, int] = {kind.name: position for position, kind in enumerate(MISBEHAVIOURS)}
MILD: frozenset[str] = frozenset(
    (
        *("moved", "not-found", "gone", "heals", "mirrors", "reprints", "robots-disallow", "robots-missing"),
        *("gzip", "validators", "noindex", "tracking"),
    )
)


class SimWebConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The size and the habits of a miniature internet. The same values give the same bytes everywhere."""

    hosts: int = 20
    pages: int = 25
    seed: int = 1
    port: int = 0  # 0: a free one, chosen at start
    misbehaviours: frozenset[str] = MILD
    hosts_per_address: int = 1
    suffix: str = "example"  # host names are NAME.suffix
    agent: str = "weft"  # the product token that the rules of robots-own name
    words: int = 350  # of an article, about
    fanout: int = 6  # children of a page in its host's tree
    crawl_delay: float = 2.0  # seconds, of robots-delay
    retry_after: int = 2  # seconds, of unavailable and busy
    failures: int = 2  # answers of 500 before heals heals
    latency: float = 0.5  # seconds, of latency
    drip: float = 1.0  # seconds between the bytes of drips
    max_age: int = 3600  # seconds, of cache-control
    cache: int = 8192  # answers kept in memory
    # With scenes (scenery.py) the web has one host for each of them, and no ordinary ones: see `scenes_of`.
    scenes: tuple[str, ...] = ()
    prepared: Literal["", "names", "addresses"] = ""  # pages made before the start, so that a benchmark pays none


def scenes_of(*scenes: str, seed: int = 1, port: int = 0) -> SimWebConfig:
    """A web of scenes, each a host and a world of its own: `articles:1000+calendar`."""
    return SimWebConfig(
        hosts=len(scenes), pages=1, seed=seed, port=port, misbehaviours=frozenset(), scenes=scenes, cache=0
    )


def expand(names: str | Iterable[str]) -> frozenset[str]:
    """Names and groups (`mild`, `all`, `none`, `traps`, …), with commas or as a list, as a set of misbehaviours."""
    words = names.split(",") if isinstance(names, str) else names
    chosen: set[str] = set()
    for word in filter(None, (word.strip() for word in words)):
        chosen |= _members(word)
    return frozenset(chosen)


def _members(word: str) -> frozenset[str]:
    if word == "none":
        return frozenset()
    if word == "mild":
        return MILD
    members = frozenset(kind.name for kind in MISBEHAVIOURS if word in ("all", kind.name, kind.group))
    if not members:
        known = [*POSITIONS, *GROUPS, "all", "mild", "none"]
        close = difflib.get_close_matches(word, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ConfigError(f"unknown misbehaviour {word!r}{hint}")
    return members
