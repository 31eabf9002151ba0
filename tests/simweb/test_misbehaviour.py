"""Each misbehaviour, seen on the wire."""

import asyncio
import zlib

import pytest

from tests.simweb.raw import Raw, ask
from weft.simweb import MISBEHAVIOURS, SimWeb, SimWebConfig, expand
from weft.simweb.planting import Sites
from weft.simweb.world import World


async def asked(kind: str, target: str, **more: float | str) -> Raw:
    """One request to a web of one host that has one misbehaviour."""
    async with SimWeb(SimWebConfig(hosts=1, pages=2, misbehaviours=expand(kind), drip=0.01)) as web:
        return await ask(web, target, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "target", "status"),
    [
        ("not-found", "/odd/not-found/1", 404),
        ("gone", "/odd/gone/1", 410),
        ("failing", "/odd/failing/1", 500),
        ("heals", "/odd/heals/1", 500),
        ("unavailable", "/odd/unavailable/1", 503),
        ("busy", "/odd/busy/1", 429),
        ("redirect-loops", "/odd/loop/self", 302),
        ("redirect-chains", "/odd/chain/7", 302),
        ("binaries", "/files/report.pdf", 200),
        ("calendar", "/calendar/2031/12", 200),
        ("calendar", "/calendar/2031/13/7", 200),
        ("facets", "/catalogue?size=m&color=red", 200),
        ("fanout", "/tag/17", 200),
        ("segments", "/topics/more/more/more/all/", 200),
    ],
)
async def test_statuses(kind: str, target: str, status: int) -> None:
    answer = await asked(kind, target)
    assert answer.status == status
    assert (await asked("none", target)).status == 404


async def test_resets_at_every_byte() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=1, misbehaviours=expand("resets"))) as web:
        whole = await ask(web, "/odd/reset/100000")
        assert whole.body.endswith(b"</html>")
        for count in range(0, len(whole.data), 7):
            cut = await ask(web, f"/odd/reset/{count}")
            assert cut.ended == "reset"
            assert cut.data == whole.data[:count]
        assert not any(row.complete for row in web.requests())


async def test_lengths_and_chunks_that_lie() -> None:
    cut = await asked("truncated", "/odd/truncated/1")
    assert int(cut.header("Content-Length")) > len(cut.body)
    assert cut.ended == "closed"
    double = await asked("double-length", "/odd/double-length/1")
    assert double.data.count(b"Content-Length:") == 2
    chunks = await asked("bad-chunks", "/odd/bad-chunks/1")
    assert b"\r\nzz\r\n" in chunks.body
    assert b"Content-Length" not in chunks.data


async def test_silence_drips_and_floods() -> None:
    assert await asked("timeouts", "/odd/timeouts/1", seconds=0.1) == (b"", "silence")
    half = await asked("timeouts", "/odd/timeouts/half", seconds=0.5)
    assert half.ended == "silence"
    assert 0 < len(half.body) < int(half.header("Content-Length"))
    drip = await asked("drips", "/odd/drips/1", limit=250)
    assert drip.ended == "limit"
    assert set(drip.body) == set(b"x")
    for kind in ("endless-body", "endless-headers"):
        flood = await asked(kind, f"/odd/{kind}/1", limit=4_000_000, seconds=5)
        assert flood.ended == "limit"
        assert (b"\r\n\r\n" in flood.data) == (kind == "endless-body")
    assert len((await asked("huge-header", "/odd/huge-header/1")).header("X-Huge")) == 300_000


async def test_an_endless_body_waits_for_its_reader() -> None:
    """A client that does not read must not fill the server's memory: little is sent beyond the socket buffers."""
    async with SimWeb(SimWebConfig(hosts=1, pages=1, misbehaviours=expand("endless-body"))) as web:
        await ask(web, "/odd/endless-body/1", limit=1, seconds=1)
        await ask(web, "/")
        (row,) = [row for row in web.requests() if row.target != "/"]
        assert not row.complete
        assert row.sent < 50_000_000


