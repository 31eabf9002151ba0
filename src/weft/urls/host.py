"""The host of a canonical URL, its registrable domain and partition, and the key a URL has in every table."""

from functools import cache, lru_cache

import tldextract
import xxhash


def host_of(url: str) -> str:
    """The host name of a canonical http(s) URL, without port; IPv6 addresses without brackets."""
    start = url.find("://") + 3
    end = url.find("/", start)
    authority = url[start:end] if end >= 0 else url[start:]
    if authority.startswith("["):
        return authority[1 : authority.find("]")]
    return authority.partition(":")[0]


def origin_of(url: str) -> str:
    """Scheme and authority of a canonical http(s) URL: what a robots.txt speaks for."""
    end = url.find("/", url.find("://") + 3)
    return url[:end] if end >= 0 else url


def is_address(host: str) -> bool:
    """Whether the host of a canonical URL is an address: no name ends in a number (WHATWG URL, section 3.5)."""
    return ":" in host or host.rpartition(".")[2].isdigit()


@lru_cache(maxsize=65_536)
def registrable(host: str) -> str:
    """The registrable domain; private suffixes count. An address or an unknown suffix stands for itself."""
    if is_address(host):
        return host
    parts = _public_suffixes()(host)
    return parts.top_domain_under_public_suffix or host


def partition_of(host: str, partitions: int) -> int:
    """Hosts of one registrable domain share a partition."""
    return xxhash.xxh3_64_intdigest(registrable(host).encode()) % partitions


@lru_cache(maxsize=65_536)
def host_key(host: str, partitions: int) -> bytes:
    """Partition (2 bytes) and hash of the host (8): the beginning of every key of its rows."""
    return partition_of(host, partitions).to_bytes(2) + xxhash.xxh3_64_digest(host.encode())


def url_key(url: str, partitions: int) -> bytes:
    """`host_key` and hash of the URL (8 bytes)."""
    return host_key(host_of(url), partitions) + xxhash.xxh3_64_digest(url.encode())


@cache
def _public_suffixes() -> tldextract.TLDExtract:
    # The list bundled with the package: no network, no cache on disk.
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
