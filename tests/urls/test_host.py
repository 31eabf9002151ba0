"""Hosts, registrable domains, partitions and keys."""

import pytest

from weft.urls.canonical import canonical
from weft.urls.host import host_of, is_address, origin_of, partition_of, registrable, url_key


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://example.org/", "example.org", "http://example.org"),
        ("https://example.org:8443/a:b", "example.org", "https://example.org:8443"),
        ("http://[2001:db8::1]:80/", "2001:db8::1", "http://[2001:db8::1]:80"),
        ("http://127.1.2.3:8000/x", "127.1.2.3", "http://127.1.2.3:8000"),
    ],
)
def test_host_and_origin(url: str, host: str, origin: str) -> None:
    assert host_of(url) == host
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1/", True),
        ("http://0x7f.1:80/", True),
        ("http://2130706433/", True),
        ("http://[::1]/", True),
        ("http://[::ffff:10.0.0.1]/", True),
        ("http://10.0.0.1.example/", False),
        ("http://example.org1/", False),
        ("http://1.2.3.x4/", False),
        ("http://localhost/", False),
    ],
)
def test_addresses_are_told_from_names(url: str, address: bool) -> None:
    assert is_address(host_of(canonical(url))) is address


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("a.github.io", "a.github.io"),
        ("x.a.github.io", "a.github.io"),
        ("127.0.0.1", "127.0.0.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("deep.name.unknownsuffix", "deep.name.unknownsuffix"),
        ("localhost", "localhost"),
        ("com", "com"),
    ],
)
def test_registrable_domain(host: str, domain: str) -> None:
    assert registrable(host) == domain


def test_a_domain_lies_in_one_partition() -> None:
    assert partition_of("a.example.org", 256) == partition_of("b.c.example.org", 256)
    spread = {partition_of(f"site{number}.com", 256) for number in range(4000)}
    assert spread == set(range(256))


def test_keys_begin_with_partition_and_host() -> None:
    one, two = url_key("http://a.example.org/1", 256), url_key("http://a.example.org/2", 256)
    assert len(one) == 18
    assert one[:10] == two[:10]
    assert one != two
    assert int.from_bytes(one[:2]) == partition_of("a.example.org", 256)