async def test_a_large_answer_is_finished_when_it_was_read() -> None:
    """Not before: a gap that began too early would make a hasty crawler look polite."""
    async with SimWeb(SimWebConfig(hosts=1, pages=1, misbehaviours=expand("html-bomb"))) as web:
        reader, writer = await asyncio.open_connection("127.1.0.1", web.port, limit=1000)
        writer.write(f"GET /odd/bomb/links HTTP/1.1\r\nHost: {web.world.host(0).name}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        await ask(web, "/")
        assert [row.target for row in web.requests()] == ["/"]
        await reader.readexactly(int(head.partition(b"Content-Length: ")[2].split()[0]))
        await ask(web, "/")
        assert {row.target for row in web.requests()} == {"/", "/odd/bomb/links"}
        writer.close()


async def test_retry_after_in_both_forms() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=1, misbehaviours=expand("errors"), retry_after=7)) as web:
        seconds = await ask(web, "/odd/unavailable/1")
        date = await ask(web, "/odd/unavailable-date/1")
        busy = await ask(web, "/odd/busy/1")
        assert (seconds.header("Retry-After"), busy.header("Retry-After")) == ("7", "7")
        assert date.header("Retry-After").endswith("GMT")
        asked_to_wait = [row.retry_after for row in web.requests()]
        assert asked_to_wait[::2] == [7.0, 7.0]
        assert 7.0 <= asked_to_wait[1] <= 8.0
        assert (await ask(web, "/odd/unavailable/1")).status == 200


async def test_bombs_are_small_until_opened() -> None:
    bomb = await asked("gzip-bomb", "/odd/bomb/gzip", limit=10**8, seconds=10)
    assert len(bomb.body) < 4_000_000
    opener = zlib.decompressobj(31)
    size = 0
    rest = bomb.body
    while rest and size < 300_000_000:
        size += len(opener.decompress(rest, 1 << 20))
        rest = opener.unconsumed_tail
    assert size > 250_000_000


async def test_charsets_are_what_they_are() -> None:
    async with SimWeb(SimWebConfig(hosts=8, pages=1, misbehaviours=expand("charsets"))) as web:
        for host in range(8):
            if not web.world.carries(host, "charsets"):
                continue
            text = web.world.article(host, web.world.extra("charsets", 0)).blocks[0].text
            answer = await ask(web, "/odd/charsets/header", host=host)
            charset = answer.header("Content-Type").rpartition("=")[2]
            assert charset != "utf-8"
            assert text in answer.body.decode(charset)
            lying = await ask(web, "/odd/charsets/lying-header", host=host)
            assert lying.header("Content-Type").endswith("utf-8")
            assert f'<meta charset="{charset}">'.encode() in lying.body
            assert (await ask(web, "/odd/charsets/utf-16", host=host)).body[:2] in (b"\xff\xfe", b"\xfe\xff")


async def test_subdomains_without_end() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=1, misbehaviours=expand("subdomains"))) as web:
        name = web.world.host(0).name
        assert web.resolve(f"user-77.{name}") == ["127.1.0.1"]
        assert web.hosts()[f"*.{name}"] == "127.1.0.1"
        assert b"http://user-0." in (await ask(web, "/")).body


async def test_cookies_are_set_and_seen() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=1, misbehaviours=expand("cookies"))) as web:
        cookie = (await ask(web, "/")).header("Set-Cookie").partition(";")[0]
        await ask(web, "/", headers=f"Cookie: {cookie}\r\n")
        assert cookie.startswith("visitor=")
        assert [row.cookie for row in web.requests()] == ["", cookie]


def test_every_misbehaviour_grows_somewhere() -> None:
    """No name on the list is a dead letter."""
    habits = {"latency", "gzip", "brotli", "zstd", "validators", "cache-control", "changing", "tracking", "cookies"}
    world = World(SimWebConfig(hosts=80, pages=2, misbehaviours=expand("all")))
    sites = Sites(world, 80)
    planted = {plant.kind for index in range(80) for plant in sites(index).plants}
    shown = planted | {world.host(index).habit for index in range(80)} | habits
    assert {kind.name for kind in MISBEHAVIOURS} <= shown
    assert all(kind.help and not kind.help.endswith(".") for kind in MISBEHAVIOURS)
