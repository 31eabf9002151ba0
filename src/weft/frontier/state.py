"""What the frontier's parts share: the hosts in memory, who may be asked next, what is leased, and the totals."""

import asyncio
import math
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from weft.config import Config
from weft.ports import Table
from weft.records import Lease
from weft.urls.host import is_address
from weft.urls.own import OwnHosts

from . import pace, retry
from .budget import Budgets
from .host import Host, Hosts
from .rows import HostRow, Pending
from .timekeeper import Timekeeper
from .workbench import Workbench

_BLOCKED: Final = 10_000  # hosts that may wait for their address at a time
_PREFETCH: Final = 10_000  # names that may wait to be resolved ahead of time


class Leased:
    """A lease that is not settled."""

    __slots__ = ("answered", "host", "key", "lease", "orphan", "pending")

    def __init__(self, key: bytes, lease: Lease, pending: Pending, host: Host) -> None:
        self.key = key
        self.lease = lease
        self.pending = pending
        self.host = host
        self.answered = False
        self.orphan = False  # of the process before this one


@dataclass
class Totals:
    """URLs by where they are; the sums of what the host rows say."""

    pending: int = 0
    waiting: int = 0
    waiting_parked: int = 0  # of `waiting`, those of parked hosts: they cannot become ready
    held: int = 0
    parked: int = 0  # pending, in hosts that are parked
    capped: int = 0  # pending, in hosts that have brought as many pages as they may
    parked_hosts: int = 0
    dead: int = 0
    done: int = 0
    gone: int = 0

    def include(self, row: HostRow, sign: int = 1) -> None:
        if row.parked:
            self.parked += sign * row.pending
            self.waiting_parked += sign * row.waiting
            self.parked_hosts += sign
        elif row.full:
            self.capped += sign * row.pending
        else:
            self.pending += sign * row.pending
        self.waiting += sign * row.waiting
        self.held += sign * row.held
        self.dead += sign * row.dead
        self.done += sign * row.done
        self.gone += sign * row.gone


class Lookups:
    """Hosts whose address is wanted. Filled when a host is new or due; emptied by whoever resolves names."""

    def __init__(self) -> None:
        self.names: deque[str] = deque()
        self.wanted = asyncio.Event()
        self.blocked = 0  # hosts that have to wait for it

    @property
    def full(self) -> bool:
        """So many hosts wait for their address, and stay in memory for it, that no more are looked at."""
        return self.blocked >= _BLOCKED

    def want(self, host: Host) -> None:
        if not host.asking:
            host.asking = True
            self.names.append(host.row.name)
            self.wanted.set()

    async def take(self, limit: int) -> list[str]:
        """Up to `limit` names; waits for the first."""
        await self.wanted.wait()
        names = [self.names.popleft() for _ in range(min(limit, len(self.names)))]
        if not self.names:
            self.wanted.clear()
        return names


