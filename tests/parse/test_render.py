"""How kept blocks are laid out."""

import pytest
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


def test_a_long_text_is_not_said_again_whether_its_lines_are_paragraphs_or_not() -> None:
    one, two = "The first line of a text that is here twice.", "The second line of it, as long as the first is."
    apart, together = f"<p>{one}</p><p>{two}</p>", f"<div>{one}<br>{two}</div>"
    for html, text in (
        (apart + together, f"{one}\n\n{two}"),
        (together + apart, f"{one}\n{two}"),
        (apart + f"<p>{one}<br>But more.</p>", f"{one}\n\n{two}\n\n{one}\nBut more."),
    ):
        found = walk(LexborHTMLParser(html))
        assert render(found, range(len(found.texts)), markdown=False) == text


def test_an_item_may_be_said_again_but_not_a_whole_list() -> None:
    warm, run = "Warm up for 10 to 20 minutes: easy jogging, then strides", "Intervals"
    monday, tuesday = f"<ul><li>{warm}<li>{run}</ul>", f"<ul><li>{warm}<li>Tempo</ul>"
    for html, text in (
        (f"{monday}<h2>x</h2>{tuesday}", f"- {warm}\n- {run}\n\nx\n\n- {warm}\n- Tempo"),
        (f"{monday}<h2>x</h2>{monday}", f"- {warm}\n- {run}\n\nx"),
        ("<ul><li>yes<li>no</ul><p>x</p><ul><li>yes<li>no</ul>", "- yes\n- no\n\nx\n\n- yes\n- no"),
    ):
        found = walk(LexborHTMLParser(html))
        assert render(found, range(len(found.texts))) == text


def test_numbers_of_lines_beside_their_code_are_left_out() -> None:
    code = "def main():\n    return 1\n\nmain()"
    beside = f"<table><tr><td><pre>9\n10\n11\n12\n13</pre></td><td><pre>{code}\n</pre></td></tr></table>"
    for html, text in (
        (beside, code),
        (
            f"<pre>{code}</pre><p>prints</p><pre>1\n2\n3\n4</pre><p>then.</p>",
            f"{code}\n\nprints\n\n1\n2\n3\n4\n\nthen.",
        ),
        ("<pre>0\n1</pre><pre>a\nb</pre>", "0\n1\n\na\nb"),
        ("<pre>1\n2</pre><p>a</p>", "1\n2\n\na"),
        ("<pre>1</pre><pre>a</pre>", "1\n\na"),
    ):
        found = walk(LexborHTMLParser(html))
        assert render(found, range(len(found.texts))) == text


def marked(html: str) -> str:
    found = walk(LexborHTMLParser(html))
    return render(found, range(len(found.texts)), markdown=True)


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<p># no<br>* no<br>- no<br>1. no<br>&gt; no<br>---",
            "\\# no  \n\\* no  \n\\- no  \n1\\. no  \n\\> no  \n\\---",
        ),
        ("<p>2*3*4, 2 * 3, __init__, snake_case, _x_", "2\\*3\\*4, 2 * 3, \\_\\_init\\_\\_, snake_case, \\_x\\_"),
        ("<p>&lt;b&gt; 1 &lt; 2 &amp;amp; R&amp;D [a](b)", "\\<b> 1 < 2 \\&amp; R&D [a]\\(b)"),
        ("<p>`a` ~~b~~ ~5 C:\\x\\&lt;y> z\\", "\\`a\\` \\~\\~b\\~\\~ ~5 C:\\x\\\\\\<y> z\\\\"),
        ("<p>[a]: b<br>a | b<br>--- | ---", "\\[a]: b  \na | b  \n\\--- | ---"),
        ("<h2>C# #1</h2><h2>Part #</h2>", "## C# #1\n\n## Part \\#"),
        ("<h2>Install<a class=headerlink href=#i>¶</a></h2>", "## Install"),
        ("<pre>````\nx\n````</pre>", "`````\n````\nx\n````\n`````"),
        ("<ul><li>a<ul><li>b<br>c</li></ul></li><li>d</li></ul>", "- a\n  - b\n    c\n- d"),
        ("<ul><li>a<p>b</p><ul><li>c<ul><li>d</ul></ul></ul>", "- a\n\nb\n\n- c\n  - d"),
        ("<blockquote><p>a</p><p>b</p></blockquote><p>c</p>", "> a\n>\n> b\n\nc"),
        ("<dl><dt>t</dt><dd><p>d</p></dd></dl>", "t\n\nd"),
        (
            "<table><tr><th>a|b<th>c | d<tr><td>1<td>2<td>3</table><table><tr><td>x<td>y</table>",
            "| a\\|b | c\\|d |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n\n| x | y |\n| --- | --- |",
        ),
        ("<table><tr><th>a<th>b<th>c<tr><td>1<td>2</table>", "| a | b | c |\n| --- | --- | --- |\n| 1 | 2 |"),
    ],
)
def test_markdown_means_what_the_page_says(html: str, markdown: str) -> None:
    assert marked(html) == markdown


def test_towers_of_marks_are_cut() -> None:
    found = walk(LexborHTMLParser("<p>o" + "\u0301\u0323" * 5000 + " k"))
    text = render(found, [0])
    assert text.startswith("\u1ecd")
    assert text.endswith(" k")
    assert len(text) < 200


def test_only_what_is_kept() -> None:
    found = walk(LexborHTMLParser(PAGE))
    assert render(found, [0, len(found.texts) - 1]) == "Title\n\nEnd."


def test_mojibake_of_windows_is_mended() -> None:
    found = walk(LexborHTMLParser("<h1>It isnâ€™t a LastenrÃ¤der</h1>"))
    assert render(found, [0]) == "It isn’t a Lastenräder"
