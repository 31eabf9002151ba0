"""The address guard: which IP addresses may be connected to.

A resolved address comes in, the reason why it is forbidden (or None) goes out. Asked at the single place that
connects (http.py), for pages, robots.txt, sitemaps, redirects and consent files alike. `own` hosts and networks are the
only exception. `ipaddress.is_global` alone is not enough: it knows nothing of addresses that carry another inside.
"""

import ipaddress
from typing import TypeAlias

from weft.urls.own import OwnHosts

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

# IANA's special-purpose registries: everything that is not the public unicast internet.
_FORBIDDEN: dict[str, str] = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "carrier-grade NAT",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.31.196.0/24": "AS112",
    "192.52.193.0/24": "AMT",
    "192.88.99.0/24": "6to4 relays",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "AS112",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    "168.63.129.16/32": "a cloud's metadata service",
    # Of IPv6 only 2000::/3 is public unicast; NAT64 addresses lie outside and are judged by what they carry.
    "::/3": "reserved",
    "2001::/23": "protocol assignments",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4",
    "2620:4f:8000::/48": "AS112",
    "3fff::/20": "documentation",
    "4000::/2": "reserved",
    "8000::/1": "reserved",
    "fc00::/7": "unique local",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
}
_NETWORKS = [(ipaddress.ip_network(network), why) for network, why in _FORBIDDEN.items()]
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_REMEMBERED = 50_000  # judgements: the networks are looked through once per address, not twice per connection
_ISATAP = 0x00005EFE  # bits 32 to 63 of an interface that tunnels to the IPv4 address behind them


class Guard:
    """Knows the forbidden networks and what is one's own."""

    def __init__(self, own: OwnHosts, only_own: bool = False) -> None:
        """`only_own`: everything else is forbidden too, for a crawl whose owner nobody could reach."""
        self._own, self._only_own = own, only_own
        self._judged: dict[tuple[str, str], str | None] = {}

    def refusal(self, address: str, host: str = "") -> str | None:
        """Why the address must not be connected to for this host; None if it may be."""
        key = address, host
        if key not in self._judged:
            if len(self._judged) >= _REMEMBERED:
                self._judged.clear()
            self._judged[key] = self._judge(address, host)
        return self._judged[key]

    def _judge(self, address: str, host: str) -> str | None:
        parsed = parse_address(address)
        if parsed is None:
            return f"{address!r} is not an IP address"
        if self._own and (self._own.covers_name(host) or self._own.covers_address(address)):
            return None
        if self._only_own:
            return f"{address} is not your own, and no contact is configured"
        why = forbidden(parsed)
        return f"{address} is {why}" if why else None


def parse_address(text: str) -> Address | None:
    """An address in its usual notation, without zone id (`%eth0`)."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return None if getattr(address, "scope_id", None) else address


def forbidden(address: Address) -> str | None:
    """What kind of forbidden address it is; None for public unicast."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address in _NAT64:
            inner = forbidden(carried)
            return f"NAT64 of an address that is {inner}" if inner else None
        if int(address) >> 32 & 0xFDFFFFFF == _ISATAP and (inner := forbidden(carried)):
            return f"ISATAP of an address that is {inner}"
    for network, why in _NETWORKS:
        if network.version == address.version and address in network:
            return why
    return None
