"""Leases against a real server: what each answer means for the frontier."""

from collections.abc import AsyncIterator

import pytest

from tests.fetch.crew import Crew, lease
from tests.fetch.misbehaving import Answer, Say, Server, page, redirect
from weft.config import Config, Fetch, Scope
from weft.engines.memory import MemoryTable
from weft.fetch.answer import retry_after
from weft.fetch.fetcher import Fetcher
from weft.records import Kind, Reason

MOVED = "http://elsewhere.test/there"

# name: (answer, reason, redirect target)
MEANINGS: dict[str, tuple[Answer, Reason, str]] = {
    "200": (page(), Reason.STORED, ""),
    "200, empty": (page(b""), Reason.STORED, ""),
    "203": (page(b"x", "203 Other"), Reason.STORED, ""),
    "204": (Say(b"HTTP/1.1 204 None\r\n\r\n", "keep"), Reason.ODD_STATUS, ""),
    "206": (page(b"x", "206 Part"), Reason.ODD_STATUS, ""),
    "300": (page(b"x", "300 Choices"), Reason.ODD_STATUS, ""),
    "301": (redirect(MOVED, "301 Moved"), Reason.REDIRECTED, MOVED),
    "302": (redirect(MOVED, "302 Found"), Reason.REDIRECTED, MOVED),
    "303": (redirect(MOVED, "303 See"), Reason.REDIRECTED, MOVED),
    "304 unasked": (Say(b"HTTP/1.1 304 Same\r\n\r\n", "keep"), Reason.ODD_STATUS, ""),
    "307": (redirect(MOVED, "307 Moved"), Reason.REDIRECTED, MOVED),
    "308": (redirect(MOVED, "308 Moved"), Reason.REDIRECTED, MOVED),
    "relative redirect": (redirect("//elsewhere.test/a/../there"), Reason.REDIRECTED, MOVED),
    "redirect in UTF-8": (
        redirect("http://elsewhere.test/ä".encode().decode("latin-1")),
        Reason.REDIRECTED,
        "http://elsewhere.test/%C3%A4",
    ),
    "redirect with user": (redirect("http://u:p@elsewhere.test/there#x"), Reason.REDIRECTED, MOVED),
    "redirect without target": (page(b"x", "302 Found"), Reason.BAD_REDIRECT, ""),
    "redirect to nonsense": (redirect("http://[bad/"), Reason.BAD_REDIRECT, ""),
    "redirect to javascript": (redirect("javascript:alert(1)"), Reason.BAD_REDIRECT, ""),
    "redirect to a file": (redirect("file:///etc/passwd"), Reason.BAD_REDIRECT, ""),
    "redirect to itself": (redirect("#here"), Reason.REDIRECT_LOOP, ""),
    "400": (page(b"x", "400 Bad"), Reason.CLIENT_ERROR, ""),
    "401": (page(b"x", "401 Who"), Reason.FORBIDDEN, ""),
    "403": (page(b"x", "403 No"), Reason.FORBIDDEN, ""),
    "404": (page(b"x", "404 None"), Reason.NOT_FOUND, ""),
    "410": (page(b"x", "410 Gone"), Reason.GONE, ""),
    "418": (page(b"x", "418 Teapot"), Reason.CLIENT_ERROR, ""),
    "429": (page(b"x", "429 Slow"), Reason.RATE_LIMITED, ""),
    "451": (page(b"x", "451 Law"), Reason.FORBIDDEN, ""),
    "500": (page(b"x", "500 Broken"), Reason.SERVER_ERROR, ""),
    "503": (page(b"x", "503 Later"), Reason.OVERLOADED, ""),
    "520": (page(b"x", "520 Odd"), Reason.SERVER_ERROR, ""),
    "600": (page(b"x", "600 Odd"), Reason.ODD_STATUS, ""),
    "another type": (page(kind="video/mp4"), Reason.WRONG_TYPE, ""),
    "binary": (page(b"PK\3\4zip"), Reason.BINARY, ""),
    "too large": (page(b"a" * 100_001), Reason.TOO_LARGE, ""),
    "cut": (Say(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), Reason.TRUNCATED, ""),
    "reset": (Say(b"", "reset"), Reason.RESET, ""),
    "silent": (Say(b"", "hold"), Reason.TIMEOUT, ""),
    "malformed": (Say(b"what?\r\n\r\n"), Reason.MALFORMED, ""),
}
KEPT = {
    Reason.STORED,
    Reason.REDIRECTED,
    Reason.BAD_REDIRECT,
    Reason.REDIRECT_LOOP,
    Reason.ODD_STATUS,
    Reason.CLIENT_ERROR,
    Reason.FORBIDDEN,
    Reason.NOT_FOUND,
    Reason.GONE,
    Reason.RATE_LIMITED,
    Reason.SERVER_ERROR,
    Reason.OVERLOADED,
}


