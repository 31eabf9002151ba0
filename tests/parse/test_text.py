"""The extractor as a whole: text, fallback, shells, bounds. How good it is: tests/quality."""

import unicodedata

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import Refused
from weft.parse.reading import read
from weft.parse.text import VERSION, compose, extract, main_text

SENTENCE = "The harbour authority voted on Tuesday to rebuild the old pier, ending years of argument. "
ARTICLE = f"""<html lang="en-gb"><head><title>Pier vote | Courier</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/sport">Sport</a></li></ul></nav>
<article><h1>Pier vote</h1>{"".join(f"<p>{SENTENCE * 3}Part {place}.</p>" for place in range(6))}
<h2>What comes next</h2><ul><li>{SENTENCE}First.</li><li>{SENTENCE}Second.</li></ul><img src=x alt="The pier at dawn">
<p>{SENTENCE}Last.</p></article>
<footer><p>Copyright Courier. All rights reserved.</p><a href="/privacy">Privacy</a></footer></body></html>""".encode()


def test_the_article_is_kept_and_the_rest_is_not() -> None:
    found = extract(ARTICLE, "https://example.org/news/pier-vote")
    assert all(f"Part {place}." in found.text for place in range(6))
    assert "Privacy" not in found.text
    assert "Sport" not in found.text
    assert "What comes next" in found.headings
    assert found.image_alts == ("The pier at dawn",)
    assert (found.language, found.language_script, found.declared_language) == ("eng", "Latn", "en-GB")
    assert found.extractor == VERSION
    assert not found.needs_rendering
    assert not found.fallback


def test_paragraphs_are_apart_and_items_on_their_own_lines() -> None:
    text = extract(ARTICLE).text
    assert "Part 0.\n\nThe harbour" in text
    assert f"- {SENTENCE}First.\n- {SENTENCE}Second." in text


def test_markdown_marks_headings() -> None:
    assert "## What comes next" in extract(ARTICLE, markdown=True).text


def test_text_is_normalised() -> None:
    text = extract(ARTICLE.replace(b"harbour", "ha\u0301rbour".encode())).text
    assert "hárbour" in text
    assert unicodedata.is_normalized("NFC", text)


def test_long_repetitions_are_dropped_but_code_is_not() -> None:
    page = f"<article><h1>Log</h1><p>{SENTENCE * 2}</p><p>{SENTENCE * 2}</p><p>{SENTENCE * 3}</p></article>"
    assert extract(page.encode()).text.count(SENTENCE * 2 + "\n") <= 1
    code = "<pre>run the long command again and again until it works\n</pre>"
    found = extract(f"<article>{f'<p>{SENTENCE * 3}</p>' * 1}{code}<p>{SENTENCE}And.</p>{code}</article>".encode())
    assert found.text.count("run the long command") == 2


@pytest.mark.parametrize("shell", [b"<div id=root></div><script src=app.js></script>", b"<script>app()</script>"])
def test_a_shell_needs_rendering(shell: bytes) -> None:
    assert extract(b"<html><title>App</title><body>" + shell).needs_rendering


def test_a_page_that_says_next_to_nothing_says_all_of_it() -> None:
    menu = "<nav><a href=/>Home</a></nav><p><a href=/x>Elsewhere</a></p>"
    found = extract(f"{menu}<h1>Title</h1><p>A short paragraph.</p><p>Another one.</p>".encode())
    assert found.text == "Title\n\nA short paragraph.\n\nAnother one."
    assert found.fallback


def test_a_shell_that_declares_its_text_needs_none() -> None:
    last = SENTENCE.strip()
    body = f"<p>{SENTENCE * 3}</p><p>1. *{last}*</p>"
    item = msgspec.json.encode({"@type": "NewsArticle", "articleBody": body}).decode()
    page = (
        f'<script type="application/ld+json">{item}</script><p>Please enable scripts.</p><script src=app.js></script>'
    )
    found = extract(page.encode())
    assert found.text == f"{(SENTENCE * 3).strip()}\n\n1. *{last}*"
    assert found.fallback
    assert not found.needs_rendering
    assert main_text(page.encode()) == found.text
    assert extract(page.encode(), markdown=True).text.endswith(f"1\\. \\*{last}\\*")


