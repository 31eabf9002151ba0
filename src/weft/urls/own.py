"""The hosts a person declares as theirs (`--own`): the only exception politeness and the address guard know."""

import ipaddress
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TypeAlias

from weft.errors import ConfigError

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


class OwnHosts:
    """Host names (`www.example.org`, `*.example.org`) and addresses (`127.0.0.0/8`, `::1`)."""

    def __init__(self, entries: Iterable[str]) -> None:
        self.networks: tuple[Network, ...] = ()
        self._names: set[str] = set()
        self._patterns: tuple[str, ...] = ()
        for entry in entries:
            self._take(entry.strip().lower())

    def _take(self, entry: str) -> None:
        try:
            self.networks += (ipaddress.ip_network(entry, strict=False),)
        except ValueError:
            if not entry or "/" in entry or ":" in entry:
                raise ConfigError(f"own: {entry!r} is neither a host name nor an address range") from None
            if "*" in entry:
                self._patterns += (entry,)
            else:
                self._names.add(entry)

    def __bool__(self) -> bool:
        return bool(self.networks or self._names or self._patterns)

    def covers_name(self, host: str) -> bool:
        """Is this host name (or numeric host) ours by what was declared?"""
        return (
            host in self._names
            or any(fnmatchcase(host, pattern) for pattern in self._patterns)
            or self.covers_address(host)
        )

    def covers_address(self, address: str) -> bool:
        """Does the address lie in a declared range? False for what is no address."""
        if not self.networks:
            return False
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed.version == network.version and parsed in network for network in self.networks)