@pytest.fixture
async def crew() -> AsyncIterator[Crew]:
    crew = Crew()
    yield crew
    await crew.close()


async def _ready(crew: Crew, answers: dict[str, Answer | list[Answer]]) -> tuple[Server, str]:
    """A server whose robots.txt (there is none) is known already."""
    server = await Server(answers).listen()
    origin = f"http://h.test:{server.port}"
    first = await crew.fetcher.fetch(lease(origin + "/"))
    assert first.outcome.reason is Reason.ROBOTS_FETCHED
    server.seen.clear()
    return server, origin


@pytest.mark.parametrize("name", MEANINGS)
async def test_meaning(name: str, crew: Crew) -> None:
    answer, reason, target = MEANINGS[name]
    server, origin = await _ready(crew, {"/page": answer})
    asking = lease(origin + "/page")
    fetched = await crew.fetcher.fetch(asking)
    outcome = fetched.outcome
    assert (outcome.reason, outcome.redirect) == (reason, target)
    assert outcome.lease is asking
    assert outcome.crawl_delay == 0.0  # known, none given
    assert [(asked.host, asked.url) for asked in outcome.asked] == [("h.test", origin + "/page")]
    assert server.paths() == ["/page"]  # one lease, one request
    assert bool(fetched.captures) is (reason in KEPT)
    assert all(capture.lease is asking and capture.kind is Kind.PAGE for capture in fetched.captures)
    await server.close()


async def test_the_sixth_redirect_in_a_row_ends(crew: Crew) -> None:
    server, origin = await _ready(crew, {"/page": redirect(MOVED)})
    assert (await crew.fetcher.fetch(lease(origin + "/page", hops=4))).outcome.reason is Reason.REDIRECTED
    assert (await crew.fetcher.fetch(lease(origin + "/page", hops=5))).outcome.reason is Reason.TOO_MANY_REDIRECTS
    await server.close()


