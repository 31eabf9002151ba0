"""From a host name and a target to an answer ready to send: what server.py's connections ask.

Keeps what a running web remembers: how often it was advanced, how often each odd URL was asked for, ready pages.
"""

from collections import Counter
from email.utils import formatdate

from weft.ports import Clock

from .answer import Answer, Script, Visit
from .log import Log
from .planting import Sites
from .prepare import Prepared, Store, prepare
from .site import NOT_FOUND

UNKNOWN_HOST = prepare(Answer(421, NOT_FOUND))


class Backend:
    """What all connections share: sites, counts, the log and the clock."""

    def __init__(self, sites: Sites, log: Log, clock: Clock) -> None:
        self.sites = sites
        self.log = log
        self.clock = clock
        self.version = 0
        self._store = Store(sites.world.config.cache)
        self._counts: Counter[tuple[int, str]] = Counter()
        self._date = (0, b"")

    def answer(self, host: str, target: str, headers: dict[str, str], wall: float) -> Prepared | Script:
        """What the web says; `host` is without its port."""
        world = self.sites.world
        index = world.find(host)
        if index is None:
            return UNKNOWN_HOST
        site = self.sites.answering(index)
        numeric = host[:1].isdigit() and world.config.hosts_per_address == 1
        count = 0
        if site.counts(target):
            self._counts[index, target] += 1
            count = self._counts[index, target]
        visit = Visit(target, headers, numeric, count, self.version, wall, host)
        encoded = site.host.encoding and site.host.encoding in headers.get("accept-encoding", "")
        return self._store.answer(site, visit, (host, target, encoded, self.version))

    def prepare(self) -> None:
        """Make every ordinary page now, as far as the store has room, as a client asks that takes every encoding."""
        config, headers = self.sites.world.config, {"accept-encoding": "gzip, deflate, br, zstd"}
        for number in range(min(config.hosts * config.pages, config.cache)):
            index, page = divmod(number, config.pages)
            site = self.sites(index)
            host = site.host.address if config.prepared == "addresses" else site.host.name
            self.answer(host, site.path(page), headers, 0.0)

    def latency(self, host: str) -> float:
        """Seconds this host takes before it answers."""
        world = self.sites.world
        index = world.find(host) if world.has("latency") else None
        return world.config.latency if index is not None and world.host(index).habit == "latency" else 0.0

    def date(self, wall: float) -> bytes:
        if int(wall) != self._date[0]:
            self._date = (int(wall), formatdate(wall, usegmt=True).encode())
        return self._date[1]
