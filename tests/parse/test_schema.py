"""What pages describe in schema.org's terms, and which of it speaks for them."""

import json
from time import process_time

import pytest

from weft.parse.raw import RawItem
from weft.parse.schema import SchemaItem, article_body, microdata_speakers, schema, types_only

ARTICLE = {"@type": "NewsArticle", "headline": "Pier vote", "author": {"name": "Ann"}, "datePublished": "2024-05-01"}
OTHER = {"@type": "Article", "headline": "Other story", "author": "Zed", "datePublished": "2001-01-01"}


def script(*values: object) -> str:
    return json.dumps(values[0] if len(values) == 1 else values)


@pytest.mark.parametrize(
    "first",
    [
        {"@type": "ItemList", "itemListElement": [OTHER]},
        {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": OTHER}]},
        {"@type": "CollectionPage", "mainEntity": [OTHER]},
        {"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Why?", "author": "Zed"}]},
        {"@type": "Organization", "name": "Press", "description": "Who we are", "author": "Zed"},
        {"@type": "BreadcrumbList", "name": "Home", "author": "Zed"},
        {"@type": ["Person", "Thing"], "name": "Zed", "author": "Zed"},
        {"@type": "ImageObject", "name": "Zed", "author": "Zed"},
        {"@type": "WebPage", "headline": "Page", "author": "Zed"},
        {"@type": "Product", "headline": "Thing", "author": "Zed"},
        {"@type": "VideoObject", "headline": "Film", "author": "Zed"},
    ],
)
def test_the_article_speaks_whatever_stands_before_it(first: dict[str, object]) -> None:
    for scripts in ([script(first, ARTICLE)], [script(first), script(ARTICLE)], [script({"@graph": [first, ARTICLE]})]):
        speaking = schema(scripts).speakers
        assert (speaking[0].headline, speaking[0].author) == ("Pier vote", "Ann")
        assert not any("Who we are" in item.description for item in speaking)


@pytest.mark.parametrize(
    "kind",
    [
        "BlogPosting",
        "Report",
        "JobPosting",
        "DiscussionForumPosting",
        "TechArticle",
        "Recipe",
        "HowTo",
        "https://schema.org/Article",
    ],
)
def test_kinds_of_articles_and_postings(kind: str) -> None:
    assert schema([script({"@type": "WebPage"}, {"@type": kind})]).speakers[0].type == kind.removeprefix(
        "https://schema.org/"
    )


def test_the_question_of_a_page_of_answers_speaks() -> None:
    question = {"@type": "Question", "name": "Why?", "author": {"name": "Ann"}, "dateCreated": "2024-05-01"}
    first = schema([script({"@type": "QAPage", "mainEntity": question})]).speakers[0]
    assert (first.name, first.author, first.published) == ("Why?", "Ann", "2024-05-01")


def test_a_second_article_does_not_fill_the_gaps_of_the_first() -> None:
    speaking = schema([script({"@type": "Article", "headline": "Pier vote"}, OTHER, ARTICLE)]).speakers
    assert [item.author for item in speaking] == ["", "Ann"]


def test_the_first_of_many_articles_speaks_only_for_a_page_of_its_title() -> None:
    scripts = [script(*({"@type": "Article", "headline": f"Piece {number}"} for number in range(4)))]
    assert schema(scripts).speakers == []
    assert schema(scripts, "News | Courier").speakers == []
    assert [item.headline for item in schema(scripts, "PIECE 0 | Courier").speakers] == ["Piece 0"]
    assert [item.headline for item in schema([script(OTHER, ARTICLE)]).speakers] == ["Other story"]


def test_lists_and_their_entries_are_still_described() -> None:
    described = schema([script({"@type": "ItemList", "itemListElement": [OTHER]}, ARTICLE)])
    assert [item.type for item in described.items] == ["ItemList", "Article", "NewsArticle"]


def test_references_are_resolved() -> None:
    graph = [
        {
            "@type": "Article",
            "headline": "x",
            "author": {"@id": "#ann"},
            "publisher": [{"@id": "#org"}, {"@id": "#no"}],
        },
        {"@type": "Person", "@id": "#ann", "name": "Ann Lee"},
        {"@type": "Organization", "@id": "#org", "name": {"@value": "Press"}},
        {"@type": "Person", "@id": "#ann", "name": {"@id": "#ann"}},
    ]
    described = schema([script({"@graph": graph})])
    assert (described.items[0].author, described.items[0].publisher, described.site) == ("Ann Lee", "Press", "Press")


def test_a_person_of_two_names_is_referred_to() -> None:
    person = {"@type": "Person", "@id": "#a", "givenName": "Ann", "familyName": "Lee"}
    assert schema([script({"@type": "Article", "author": {"@id": "#a"}}, person)]).items[0].author == "Ann Lee"


def test_the_one_post_of_a_blog_speaks() -> None:
    blog = {"@type": "Blog", "name": "Harbour notes", "author": "Zed"}
    for posts in (ARTICLE, [ARTICLE]):
        assert [item.author for item in schema([script({**blog, "blogPost": posts})]).speakers] == ["Ann"]
    assert schema([script({**blog, "blogPost": [ARTICLE, OTHER]})]).speakers == []


def test_what_has_no_name_gives_way_to_its_namesake() -> None:
    graph = [{"@type": "Article", "author": {"@id": "#a"}}, {"@type": "Person", "@id": "#a"}]
    graph.append({"@type": "Person", "@id": "#a", "name": "Ann"})
    assert schema([script({"@graph": graph})]).items[0].author == "Ann"


