"""No way in: whatever a URL, a name, a redirect or a robots.txt says, no connection to an address that is not allowed.

Proven twice: by what the single place that connects has noted, and by a listener on a loopback address that is not own.
"""

from collections.abc import AsyncIterator

import pytest

from tests.fetch.crew import QUICK, Crew, lease, request
from tests.fetch.misbehaving import Server, page, redirect
from weft.clock import SystemClock
from weft.fetch.dns import Resolver
from weft.fetch.guard import Guard
from weft.fetch.http import HttpTransport
from weft.fetch.robots_store import Copy, RobotsStore
from weft.records import Kind, Reason
from weft.urls.canonical import BadURLError, canonical
from weft.urls.host import origin_of
from weft.urls.own import OwnHosts

# Hosts that lead to 127.0.0.2 (where the trap listens), or to other places inside.
HOSTS = [
    "127.0.0.2",
    "127.2",
    "127.0.2",
    "2130706434",
    "0x7f000002",
    "0x7F.0.0.2",
    "0x7f.2",
    "017700000002",
    "0177.0.0.2",
    "0177.0.0.02",
    "127.0.0.2.",
    "%31%32%37.0.0.2",
    "127.0.0.%32",
    "１２７.0.0.2",
    "127。0。0。2",
    "①②⑦.0.0.2",
    "127.0.0.3",
    "127.255.255.254",
    "0.0.0.0",
    "0",
    "0x0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "167772161",
    "100.64.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "0251.0376.0251.0376",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.2]",
    "[::ffff:127.0.0.2]",
    "[::ffff:7f00:2]",
    "[0:0:0:0:0:ffff:127.0.0.2]",
    "[::ffff:10.0.0.1]",
    "[::ffff:0:127.0.0.2]",
    "[64:ff9b::127.0.0.2]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::127.0.0.2]",
    "[2002:7f00:2::1]",
    "[2001:0:7f00:2::1]",
    "[fe80::1]",
    "[fe80::1%25lo]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[100::1]",
    "trap.test",
    "TRAP.test",
    "trap.test.",
    "mapped.test",
    "nat.test",
    "metadata.test",
    "several.test",
    "zero.test",
    "odd.test",
    "user@127.0.0.2",
    "own.test@127.0.0.2",
    "own.test:80@127.0.0.2",
    "own.test%40127.0.0.2",
    "own.test\\@127.0.0.2",
    "own.test#@127.0.0.2",
    "127.0.0.2%00.own.test",
    "127.0.0.2\t",
    "\n127.0.0.2",
]
NAMES = {
    "own.test": ("127.0.0.1",),
    "trap.test": ("127.0.0.2",),
    "mapped.test": ("::ffff:127.0.0.2",),
    "nat.test": ("64:ff9b::7f00:2",),
    "metadata.test": ("169.254.169.254",),
    "several.test": ("10.0.0.1", "127.0.0.2", "::1"),
    "zero.test": ("0.0.0.0",),
    "odd.test": ("127.2", "localhost", "fe80::1%lo"),
}


class Place(Crew):
    """127.0.0.1 is own and serves what a test says; 127.0.0.2 is not, and only notes who comes."""

    server: Server
    trap: Server

    async def listen(self) -> None:
        self.server = await Server({}).listen("127.0.0.1")
        self.trap = Server({})
        self.trap.port = self.server.port
        await self.trap.listen("127.0.0.2")

    async def leave_robots(self, url: str) -> None:
        """As if the origin had said that it has no robots.txt, so that its pages are asked for."""
        copy = Copy(origin_of(url), fetched=self.clock.now(), tried=self.clock.now())
        await RobotsStore(self.table, 256).save(copy)

    def assert_untouched(self) -> None:
        assert {address for _, address in self.connected} <= {"127.0.0.1"}
        assert not self.trap.connections


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    place = Place({name: [addresses] for name, addresses in NAMES.items()})
    await place.listen()
    yield place
    await place.close()
    await place.server.close()
    await place.trap.close()


