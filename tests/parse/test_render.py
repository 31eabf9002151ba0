"""How kept blocks are laid out."""

from selectolax.lexbor import LexborHTMLParser

from weft.parse.render import render
from weft.parse.walk import walk

PAGE = """<h1>Title</h1><p>One<br>two.</p><ul><li>a</li><li>b</li></ul><pre>x = 1
  y</pre><blockquote><p>Said.</p></blockquote><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table><p>End.</p>"""


def rendered(markdown: bool) -> str:
    found = walk(LexborHTMLParser(PAGE))
    return render(found, range(len(found.texts)), markdown)


def test_plain_text() -> None:
    assert rendered(False) == "Title\n\nOne\ntwo.\n\n- a\n- b\n\nx = 1\n  y\n\nSaid.\n\nk | v\n1 | 2\n\nEnd."


def test_markdown() -> None:
    assert rendered(True) == (
        "# Title\n\nOne  \ntwo.\n\n- a\n- b\n\n```\nx = 1\n  y\n```\n\n> Said.\n\n"
        "| k | v |\n| --- | --- |\n| 1 | 2 |\n\nEnd."
    )


def test_only_what_is_kept() -> None:
    found = walk(LexborHTMLParser(PAGE))
    assert render(found, [0, len(found.texts) - 1]) == "Title\n\nEnd."
