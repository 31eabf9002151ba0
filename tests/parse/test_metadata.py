"""What pages say about themselves, in the ways they say it."""

import json
from datetime import UTC, datetime
from time import process_time

import pytest
from selectolax.lexbor import LexborHTMLParser

from weft.parse.bylines import author
from weft.parse.metadata import Metadata, declared_language, first_heading, metadata
from weft.parse.walk import Wanted, walk


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


def test_what_says_nothing_gives_way_to_the_next() -> None:
    empty = "<meta property=og:title content='&amp;nbsp;'><meta name=description content=' '>"
    found = about(f"{empty}<meta name=twitter:title content='Pier vote'><meta name=description content=D>")
    assert (found.title, found.description) == ("Pier vote", "D")


def test_an_address_is_no_author() -> None:
    assert about('<meta property="article:author" content="https://facebook.com/tom">').author == ""


def test_the_article_speaks_not_the_list_before_it() -> None:
    listed = '{"@type":"ItemList","itemListElement":[{"@type":"Article","headline":"Other","author":"Zed"}]}'
    article = '{"@type":"NewsArticle","headline":"Pier vote","author":"Ann Lee","datePublished":"2024-05-01"}'
    found = about("".join(f"<script type=application/LD+JSON>{one}</script>" for one in (listed, article)))
    assert (found.title, found.author, found.published) == ("Pier vote", "Ann Lee", datetime(2024, 5, 1, tzinfo=UTC))
    assert [item.type for item in found.schema] == ["ItemList", "Article", "NewsArticle"]


def test_entities_escaped_once_too_often_are_undone() -> None:
    found = about(
        """<meta property="og:title" content="Tom &amp;amp; Jerry&amp;#39;s"><meta name=author content="A &amp;amp; B">
        <script type="application/ld+json">{"@type":"Article","description":"Cat &amp;amp; mouse"}</script>"""
    )
    assert (found.title, found.author, found.description) == ("Tom & Jerry's", "A & B", "Cat & mouse")
    assert found.open_graph == (("og:title", "Tom & Jerry's"),)


DAY = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("html", "author", "published"),
    [
        ("<p><span itemprop=author>Ann Lee</span> <span itemprop=datePublished content=2024-05-01>x", "Ann Lee", DAY),
        ("<article itemscope itemtype=http://schema.org/Article><p>x<b itemprop=author>Ann Lee</b>", "Ann Lee", None),
        ("<p><time itemprop=datePublished>May 1, 2024</time> <a itemprop=author href=/a>Ann Lee</a>", "Ann Lee", DAY),
        ("<div itemprop=author>By <a><span itemprop=name>Ann Lee</span></a> <a>Follow</a></div>", "Ann Lee", None),
        ("<p><span itemprop=author itemscope><meta itemprop=name content='Ann Lee'>A.</span>", "Ann Lee", None),
        ("<footer><span itemprop=author>Ann Lee</span></footer>", "Ann Lee", None),
        ("<div itemprop=comment itemscope><p>x</p><b itemprop=author>Zed</b></div>", "", None),
        ("<div itemscope itemtype=http://schema.org/Comment><p>x</p><b itemprop=author>Zed</b></div>", "", None),
        (
            "<div itemscope itemtype=http://schema.org/Comment><b itemprop=author>Zed</b></div><p itemprop=author>Al",
            "Al",
            None,
        ),
        (
            "<p><b itemprop='creator author'>Ann Lee</b><i itemprop='x datePublished' content=2024-05-01>",
            "Ann Lee",
            DAY,
        ),
        ("<p itemprop=author>" + "word " * 100, "", None),
        ("<b itemprop=author>" * 300, "", None),
    ],
)
def test_microdata(html: str, author: str, published: datetime | None) -> None:
    found = about(html)
    assert (found.author, found.published) == (author, published)


