"""Which addresses may be connected to."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.fetch.guard import Guard, forbidden
from weft.urls.own import OwnHosts

FORBIDDEN = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.1.2.3",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.170",
    "192.0.2.7",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::7f00:1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b::c0a8:101",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "3fff::1",
    "2002:7f00:1::1",
    "2002:a00:1::1",
    "2002:808:808::1",
    "2606:4700::5efe:10.0.0.1",
    "2606:4700::200:5efe:127.0.0.1",
    "fc00::1",
    "fd12:3456::1",
    "fdff::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "4000::1",
    "5f00::1",
    "8000::1",
    "e000::1",
    "1fff::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "2001:4860:4860::8888",
    "2001:200::1",
    "2400::1",
    "3ffe::1",
    "64:ff9b::8.8.8.8",
    "2606:4700::5efe:8.8.8.8",
]


@pytest.mark.parametrize("address", FORBIDDEN)
def test_forbidden(address: str) -> None:
    assert Guard(OwnHosts([])).refusal(address, "h.example")


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert Guard(OwnHosts([])).refusal(address, "h.example") is None


@pytest.mark.parametrize(
    "text", ["", "localhost", "0x7f.1", "2130706433", "127.1", "017700000001", "fe80::1%eth0", "1.1.1.1 "]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    assert Guard(OwnHosts(["localhost"])).refusal(text, "localhost")


@given(st.ip_addresses())
def test_stricter_than_the_standard_library(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    assert address.is_global or forbidden(address)


@given(st.ip_addresses(v=4))
def test_no_embedding_of_a_forbidden_address_passes(inner: ipaddress.IPv4Address) -> None:
    number = int(inner)
    for prefix in (0, 0xFFFF << 32, 0xFFFF << 48, 0x64FF9B << 96, 0x64FF9B0001 << 80, 0x20010000 << 96):
        if forbidden(inner):
            assert forbidden(ipaddress.IPv6Address(prefix | number))
    assert forbidden(ipaddress.IPv6Address(0x2002 << 112 | number << 80))


def test_own_networks_and_hosts_are_the_only_exception() -> None:
    guard = Guard(OwnHosts(["127.0.0.0/8", "10.1.2.3", "::1", "intern.example", "*.lab.example", "fd00::/8"]))
    for address in ("127.5.5.5", "10.1.2.3", "::1", "fd00::7"):
        assert guard.refusal(address, "h.example") is None, address
    for address in ("10.1.2.4", "169.254.169.254", "::2", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1"):
        assert guard.refusal(address, "h.example"), address
    for host in ("intern.example", "x.lab.example"):
        assert guard.refusal("10.9.9.9", host) is None, host
    for host in ("notintern.example", "example", "", "intern.example.evil.example"):
        assert guard.refusal("10.9.9.9", host), host
