"""The cache, its times, and resolvers that stand in for each other; c-ares against a small DNS server on loopback."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from typing import cast

import pytest

from weft.clock import ManualClock, SystemClock
from weft.fetch.dns import Answer, CaresUpstream, LookupFailedError, Resolver


class Fake:
    """Names with (addresses, ttl); None stands for trouble."""

    def __init__(self, names: dict[str, tuple[tuple[str, ...], float] | None]) -> None:
        self.names = names
        self.asked: list[str] = []

    async def lookup(self, host: str) -> Answer:
        self.asked.append(host)
        await asyncio.sleep(0)
        found = self.names.get(host, ((), 0.0))
        if found is None:
            raise LookupFailedError("SERVFAIL")
        return Answer(*found)

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(("ttl", "kept"), [(0.0, 300.0), (60.0, 300.0), (1000.0, 1000.0), (1e6, 86_400.0)])
async def test_answers_are_kept_for_their_ttl_within_bounds(ttl: float, kept: float) -> None:
    clock, fake = ManualClock(), Fake({"h.test": (("1.1.1.1",), ttl)})
    resolver = Resolver([fake], clock)
    assert resolver.cached("h.test") is None
    assert (await resolver.resolve("h.test")).addresses == ("1.1.1.1",)
    clock.tick(kept - 1)
    assert (await resolver.resolve("h.test")).addresses == ("1.1.1.1",)
    assert len(fake.asked) == 1
    clock.tick(2)
    assert resolver.cached("h.test") is None
    await resolver.resolve("h.test")
    assert len(fake.asked) == 2


async def test_names_that_do_not_exist_are_remembered_too() -> None:
    clock, fake = ManualClock(), Fake({})
    resolver = Resolver([fake], clock)
    for _ in range(3):
        answer = await resolver.resolve("none.test")
        assert (answer.addresses, answer.problem, answer.nowhere) == ((), "no such name", True)
    assert len(fake.asked) == 1
    clock.tick(901)
    await resolver.resolve("none.test")
    assert len(fake.asked) == 2


async def test_another_resolver_stands_in_and_the_failing_one_rests() -> None:
    clock = ManualClock()
    bad, good = Fake({"h.test": None}), Fake({"h.test": (("1.1.1.1",), 0.0)})
    resolver = Resolver([bad, good], clock)
    assert (await resolver.resolve("h.test")).addresses == ("1.1.1.1",)
    assert (len(bad.asked), len(good.asked)) == (1, 1)
    good.names["g.test"] = bad.names["g.test"] = (("2.2.2.2",), 0.0)
    await resolver.resolve("g.test")  # the bad one rests
    assert (len(bad.asked), len(good.asked)) == (1, 2)
    clock.tick(301)
    bad.names["h.test"] = (("3.3.3.3",), 0.0)
    assert (await resolver.resolve("h.test")).addresses == ("3.3.3.3",)  # and has its turn again
    clock.tick(301)
    bad.names["h.test"] = None
    await resolver.resolve("h.test")
    clock.tick(6)  # after a success, the next rest is a short one again
    bad.names["i.test"] = (("4.4.4.4",), 0.0)
    assert (await resolver.resolve("i.test")).addresses == ("4.4.4.4",)


async def test_a_resolver_that_rests_is_asked_when_all_do() -> None:
    clock = ManualClock()
    first, second = Fake({"h.test": None}), Fake({"h.test": None})
    resolver = Resolver([first, second], clock)
    answer = await resolver.resolve("h.test")
    assert (answer.problem, answer.nowhere) == ("SERVFAIL; SERVFAIL", False)
    first.names["h.test"] = (("1.1.1.1",), 0.0)
    assert not (await resolver.resolve("h.test")).addresses  # trouble is remembered, for a short time
    clock.tick(31)
    assert (await resolver.resolve("h.test")).addresses == ("1.1.1.1",)


async def test_one_question_for_many() -> None:
    fake = Fake({"h.test": (("1.1.1.1",), 0.0)})
    resolver = Resolver([fake], ManualClock())
    answers = await asyncio.gather(*(resolver.resolve("h.test") for _ in range(50)))
    assert len(fake.asked) == 1
    assert {answer.addresses for answer in answers} == {("1.1.1.1",)}


async def test_a_caller_who_gives_up_spoils_it_for_nobody() -> None:
    fake = Fake({"h.test": (("1.1.1.1",), 0.0)})
    resolver = Resolver([fake], ManualClock())
    first, second = (asyncio.create_task(resolver.resolve("h.test")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).addresses == ("1.1.1.1",)


async def test_prefetch_and_the_hosts_table() -> None:
    fake = Fake({f"h{n}.test": (("1.1.1.1",), 0.0) for n in range(100)})
    resolver = Resolver([fake], ManualClock(), {"Fixed.test": "127.0.0.1, ::1"})
    await resolver.prefetch([f"h{n}.test" for n in range(100)] + ["fixed.test", "none.test"])
    assert len(fake.asked) == 101
    assert all(resolver.cached(f"h{n}.test") for n in range(100))
    fixed = resolver.cached("fixed.test")
    assert fixed is not None
    assert fixed.addresses == ("127.0.0.1", "::1")


async def test_the_hosts_table_knows_all_names_below_one() -> None:
    table = {"*.a.example": "127.0.0.1", "*.b.a.example": "127.0.0.2", "c.a.example": "127.0.0.3"}
    resolver = Resolver([], ManualClock(), table)
    for name, addresses in {
        "x.a.example": ("127.0.0.1",),
        "y.x.a.example": ("127.0.0.1",),
        "x.b.a.example": ("127.0.0.2",),
        "c.a.example": ("127.0.0.3",),
        "a.example": (),
    }.items():
        assert (await resolver.resolve(name)).addresses == addresses, name


async def test_the_cache_is_bounded() -> None:
    fake = Fake({f"h{n}.test": (("1.1.1.1",), 0.0) for n in range(30)})
    resolver = Resolver([fake], ManualClock())
    resolver.size = 10
    for n in range(30):
        await resolver.resolve(f"h{n}.test")
    assert resolver.cached("h0.test") is None
    assert resolver.cached("h29.test") is not None
    assert sum(resolver.cached(f"h{n}.test") is not None for n in range(30)) == 10


class TinyNameServer(asyncio.DatagramProtocol):
    """Knows v4.test and v6.test, answers SERVFAIL for broken.test, and NXDOMAIN for the rest."""

    def __init__(self) -> None:
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        end = data.index(b"\0", 12) + 5
        question = data[12:end]
        kind = struct.unpack("!H", question[-4:-2])[0]
        records = {
            (b"\2v4\4test\0", 1): socket.inet_aton("93.184.216.34"),
            (b"\2v6\4test\0", 28): socket.inet_pton(socket.AF_INET6, "2606:4700::1"),
        }
        name = question[:-4].lower()
        record = records.get((name, kind))
        code = 2 if name.startswith(b"\6broken") else 0 if name.startswith(b"\2v") else 3
        header = data[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, 1 if record else 0, 0, 0)
        answer = b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 1234, len(record)) + record if record else b""
        assert self.transport is not None
        self.transport.sendto(header + question + answer, addr)


@pytest.fixture
async def name_server() -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(TinyNameServer, local_addr=("127.0.0.1", 0))
    host, port = transport.get_extra_info("sockname")
    yield f"{host}:{port}"
    transport.close()


async def test_c_ares_asks_the_server_it_is_given(name_server: str) -> None:
    upstream = CaresUpstream(name_server)
    assert await upstream.lookup("v4.test") == Answer(("93.184.216.34",), 1234.0)
    assert await upstream.lookup("v6.test") == Answer(("2606:4700::1",), 1234.0)
    assert (await upstream.lookup("none.test")).addresses == ()
    with pytest.raises(LookupFailedError):
        await upstream.lookup("broken.test")
    resolver = Resolver([CaresUpstream("127.0.0.1:9"), upstream], SystemClock())
    assert (await resolver.resolve("v4.test")).addresses == ("93.184.216.34",)
    await resolver.close()