RETRY_AFTER = [
    ("Retry-After: 120", 120.0),
    ("Retry-After: 0", 0.0),
    ("Retry-After: 999999999", 999_999_999.0),
    ("Retry-After: soon", None),
    ("Retry-After: -5", None),
    ("Retry-After: 1.5", None),
    ("Retry-After: Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ("Retry-After: Wed, 99 Oct 2015 07:28:00 GMT", None),
    ("X: y", None),
]


@pytest.mark.parametrize(("field", "seconds"), RETRY_AFTER)
@pytest.mark.parametrize("status", ["429 Slow", "503 Later"])
async def test_retry_after(field: str, seconds: float | None, status: str, crew: Crew) -> None:
    server, origin = await _ready(crew, {"/page": page(b"x", status, field)})
    assert (await crew.fetcher.fetch(lease(origin + "/page"))).outcome.retry_after == seconds
    await server.close()


def test_a_date_to_retry_after_counts_from_the_answer() -> None:
    """However far off: how long a host is obeyed is for `pace.max_retry_after` to say."""
    assert retry_after({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, 4_096_250_880.0 - 90.0) == 90.0
    assert retry_after({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, 1_700_000_000.0) == 2_396_250_880.0


CACHE_CONTROL = [
    (("Cache-Control: max-age=600",), 600.0),
    (("Cache-Control: public, MAX-AGE = 600",), 600.0),
    (('Cache-Control: max-age="600"',), 600.0),
    (("Cache-Control: public", "Cache-Control: max-age=600"), 600.0),
    (("Cache-Control: max-age=600", "Age: 100"), 500.0),
    (("Cache-Control: max-age=600", "Age: 700"), None),
    (("Cache-Control: s-maxage=600",), None),
    (("Cache-Control: no-cache, max-age=600",), None),
    (("Cache-Control: no-store, max-age=600",), None),
    (("Cache-Control: max-age=0",), None),
    (("Cache-Control: max-age=999999999999",), 365 * 86_400.0),
    (("Cache-Control: max-age=-1",), None),
    ((), None),
]


@pytest.mark.parametrize(("fields", "seconds"), CACHE_CONTROL)
async def test_fresh_until(fields: tuple[str, ...], seconds: float | None, crew: Crew) -> None:
    server, origin = await _ready(crew, {"/page": page(b"x", "200 OK", *fields)})
    outcome = (await crew.fetcher.fetch(lease(origin + "/page"))).outcome
    assert (outcome.fresh_until and outcome.fresh_until - outcome.finished) == pytest.approx(seconds)
    await server.close()


async def test_conditional_requests(crew: Crew) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    same = Say(b"HTTP/1.1 304 Same\r\nCache-Control: max-age=60\r\n\r\n", "keep")
    first = page(b"hello", "200 OK", 'ETag: "abc"', f"Last-Modified: {date}")
    server, origin = await _ready(crew, {"/page": [first, same]})
    stored = (await crew.fetcher.fetch(lease(origin + "/page"))).outcome
    assert (stored.etag, stored.modified, stored.length, stored.mime) == ('"abc"', date, 5, "text/html")
    assert "if-none-match" not in server.seen[0].fields
    fetched = await crew.fetcher.fetch(lease(origin + "/page", etag=stored.etag, modified=stored.modified))
    assert server.seen[1].fields["if-none-match"] == '"abc"'
    assert server.seen[1].fields["if-modified-since"] == date
    again = fetched.outcome
    assert (again.reason, again.length, fetched.captures) == (Reason.UNCHANGED, 0, ())
    assert (again.etag, again.modified) == ('"abc"', date)  # still in force
    assert again.fresh_until is not None
    await server.close()


async def test_validators_that_could_break_a_header_are_not_kept_or_sent(crew: Crew) -> None:
    server, origin = await _ready(
        crew, {"/page": page(b"x", "200 OK", 'ETag: "\xe9\x07"', "Last-Modified: " + "x" * 2000)}
    )
    outcome = (await crew.fetcher.fetch(lease(origin + "/page", etag="a\r\nEvil: 1", modified="b\nEvil: 2"))).outcome
    assert (outcome.etag, outcome.modified) == ("", "")
    assert not {"evil", "if-none-match", "if-modified-since"} & set(server.seen[0].fields)
    await server.close()


async def test_what_is_sent(crew: Crew) -> None:
    server, origin = await _ready(crew, {"/page": page()})
    await crew.fetcher.fetch(lease(origin + "/page"))
    fields = server.seen[0].fields
    assert fields["user-agent"] == "weft/0.1 (+https://bot.example/)"
    assert fields["accept-encoding"] == "gzip, deflate, br, zstd"
    assert not {"cookie", "authorization", "referer", "from"} & set(fields)
    await server.close()


@pytest.mark.parametrize("kind", [Kind.SITEMAP, Kind.POLICY])
async def test_policy_files_and_sitemaps_may_be_of_any_type(kind: Kind, crew: Crew) -> None:
    server, origin = await _ready(crew, {"/file": page(b"\x1f\x8b\x08data", kind="application/x-gzip")})
    fetched = await crew.fetcher.fetch(lease(origin + "/file", kind))
    assert fetched.outcome.reason is Reason.STORED
    assert fetched.captures[0].kind is kind
    await server.close()


async def test_built_from_configuration_without_contact_only_own_hosts() -> None:
    server = await Server({"/page": page()}).listen()

    async def turn(host: str, holder: str) -> bool:
        return bool(host and holder)

    table = MemoryTable()
    fetch = Fetch(hosts={"h.test": "127.0.0.1", "far.test": "93.184.216.34"})
    config = Config(scope=Scope(own=("127.0.0.0/8",)), fetch=fetch)
    fetcher = Fetcher.build(config, table, Crew().clock, turn)
    reasons = [
        (await fetcher.fetch(lease(url))).outcome.reason
        for url in (f"http://h.test:{server.port}/page", f"http://h.test:{server.port}/page", "http://far.test/")
    ]
    assert reasons == [Reason.ROBOTS_FETCHED, Reason.STORED, Reason.ADDRESS_FORBIDDEN]
    await fetcher.close()
    await server.close()