@dataclass
class State:
    """One per frontier; only the frontier's own modules see it."""

    table: Table
    time: Timekeeper
    config: Config
    hosts: Hosts
    bench: Workbench
    budgets: Budgets
    quiet: tuple[pace.Quiet, ...]
    totals: Totals = field(default_factory=Totals)
    leases: dict[bytes, Leased] = field(default_factory=dict)  # in the order they were given
    lookups: Lookups = field(default_factory=Lookups)
    urgent: list[Host] = field(default_factory=list)  # hosts whose rows are to be written before the next lease
    due: dict[int, int] = field(default_factory=dict)  # partition → when its first waiting URL may be due, wall ms
    sequence: int = 0

    @classmethod
    def of(cls, table: Table, time: Timekeeper, config: Config) -> "State":
        hosts = Hosts(table, OwnHosts(config.scope.own), config.frontier)
        bench = Workbench(config.frontier.authority_share)
        budgets = Budgets(config.pace)
        return cls(table, time, config, hosts, bench, budgets, pace.quiet_hours(config.pace.quiet))

    def give(self, entry: Leased) -> None:
        """A lease is out."""
        entry.host.leases += 1
        self.leases[entry.key] = entry

    def take_back(self, entry: Leased) -> None:
        """It is out no more."""
        entry.host.leases -= 1
        del self.leases[entry.key]

    def next_sequence(self) -> int:
        """Microseconds, never twice the same: the order of discovery."""
        now = int(self.time.wall() * 1_000_000)
        self.sequence = now if now > self.sequence else self.sequence + 1
        return self.sequence

    def is_high(self, host: Host) -> bool:
        return host.authority >= self.config.frontier.authority_domains

    def schedule(self, host: Host, at_ms: int = 0) -> None:
        """Put the host on the workbench if it has work and nothing else will put it there later."""
        if host.busy_until or host.resolving or host.claims or host.row.parked or not host.has_work:
            return
        self.bench.push(host.key, max(at_ms, host.row.next_ms), self.is_high(host))

    def enlist(self, host: Host) -> None:
        """Schedule a host that was without work: behind those that wait already, not before them."""
        self.schedule(host, self.time.now_ms())

    def exempt(self, host: Host) -> bool:
        """Do the budgets per address and domain leave the host out?"""
        return host.own and not self.config.pace.own_budgets

    def expect(self, host: Host) -> None:
        """A host is new: have its address looked up before its moment comes."""
        if not (self.exempt(host) or is_address(host.row.name)) and len(self.lookups.names) < _PREFETCH:
            self.lookups.want(host)

    def addressed(self, host: Host) -> bool:
        """Is the host's address known, or known not to be found? If not, the host waits for it."""
        if host.unresolved or host.row.address:
            return True
        if is_address(host.row.name):
            self.located(host, host.row.name)
            return True
        host.resolving = True
        self.lookups.blocked += 1
        self.lookups.want(host)
        return False

    def located(self, host: Host, address: str | None) -> None:
        """The look-up ended; without an address the host is asked all the same, and the fetch says what is wrong."""
        host.asking = False
        host.unresolved = address is None
        if address is not None and address != host.row.address:
            host.row.address = address
            host.own = self.hosts.is_own(host.row.name, address)
            host.dirty = True
            self.urgent.append(host)  # or it would be looked up again when the host comes back to memory
        if host.resolving:
            host.resolving = False
            self.lookups.blocked -= 1
            self.schedule(host)

    def gap(self, host: Host) -> pace.Gap:
        """What is owed to the host after a request of which nothing bad is known."""
        return pace.gap(self.config.pace, self.signs(host))

    def signs(self, host: Host) -> pace.Signs:
        row = host.row
        closed = retry.closure(self.config.frontier, row.closed) if row.closed else 0.0
        return pace.Signs(host.own, row.crawl_delay, row.latency, 0.0, row.strain, closed=closed)

    def queued(self, host: Host, count: int) -> None:
        """`count` URLs joined the host's queue, or left it for good (below 0): a lease does not count as leaving."""
        host.row.pending += count
        if host.row.parked:
            self.totals.parked += count
        elif host.row.full:
            self.totals.capped += count
        else:
            self.totals.pending += count

    def square(self, host: Host) -> None:
        """What has no row in its queue and no lease has nothing pending, whatever a crash has left counted."""
        if not (host.row.levels or host.again or host.leases) and host.row.pending:
            self.queued(host, -host.row.pending)

    def waits(self, host: Host, count: int) -> None:
        host.row.waiting += count
        self.totals.waiting += count
        if host.row.parked:
            self.totals.waiting_parked += count

    def holds(self, host: Host, count: int) -> None:
        host.row.held += count
        self.totals.held += count

    def fill(self, host: Host, cap: str) -> None:
        """The host has brought as many pages as the cap allows, or may bring more (no cap)."""
        self.totals.include(host.row, -1)
        host.row.full = cap
        self.totals.include(host.row)
        host.dirty = True

    def park(self, host: Host, reason: str) -> None:
        """Give the host up, or take it back (no reason)."""
        self.totals.include(host.row, -1)
        host.row.parked = reason
        self.totals.include(host.row)
        host.dirty = True


def milliseconds(seconds: float) -> int:
    """Rounded up: never early."""
    return math.ceil(seconds * 1000)
