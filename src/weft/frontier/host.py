"""A host while it is in memory, and the cache that holds a bounded number of them."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from weft.config import Frontier
from weft.ports import Put, Table
from weft.urls.host import registrable
from weft.urls.own import OwnHosts

from . import keys, sketch, traps
from .rows import GroupRow, HostRow, Pending, decode_host, encode
from .sketches import NOBODY, Sketches

_SKETCHES: Final = 2_000_000  # places for sketches of hosts, whether the host is in memory or not

Row: TypeAlias = tuple[bytes, bytes]
"""A pending row as it lies in the table, (item, value); decoded only when it is leased. A plain tuple, because the
garbage collector stops looking at those: it took a third of a lease's time with 20,000 hosts in memory."""


class Head(msgspec.Struct, gc=False):
    """The first rows of one level of a host's queue."""

    rows: list[Row] = msgspec.field(default_factory=list)
    whole: bool = False  # there are no rows behind these
    taken: bytes = b""  # the item of the last row, if all are taken and there may be more


class Host:
    """The row, and what is only true while the process lives."""

    __slots__ = (
        "again", "asking", "authority", "before_ms", "busy_until", "claims", "dirty", "domain", "freed", "granted_ms",
        "groups", "heads", "holder", "key", "leases", "own", "regrouped", "resolving", "row", "sketch", "tries",
        "unresolved",
    )  # fmt: skip

    def __init__(self, key: bytes, row: HostRow, own: bool, links: bytes) -> None:
        self.key = key
        self.row = row
        self.own = own
        self.linked_from(links)
        if not row.domain:
            row.domain = len(registrable(row.name))
        self.domain = row.name[-row.domain :]  # kept in the row, because the list of suffixes is slow to search
        self.heads: dict[int, Head] = {}
        self.again: list[tuple[bytes, Pending]] = []  # leases that were used for something else; they go first
        self.busy_until = 0  # ms; above 0 while a request is under way: when it is given up
        self.holder = ""  # the host under whose lease a turn was taken
        self.before_ms = 0  # next_ms before the request, for when none is made
        self.granted_ms = 0  # when the budgets granted it; 0: not counted
        self.asking = False  # its address is being looked up
        self.resolving = False  # it cannot be asked before its address is known
        self.unresolved = False  # its address could not be found: asked without, so that the failure is recorded
        self.freed: asyncio.Event | None = None  # set for those who wait for a turn
        self.leases = 0  # not settled: they hold on to this very object
        self.claims = 0  # who waits for a turn: robots.txt redirects
        self.dirty = False  # the row in the table is older
        self.groups: dict[bytes, GroupRow] | None = None  # what it holds; None: not read
        self.regrouped: dict[bytes, None] = {}  # groups newer than their rows
        self.tries = False  # it holds URLs and may try one

    @property
    def is_family(self) -> bool:
        """No host, but all new hosts of a domain together: it holds the first URLs of those that must wait."""
        return self.row.name.startswith("*.")

    def linked_from(self, links: bytes) -> None:
        """The sketch of the domains that link to it, which has a row of its own."""
        self.sketch = links
        self.authority = sketch.estimate(links)  # about how many they are

    @property
    def has_work(self) -> bool:
        return bool(self.again or (not self.row.full and (self.row.levels or self.tries)))

    def lower(self, item: bytes) -> None:
        """A row with this queue item is in its level, or will be."""
        level, number, row = keys.level_of(item), keys.sequence_of(item), self.row
        if number < row.levels.get(level, number + 1):
            row.levels[level] = number
        if row.first and keys.level_of(row.first) == level and item < row.first:
            row.first = b""  # several rows may share a number: the one before it must not be passed over


class Hosts:
    """At most about `limit` hosts; one that is at work, or newer than its row, is never let go."""

    def __init__(self, table: Table, own: OwnHosts, config: Frontier) -> None:
        self._table = table
        self._own = own
        self._config = config
        self._limit = config.hosts
        self.sketches = Sketches(_SKETCHES)
        self._live: dict[bytes, Host] = {}
        self._kept = 0  # hosts in memory after the last trim
        self.known = 0  # hosts in the table
        self.drift_ms = 0  # how far our milliseconds are ahead of the wall clock's, which rows hold

    def live(self, key: bytes) -> Host | None:
        return self._live.get(key)

    def all_live(self) -> Iterable[Host]:
        return self._live.values()

    async def load(self, wanted: Sequence[bytes]) -> dict[bytes, Host]:
        """Those of the hosts that are known, from memory or from the table in one read."""
        missing = [key for key in wanted if key not in self._live]
        if missing:
            values = await self._table.get([keys.host_row(key) for key in missing])
            rows = {key: value for key, value in zip(missing, values, strict=True) if value is not None}
            sketches = await self.sketches_of(rows)
            for key, value in rows.items():
                if key not in self._live:
                    self._adopt(key, decode_host(value), sketches.get(key, b""))
        return {key: host for key in wanted if (host := self._live.get(key)) is not None}

    async def sketches_of(self, hosts: Collection[bytes]) -> dict[bytes, bytes]:
        """Of those that are known, from memory or from the table."""
        sketches = self.sketches.of(hosts)
        if away := [key for key in hosts if key not in sketches]:
            rows = await self._table.get([keys.authority_row(key) for key in away])
            found = {key: NOBODY if links is None else links for key, links in zip(away, rows, strict=True)}
            self.sketches.remember(found)
            sketches |= found
        return {key: links for key, links in sketches.items() if links != NOBODY}

    def create(self, key: bytes, name: str) -> Host:
        host = self._adopt(key, HostRow(name), b"")
        self.known += not host.is_family
        host.dirty = True
        self.sketches.remember({key: host.sketch})
        return host

    def saved(self, host: Host) -> Put:
        """The row as it is now."""
        host.dirty = False
        row = host.row
        if self.drift_ms:
            row = msgspec.structs.replace(row, next_ms=max(0, row.next_ms - self.drift_ms))
        return Put(keys.host_row(host.key), encode(row))

    def _adopt(self, key: bytes, row: HostRow, links: bytes) -> Host:
        if self.drift_ms and row.next_ms:
            row.next_ms += self.drift_ms
        host = self._live[key] = Host(key, row, self.is_own(row.name, row.address), links)
        self.weigh(host)
        return host

    def weigh(self, host: Host) -> None:
        """May the host try what it holds? To be asked whenever that, its debt or its fruitful pages change."""
        host.tries = self.may_try(host.row)

    def may_try(self, row: HostRow) -> bool:
        config = self._config
        return row.held > 0 and row.debt < traps.budget(config.trials, config.trial_share, row.fruitful)

    def is_own(self, name: str, address: str) -> bool:
        return self._own.covers_name(name) or (bool(address) and self._own.covers_address(address))

    @property
    def has_room(self) -> bool:
        return len(self._live) < self._limit

    def trim(self) -> None:
        """Let go of the hosts that came first, until few enough are left."""
        surplus = len(self._live) - self._limit
        # In strokes, not one by one; and not again over those that could not be let go.
        if len(self._live) <= max(self._limit, self._kept) + self._limit // 8:
            return
        idle = islice((key for key, host in self._live.items() if _is_idle(host)), surplus)
        for key in list(idle):
            del self._live[key]
        self._kept = len(self._live)


def _is_idle(host: Host) -> bool:
    return not (
        host.busy_until or host.leases or host.dirty or host.claims or host.again or host.resolving or host.regrouped
    )
