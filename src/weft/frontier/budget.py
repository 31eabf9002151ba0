"""Requests a second that one IP address, and one registrable domain, may get from us over all their hosts.

Grants are at least an interval apart. A host that has to wait is told a moment of its own, so that a thousand hosts on
one address form a line instead of all coming back at once. In memory only: after a start every line begins anew, one
interval later, which is later than any request of the process before.
"""

import ipaddress
import math
from collections.abc import Sequence
from typing import TypeAlias

from weft.config import Pace
from weft.errors import ConfigError

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_SWEEP = 100_000  # lines kept before those that are free again are forgotten


class Line:
    """Who may ask one address or domain, and when."""

    __slots__ = ("free_ms", "interval", "promised_ms")

    def __init__(self, interval: int, opened_ms: int) -> None:
        self.interval = interval
        self.free_ms = opened_ms + interval if opened_ms else 0  # the next grant is not before
        self.promised_ms = self.free_ms  # the next moment not promised to anyone


class Budgets:
    """The lines of all addresses and domains."""

    def __init__(self, pace: Pace) -> None:
        self._address_interval = _interval(pace.requests_per_address)
        self._domain_interval = _interval(pace.requests_per_domain)
        self._wide = wide_networks(pace.wide_addresses)
        self._opened_ms = 0
        self._lines: dict[str, Line] = {}

    def open(self, now_ms: int) -> None:
        """A process before this one may have asked anybody up to now."""
        self._opened_ms = now_ms

    def wait_until(self, address: str, domain: str, now_ms: int) -> int:
        """0: granted, and counted. Otherwise when to come back."""
        lines = self._of(address, domain)
        if all(line.free_ms <= now_ms for line in lines):
            for line in lines:
                line.free_ms = now_ms + line.interval
                line.promised_ms = max(line.promised_ms, line.free_ms)
            return 0
        # Only the line that binds is promised: a full address must not hold up its domain's other hosts.
        binding = max(lines, key=lambda line: line.free_ms if line.free_ms > now_ms else 0)
        moment = max(binding.promised_ms, binding.free_ms)
        binding.promised_ms = moment + binding.interval
        return moment

    def come_back(self, address: str, domain: str, now_ms: int) -> int:
        """For a host that came at its promised moment: granted (0), or wait for the lines to be free, no longer."""
        lines = self._of(address, domain)
        free = max(line.free_ms for line in lines)
        if free > now_ms:
            return free
        for line in lines:
            line.free_ms = now_ms + line.interval
            line.promised_ms = max(line.promised_ms, line.free_ms)
        return 0

    def give_back(self, address: str, domain: str, granted_ms: int) -> None:
        """No request was made under the grant."""
        for line in self._of(address, domain):
            if line.free_ms == granted_ms + line.interval:
                line.free_ms = granted_ms

    def _of(self, address: str, domain: str) -> list[Line]:
        if len(self._lines) > _SWEEP:
            self._sweep()
        return [self._line(f"d {domain}")] + ([self._line(address)] if address else [])

    def _line(self, name: str) -> Line:
        line = self._lines.get(name)
        if line is None:
            interval = self._domain_interval if name.startswith("d ") else self._interval_of(name)
            line = self._lines[name] = Line(interval, self._opened_ms)
        return line

    def _interval_of(self, address: str) -> int:
        if not self._wide:
            return self._address_interval
        parsed = ipaddress.ip_address(address)
        fitting = (interval for network, interval in self._wide if parsed in network)
        return next(fitting, self._address_interval)

    def _sweep(self) -> None:
        """A line is only worth keeping while it makes somebody wait; the longest-idle half goes."""
        order = sorted(self._lines.items(), key=lambda item: item[1].promised_ms)
        half = len(order) // 2
        # A forgotten line that is made anew must not be free before it would have been.
        self._opened_ms = max(line.free_ms - line.interval for _, line in order[:half])
        self._lines = dict(order[half:])


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