def test_microdata_is_not_looked_for_where_a_script_has_said_it() -> None:
    script = (
        '<script type="application/ld+json">{"@type":"Article","author":"Ann","datePublished":"2024-05-01"}</script>'
    )
    page = "<p>x <time itemprop=datePublished>May 2, 2024</time></p>"
    assert walk(LexborHTMLParser(script + page)).items == []
    assert about(page + script).published == DAY
    assert about(page + script.replace("author", "editor")).published == DAY
    assert about(page + script.replace("datePublished", "x")).published == DAY.replace(day=2)


def test_microdata_speaks_last() -> None:
    marked = (
        "<div itemscope itemtype=http://schema.org/Article><meta itemprop=description content=D><h2 itemprop=headline>H"
    )
    assert (about(marked).title, about(marked).description) == ("H", "D")
    found = about(f"<title>T</title><meta name=description content=E><meta name=author content=Ann>{marked}")
    assert (found.title, found.description) == ("T", "E")


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ("<p><a rel=author href=/ann>Ann Lee</a></p>", "Ann Lee"),
        ("<p><a rel='nofollow Author' href=/ann>By <b>Ann Lee</b></a></p>", "Ann Lee"),
        ("<p><a rel=author>Ann Lee</a>", "Ann Lee"),
        ("<p><a rel=author href=/ann><img alt='a portrait'></a></p>", ""),
        ("<p><a rel=authority href=/ann>Ann Lee</a></p>", ""),
        ("<p><a rel=author href=/ann>https://example.org/ann</a></p>", ""),
        (f"<p><a rel=author href=/ann>{'Ann ' * 60}</a></p>", ""),
        ("<link rel=author href=/ann>", ""),
        ("".join(f"<p><a rel=author href=/a>Ann {letter}</a></p>" for letter in "ABCD"), ""),
    ],
)
def test_links_to_the_author_count_whatever_is_wanted(html: str, author: str) -> None:
    for wanted in (Wanted.METADATA, Wanted.LINKS):
        assert metadata(walk(LexborHTMLParser(html), wanted), None).author == author


@pytest.mark.parametrize(
    ("said", "author"),
    [
        ("By Ann Lee", "Ann Lee"),
        ("by Ann Lee", "Ann Lee"),
        ("Author: Ann Lee", "Ann Lee"),
        ("作者：白居易", "白居易"),
        ("by the river", "by the river"),
        ("Byron Lee", "Byron Lee"),
        ("Ann Lee, Ann Lee", "Ann Lee"),
        ("Lee, Ann, Lee, Bob", "Lee, Ann, Lee, Bob"),
        ("ann@example.org", ""),
        ("www.example.org", ""),
        ("https://example.org/ann", ""),
        ("@ann", "@ann"),
        ("Ann Lee | May 5, 2024", "Ann Lee"),
        ("Ann Lee – 5. Mai 2024", "Ann Lee"),
        ("Ann Lee | Courier", "Ann Lee | Courier"),
        ("&quot;Ann Lee&quot;", "Ann Lee"),
        ("“Ann Lee”", "Ann Lee"),
        ("Dwayne &quot;The Rock&quot;", 'Dwayne "The Rock"'),
        ("李楠", "李楠"),
        ("김철", "김철"),
        ("あい", "あい"),
        ("Bo", "Bo"),
        ("user3080392", "user3080392"),
        ("Ejp55230", "Ejp55230"),
        ("hayley.p", "hayley.p"),
        ("Frank Staff", "Frank Staff"),
        ("The Courier Team", "The Courier Team"),
        ("Badminton World", "Badminton World"),
    ],
)
def test_names(said: str, author: str) -> None:
    assert about(f'<meta name=author content="{said}">').author == author


