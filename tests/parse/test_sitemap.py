"""Sitemaps and feeds: what they list, what they may list, and what they cannot do to us."""

import gzip
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.parse.sitemap import MAX_URLS, Entry, Listing, read
from weft.parse.sitemap_xml import parse_date
from weft.records import Hint, Kind, Via

URL = "https://h.example/sitemap.xml"
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def _urls(listing: Listing) -> list[str]:
    return [entry.url for entry in listing.entries]


def _urlset(*inner: str) -> bytes:
    return f"<?xml version='1.0' encoding='UTF-8'?>\n<urlset {SPACE}>{''.join(inner)}</urlset>".encode()


def _url(path: str, *more: str) -> str:
    return f"<url><loc>https://h.example{path}</loc>{''.join(more)}</url>"


def test_urlset_with_hints() -> None:
    listing = read(
        _urlset(
            _url("/a", "<lastmod>2024-05-06</lastmod><changefreq>Daily</changefreq><priority>0.8</priority>"),
            _url("/b?x=1&amp;y=2", "<priority>7</priority>"),
            _url("/c", "<priority>high</priority><changefreq>sometimes</changefreq><lastmod>soon</lastmod>"),
            "<url><loc>\n  https://h.example/d  \n</loc></url>",
            "<url><loc><![CDATA[https://h.example/e]]></loc></url>",
            "<url><loc>/f</loc></url><url><loc></loc></url><url><lastmod>2024</lastmod></url>",
        ),
        URL,
    )
    assert listing.entries == (
        Entry("https://h.example/a", Hint(0.8, 1714953600.0, 86_400.0)),
        Entry("https://h.example/b?x=1&y=2", Hint(1.0)),
        Entry("https://h.example/c"),
        Entry("https://h.example/d"),
        Entry("https://h.example/e"),
        Entry("https://h.example/f"),
    )
    assert (listing.via, listing.problem) == (Via.SITEMAP, "")


