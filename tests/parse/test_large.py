"""Pages of very many links come through the parser processes with all of them, in order, within its limits."""

import gzip
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from tests.parse.bombs import HTML
from weft.clock import SystemClock
from weft.config import Config, override
from weft.parse.pool import ParserPool
from weft.parse.scan import scan
from weft.parse.wire import ParseJob
from weft.records import Headers, Kind, Page, Refusal

pytestmark = pytest.mark.asyncio(loop_scope="module")
SITE = "https://www.site.example"
WORDS = "an entry of some words that says at length what stands on the page to which it leads "
XML: Headers = (("Content-Type", "application/xml"),)


def in_a_list(number: int) -> str:
    return f"<li><a href='/section-{number // 100}/page-{number}.html'>Page {number}</a></li>\n"


def at_length(number: int) -> str:
    return f"<li><a class='reference internal' href='docs/page-{number}.html'>{number} {WORDS * 2}</a></li>\n"


def in_a_table(number: int) -> str:
    return (
        f"<tr><td class=cap></td><td><a href='../lib/class{number}.html#module.name' class='reference' title=name>"
        f"<code class=xref><span class=pre>name{number}</span></code></a></td><td><em>what it does</em></td></tr>\n"
    )


def listed(number: int) -> str:
    return f"<a href='f{number}.html'>f{number}.html</a>  2024-01-01  {number % 999}K\n"


def page(entry: Callable[[int], str], many: int) -> bytes:
    return f"<!doctype html><title>Index</title><h1>Index</h1>{''.join(map(entry, range(many)))}".encode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[ParserPool]:
    made = ParserPool(override(Config(), "parse", workers=1, seconds=6.0), SystemClock())
    await made.start()
    yield made
    await made.close()


async def parsed(pool: ParserPool, body: bytes, headers: Headers = HTML, kind: Kind = Kind.PAGE) -> Page:
    (result,) = await pool.parse([ParseJob("id", f"{SITE}/docs/index.html", body, headers, kind=kind)])
    return result


def numbers(result: Page, before: str) -> list[int]:
    """What tells one link from the next."""
    return [int(link.url.rpartition(before)[2].removesuffix(".html")) for link in result.links]


@pytest.mark.parametrize("many", [50_000, 100_000])
@pytest.mark.parametrize(
    ("entry", "before"), [(in_a_list, "page-"), (at_length, "page-"), (listed, "/f"), (in_a_table, "class")]
)
async def test_all_links_of_an_index(pool: ParserPool, entry: Callable[[int], str], before: str, many: int) -> None:
    result = await parsed(pool, page(entry, many))
    assert numbers(result, before) == list(range(many))
    assert result.drops == ()
    if (entry, many) != (in_a_table, 100_000):  # 800,000 elements: no tree is built of so many
        assert result.refusal is None
        assert result.title == "Index"


async def test_a_packed_index_of_twenty_megabytes(pool: ParserPool) -> None:
    body = page(at_length, 90_000)
    assert len(body) > 18_000_000
    result = await parsed(pool, gzip.compress(body, 1), (*HTML, ("Content-Encoding", "gzip")))
    assert numbers(result, "page-") == list(range(90_000))


async def test_what_is_over_the_limit_is_counted(pool: ParserPool) -> None:
    result = await parsed(pool, page(listed, 100_123))
    assert numbers(result, "/f") == list(range(100_000))
    assert dict(result.drops) == {"too-many-links": 123}


async def test_a_page_that_nothing_can_read_still_has_its_links(pool: ParserPool) -> None:
    deep = await parsed(pool, b"<a href=/first>x</a>" + b"<div>" * 200_000 + b"<a href=/last>x</a>")
    assert deep.refusal is Refusal.TOO_DEEP
    assert [link.url for link in deep.links] == [f"{SITE}/first", f"{SITE}/last"]
    silent = await parsed(pool, b"<meta name=robots content=nofollow><a href=/first>x</a>" + b"<div>" * 200_000)
    assert (silent.links, silent.nofollow) == ((), True)


async def test_a_page_that_takes_too_long_still_has_its_links(pool: ParserPool) -> None:
    """Its parser is ended by the kernel; another one looks at the tags alone."""
    names = b" ".join(b"a%d" % number for number in range(19_000))
    result = await parsed(
        pool, b"<a href=/first>x</a><html " + names + b">" + b"<html b>" * 240_000 + b"<a href=/last>"
    )
    assert result.refusal is Refusal.TIMEOUT
    assert [link.url for link in result.links] == [f"{SITE}/first", f"{SITE}/last"]


@pytest.mark.parametrize("alternates", [0, 8])
async def test_a_sitemap_of_fifty_thousand(pool: ParserPool, alternates: int) -> None:
    others = "".join(
        f"<xhtml:link rel='alternate' hreflang='l{number}' href='{SITE}/{number}/'/>" for number in range(alternates)
    )
    entries = (
        f"<url><loc>{SITE}/page-{number}</loc><lastmod>2024-01-01T00:00:00Z</lastmod><changefreq>daily</changefreq>"
        f"<priority>0.5</priority>{others}</url>\n"
        for number in range(50_000)
    )
    body = (
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:xhtml='x'>" + "".join(entries) + "</urlset>"
    )
    result = await parsed(pool, body.encode(), XML, Kind.SITEMAP)
    assert (result.refusal, result.detail) == (None, "")
    assert numbers(result, "page-") == list(range(50_000))


@pytest.mark.parametrize(
    ("html", "hrefs"),
    [
        ("<a href=/1>x</a><A HREF='/2'>y<a\nclass=x href = \"/3\" >", ["/1", "/2", "/3"]),
        ("<a href=/1 href=/2><a data-href=/3 title='<a href=/4>'>", ["/1"]),
        ("<a href='/?a=1&amp;b=2'><a href='/?a=1&copy=2&lt;x&#47;'>", ["/?a=1&b=2", "/?a=1&copy=2<x/"]),
        ("<!-- <a href=/1> --><a href=/2><!--><a href=/3><!-- <a href=/4>", ["/2", "/3"]),
        ("<script>'<a href=/1>'</script><style><a href=/2></style ><a href=/3>", ["/3"]),
        ("<title><a href=/1></title><textarea><a href=/2></textarea><a href=/3>", ["/3"]),
        ("<iframe src=/1></iframe><frame src=/2><object data=/3><embed src=/4 type=image/png>", ["/1", "/2", "/3"]),
        ("<abbr href=/1><area href=/2><article href=/3>", ["/2"]),
        ("<a href=/1><a href='/2", ["/1"]),
        ("<a href=\u00e4>", ["\u00e4"]),
    ],
)
async def test_links_told_from_tags(html: str, hrefs: list[str]) -> None:
    assert [link.href for link in scan(html.encode()).links] == hrefs


async def test_what_tags_say_of_the_page() -> None:
    found = scan(b"<base href=/a/><base href=/b/><meta name=Robots content=' nofollow '><link rel=canonical href=c>")
    assert (found.base, [(meta.name, meta.content) for meta in found.metas]) == ("/a/", [("robots", "nofollow")])
    assert [(link.tag, link.rel) for link in found.links] == [("link", "canonical")]
