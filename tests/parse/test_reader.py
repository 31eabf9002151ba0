"""What becomes of bodies of every kind: pages, refusals, lists of links."""

import gzip
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.config import Config
from weft.parse.reader import Reader, count_words, is_binary, media_type
from weft.parse.wire import PageWire, ParseJob
from weft.records import Hint, Kind, Page, Refusal, Via

URL = "https://www.site.org/folder/page.html"
PARAGRAPH = "The river was low that summer, and the ferryman had time to tell his stories to everyone who waited. "
ARTICLE = f"<article><h1>The ferryman</h1><p>{PARAGRAPH * 4}</p><p>{PARAGRAPH * 5}</p></article>"


def read(body: bytes | str, mime: str = "text/html; charset=utf-8", *headers: tuple[str, str], **job: Any) -> Page:
    raw = body.encode() if isinstance(body, str) else body
    return Reader(Config()).read(ParseJob("id", URL, raw, (("Content-Type", mime), *headers), **job))


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ('</b>; rel="canonical"', "https://www.site.org/b"),
        ("<b> ; REL=Canonical", "https://www.site.org/folder/b"),
        ('</s.css>; rel=preload; as=style, </b>; title="x, y"; rel="alternate canonical"', "https://www.site.org/b"),
        ('</a>; title="; rel=canonical", </b>; rel=canonical', "https://www.site.org/b"),
        ('</a>; rel=next; rel=canonical, </b>; rel=canonical; anchor="/other"', ""),
        ("javascript:x; rel=canonical, <javascript:x>; rel=canonical", ""),
        ("<" * 5000 + '>;"' * 1000, ""),
    ],
)
def test_a_canonical_url_of_the_head(value: str, canonical: str) -> None:
    for mime, body in (("text/plain", PARAGRAPH), ("text/html", f"<base href=/c/>{ARTICLE}")):
        page = read(body, mime, ("LINK", value))
        assert page.canonical == canonical
        assert [(link.url, link.via) for link in page.links] == [(canonical, Via.CANONICAL)] * bool(canonical)


def test_a_canonical_url_of_the_page_goes_before_that_of_the_head() -> None:
    page = read(f"<link rel=canonical href=/a>{ARTICLE}", "text/html", ("Link", "</b>; rel=canonical"))
    assert page.canonical == "https://www.site.org/a"


def test_a_page() -> None:
    page = read(
        "<html lang=en><head><title>The ferryman | Site</title><meta name=description content='Of a river.'>"
        f"<link rel=canonical href=/ferryman></head><body><nav><a href=/>Home</a></nav>{ARTICLE}"
        "<a href=/secret rel=nofollow>x</a></body></html>"
    )
    assert page.refusal is None
    assert "had time to tell his stories" in page.text
    assert "Home" not in page.text
    assert page.title.startswith("The ferryman")
    assert (page.language.code, page.language.script) == ("eng", "Latn")
    assert page.words > 100
    assert [link.url for link in page.links] == ["https://www.site.org/ferryman", "https://www.site.org/"]
    assert page.links_seen == 3
    assert page.drops == (("nofollow", 1),)
    assert page.canonical == "https://www.site.org/ferryman"
    assert len(page.text_digest) == len(page.body_digest) == 16
    assert page.simhash
    assert page.charset == "utf-8"
    assert page.extractor
    assert json.loads(page.metadata)["description"] == "Of a river."
    assert not page.noindex
    assert not page.nofollow


def test_fingerprints_are_of_text_and_of_decoded_body() -> None:
    plain, packed = read(ARTICLE), read(gzip.compress(ARTICLE.encode()), "text/html", ("Content-Encoding", "gzip"))
    other = read(f"<nav><a href=/>Home</a></nav>{ARTICLE}")
    assert plain.body_digest == packed.body_digest != other.body_digest
    assert plain.text_digest == packed.text_digest == other.text_digest