def test_images_videos_and_news() -> None:
    listing = read(
        b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i" xmlns:news="n">
        <url><loc>https://h.example/a</loc><image:image><image:loc>https://h.example/a.png</image:loc></image:image></url>
        <url><image:loc>https://h.example/b.png</image:loc><loc>https://h.example/b</loc>
        <news:news><news:publication_date>2024-05-06T12:00:00+02:00</news:publication_date></news:news></url>
        </urlset>""",
        URL,
    )
    assert listing.entries == (
        Entry("https://h.example/a"),
        Entry("https://h.example/b", Hint(0.5, 1714989600.0)),
    )


def test_names_with_a_prefix() -> None:
    body = b'<s:urlset xmlns:s="x"><s:url><s:loc>https://h.example/a</s:loc></s:url></s:urlset>'
    assert _urls(read(body, URL)) == ["https://h.example/a"]


def test_index_and_its_depth() -> None:
    body = f"<sitemapindex {SPACE}><sitemap><loc>https://h.example/1.xml.gz</loc><lastmod>2024</lastmod></sitemap></sitemapindex>"
    for level in (1, 2):
        assert read(body.encode(), URL, level=level).entries == (
            Entry("https://h.example/1.xml.gz", Hint(0.5, 1704067200.0), Kind.SITEMAP),
        )
    assert not read(body.encode(), URL, level=3).entries


def test_packed_text_and_utf_16() -> None:
    assert _urls(read(gzip.compress(_urlset(_url("/a"))), URL)) == ["https://h.example/a"]
    text = b"\xef\xbb\xbfhttps://h.example/a\r\nhttps://h.example/\xc3\xa4\rnot a url\n\n# x\nhttps://h.example/b"
    expected = ["https://h.example/a", "https://h.example/%C3%A4", "https://h.example/b"]
    assert _urls(read(text, URL)) == expected
    assert _urls(read(gzip.compress(text), URL)) == expected
    wide = _urlset(_url("/a")).decode().replace("UTF-8", "UTF-16").encode("utf-16")
    assert _urls(read(wide, URL)) == ["https://h.example/a"]


RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<link>https://h.example/</link><atom:link href="https://h.example/feed" rel="self"/>
<item><title>A</title><link>https://h.example/a</link><pubDate>Mon, 06 May 2024 00:00:00 GMT</pubDate></item>
<item><link>https://elsewhere.example/b</link><pubDate>Mon, 06 May 2024 00:00:00 GMT</pubDate></item>
<item><guid>https://h.example/c</guid><description><![CDATA[<a href="https://h.example/x">x</a>]]></description></item>
</channel></rss>"""
RDF = b"""<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:dc="d"><channel><link>https://h.example/</link></channel>
<item><link>https://h.example/a</link><dc:date>2024-05-06T00:00:00Z</dc:date></item></rdf:RDF>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://h.example/"/>
<entry><link rel="edit" href="/edit"/><link href="/a"/><updated>2024-05-06T00:00:00Z</updated></entry>
<entry><link rel="alternate" href="https://h.example/b"/></entry></feed>"""


def test_feeds() -> None:
    date = Hint(0.5, 1714953600.0)
    rss = read(RSS, URL)
    assert rss.via is Via.FEED
    assert rss.entries == (
        Entry("https://h.example/a", date),
        Entry("https://elsewhere.example/b"),  # a feed may link anywhere, but knows only its own pages
        Entry("https://h.example/c"),
    )
    assert read(RDF, URL).entries == (Entry("https://h.example/a", date),)
    assert read(ATOM, URL).entries == (Entry("https://h.example/a", date), Entry("https://h.example/b"))


def test_a_sitemap_speaks_for_its_host_and_for_those_that_name_it() -> None:
    body = "".join(
        f"<url><loc>{url}</loc></url>"
        for url in (
            "http://h.example/a",
            "https://h.example:8443/b",
            "https://other.example/c",
            "https://evil.example/d",
        )
    )
    listing = read(_urlset(body), URL)
    assert (_urls(listing), listing.foreign) == (["http://h.example/a", "https://h.example:8443/b"], 2)
    assert "https://other.example/c" in _urls(read(_urlset(body), URL, {"other.example"}))


def test_what_is_wrong_is_said_and_what_came_before_counts() -> None:
    cut = _urlset(_url("/a"), _url("/b"))
    listing = read(cut[:-30], URL)
    assert _urls(listing) == ["https://h.example/a"]
    assert "not well-formed" in listing.problem
    assert "neither" in read(b"<html><body>Not found</body></html>", URL).problem
    assert "early" in read(gzip.compress(cut * 50)[:60], URL).problem
    assert "gzip" in read(b"\x1f\x8b\x08garbage", URL).problem
    for odd in (b"", b"{}", b"not found", b"\0" * 100):
        assert read(odd, URL).entries == ()


LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>
<urlset><url><loc>https://h.example/&b;</loc></url></urlset>"""
OUTSIDE = b"""<!DOCTYPE urlset SYSTEM "file:///etc/passwd"><urlset><url><loc>https://h.example/</loc></url></urlset>"""


@pytest.mark.parametrize("body", [LAUGHS, OUTSIDE, b"<!DOCTYPE urlset>" + _urlset(_url("/a"))[38:]])
def test_a_dtd_is_refused(body: bytes) -> None:
    listing = read(body, URL)
    assert (listing.entries, listing.problem) == ((), "it has a DTD")


def test_no_more_urls_than_allowed() -> None:
    listing = read(_urlset(*(_url(f"/{n}") for n in range(MAX_URLS + 10))), URL)
    assert len(listing.entries) == MAX_URLS
    assert "50000" in listing.problem
    assert len(read(_urlset(*[_url("/same")] * 1000), URL).entries) == 1


HOSTILE = {
    "a tag of 5 MB": b"<urlset><url " + b"a" * 5_000_000,
    "attributes without end": b"<urlset " + b"".join(b'a%d="x" ' % n for n in range(400_000)),
    "a comment of 5 MB": b"<urlset><!--" + b"a" * 5_000_000 + b"--></urlset>",
    "a text of 20 MB": b"<urlset><url><loc>" + b"a" * 20_000_000 + b"</loc></url></urlset>",
    "a line of 20 MB": b"http://h.example/" + b"a" * 20_000_000,
    "elements without end": b"<urlset>" + b"<a/>" * 5_000_000,
    "nested without end": b"<urlset>" + b"<url>" * 1_000_000,
    "ten million empty lines": b"\n" * 10_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.clock
def test_hostile_files_take_little_time(name: str) -> None:
    start = time.process_time()
    listing = read(HOSTILE[name], URL)
    assert time.process_time() - start < 5.0
    assert len(listing.entries) <= 1


@given(st.binary(max_size=300), st.sampled_from([b"", b"<urlset>", b"<rss>", b"http://h.example/", b"\x1f\x8b\x08"]))
@settings(max_examples=200)
def test_never_raises(body: bytes, start: bytes) -> None:
    assert len(read(start + body, URL).entries) <= 300


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024", 1704067200.0),
        ("2024-05", 1714521600.0),
        ("2024-05-06", 1714953600.0),
        ("2024-05-06T01:02Z", 1714957320.0),
        ("2024-05-06T01:02:03.5+01:00", 1714953723.0),
        ("2024-05-06T01:02:03-0130", 1714962723.0),
        ("2024-05-06 01:02:03", 1714957323.0),
        ("Mon, 06 May 2024 00:00:00 +0200", 1714946400.0),
        ("2024-13-06", None),
        ("0000-00-00", None),
        ("yesterday", None),
        ("", None),
        ("9" * 100, None),
    ],
)
def test_dates(text: str, seconds: float | None) -> None:
    assert parse_date(text) == seconds


# A file of 2 MB that unpacks to 500 MB, read in a process of its own.
MEASURE = """
import zlib
from tests.peak_memory import peak
from weft.parse.sitemap import read
packer = zlib.compressobj(1, wbits=31)
piece = b"<url><loc>https://h.example/</loc></url>" + b" " * 1_000_000
bomb = packer.compress(b"<urlset>") + b"".join(packer.compress(piece) for _ in range(500)) + packer.flush()
before = peak()
listing = read(bomb, "https://h.example/s.xml.gz")
grown = peak() - before
print(listing.problem.replace(" ", "-"), len(listing.entries), grown < 32 << 20)
"""


def test_a_bomb_is_not_unpacked() -> None:
    run = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["larger-than-50-MB", "1", "True"]
