"""The one pass over the tree: what is a block, what is kept beside it."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from weft.parse.vocabulary import REGIONS, Tag
from weft.parse.walk import Fact, RawLink, RawMeta, Trait, Walk, Wanted, walk


def walked(html: str) -> Walk:
    return walk(LexborHTMLParser(html))


def fact(found: Walk, block: int, column: Fact) -> int:
    return found.facts[block * len(Fact) + column]


def trait(found: Walk, block: int, column: Trait) -> int:
    return found.places[fact(found, block, Fact.PLACE)][column]


def test_blocks_end_where_block_elements_begin_and_end() -> None:
    found = walked("<div>one<p>two</p>three</div><section>four</section>")
    assert found.texts == ["one", "two", "three", "four"]


def test_inline_elements_neither_split_nor_glue_words() -> None:
    found = walked("<p><b>bold</b> <i>italic</i><span>glued</span>\n<a href=x>link</a> end</p>")
    assert found.texts == ["bold italicglued link end"]


def test_readings_above_characters_are_no_text() -> None:
    assert walked("<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>を読む</p>").texts == ["漢字を読む"]


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        (
            "<p>Out <g-emoji>🎉</g-emoji> now, says <user-tag>@ann</user-tag> today.</p>",
            ["Out 🎉 now, says @ann today."],
        ),
        ("<p><g-emoji>🎉</g-emoji> now</p>", ["🎉 now"]),
        ("<div>one <b>two <x-y>three</x-y></b> four</div>", ["one two three four"]),
        ("<x-card>one</x-card><x-card>two</x-card>", ["one", "two"]),
        ("<a href=x><x-card>one</x-card></a><a href=y><x-card>two</x-card></a>", ["one", "two"]),
        ("<p>lazy <noscript><img src=x></noscript> image</p>", ["lazy image"]),
        ("<div>Out <g-emoji>🎉</g-emoji> now</div><div><x-y>three</x-y></div>", ["Out 🎉 now", "three"]),
        ("<ul><li><x-y>one</x-y> two<li><x-y>three</x-y><x-y>four</x-y>", ["one two", "three", "four"]),
        ("<p><x-y>one<x-z>two</x-z></x-y></p>", ["onetwo"]),
    ],
)
def test_made_up_elements_are_words_in_a_sentence_and_blocks_elsewhere(html: str, texts: list[str]) -> None:
    assert walked(html).texts == texts


_MATH = (
    '<math alttext="a"><semantics><mrow><mi>E</mi><mo>=</mo><msup><mi>m</mi><mn>2</mn></msup></mrow>'
    '<annotation encoding="application/x-tex">E=m^2</annotation></semantics></math>'
)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (_MATH, "E=m^2"),
        ("<math><mi>x</mi><msqrt><mn>2</mn></msqrt></math>", "x2"),
        ('<math alttext="{\\displaystyle x^{2}}"><mi>x</mi></math>', "x^{2}"),
        (
            f'<span class=katex><span>{_MATH}</span><span class="katex-html" aria-hidden=true>E=m2</span></span>',
            "E=m^2",
        ),
        (f'<span class=mwe-math-element><span style="display: none">{_MATH}</span><img alt=x></span>', "E=m^2"),
        (f'<span class=MathJax_Preview>E=m2</span><span class="MathJax"><nobr>E=m2</nobr>{_MATH}</span>', "E=m^2"),
        ("<span class=katex>E</span>", "E"),
        ("<math><semantics><mi>E</mi><annotation>e in words</annotation></semantics></math>", "E"),
        ("<span class=katex><math></math>E</span>", "E"),
        ("<math alttext='x^{2}'>x2</math>", "x^{2}"),
    ],
)
def test_a_formula_is_a_word_of_its_sentence(html: str, text: str) -> None:
    assert walked(f"<p>We know that {html} holds.</p>").texts == [f"We know that {text} holds."]


def test_a_link_to_its_own_heading_is_no_part_of_it() -> None:
    found = walked('<h2><a href="#use">#</a> Use <a href="/c">C</a></h2><p>Issue <a href="/issues/3">#</a>3')
    assert found.texts == ["Use C", "Issue #3"]
    assert [link.text for link in found.links] == ["#", "C", "#"]
    assert walked('<p>Press <a href="#keys">#</a> to end</p>').texts == ["Press # to end"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<span class=name>Ann Lee</span><span class=title>STUDENT</span>", "Ann Lee STUDENT"),
        ("<b>$<i class=p>49</i></b><small class=n>VAT included</small>", "$49 VAT included"),
        ("<span class=n>model</span><span class=y>2024</span>", "model 2024"),
        ("<a href=x>Merrell</a><a href=y>Moab</a>", "Merrell Moab"),
        ("<span class=tag>red</span><span class=tag>Blue</span>", "red Blue"),
        ("<span class=cap>T</span><span class=rest>He end", "THe end"),
        ("<span>Java</span><span>Script", "JavaScript"),
        ("<span class=a>over</span><span class=b>night", "overnight"),
        ("<span class=d>20</span><span class=d>px", "20px"),
        ("<span class=f>CO</span><sub class=s>2</sub>", "CO2"),
        ("<span class=d>3</span><span class=m>月</span>", "3月"),
        ("<code><span class=k>get</span><span class=n>Name</span></code>", "getName"),
        ("<span class=a>Mc</span>Donald", "McDonald"),
    ],
)
def test_words_that_only_style_sets_apart_are_not_glued(html: str, text: str) -> None:
    assert walked(f"<p>{html}</p>").texts == [text]


@pytest.mark.parametrize(
    ("button", "texts"),
    [
        ("<button aria-expanded=false>How does it work?</button>", ["How does it work?", "By magic."]),
        ("<button><h3>Was kostet es?</h3></button>", ["Was kostet es?", "By magic."]),
        ("<button aria-expanded=true><span>どうして？</span></button>", ["どうして？", "By magic."]),
        ("<button>Need help?</button>", ["By magic."]),
        ("<button aria-expanded=false>Menu</button>", ["By magic."]),
    ],
)
def test_questions_that_open_their_answers_are_read(button: str, texts: list[str]) -> None:
    found = walked(f"<div>{button}<div><p>By magic.</p></div></div>")
    assert found.texts == texts


def test_code_is_not_set_apart() -> None:
    assert walked("<pre><i class=k>get</i><i class=n>Name</i></pre>").texts == ["getName"]


def test_who_is_quoted_is_no_part_of_the_quotation() -> None:
    assert walked("<blockquote><div><cite>Ann wrote:</cite>Quoted text</div></blockquote>").texts == [
        "Ann wrote:",
        "Quoted text",
    ]
    assert walked("<blockquote>Text here.<cite>Will</cite></blockquote>").texts == ["Text here.", "Will"]
    assert walked("<div><cite>Hamlet</cite>, a play</div><p>in <cite>Hamlet</cite>").texts == [
        "Hamlet, a play",
        "in Hamlet",
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<pre><span class=linenos>1</span><span>import</span> os\n<span class=linenos>2</span>go()</pre>",
        "<pre><code><span class=line><span class=ln>1</span><span class=cl>import os\n</span></span>go()</code></pre>",
        "<pre><table><tr><td class='gutter gl'><pre>1\n2\n</pre></td><td><pre>import os\ngo()</pre></table></pre>",
    ],
)
def test_numbers_of_lines_inside_code_are_no_code(html: str) -> None:
    assert walked(html).texts == ["import os\ngo()"]
    assert walked("<p>See <span class=ln>12</span> there").texts == ["See 12 there"]


def test_a_formula_in_a_link_is_what_the_link_says() -> None:
    assert [link.text for link in walked(f"<p><a href=/e>On {_MATH}</a></p>").links] == ["On E=m^2"]


def test_inline_words_that_nobody_sees_are_left_out() -> None:
    unseen = '<span style="display:none">one</span><span class="x sr-only">two</span><span hidden>three</span>'
    assert walked(f"<p>See <b class=x>the</b> {unseen} end</p>").texts == ["See the end"]
    found = walked('<p>See <span hidden><a href="/x">a trap</a></span> end</p>')
    assert (found.texts, [link.href for link in found.links]) == (["See end"], ["/x"])
    article = "An article that a script is to show. " * 9
    assert walked(f"<span style='display:none'><p>{article}</p></span>").texts == [article.strip()]


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ("<tr><th><th>a<th>b<tr><th>x<td><td>2", [" | a | b", "x |  | 2"]),
        ("<tr><td>x<td>1<td><tr><td>y<td><br><td>2", ["x | 1", "y |  | 2"]),
        ("<tr><th colspan=2>both<th>c<tr><td>1<td>2<td>3", ["both |  | c", "1 | 2 | 3"]),
        ("<tr><td rowspan=2>x<td>1<td>2<tr><td>3<td>4<tr><td>y<td>5<td>6", ["x | 1 | 2", " | 3 | 4", "y | 5 | 6"]),
        ("<tr><td>a | b<td>c<br>d", ["a|b | c d"]),
        ("<tr><td>a<td><button>press</button><td>b", ["a | b"]),
        ("<tr><td colspan=x>a<td rowspan=0>b<td colspan=99999999999>c", ["a | b | c"]),
        (f"<tr><td colspan=002>a<td>b<td colspan={'1' * 5_000}>c", ["a |  | b | c"]),
        ("<tr><td rowspan=2>x<td>1<tr><td>2<tr><td>y<td>3", ["x | 1", " | 2", "y | 3"]),
        ("<tr><td rowspan=3>x<td>1<tr></tr><tr><td>2<td>3<tr><td>y<td>4", ["x | 1", " | 2 | 3", "y | 4"]),
        (f"<tr><td rowspan=2>{'long ' * 50}<td>1<tr><td>2<td>3", [("long " * 50).strip(), "1", " | 2 | 3"]),
        ("<tr><td rowspan=2>x<td><button>no</button><td>1<tr><td>2<td>3", ["x | 1", " | 2 | 3"]),
    ],
)
def test_cells_stay_under_their_columns(rows: str, texts: list[str]) -> None:
    assert walked(f"<table>{rows}</table>").texts == texts


def test_cells_of_code_are_no_row_of_data() -> None:
    code = "def main():\n    return 1\n\nmain()"
    assert walked(f"<table><tr><td><pre>9\n10</pre></td><td><pre>{code}\n</pre></td></tr></table>").texts == [
        "9\n10",
        code,
    ]


def test_one_break_is_a_line_and_two_end_the_block() -> None:
    assert walked("<td>a<br>b<br> <br>c</td><p>x<br/>y</p>").texts == ["a\nb", "c", "x\ny"]


def test_code_keeps_its_lines_and_indents() -> None:
    code = "def f():\n    return 1\n\nprint(f())"
    assert walked(f"<p>see</p><pre><code>{code}</code></pre>").texts == ["see", code]
    assert walked("<pre><div>a</div><div>  b</div></pre>").texts == ["a\n  b"]
    assert walked("<pre><div>a\n</div><div><br></div><div>b<br></div><div>c</div></pre>").texts == ["a\n\nb\nc"]


def test_scripts_styles_and_drawings_hold_no_text() -> None:
    html = "<style>a{}</style><p>text<svg><title>icon</title><text>x</text></svg></p><script>var t='no'</script>"
    assert walked(html).texts == ["text"]


def test_noscript_is_read_as_markup() -> None:
    found = walked("<body><noscript><div><p>post</p></div></noscript>")
    assert found.texts == ["post"]
    assert trait(found, 0, Trait.REGIONS) >> REGIONS.index("noscript") & 1


def test_a_row_of_data_is_one_block_and_a_row_of_layout_is_not() -> None:
    data = walked("<table><tr><th>a</th><td>1 <b>x</b></td></tr><tr><td>b</td><td>2</td></tr></table><p>after</p>")
    assert data.texts == ["a | 1 x", "b | 2", "after"]
    assert trait(data, 0, Trait.TAG) == Tag.ROW
    layout = walked("<table><tr><td>menu</td><td><p>one</p><p>two</p></td></tr></table>")
    assert layout.texts == ["menu", "one", "two"]


def test_a_row_inside_a_row_of_layout_is_merged_alone() -> None:
    inner = "<table><tr><td>a</td><td>1</td></tr></table>"
    assert walked(f"<table><tr><td>menu</td><td>{inner}</td></tr></table>").texts == ["menu", "a | 1"]


def test_blocks_at_the_same_place_of_a_template_share_it() -> None:
    found = walked("<ul><li class=card><p>a</p><a href=x><b>c</b></a></li><li class=card><p>b</p></li><li>d</li></ul>")
    assert found.texts == ["a", "c", "b", "d"]
    places = [fact(found, block, Fact.PLACE) for block in range(4)]
    assert places[0] == places[2]
    assert len(set(places)) == 3
    shapes = [trait(found, block, Trait.SHAPE) for block in range(4)]
    assert shapes[0] == shapes[2] != shapes[3]


def test_each_text_knows_its_length() -> None:
    found = walked("<p>a  b<br>c</p><table><tr><th>k</th><td>v</td></tr></table><pre>x\n  y</pre>")
    assert [fact(found, block, Fact.LENGTH) for block in range(3)] == [len(text) for text in found.texts]


def test_a_block_inside_a_link_is_told_from_one_beside_it() -> None:
    found = walked("<div><a href=x><p>inside</p></a><p>outside</p></div>")
    linked = [trait(found, block, Trait.REGIONS) >> REGIONS.index("link") & 1 for block in range(2)]
    assert linked == [1, 0]


def test_boxes_enclose_their_blocks() -> None:
    found = walked("<main><div><p>a</p><p>b</p></div><table><tr><td>c</td><td>d</td></tr></table></main>")
    for parent, start, end in zip(found.box_parents, found.box_starts, found.box_ends, strict=True):
        assert found.box_starts[parent] <= start < end <= found.box_ends[parent] <= len(found.texts)


def test_blocks_know_their_regions_and_elements() -> None:
    found = walked(
        "<div role=navigation><ul><li>menu</li></ul></div><article><h2><span>head</span></h2><p hidden>x</p></article>"
    )
    assert [trait(found, block, Trait.TAG) for block in range(3)] == [Tag.ITEM, Tag.H2, Tag.PARAGRAPH]
    assert trait(found, 0, Trait.REGIONS) >> REGIONS.index("nav") & 1
    assert trait(found, 1, Trait.REGIONS) >> REGIONS.index("article") & 1
    assert trait(found, 2, Trait.REGIONS) >> REGIONS.index("hidden") & 1
    assert [fact(found, block, Fact.ITEM) for block in range(3)] == [1, 0, 0]


def test_links_come_as_written_with_their_text() -> None:
    html = """<base href="/b/"><link rel=canonical href=/c>
    <a href="x?a=1&amp;b=2" rel="nofollow ugc">the <b>text</b></a>
    <a href=y><img alt="a picture"></a><area href=z alt=map><iframe src=f></iframe><a>no target</a>"""
    found = walked(html)
    assert found.base == "/b/"
    assert found.links == [
        RawLink("/c", "", "canonical", "link"),
        RawLink("x?a=1&b=2", "the text", "nofollow ugc", "a"),
        RawLink("y", "a picture", "", "a"),
        RawLink("z", "map", "", "area"),
        RawLink("f", "", "", "iframe"),
    ]


def test_a_link_ends_where_its_element_ends() -> None:
    found = walked("<div><a href=x><div><p>inside</p></div></a><p>outside</p></div>")
    assert [link.text for link in found.links] == ["inside"]
    assert fact(found, 0, Fact.LINK_CHARS) == len("inside")
    assert fact(found, 1, Fact.LINK_CHARS) == 0


def test_menus_and_footers_give_links_but_no_text() -> None:
    html = """<nav><a href=/a>first <b>menu</b></a><a href=/b><img alt="a picture"></a></nav>before<footer>
    <script type="application/ld+json">{}</script><a href=/c rel=nofollow>foot</a> text</footer><p>after</p>"""
    found = walked(html)
    assert found.texts == ["before", "after"]
    assert found.links == [
        RawLink("/a", "first menu", "", "a"),
        RawLink("/b", "a picture", "", "a"),
        RawLink("/c", "foot", "nofollow", "a"),
    ]
    assert (found.scripts, found.furniture) == (["{}"], 2)
    assert walked(f"<script type='application/ld+json'>1</script>{html}").scripts == ["1"]  # once is enough
    assert walk(LexborHTMLParser(html), whole=True).texts == ["first menu", "before", "foot text", "after"]


@pytest.mark.parametrize("element", ["nav", "footer", "dialog", "header"])
def test_furniture_ends_a_block_and_its_links_are_listed(element: str) -> None:
    found = walked(f"one <{element}>two <a href=/x>three</a></{element}> four")
    assert found.texts == ["one", "four"]
    assert found.links == [RawLink("/x", "three", "", "a")]


@pytest.mark.parametrize("holder", ["<article><div>{}</div></article>", "<main>{}</main>", "{}"])
@pytest.mark.parametrize("content", ["<h1>title</h1>by me", "<p>title</p><time>by me</time>"])
def test_a_header_is_read_where_it_holds_a_title_or_date(holder: str, content: str) -> None:
    found = walked("a" + holder.format(f"<header>{content}</header>") + "b")
    assert found.texts == ["a", "title", "by me", "b"]


def test_a_header_of_a_part_of_the_page_is_read() -> None:
    found = walked("a<section><div><header>of this part</header></div></section><header>of the site</header>b")
    assert found.texts == ["a", "of this part", "b"]
    assert found.furniture == 1


def test_a_button_is_text_only_in_a_heading() -> None:
    found = walked("<p>Read <button>Share this</button>on.</p><h3><span><button>Who <b>pays</b>?</button></span></h3>")
    assert found.texts == ["Read on.", "Who pays?"]


def test_links_around_and_inside_buttons_are_listed() -> None:
    found = walked(
        "<a href=/a>See <button>all <b>offers</b></button></a><button><a href=/b rel=nofollow>more</a></button>"
    )
    assert found.links == [RawLink("/a", "See all offers", "", "a"), RawLink("/b", "more", "nofollow", "a")]


def test_anchors_are_left_out_when_nobody_follows_them() -> None:
    tree = LexborHTMLParser("<link rel=canonical href=/c><nav><a href=/a>x</a></nav><p><a href=/b>y</a></p>")
    assert walk(tree, Wanted.METADATA).links == [RawLink("/c", "", "canonical", "link")]
    assert walk(tree, Wanted.METADATA).texts == ["y"]


def test_for_its_text_alone_a_page_is_read_like_for_everything_without_what_says_nothing_of_the_text() -> None:
    html = """<title>T</title><link rel=canonical href=/c><meta property=og:type content=article>
        <nav>menu</nav><p>one<img src=i alt=seen><iframe src=/f></iframe></p>
        <script type=ld+json>{}</script><p>two</p>"""
    for whole in (False, True):
        tree = LexborHTMLParser(html)
        bare, all_of_it = walk(tree, Wanted.TEXT, whole=whole), walk(tree, whole=whole)
        for part in ("texts", "facts", "places", "metas", "scripts", "furniture"):
            assert getattr(bare, part) == getattr(all_of_it, part)
        assert (bare.title, bare.links, bare.images) == ("", [], [])
        assert all_of_it.title
        assert all_of_it.links
        assert all_of_it.images


def test_metadata_is_found_in_head_and_body() -> None:
    html = """<html lang=de><head><noscript><img src=p></noscript><title> A \n title </title>
    <meta name=Robots content=noindex>
    <script type="application/ld+json">{"a":1}</script></head><body><meta property="og:type" content="article">
    <div itemscope itemtype="https://schema.org/Product"><span>x</span></div><time datetime="2024-01-02">t</time>"""
    found = walked(html)
    assert (found.title, found.language, found.scripts) == ("A title", "de", ['{"a":1}'])
    assert found.metas == [RawMeta("robots", "noindex"), RawMeta("og:type", "article"), RawMeta("time", "2024-01-02")]
    assert found.item_types == ["https://schema.org/Product"]


def test_an_empty_page_has_nothing() -> None:
    assert walked("").texts == []
    assert walked("<div><p> \n </p></div>").texts == []


def test_what_is_wanted_changes_nothing_that_the_text_depends_on() -> None:
    html = """<meta itemprop=datePublished content=2024-05-01><div itemscope itemtype=http://schema.org/Article>
    <p>one <span itemprop=author>Ann</span> <time itemprop=dateModified datetime=2024>x</time></p>
    <a rel=author href=/ann>Ann <img alt=portrait></a><div itemprop=author>By <b itemprop=name>Ann</b></div></div>"""
    text, metadata, links = (walk(LexborHTMLParser(html), wanted) for wanted in Wanted)
    for column in ("texts", "facts", "places", "metas", "scripts", "item_types"):
        assert getattr(text, column) == getattr(metadata, column) == getattr(links, column)
    assert (text.items, text.profiles) == ([], [])
    assert (metadata.items, metadata.profiles) == (links.items, links.profiles)
    assert [item.values.get("author") for item in links.items] == [None, "Ann"]
    assert links.profiles == ["Ann"]