@pytest.mark.parametrize(
    ("html", "headers", "noindex", "links"),
    [
        ("<meta name=robots content=noindex>", [], True, 1),
        ("<meta name=ROBOTS content='NONE'>", [], True, 0),
        ("<meta name=weft content=nofollow>", [], False, 0),
        ("<meta name=otherbot content=none>", [], False, 1),
        ("", [("X-Robots-Tag", "noindex")], True, 1),
        ("", [("X-Robots-Tag", "otherbot: noindex, nofollow")], False, 1),
        ("<meta name=robots content=noindex>", [("X-Robots-Tag", "weft: nofollow")], True, 0),
    ],
)
def test_directives(html: str, headers: list[tuple[str, str]], noindex: bool, links: int) -> None:
    page = read(f"<head>{html}</head><body>{ARTICLE}<a href=/next>next</a>", "text/html", *headers)
    assert page.noindex is noindex
    assert len(page.links) == links
    assert page.nofollow is (links == 0)
    assert page.text


@pytest.mark.parametrize(
    ("body", "mime"),
    [
        (b"%PDF-1.7 ...", "text/html"),
        (b"\x89PNG\r\n\x1a\n....", "text/html"),
        (bytes(range(1, 30)) * 20, "text/plain"),
        (b"{}", "application/json"),
        (b"body { color: red }", "text/css"),
        (b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "application/xml"),
        (b"", "image/png"),
    ],
)
def test_what_is_not_text(body: bytes, mime: str) -> None:
    assert read(body, mime).refusal is Refusal.NOT_TEXT


@pytest.mark.parametrize("kind", [Kind.ROBOTS, Kind.POLICY])
def test_files_for_robots_are_no_pages(kind: Kind) -> None:
    assert read("User-agent: *\nDisallow:", "text/plain", kind=kind).refusal is Refusal.NOT_TEXT


@pytest.mark.parametrize(
    "mime", ["text/html", "application/xhtml+xml", "TEXT/HTML;charset=x", "", "application/octet-stream"]
)
def test_html_by_type_or_by_look(mime: str) -> None:
    page = read(f"<!doctype html><title>x</title>{ARTICLE}", mime)
    assert page.refusal is None
    assert "ferryman had time" in page.text


URLSET = (
    "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
    "<url><loc>https://www.site.org/1</loc><priority>0.9</priority><lastmod>2024-01-01</lastmod></url>"
    "<url><loc>https://www.site.org/2</loc></url><url><loc>https://elsewhere.net/</loc></url></urlset>"
)
INDEX = "<sitemapindex><sitemap><loc>https://www.site.org/more.xml</loc></sitemap></sitemapindex>"
FEED = (
    "<?xml version='1.0'?><!-- x --><rss><channel><item><link>https://www.site.org/news</link></item></channel></rss>"
)


@pytest.mark.parametrize("body", [URLSET.encode(), gzip.compress(URLSET.encode())])
def test_a_sitemap_gives_links_with_hints(body: bytes) -> None:
    page = read(body, "application/xml", kind=Kind.SITEMAP, depth=1)
    assert page.refusal is None
    assert [(link.url, link.via, link.depth) for link in page.links] == [
        ("https://www.site.org/1", Via.SITEMAP, 2),
        ("https://www.site.org/2", Via.SITEMAP, 2),
    ]
    assert page.links[0].hint == Hint(0.9, 1704067200.0)
    assert page.text == ""


def test_an_index_gives_sitemaps_but_not_without_end() -> None:
    (link,) = read(INDEX, "text/xml", kind=Kind.SITEMAP).links
    assert (link.url, link.kind, link.inside) == ("https://www.site.org/more.xml", Kind.SITEMAP, 1)
    assert read(INDEX, "text/xml", kind=Kind.SITEMAP, inside=5).links == ()


@pytest.mark.parametrize("mime", ["application/rss+xml", "text/xml", "text/html", "application/octet-stream"])
def test_a_feed_is_known_by_its_looks(mime: str) -> None:
    (link,) = read(FEED, mime).links
    assert (link.url, link.via, link.kind) == ("https://www.site.org/news", Via.FEED, Kind.PAGE)