def test_there_are_enough() -> None:
    assert len(HOSTS) >= 60


def _canonical(raw: str) -> str | None:
    try:
        return canonical(raw)
    except BadURLError:
        return None


@pytest.mark.parametrize("host", HOSTS)
async def test_no_way_in(host: str, place: Place) -> None:
    raw = f"http://{host}:{place.server.port}/robots.txt"
    url = _canonical(raw)
    # As it stands, before any canonicalisation.
    assert (await place.transport.get(request(raw, accept=()))).failure or not place.trap.connections
    if url is not None:
        assert (await place.fetcher.fetch(lease(url))).outcome.reason is not Reason.STORED  # its robots.txt
        await place.leave_robots(url)
        for kind in (Kind.PAGE, Kind.SITEMAP, Kind.POLICY):
            await place.fetcher.fetch(lease(url, kind))
    place.assert_untouched()
    # By a redirect of a page, and by one of robots.txt.
    own = f"http://own.test:{place.server.port}"
    location = raw.strip().encode().decode("latin-1")
    place.server.answers |= {"/robots.txt": redirect(location), "/page": redirect(location)}
    await place.fetcher.fetch(lease(own + "/page"))
    await place.leave_robots(own + "/page")
    await place.restart()
    outcome = (await place.fetcher.fetch(lease(own + "/page"))).outcome
    if outcome.redirect:
        await place.leave_robots(outcome.redirect)
        await place.fetcher.fetch(lease(outcome.redirect, hops=1))
    place.assert_untouched()


async def test_an_own_host_is_reached(place: Place) -> None:
    place.server.answers["/robots.txt"] = page(b"x", "404 None")
    place.server.answers["/page"] = page()
    url = f"http://own.test:{place.server.port}/page"
    await place.fetcher.fetch(lease(url))
    assert (await place.fetcher.fetch(lease(url))).outcome.reason is Reason.STORED
    assert place.connected == [("own.test", "127.0.0.1")]


async def test_of_several_addresses_only_allowed_ones_are_used() -> None:
    place = Place({"mixed.test": [("127.0.0.2", "10.0.0.1", "127.0.0.1")]})
    await place.listen()
    place.server.answers["/"] = page()
    exchange = await place.transport.get(request(f"http://mixed.test:{place.server.port}/"))
    assert exchange.address == "127.0.0.1"
    place.assert_untouched()
    await place.close()


async def test_rebinding() -> None:
    """A name that is harmless when it is checked and harmful when it is connected to."""
    place = Place({"rebind.test": [("127.0.0.1",), ("127.0.0.2",)]})
    await place.listen()
    place.server.answers["/"] = page(b"x", "200 OK", "Connection: close", then="close")
    url = f"http://rebind.test:{place.server.port}/"
    for _ in range(3):  # the TTL of 0 does not make us ask again
        assert (await place.transport.get(request(url))).failure is None
    assert place.names.asked == ["rebind.test"]
    await place.restart()  # and who asks again checks again
    assert (await place.transport.get(request(url))).failure is Reason.ADDRESS_FORBIDDEN
    place.assert_untouched()
    await place.close()


class _Forgetful(Guard):
    """Passes everything when first asked, as a check would that is not made at the moment of connecting."""

    def __init__(self, own: OwnHosts) -> None:
        super().__init__(own)
        self.asked = 0

    def refusal(self, address: str, host: str = "") -> str | None:
        self.asked += 1
        return None if self.asked == 1 else super().refusal(address, host)


@pytest.mark.parametrize("host", ["trap.test", "127.0.0.2"])
async def test_the_last_check_is_where_the_socket_is_made(host: str, place: Place) -> None:
    clock = SystemClock()
    transport = HttpTransport(QUICK, _Forgetful(OwnHosts(["127.0.0.1"])), Resolver([place.names], clock), clock)
    exchange = await transport.get(request(f"http://{host}:{place.server.port}/"))
    assert exchange.failure is Reason.ADDRESS_FORBIDDEN
    place.assert_untouched()
    await transport.close()
