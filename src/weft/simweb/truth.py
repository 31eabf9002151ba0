"""What a perfect polite crawler would find: every URL's fate, every text that must be stored, what must never be asked.

Made from the same map as the pages, without serving any. judge.py compares it with a corpus and a log.
"""

from collections.abc import Callable

import msgspec

from .answer import Fate, Plant
from .planting import Sites
from .site import Site


class UrlTruth(msgspec.Struct, frozen=True):
    """One URL, what should become of it, and the marker of its text."""

    url: str
    fate: Fate
    kind: str  # `page`, or the misbehaviour's name
    marker: str = ""
    validators: bool = False  # has ETag and Last-Modified, answers 304
    consent: str = "unknown"  # allow, deny or unknown: the verdict on training


class HostTruth(msgspec.Struct, frozen=True):
    """One host: its names, the gap its robots.txt asks for, and whether it may be asked at all."""

    name: str
    address: str
    habit: str
    closed: bool
    crawl_delay: float
    consent: str  # deny, or unknown: what the whole host says about training


class TrapTruth(msgspec.Struct, frozen=True):
    """URLs without end: all that begin with `prefix` (on `host` and, for subdomains, below it)."""

    kind: str
    host: str
    prefix: str


class Truth(msgspec.Struct, frozen=True):
    """The whole web. `texts`: marker → URLs that bear it; at least one marker of every group of `near` is wanted."""

    seeds: list[str]
    hosts: list[HostTruth]
    urls: list[UrlTruth]
    texts: dict[str, list[str]]
    near: list[list[str]]
    optional: list[str]  # markers whose texts may be stored or not
    traps: list[TrapTruth]

    def delay_of(self, least: float) -> Callable[[str], float]:
        """host → the gap it may expect: the crawler's own delay, or what its robots.txt asks for."""
        slow = {name: host.crawl_delay for host in self.hosts for name in (host.name, host.address)}
        return lambda host: max(least, slow.get(host, 0.0))

    def of_fate(self, fate: Fate) -> list[str]:
        return [row.url for row in self.urls if row.fate is fate]


def truth_of(sites: Sites, numeric: bool = False, version: int = 0) -> Truth:
    """The truth of a web whose URLs have names or addresses, after `version` advances."""
    world = sites.world
    rows = [row for index in range(world.config.hosts) for row in _urls(sites(index), numeric, version)]
    texts: dict[str, list[str]] = {}
    for row in rows:
        if row.fate is Fate.STORED:
            texts.setdefault(row.marker, []).append(row.url)
    optional = {row.marker for row in rows if row.fate is Fate.OPTIONAL and row.marker}
    return Truth(
        seeds=[sites(0).url("/", numeric)],
        hosts=[_host(sites(index)) for index in range(world.config.hosts)],
        urls=rows,
        texts=texts,
        near=[group for index in range(world.config.hosts) for group in _near(sites(index))],
        optional=sorted(optional - set(texts)),
        traps=[trap for index in range(world.config.hosts) for trap in _traps(sites(index), numeric)],
    )


def _host(site: Site) -> HostTruth:
    host = site.host
    return HostTruth(
        name=host.name,
        address=host.address,
        habit=host.habit,
        closed=host.closed,
        crawl_delay=site.world.config.crawl_delay if host.habit == "robots-delay" else 0.0,
        consent=_consent(site),
    )


def _urls(site: Site, numeric: bool, version: int) -> list[UrlTruth]:
    rows = []
    for page in range(site.pages):
        marker = site.world.marker(site.host.index, page, site.version_of(page, version))
        url, fate = site.url(site.path(page), numeric), _judged(site, Fate.STORED)
        rows.append(UrlTruth(url, fate, "page", marker, site.validators, _consent(site)))
    for plant in site.plants:
        if not plant.prefix:
            marker = site.world.marker(*plant.text) if plant.text else ""
            fate = plant.fate if plant.fate is Fate.POLICY else _judged(site, plant.fate, plant.consent)
            consent = plant.consent or _consent(site)
            rows.append(UrlTruth(site.url(plant.path, numeric), fate, plant.kind, marker, consent=consent))
        if plant.beyond and not site.host.closed:
            rows.append(UrlTruth(plant.beyond, Fate.DEAD, plant.kind))
    return rows


def _consent(site: Site) -> str:
    return "deny" if site.denied else "unknown"


def _judged(site: Site, fate: Fate, consent: str = "") -> Fate:
    """What the host's robots.txt and its consent make of a page's own fate."""
    if site.host.closed:
        return Fate.FORBIDDEN
    denied = site.denied and consent != "allow"
    return Fate.UNWANTED if denied and fate in (Fate.STORED, Fate.OPTIONAL) else fate


def _near(site: Site) -> list[list[str]]:
    markers = [
        site.world.marker(*plant.text) for plant in site.plants if plant.kind == "near-duplicates" and plant.text
    ]
    return [] if not markers or site.host.closed or site.denied else [markers]


def _traps(site: Site, numeric: bool) -> list[TrapTruth]:
    host = site.host.address if numeric else site.host.name
    plants: list[Plant] = [] if site.host.closed else [plant for plant in site.plants if plant.fate is Fate.TRAP]
    return [TrapTruth(plant.kind, host, plant.path) for plant in plants]