@pytest.mark.parametrize(
    "said",
    """, USA TODAY;- USA TODAY;undefined;null;none;N/A;-;page.head.extra.author;No Author;Unknown;Anonymous
    admin;adminn;q_admin;admin_2;Administrator;wpadmin;Site Admin;Webmaster;team;The Team;Staff;user;2909;L_104485;Q;李
    262588213843476;3d23d65-ddc6-4ce5;{{ author }};[email protected];undefined undefined;佚名;"null";By: Admin
    Unknown Author
    admin | May 5, 2024""".replace("\n", ";").split(";"),
)
def test_nobody_gives_way_to_the_next(said: str) -> None:
    said = said.strip()
    script = json.dumps({"@type": "Article", "author": {"name": said}})
    assert about(f'<script type="application/ld+json">{script}</script><meta name=author content="Bo">').author == "Bo"
    assert about(f"<meta name=author content='{said}'><p><a rel=author href=/bo>Bo</a></p>").author == "Bo"


@pytest.mark.parametrize("piece", ["@.", " - 20", "a.", "'", "0", "{", " | ", "_"])
@pytest.mark.clock
def test_what_is_no_name_is_soon_known(piece: str) -> None:
    start = process_time()
    author([f"{piece * (190 // len(piece))} ://"] * 1000)
    assert process_time() - start < 0.5


@pytest.mark.parametrize("name", ["og:article:author", "cXenseParse:author", "citation_author"])
def test_metas_that_name_the_author(name: str) -> None:
    assert about(f"<meta property={name} content='Ann Lee'>").author == "Ann Lee"


def test_those_who_wrote_a_paper_are_named_together() -> None:
    metas = "".join(f"<meta name=citation_author content='{name}'>" for name in ("Ann Lee", " ", "Bob  Ray"))
    assert about(f"<meta name=citation_title content=Piers><title>x</title>{metas}").author == "Ann Lee, Bob Ray"
    assert about(f"<meta name=citation_title content=Piers><title>x</title>{metas}").title == "Piers"
    assert about(metas * 100).author.startswith("Ann Lee, Bob Ray, Ann Lee")


@pytest.mark.parametrize(
    "name",
    [
        "citation_publication_date",
        "citation_date",
        "citation_online_date",
        "og:article:published_time",
        "dc.date.created",
        "news:published_time",
        "published_date",
        "published-date",
        "cXenseParse:recs:publishtime",
    ],
)
def test_metas_that_name_the_day(name: str) -> None:
    assert about(f"<meta name='{name}' content='2024/05/01'>").published == DAY


def test_a_date_of_the_article_goes_before_one_that_may_be_of_the_day() -> None:
    script = '<script type="application/ld+json">{"@type":"Article","datePublished":"2024-05-01"}</script>'
    assert about(f"<meta name=date content=2025-01-01>{script}").published == DAY
    assert about(f"<meta property=article:published_time content=2024-04-30>{script}").published == DAY.replace(
        month=4, day=30
    )


