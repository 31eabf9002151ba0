"""robots.txt over real sockets: status × redirect × network error × age."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.fetch.crew import OPEN, Crew, lease
from tests.fetch.misbehaving import Answer, Say, Server, drip, flood, page, redirect
from weft.fetch.robots_book import Verdict
from weft.records import Kind, Reason

DAY = 86_400.0
RULES = page(OPEN, kind="text/plain")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(OPEN), OPEN)
ENDLESS = b"HTTP/1.1 200 OK\r\n\r\n" + OPEN + b"#" * 60_000
HOPS: dict[str, Answer] = {f"/hop{n}": redirect(f"/hop{n + 1}") for n in range(1, 9)}

FETCHED, UNREACHABLE = Reason.ROBOTS_FETCHED, Reason.ROBOTS_UNREACHABLE
STORED, DENIED = Reason.STORED, Reason.ROBOTS_DENIED

# What becomes of three leases: for a page, for the page again, for a page that the file disallows.
OBEYED = [FETCHED, STORED, DENIED]
OPENED = [FETCHED, STORED, STORED]
CLOSED = [UNREACHABLE, UNREACHABLE, UNREACHABLE]

FIRST_TIME: dict[str, tuple[Answer, list[Reason]]] = {
    "200": (RULES, OBEYED),
    "200 as HTML type": (page(OPEN), OBEYED),
    "200 as image type": (page(OPEN, kind="image/png"), OBEYED),
    "200, empty": (page(b""), OPENED),
    "200, HTML instead": (page(b"<html><p>Disallow: /</p></html>"), OPENED),
    "200, binary": (page(b"\x89PNG\r\n\x1a\n"), OPENED),
    "200, too large": (page(OPEN + b"#" * 600_000), OBEYED),
    "200, endless": (partial(flood, piece=ENDLESS, octets=1 << 24), OBEYED),
    "200, chunked": (Say(CHUNKED, "keep"), OBEYED),
    "200, packed unasked": (page(gzip.compress(OPEN), "200 OK", "Content-Encoding: gzip"), OBEYED),
    "200, bomb": (page(gzip.compress(OPEN + b"#" * 90_000_000), "200 OK", "Content-Encoding: gzip"), OBEYED),
    "200, packing broken": (page(b"\x1f\x8bxxxx", "200 OK", "Content-Encoding: gzip"), CLOSED),
    "200, packing unknown": (page(OPEN, "200 OK", "Content-Encoding: br"), CLOSED),
    "203": (page(OPEN, "203 Other"), OBEYED),
    "204": (Say(b"HTTP/1.1 204 None\r\n\r\n", "keep"), OPENED),
    "400": (page(OPEN, "400 Bad"), OPENED),
    "401": (page(OPEN, "401 Who"), OPENED),
    "403": (page(OPEN, "403 No"), OPENED),
    "404": (page(OPEN, "404 None"), OPENED),
    "410": (page(OPEN, "410 Gone"), OPENED),
    "451": (page(OPEN, "451 Law"), OPENED),
    "499": (page(OPEN, "499 Odd"), OPENED),
    "429": (page(OPEN, "429 Slow"), CLOSED),
    "500": (page(OPEN, "500 Broken"), CLOSED),
    "503": (page(OPEN, "503 Later"), CLOSED),
    "599": (page(OPEN, "599 Odd"), CLOSED),
    "999": (page(OPEN, "999 Denied"), CLOSED),
    "304 unasked": (Say(b"HTTP/1.1 304 Same\r\n\r\n", "keep"), CLOSED),
    "1 redirect": (redirect("/hop9"), OBEYED),
    "2 redirects, 302": (redirect("/hop8", "302 Found"), OBEYED),
    "5 redirects, 308": (redirect("/hop5", "308 Moved"), OBEYED),
    "6 redirects": (redirect("/hop4"), OPENED),
    "a circle": (redirect("/robots.txt"), OPENED),
    "a redirect without target": (page(b"", "301 Moved"), OPENED),
    "a redirect to nonsense": (redirect("http://[bad"), OPENED),
    "a redirect to another scheme": (redirect("ftp://h.test/robots.txt"), OPENED),
    "a redirect to 404": (redirect("/missing"), OPENED),
    "a redirect to 500": (redirect("/broken"), CLOSED),
    "a redirect to an unknown name": (redirect("http://unknown.test/robots.txt"), CLOSED),
    "a redirect to a forbidden address": (redirect("http://10.0.0.1/robots.txt"), CLOSED),
    "closed": (Say(b""), CLOSED),
    "reset": (Say(b"", "reset"), CLOSED),
    "cut body": (Say(HEAD + OPEN), CLOSED),
    "reset body": (Say(HEAD + OPEN, "reset"), CLOSED),
    "silent": (Say(b"", "hold"), CLOSED),
    "slow": (partial(drip, octets=HEAD + OPEN * 100, pause=0.02), CLOSED),
    "malformed": (Say(b"hello\r\n\r\n"), CLOSED),
    "headers too large": (Say(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 9000 + b"\r\n\r\n"), CLOSED),
}


@pytest.fixture
async def crew() -> AsyncIterator[Crew]:
    crew = Crew()
    yield crew
    await crew.close()


@pytest.mark.parametrize("name", FIRST_TIME)
async def test_first_time(name: str, crew: Crew) -> None:
    robots, reasons = FIRST_TIME[name]
    server = Server({"/robots.txt": robots, "/broken": page(b"", "500 Broken"), "/page": page(), "/private": page()})
    server.answers |= {**HOPS, "/hop9": RULES}
    await server.listen()
    origin = f"http://h.test:{server.port}"
    found = [(await crew.fetcher.fetch(lease(origin + path))).outcome.reason for path in ("/page", "/page", "/private")]
    assert found == reasons
    assert server.paths().count("/private") == (1 if reasons[-1] is STORED else 0)
    if reasons[0] is UNREACHABLE:
        assert set(server.paths()) <= {"/robots.txt", "/broken"}  # nothing else is ever asked for
    await server.close()


async def test_each_hop_waits_for_its_turn_and_is_reported(crew: Crew) -> None:
    server = await Server({"/robots.txt": redirect("/a"), "/b": RULES}).listen()
    server.answers["/a"] = redirect(f"http://other.test:{server.port}/b")
    fetched = await crew.fetcher.fetch(lease(f"http://h.test:{server.port}/page"))
    assert crew.turns == [("h.test", "h.test"), ("other.test", "h.test")]  # the first request is what the lease is for
    assert [(asked.host, asked.status) for asked in fetched.outcome.asked] == [
        ("h.test", 301),
        ("h.test", 301),
        ("other.test", 200),
    ]
    assert all(asked.address == "127.0.0.1" and asked.finished >= asked.started for asked in fetched.outcome.asked)
    assert [(capture.kind, capture.exchange.status, capture.lease) for capture in fetched.captures] == [
        (Kind.ROBOTS, 301, None),
        (Kind.ROBOTS, 301, None),
        (Kind.ROBOTS, 200, None),
    ]
    assert fetched.outcome.crawl_delay == 3.0
    await server.close()


async def test_a_hop_that_cannot_be_asked_in_time(crew: Crew) -> None:
    server = await Server({"/robots.txt": redirect("/a"), "/a": RULES}).listen()
    crew.busy = True
    fetched = await crew.fetcher.fetch(lease(f"http://h.test:{server.port}/page"))
    assert fetched.outcome.reason is Reason.HOST_BUSY
    assert len(fetched.outcome.asked) == 1
    crew.busy = False
    assert (await crew.fetcher.fetch(lease(f"http://h.test:{server.port}/page"))).outcome.reason is FETCHED
    await server.close()


async def _reasons(crew: Crew, url: str, times: int) -> list[Reason]:
    return [(await crew.fetcher.fetch(lease(url))).outcome.reason for _ in range(times)]


async def test_asked_for_once_a_day_over_restarts(crew: Crew) -> None:
    server = await Server({"/robots.txt": RULES, "/page": page()}).listen()
    url = f"http://h.test:{server.port}/page"
    assert await _reasons(crew, url, 3) == [FETCHED, STORED, STORED]
    crew.clock.tick(DAY - 1)
    await crew.restart()
    assert await _reasons(crew, url, 2) == [STORED, STORED]
    crew.clock.tick(2)
    assert await _reasons(crew, url, 2) == [FETCHED, STORED]
    assert server.paths().count("/robots.txt") == 2
    crew.clock.jump(-40 * DAY)  # a clock set back makes no copy young for ever
    assert await _reasons(crew, url, 2) == [FETCHED, STORED]
    await server.close()


@pytest.mark.parametrize(
    "trouble", [page(b"", "500 Broken"), page(b"", "429 Slow"), Say(b"", "reset"), Say(HEAD + b"x")]
)
async def test_the_old_copy_counts_while_its_origin_is_unreachable(trouble: Say, crew: Crew) -> None:
    server = await Server({"/robots.txt": [RULES, trouble], "/page": page(), "/private": page()}).listen()
    origin = f"http://h.test:{server.port}"
    assert await _reasons(crew, origin + "/page", 2) == [FETCHED, STORED]
    crew.clock.tick(DAY + 1)
    assert await _reasons(crew, origin + "/page", 3) == [FETCHED, STORED, STORED]  # asked in vain, once
    assert await _reasons(crew, origin + "/private", 1) == [DENIED]
    await crew.restart()
    asked = server.paths().count("/robots.txt")
    for wait in (900, 1800, 3600, 7200, 14_400, 21_600, 21_600):
        crew.clock.tick(wait - 1)
        assert await _reasons(crew, origin + "/page", 1) == [STORED]
        crew.clock.tick(2)
        assert await _reasons(crew, origin + "/page", 2) == [FETCHED, STORED]
        asked += 1
        assert server.paths().count("/robots.txt") == asked
    crew.clock.tick(31 * DAY)
    assert await _reasons(crew, origin + "/private", 2) == [FETCHED, DENIED]
    server.answers["/robots.txt"] = page(b"", "404 None")
    crew.clock.tick(DAY)
    assert await _reasons(crew, origin + "/private", 2) == [FETCHED, STORED]
    await server.close()


async def test_unreachable_then_there(crew: Crew) -> None:
    later = page(b"", "503 Later", "Retry-After: 120")
    server = await Server({"/robots.txt": [later, later, RULES], "/page": page()}).listen()
    url = f"http://h.test:{server.port}/page"
    fetched = await crew.fetcher.fetch(lease(url))
    assert fetched.outcome.reason is UNREACHABLE
    assert fetched.outcome.retry_after == 120.0
    assert await _reasons(crew, url, 3) == [UNREACHABLE, FETCHED, STORED]
    await server.close()


async def test_every_origin_has_a_file_of_its_own(crew: Crew) -> None:
    first = await Server({"/robots.txt": RULES, "/private": page()}).listen()
    second = await Server({"/private": page()}).listen()
    assert await _reasons(crew, f"http://h.test:{first.port}/private", 2) == [FETCHED, DENIED]
    assert await _reasons(crew, f"http://h.test:{second.port}/private", 2) == [FETCHED, STORED]
    assert await _reasons(crew, f"http://other.test:{first.port}/private", 2) == [FETCHED, DENIED]
    await first.close()
    await second.close()


async def test_requests_under_way_are_shared(crew: Crew) -> None:
    server = await Server({"/robots.txt": RULES, "/page": page()}).listen()
    url = f"http://h.test:{server.port}/page"
    fetched = await asyncio.gather(*(crew.fetcher.fetch(lease(url)) for _ in range(20)))
    assert {each.outcome.reason for each in fetched} == {FETCHED}
    assert sum(len(each.outcome.asked) for each in fetched) == 1
    assert server.paths() == ["/robots.txt"]
    await server.close()


async def test_an_address_that_is_forbidden_is_no_matter_of_robots(crew: Crew) -> None:
    fetched = await crew.fetcher.fetch(lease("http://10.0.0.1/page"))
    assert fetched.outcome.reason is Reason.ADDRESS_FORBIDDEN
    assert not fetched.outcome.asked
    assert not crew.connected


async def test_nor_is_a_host_name_that_dns_cannot_hold(crew: Crew) -> None:
    fetched = await crew.fetcher.fetch(lease("http://a$b.test/page"))
    assert fetched.outcome.reason is Reason.BAD_URL


async def test_known_only_by_a_fresh_copy_in_memory(crew: Crew) -> None:
    server = await Server({"/robots.txt": RULES}).listen()
    origin = f"http://h.test:{server.port}"
    assert crew.book.known(origin + "/page") is None
    await crew.fetcher.fetch(lease(origin + "/page"))
    assert crew.book.known(origin + "/page") == Verdict(True, 3.0)
    assert crew.book.known(origin + "/private/x") == Verdict(False, 3.0)
    decision = await crew.book.explain(origin + "/private/x")
    assert decision is not None
    assert decision.line == "Disallow: /private"
    crew.clock.tick(DAY + 1)
    assert crew.book.known(origin + "/page") is None
    await server.close()