def tree(depth: int) -> object:
    return [tree(depth - 1)] * 10 if depth else "x"


@pytest.mark.parametrize("name", [[{"@id": "a"}] * 10, [[{"@id": "a"}] * 10] * 10, tree(4), "x y " * 500])
@pytest.mark.clock
def test_references_to_each_other_do_not_multiply(name: object) -> None:
    start = process_time()
    referring = {"@type": "Article", "author": [[[{"@id": "a"}] * 10] * 10] * 5}
    found = schema([script({"@type": "Article", "@id": "a", "name": name}, *[referring] * 15)])
    assert len(found.items) == 16
    assert process_time() - start < 1


def test_the_web_site_names_the_site() -> None:
    assert schema([script({"@type": "WebPage"}, {"@type": "WebSite", "name": "Courier"})]).site == "Courier"
    listed = {"@type": "ItemList", "itemListElement": [{"@type": "Article", "publisher": "Elsewhere"}]}
    assert schema([script(listed)]).site == ""


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Tom &amp; Jerry&#39;s", "Tom & Jerry's"),
        ("<b>bold</b> a < b &lt;p&gt;", "bold a < b <p>"),
        (["Ann Lee", {"name": "Ann Lee"}, "Bob"], "Ann Lee, Bob"),
        ({"@value": "said"}, "said"),
        ({"@list": [{"name": "Ann Lee"}, "Bob"]}, "Ann Lee, Bob"),
        ({"@type": "Person", "givenName": "Ann", "familyName": "Lee"}, "Ann Lee"),
        ({"familyName": "Lee", "givenName": None}, "Lee"),
        ({"name": "Ann", "familyName": "Lee"}, "Ann"),
        ({"name": {"name": "x"}}, ""),
        ("/?a=1&copy=2", "/?a=1&copy=2"),
    ],
)
def test_values(written: object, text: str) -> None:
    assert schema([script({"@type": "Article", "author": written})]).items[0].author == text


def test_deep_values_are_survived() -> None:
    deep = '[{"name":' * 300 + "1" + "}]" * 300
    assert schema([f'{{"@type":"Article","author":{deep}}}']).items[0].author == ""


@pytest.mark.clock
def test_tags_that_never_end_take_time_in_proportion() -> None:
    start = process_time()
    scripts = [script({"@type": "Article", **dict.fromkeys(("name", "headline"), "<" * 95_000)})] * 40
    schema(scripts)
    article_body(
        [script({"@type": "Article", "articleBody": piece * 100_000}) for piece in ("<a", "<br ", "<script>", "&")]
    )
    assert process_time() - start < 1


def test_microdata_ranks_like_json_ld_and_what_has_no_item_comes_last() -> None:
    found = [
        RawItem("", {"author": "Nobody's"}),
        RawItem("http://schema.org/WebPage", {"author": "Page's"}),
        RawItem("http://schema.org/BlogPosting", {"author": "Ann", "datecreated": "2024"}),
        RawItem("http://schema.org/Comment", {"author": "Zed"}),
    ]
    speaking = microdata_speakers(found)
    assert [item.author for item in speaking] == ["Ann", "Page's", "Nobody's"]
    assert speaking[0].published == "2024"


def test_types_of_microdata_are_listed_once() -> None:
    types = ["http://schema.org/Article", "https://schema.org/Person", "https://schema.org/Person", ""]
    assert types_only(types, [SchemaItem("Article")]) == [SchemaItem("Person")]
    assert len(types_only(["x" * 1_000_000], [])[0].type) == 100


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        ({"@type": "Article", "articleBody": "One.\nTwo &amp; three."}, "One.\nTwo & three."),
        ({"@type": "Article", "articleBody": "<p>One <b>b</b>.</p><p>Two<br>three</p>"}, "One b.\nTwo\nthree"),
        ({"@type": "Article", "articleBody": "&lt;p&gt;One&lt;/p&gt;&lt;p&gt;Two&lt;/p&gt;"}, "One\nTwo"),
        ({"@type": "Article", "articleBody": "<script>x('<p>')</script>One<style>a{}</style>"}, "One"),
        ({"@type": "DiscussionForumPosting", "text": "Hello"}, "Hello"),
        ({"@type": "QAPage", "mainEntity": {"@type": "Question", "text": "Why?"}}, "Why?"),
        ({"@type": "WebPage", "text": "Hello"}, ""),
        ({"@type": "Comment", "text": "Hello"}, ""),
        ({"@type": "ItemList", "itemListElement": [{"@type": "Article", "articleBody": "Other"}]}, ""),
        ({"@type": "Article", "articleBody": ["no", "text"]}, ""),
        ({"@type": "Article"}, ""),
    ],
)
def test_the_body_of_an_article(thing: object, text: str) -> None:
    assert article_body([script(thing)]) == text


def test_the_longest_body_wins_and_may_stand_in_a_large_script() -> None:
    long = "One two three. " * 20_000
    scripts = [script({"@type": "Article", "articleBody": body}) for body in ("short", long, "shorter")]
    assert article_body(scripts) == long.strip()
    assert article_body([]) == ""
    assert len(article_body([script({"@type": "Article", "articleBody": "x" * 1_500_000})])) <= 500_000