def test_a_short_page_without_scripts_does_not() -> None:
    assert not extract(b"<p>Under construction, please come back next week.</p>").needs_rendering


def test_a_tiny_main_text_falls_back_to_more() -> None:
    cards = "".join(f"<div><h3>Item {place}</h3><span>Price {place}0</span></div>" for place in range(30))
    found = extract(f"<body><div>{cards}</div></body>".encode())
    assert len(found.text.split()) >= 20


def test_a_page_that_is_all_footer_is_read_as_a_whole() -> None:
    assert "Part 5." in extract(ARTICLE.replace(b"<article>", b"<footer>").replace(b"</article>", b"</footer>")).text


def test_an_empty_page_gives_an_empty_text() -> None:
    found = extract(b"")
    assert (found.text, found.title, found.language) == ("", "", "und")


def test_a_heading_outside_the_main_text_names_a_page_without_a_title() -> None:
    page = b"<h1 hidden>Harbour</h1>" + ARTICLE.replace(b"<title>Pier vote | Courier</title>", b"").replace(
        b"h1>", b"h2>"
    )
    assert extract(page).title == "Harbour"


def test_a_bomb_is_refused_with_its_reason() -> None:
    with pytest.raises(Refused, match="html-too-deep"):
        extract(b"<div>" * 200_000)


def test_a_page_already_read_gives_the_same() -> None:
    assert compose(read(ARTICLE), "https://example.org/a") == extract(ARTICLE, "https://example.org/a")


def test_pages_of_many_blocks_are_cut_not_refused() -> None:
    text = extract(b"".join(b"<p>Paragraph %d says something short.</p>" % place for place in range(45_000))).text
    assert "Paragraph 1 says" in text


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<table>",
                "<tr>",
                "<td>",
                "</td>",
                "<a href=x>",
                "</a>",
                "<pre>",
                "</pre>",
                "<br>",
                "<li>",
                "<ul>",
                "</ul>",
                "<b>",
                "</b>",
                "text ",
                "日本語。",
                "<h1>",
                "</h1>",
                "<!--",
                "-->",
                "<noscript>",
                "<svg>",
                "</svg>",
                "<select><option>",
                "<div hidden>",
                "</div>",
                "&amp;",
                "\x00",
                "<time datetime=1>",
                "<frameset>",
            ]
        ),
        max_size=60,
    )
)
def test_any_markup_is_survived(pieces: list[str]) -> None:
    walk = read("".join(pieces).encode()).walk
    found = extract("".join(pieces).encode())
    assert isinstance(found.text, str)
    assert len(walk.box_starts) == len(walk.box_ends) == len(walk.box_parents)
    assert all(0 <= start <= end <= len(walk.texts) for start, end in zip(walk.box_starts, walk.box_ends, strict=True))


@settings(max_examples=50)
@given(st.binary(max_size=400))
def test_any_bytes_are_survived(body: bytes) -> None:
    extract(body, "https://example.org/")


def test_all_that_is_said_of_a_page_is_composed_and_encoded_once() -> None:
    head = "<title>Cafe\u0301 isnâ€™t</title><meta name=author content='Jose\u0301 Lee'>"
    body = (
        f"<article><p>{SENTENCE * 3}</p><h2>Cafe\u0301</h2><p>{SENTENCE * 3}</p><img src=x alt='Cafe\u0301'></article>"
    )
    found = extract((head + body).encode())
    assert (found.title, found.author) == ("Café isn’t", "José Lee")
    assert (found.headings, found.image_alts) == (("Café",), ("Café",))
