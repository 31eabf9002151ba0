"""robots.txt and consent signals, as they arrive: the bytes a crawler has to understand."""

import json

import pytest

from tests.simweb.raw import ask
from weft.simweb import Fate, SimWeb, SimWebConfig, expand

MEMBERS = b"User-agent: *\nDisallow: /members/\nAllow: /members/open/\n"


async def robots_of(kind: str) -> tuple[int, bytes]:
    """Status and body of robots.txt on a host with this habit."""
    async with SimWeb(SimWebConfig(hosts=2, pages=1, misbehaviours=expand(kind), crawl_delay=3.5)) as web:
        answer = await ask(web, "/robots.txt", host=1)
        return answer.status, answer.body


@pytest.mark.parametrize(
    ("kind", "status", "body"),
    [
        ("none", 200, b"User-agent: *\nDisallow:\n"),
        ("robots-disallow", 200, MEMBERS),
        ("robots-bom", 200, b"\xef\xbb\xbf" + MEMBERS),
        ("robots-utf16", 200, MEMBERS.decode().encode("utf-16")),
        ("robots-cr", 200, MEMBERS.replace(b"\n", b"\r")),
        ("robots-delay", 200, b"User-agent: *\nCrawl-delay: 3.5\nDisallow:\n"),
        ("robots-closed", 200, b"User-agent: *\nDisallow: /\n"),
        ("robots-missing", 404, b"<h1>Error</h1>"),
        ("robots-forbidden", 403, b"<h1>Error</h1>"),
        ("robots-failing", 500, b"<h1>Error</h1>"),
        ("robots-heals", 500, b"later"),
    ],
)
async def test_robots_files(kind: str, status: int, body: bytes) -> None:
    assert await robots_of(kind) == (status, body)


async def test_robots_files_of_odd_shape() -> None:
    status, huge = await robots_of("robots-huge")
    assert huge.startswith(MEMBERS)
    assert len(huge) > 600_000
    status, page = await robots_of("robots-html")
    assert (status, page[:15]) == (200, b"<!DOCTYPE html>")
    async with SimWeb(SimWebConfig(hosts=2, pages=1, misbehaviours=expand("robots-timeout"))) as web:
        assert await ask(web, "/robots.txt", host=1, seconds=0.1) == (b"", "silence")


async def test_robots_behind_redirects_to_another_host() -> None:
    async with SimWeb(SimWebConfig(hosts=2, pages=1, misbehaviours=expand("robots-redirect"))) as web:
        first = await ask(web, "/robots.txt", host=1)
        second = await ask(web, first.header("Location"), host=1)
        assert second.header("Location") == "2"
        third = await ask(web, "/odd/robots/2", host=1)
        assert [first.status, second.status, third.status] == [301, 302, 307]
        there = third.header("Location")
        assert there.startswith(f"http://{web.world.host(0).name}:{web.port}/")
        assert (await ask(web, "/" + there.split("/", 3)[3], host=0)).body == MEMBERS


async def test_sitemap_lines_are_there_by_name_and_by_address() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=3, misbehaviours=expand("sitemaps"))) as web:
        name = web.world.host(0).name
        assert (await ask(web, "/robots.txt")).body.endswith(
            f"Sitemap: http://{name}:{web.port}/sitemap.xml\n".encode()
        )
        pages = (await ask(web, "/sitemaps/pages.xml")).body.decode()
        assert pages.count("<url>") == 3
        for word in ("<lastmod>2024-", "<changefreq>daily", "<priority>1.0"):
            assert word in pages


@pytest.mark.parametrize(
    ("kind", "signal"),
    [
        ("aipref-header", "\r\nContent-Usage: train-ai=n\r\n"),
        ("tdmrep-header", "\r\ntdm-reservation: 1\r\n"),
        ("tdmrep-meta", '<meta name="tdm-reservation" content="1">'),
        ("rsl-header", '\r\nLink: </license.xml>; rel="license"; type="application/rsl+xml"\r\n'),
        ("rsl-link", '<link rel="license" type="application/rsl+xml" href="/license.xml">'),
        ("noai-meta", '<meta name="robots" content="noai, noimageai">'),
        ("noai-header", "\r\nX-Robots-Tag: noai\r\n"),
    ],
)
async def test_signals_of_single_pages(kind: str, signal: str) -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=2, misbehaviours=expand(kind))) as web:
        fates = {row.url: row.fate for row in web.truth().urls}
        assert [row.kind for row in web.truth().urls if row.consent == "deny"] == [kind]
        assert fates[f"{web.seeds()[0]}odd/{kind}/0"] is Fate.UNWANTED
        assert fates[web.seeds()[0]] is Fate.STORED
        assert signal.encode() in (await ask(web, f"/odd/{kind}/0")).data
        assert signal.encode() not in (await ask(web, "/")).data
        licence = await ask(web, "/license.xml")
        assert (licence.status == 200) == kind.startswith("rsl-")


async def test_signals_that_allow_and_that_say_nothing() -> None:
    async with SimWeb(SimWebConfig(hosts=1, pages=1, misbehaviours=expand("consent-allowed"))) as web:
        rows = [row for row in web.truth().urls if row.kind == "consent-allowed"]
        assert [row.consent for row in rows] == ["allow"] * 4 + ["unknown"] * 2
        assert {row.fate for row in rows} == {Fate.STORED}
        assert b'<permits type="usage">all</permits>' in (await ask(web, "/license-open.xml")).body


@pytest.mark.parametrize(
    ("kind", "target", "signal"),
    [
        ("aipref-robots", "/robots.txt", "Content-Usage: /ai-ok/ train-ai=y"),
        ("content-signal", "/robots.txt", "Content-Signal: search=yes, ai-train=no"),
        ("training-tokens", "/robots.txt", "User-agent: GPTBot"),
        ("rsl-robots", "/license.xml", '<prohibits type="usage">ai-train</prohibits>'),
        ("tdmrep-file", "/.well-known/tdmrep.json", '"tdm-reservation": 1'),
    ],
)
async def test_signals_of_whole_hosts(kind: str, target: str, signal: str) -> None:
    async with SimWeb(SimWebConfig(hosts=2, pages=2, misbehaviours=expand(kind))) as web:
        answer = await ask(web, target, host=1)
        assert answer.status == 200
        assert signal in answer.body.decode()
        truth = web.truth()
        assert [host.consent for host in truth.hosts] == ["unknown", "deny"]
        name = web.world.host(1).name
        fates = {row.url.partition(str(web.port))[2]: row.fate for row in truth.urls if name in row.url}
        assert fates["/"] is Fate.UNWANTED
        outweighed = {"aipref-robots": "/ai-ok/page", "tdmrep-file": "/odd/free/page"}
        if kind in outweighed:
            assert fates[outweighed[kind]] is Fate.STORED
        if kind == "tdmrep-file":
            assert json.loads(answer.body)[1]["location"] == "/"
