"""Requests a second that one IP address, and one registrable domain, may get from us over all their hosts.

Grants are at least an interval apart. Hosts that have to wait stand in a line, and only its first is looked at again:
a thousand hosts on one address cost no more than one. In memory only: after a start no grant is given for an interval,
which is later than any request of the process before.
"""

import heapq
import ipaddress
import math
from collections import deque
from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec

from weft.config import Pace
from weft.errors import ConfigError

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_SWEEP: Final = 10_000  # lines kept before those that make nobody wait are forgotten


class Line(msgspec.Struct, gc=False, eq=False):
    """Who waits for one address or domain. Filled by `grant`, emptied by `released`."""

    name: str
    interval: int
    free_ms: int  # the next grant is not before
    hosts: deque[bytes] | None = None  # few lines ever have someone waiting


class Budgets:
    """The lines of all addresses and domains."""

    def __init__(self, pace: Pace) -> None:
        self._address_interval = _interval(pace.requests_per_address)
        self._domain_interval = _interval(pace.requests_per_domain)
        self._wide = wide_networks(pace.wide_addresses)
        self._opened_ms = 0
        self._lines: dict[str, Line] = {}
        self._sweep_at = _SWEEP
        self._moments: list[tuple[int, str]] = []  # of lines that hosts wait in, one entry each
        self._released: list[Line] = []

    def open(self, now_ms: int) -> None:
        """A process before this one may have asked anybody up to now."""
        self._opened_ms = now_ms

    def grant(self, host: bytes, address: str, domain: str, now_ms: int) -> bool:
        """Count a request, or put the host in the line it has to wait in."""
        lines = self._of(address, domain, now_ms)
        for line in lines:
            if line.free_ms > now_ms:
                if not line.hosts and line not in self._released:
                    heapq.heappush(self._moments, (line.free_ms, line.name))
                line.hosts = line.hosts if line.hosts is not None else deque()
                line.hosts.append(host)
                return False
        for line in lines:
            line.free_ms = now_ms + line.interval
        return True

    def free_ms(self, address: str, domain: str, now_ms: int) -> int:
        """When a request could be counted; 0: now, and it is. For requests that stand in no line."""
        lines = self._of(address, domain, now_ms)
        free = max(line.free_ms for line in lines)
        if free > now_ms:
            return free
        for line in lines:
            line.free_ms = now_ms + line.interval
        return 0

    def used(self, address: str, domain: str, started_ms: int) -> None:
        """When the request under a grant really began: a busy machine sends it later, and the next must not catch up.

        A fiftieth more, because it arrives at the server a little after that: four in any second stay four.
        """
        for line in self._of(address, domain, started_ms):
            line.free_ms = max(line.free_ms, started_ms + line.interval + line.interval // 50)

    def give_back(self, address: str, domain: str, granted_ms: int) -> None:
        """No request was made under the grant."""
        for line in self._of(address, domain, granted_ms):
            if line.free_ms == granted_ms + line.interval:
                line.free_ms = granted_ms

    def released(self, now_ms: int, limit: int) -> list[bytes]:
        """The first host of every line that is free now; `regroup` must follow when they have been looked at."""
        found: list[bytes] = []
        while len(found) < limit and (first := self.next_ms()) is not None and first <= now_ms:
            line = self._lines[heapq.heappop(self._moments)[1]]
            self._released.append(line)
            if line.hosts:
                found.append(line.hosts.popleft())
        return found

    def regroup(self) -> None:
        """Lines whose first was let out wait for their next moment."""
        for line in self._released:
            if line.hosts:
                heapq.heappush(self._moments, (line.free_ms, line.name))
        self._released.clear()

    def next_ms(self) -> int | None:
        """When the next line is free."""
        while self._moments:
            moment, name = self._moments[0]
            if (free_ms := self._lines[name].free_ms) <= moment:
                return moment
            heapq.heapreplace(self._moments, (free_ms, name))  # it was used later than it was granted
        return None

    def _of(self, address: str, domain: str, now_ms: int) -> list[Line]:
        if len(self._lines) > self._sweep_at:
            self._lines = {name: line for name, line in self._lines.items() if line.hosts or line.free_ms > now_ms}
            self._sweep_at = max(_SWEEP, 2 * len(self._lines))
            self._opened_ms = 0  # those that are gone were free
        lines = [self._line("d " + domain)]
        if address:
            lines.append(self._line(address))
        return lines

    def _line(self, name: str) -> Line:
        line = self._lines.get(name)
        if line is None:
            interval = self._domain_interval if name.startswith("d ") else self._interval_of(name)
            line = self._lines[name] = Line(name, interval, self._opened_ms + interval if self._opened_ms else 0)
        return line

    def _interval_of(self, address: str) -> int:
        if not self._wide:
            return self._address_interval
        parsed = ipaddress.ip_address(address)
        fitting = (interval for network, interval in self._wide if parsed in network)
        return next(fitting, self._address_interval)


def _interval(rate: float) -> int:
    return math.ceil(1000.0 / rate)


def wide_networks(lines: Sequence[str]) -> tuple[tuple[Network, int], ...]:
    """From the configuration: `192.0.2.0/24=50`, the requests a second that each of these addresses bears."""
    return tuple(_wide(line) for line in lines)


def _wide(line: str) -> tuple[Network, int]:
    network, _, rate = line.partition("=")
    try:
        return ipaddress.ip_network(network.strip()), _interval(float(rate))
    except (ValueError, ZeroDivisionError):
        raise ConfigError(f"pace.wide_addresses: {line!r} is not `ADDRESS/BITS=REQUESTS`") from None