@pytest.mark.parametrize(
    ("title", "site", "left"),
    [
        ("Pier vote | Courier", "Courier", "Pier vote"),
        ("Courier | Pier vote", "Courier", "Pier vote"),
        ("COURIER: Pier vote - Courier", "Courier", "Pier vote"),
        ("Pier vote - The Pier - Courier", "The Pier - Courier", "Pier vote"),
        ("码头投票_新闻网", "新闻网", "码头投票"),
        ("Courier", "Courier", "Courier"),
        ("A | Courier", "Courier", "A | Courier"),
        ("Courier - Courier", "Courier", "Courier"),
        ("The new Courier", "Courier", "The new Courier"),
        ("Courier-led vote", "Courier", "Courier-led vote"),
        ("Straße | STRASSE", "Strasse", "Straße"),
        ("码头投票-新浪网", "新浪网", "码头投票"),
        ("码头投票——新浪网", "新浪网", "码头投票"),
        ("新浪网-码头投票", "新浪网", "码头投票"),
        ("码-新浪网", "新浪网", "码-新浪网"),
        ("Pier – vote—Courier", "Courier", "Pier – vote"),
        ("Pier vote-Courier", "Courier", "Pier vote"),
        ("The Courier-Pier vote", "The Courier", "Pier vote"),
        ("The Courier - Pier vote", "The Courier", "Pier vote"),
        ("The Courier » Pier vote", "The Courier", "Pier vote"),
        ("The Couriers-Pier vote", "The Courier", "The Couriers-Pier vote"),
        ("Pier vote-Couriers", "Courier", "Pier vote-Couriers"),
    ],
)
def test_the_site_is_cut_off_whichever_title_wins(title: str, site: str, left: str) -> None:
    named = f'<meta property=og:site_name content="{site}">'
    assert about(f"<title>{title}</title>{named}").title == left
    assert about(f"<title>x</title><meta property=og:title content='{title}'>{named}").title == left


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=en_gb><meta http-equiv=content-language content=de>", "en-GB"),
        ("<html lang=''><meta http-equiv=Content-Language content=de>", "de"),
        ("<html lang='{{ lang }}'><meta property=og:locale content=pt_BR>", "pt-BR"),
        ("<meta http-equiv=content-language content='text/html'><meta property=og:locale content=fr_FR>", "fr-FR"),
        ("<p>x", ""),
    ],
)
def test_the_language_as_declared_anywhere(html: str, language: str) -> None:
    assert declared_language(walk(LexborHTMLParser(html))) == language


@pytest.mark.parametrize(
    ("title", "headings", "left"),
    [
        ("List of laureates - Wikipedia", "<h1>List of laureates", "List of laureates"),
        ("Using the Fetch API - Web APIs | MDN", "<h1>Using the Fetch API¶", "Using the Fetch API"),
        ("Pier Vote – Courier", "<h1>Menu</h1><h1>Pier vote", "Pier Vote"),
        ("码头投票 - 新闻网", "<h1>码头投票", "码头投票"),
        ("Jobs: what now - Courier", "<h1>Jobs", "Jobs: what now - Courier"),
        ("Pier vote-winners - Courier", "<h1>Pier vote", "Pier vote-winners - Courier"),
        ("Pier voters - Courier", "<h1>Pier vote", "Pier voters - Courier"),
        ("Opinion | What I will be praying for this spring", "<h1>Opinion", ""),
        ("Pier - Courier", "<h1>Pier", "Pier"),
        ("Tar - Courier", "<h1>Tar", "Tar - Courier"),
        ("Example | Pier vote", "<h1>Example", "Example | Pier vote"),
        ("Pier vote | Courier", "<h2>Pier vote", "Pier vote | Courier"),
        ("Learn C# - Courier", "<h1>Learn C#", "Learn C#"),
        (" | Courier", "<h1>", "| Courier"),
    ],
)
def test_what_follows_the_heading_is_no_part_of_the_title(title: str, headings: str, left: str) -> None:
    assert about(f"<title>{title}</title>{headings}").title == (left or title)


def test_the_first_heading_names_a_page_that_has_no_title() -> None:
    found = walk(LexborHTMLParser("<h2>Part</h2><h1>Pier <i>vote</i></h1><h1>Next</h1>"))
    assert first_heading(found) == "Pier vote"
    assert first_heading(walk(LexborHTMLParser("<h2>Part</h2>"))) == ""


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<link rel='Canonical nofollow' href=/c>", "https://example.org/c"),
        ("<link rel=canonical href='javascript:alert(1)'>", ""),
        (
            "<link rel=canonical href='mailto:a@example.org'><link rel=canonical href=//b.example/>",
            "https://b.example/",
        ),
        ("<link rel=canonical href=HTTPS://b.example/>", "https://b.example/"),
        (f"<link rel=canonical href=/{'a' * 2040}>", ""),
        ("<a rel=canonical href=/c>x</a>", ""),
    ],
)
def test_canonical_addresses(html: str, canonical: str) -> None:
    assert about(html).canonical == canonical


def test_bad_addresses_are_survived() -> None:
    assert about('<link rel=canonical href="http://[bad">').canonical == ""
