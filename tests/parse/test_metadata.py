"""What pages say about themselves, in the ways they say it."""

from datetime import UTC, datetime

import pytest
from selectolax.lexbor import LexborHTMLParser

from weft.parse.metadata import Metadata, metadata
from weft.parse.walk import walk


def about(html: str, url: str | None = "https://example.org/a/b") -> Metadata:
    return metadata(walk(LexborHTMLParser(html)), url)


def test_open_graph_and_meta_names() -> None:
    found = about(
        """<title>x</title><meta property="og:title" content="A title"><meta property="og:site_name" content="Courier">
        <meta name="author" content="Tom"><meta name="description" content="What it is about">
        <meta property="article:published_time" content="2024-11-20T07:30:00+01:00">
        <meta property="article:modified_time" content="2024-11-21"><link rel=canonical href="../c">"""
    )
    assert (found.title, found.site_name, found.author) == ("A title", "Courier", "Tom")
    assert found.description == "What it is about"
    assert found.published == datetime.fromisoformat("2024-11-20T07:30:00+01:00")
    assert found.modified == datetime(2024, 11, 21, tzinfo=UTC)
    assert found.canonical == "https://example.org/c"
    assert ("og:site_name", "Courier") in found.open_graph


def test_what_nobody_sees_is_left_out() -> None:
    found = about('<title>Mit&shy;tel&shy;al&shy;ter</title><meta name="description" content="\ufeffDon\u0092t">')
    assert (found.title, found.description) == ("Mittelalter", "Don’t")


def test_json_ld_in_lists_and_graphs() -> None:
    found = about(
        """<script type="application/ld+json">{"@context":"https://schema.org","@graph":[
        {"@type":["NewsArticle"],"headline":"From the script","author":[{"name":"Ada"},{"name":"Bob"}],
        "datePublished":"2020-02-02","publisher":{"@type":"Organization","name":"Press"}},{"@type":"BreadcrumbList"}]}</script>"""
    )
    assert (found.title, found.author, found.site_name) == ("From the script", "Ada, Bob", "Press")
    assert [item.type for item in found.schema] == ["NewsArticle", "BreadcrumbList"]
    assert found.published == datetime(2020, 2, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    "script",
    ["{", "[]", "null", '{"@type":5}', '"x"', '{"@type":"A","author":{"name":{"x":1}}}', "[" * 5000, "<!-- {} -->"],
)
def test_broken_json_ld_is_survived(script: str) -> None:
    assert about(f'<title>T</title><script type="application/ld+json">{script}</script>').title == "T"


def test_json_ld_with_raw_line_breaks_is_read() -> None:
    script = '{"@type":"Article","headline":"two\nlines"}'
    assert about(f'<script type="application/ld+json">{script}</script>').title == "two lines"


def test_microdata_gives_types_and_dates() -> None:
    found = about(
        """<div itemscope itemtype="http://schema.org/BlogPosting"><div itemprop="author">Ines</div>
        <meta itemprop="datePublished" content="2019-08-14"><p>text</p></div>"""
    )
    assert [item.type for item in found.schema] == ["BlogPosting"]
    assert (found.author, found.published) == ("Ines", datetime(2019, 8, 14, tzinfo=UTC))


def test_the_site_is_cut_off_the_title_only_when_it_is_known() -> None:
    assert (
        about('<title>Pier vote | Courier</title><meta property="og:site_name" content="Courier">').title == "Pier vote"
    )
    assert about("<title>Pier vote | Courier</title>").title == "Pier vote | Courier"


def test_an_address_is_no_author() -> None:
    assert about('<meta property="article:author" content="https://facebook.com/tom">').author == ""


def test_bad_addresses_are_survived() -> None:
    assert about('<link rel=canonical href="http://[bad">').canonical == ""
