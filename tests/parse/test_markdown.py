"""Markdown that a reader of CommonMark takes for what the page says, whatever marks the page's words hold."""

import html
import re
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from weft.parse.render import render
from weft.parse.walk import walk

_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_STRAY = {"html_block", "html_inline", "code_inline", "em_open", "strong_open", "s_open", "link_open", "image"}
_FRAMES = (
    "<p>{}</p>",
    "<h2>{}</h2>",
    "<ul><li>{}</li><li>x</li></ul>",
    "<ul><li>x<ul><li>{}</li></ul></li></ul>",
    "<ul><li>x<p>y</p><ul><li>z<ul><li>{}</li></ul></li></ul></li></ul>",
    "<blockquote><p>{}</p><p>x</p></blockquote>",
    "<pre>{}</pre>",
    "<xmp>{}</xmp>",
    "<table><tr><th>x</th><th>y</th></tr><tr><td>{}</td><td>z</td></tr></table>",
    "<table><tr><td>{}</td><td>z</td></tr><tr><td>x</td><td>y</td><td>z</td></tr></table>",
)
_WORDS = st.lists(
    st.sampled_from(
        [*"ab1 .)(]![|\\*_`~#<>&-+=:;\"'", "&amp;", "<br>", "---", "1. ", "# ", "[a]: ", "](", "```", "_ _"]
    ),
    min_size=1,
    max_size=8,
).map(lambda pieces: "".join(piece if piece == "<br>" else html.escape(piece) for piece in pieces))
_PAGES = st.lists(st.tuples(st.sampled_from(_FRAMES), _WORDS), min_size=1, max_size=4).map(
    lambda parts: "".join(frame.format(words) for frame, words in parts)
)


def read_back(markdown: str) -> tuple[str, set[str]]:
    """The words that a reader shows, and which marks it saw inside lines."""
    words, marks = [], set()
    for token in _READER.parse(markdown):
        marks.add(token.type)
        if token.type in {"fence", "code_block", "html_block"}:
            words.append(token.content)
        for child in token.children or ():
            marks.add(child.type)
            words.append("\n" if child.type.endswith("break") else child.content)
    return bare("".join(words)), marks & _STRAY


def bare(text: str) -> str:
    """Only what is said: no white space, and no signs that stand between cells."""
    return re.sub(r"[\s|]", "", text)


@settings(max_examples=300)
@given(page=_PAGES)
def test_no_word_of_a_page_is_a_mark(page: str) -> None:
    found = walk(LexborHTMLParser(page))
    words, marks = read_back(render(found, range(len(found.texts)), markdown=True))
    assert (words, marks) == (bare("".join(found.texts)), set())


@pytest.mark.clock
def test_code_of_empty_lines_takes_time_in_proportion_to_its_length() -> None:
    start = process_time()
    found = walk(LexborHTMLParser(f"<pre>a{chr(10) * 1_000_000}b</pre>"))
    assert render(found, [0], markdown=True).startswith("```\na\n")
    assert process_time() - start < 1


def test_old_elements_for_code_are_code() -> None:
    for name in ("xmp", "listing", "plaintext"):
        found = walk(LexborHTMLParser(f"<p>t</p><{name}>def f():\n    return *args\n\n# x</{name}>"))
        assert render(found, [0, 1], markdown=True).startswith("t\n\n```\ndef f():\n    return *args\n\n# x")