@pytest.mark.parametrize("body", ["<!DOCTYPE x><urlset/>", "<html>not found</html>", "<urlset><url>", "\x00\x01"])
def test_a_sitemap_that_cannot_be_read(body: str) -> None:
    page = read(body, "application/xml", kind=Kind.SITEMAP)
    assert page.refusal is Refusal.BAD_SITEMAP or not page.links


def test_xhtml_served_as_xml_is_a_page() -> None:
    page = read(f"<?xml version='1.0'?>\n<!DOCTYPE html><html><title>x</title>{ARTICLE}</html>", "application/xml")
    assert "ferryman had time" in page.text


@pytest.mark.parametrize("mime", ["", "application/octet-stream"])
def test_a_fragment_of_unknown_type_is_html(mime: str) -> None:
    assert read(f"<p>{PARAGRAPH}</p>", mime).text == PARAGRAPH.strip()
    assert read(f"<p>{PARAGRAPH}</p>", "text/plain").text == f"<p>{PARAGRAPH}</p>"


def test_plain_text_is_kept_as_it_is() -> None:
    text = "A title\n\n  Indented line\nÜmläut and 漢字.\n"
    page = read(text, "text/plain")
    assert page.text == text.strip()
    assert page.links == ()
    assert page.extractor == "plain"


@pytest.mark.parametrize(
    ("body", "mime"),
    [
        ("Привет, мир. Это длинный русский текст о реке.".encode("cp1251"), "text/plain; charset=windows-1251"),
        ("Привет, мир. Это длинный русский текст о реке.".encode("koi8-r"), "text/plain; charset=KOI8-R"),
        ("Привет, мир. Это длинный русский текст о реке.".encode("utf-16"), "text/plain"),
        ("Привет, мир. Это длинный русский текст о реке.".encode(), "text/plain; charset=iso-8859-1"),
    ],
)
def test_charsets(body: bytes, mime: str) -> None:
    page = read(body, mime)
    assert page.text == "Привет, мир. Это длинный русский текст о реке."
    assert page.language.code == "rus"


@pytest.mark.parametrize("body", [b"", b"   ", b"<", b"<html>", b"\xff\xfe", b"<!--", b"<title>"])
def test_next_to_nothing_is_an_empty_page(body: bytes) -> None:
    page = read(body)
    assert page.refusal is None
    assert page.text.strip("\x00<") == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html", ("text/html", "")),
        ('Text/HTML ; Charset="UTF-8"', ("text/html", "UTF-8")),
        ("text/html;charset=utf-8;x=y", ("text/html", "utf-8")),
        (";;;", ("", "")),
    ],
)
def test_media_type(value: str, expected: tuple[str, str]) -> None:
    assert media_type((("content-TYPE", value),)) == expected


def test_binary() -> None:
    assert not is_binary(b"")
    assert not is_binary(b"a text with one \x01 control")
    assert not is_binary("hello".encode("utf-16"))
    assert not is_binary(("<p>Привет</p>" * 9).encode("utf-16-le"))
    assert is_binary(bytes(range(256)))
    assert is_binary(bytes(1000))


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("one two\nthree", 3), ("naïve café", 2), ("漢字かな", 4), ("我爱 Python 语言", 5), ("한국어 단어", 2)],
)
def test_words(text: str, words: int) -> None:
    assert count_words(text) == words


def test_a_thousand_comments_before_the_doctype_take_no_time() -> None:
    assert read("<!---->" * 300 + "x", "application/octet-stream").refusal is Refusal.NOT_TEXT


@given(
    st.binary(max_size=300) | st.text(max_size=300).map(str.encode), st.sampled_from(["text/html", "text/plain", ""])
)
@settings(max_examples=60)
def test_no_body_is_an_error(body: bytes, mime: str) -> None:
    for kind in (Kind.PAGE, Kind.SITEMAP):
        page = read(body, mime, kind=kind)
        wire = PageWire()
        assert wire.page(memoryview(wire.payload(page))) == page
