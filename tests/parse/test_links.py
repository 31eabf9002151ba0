"""Which links a page has, table by table."""

from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from weft.config import Config, override
from weft.parse.links import Harvest, LinkReader, based, refreshes
from weft.parse.sitemap import Entry, Listing
from weft.parse.walk import RawLink, RawMeta, walk
from weft.parse.wire import ParseJob
from weft.records import Drop, Hint, Kind, Link, Via
from weft.urls.host import url_key

PAGE = "https://www.site.org/folder/page.html?q=1"


def harvest(html: str, nofollow: bool = False, config: Config | None = None, **job: Any) -> Harvest:
    found = walk(LexborHTMLParser(html))
    raw = [*found.links, *refreshes(found.metas)]
    source = ParseJob("id", job.pop("url", PAGE), b"", **job)
    return LinkReader(config or Config()).of_page(source, raw, found.base, nofollow)


def urls(html: str) -> list[str]:
    return [link.url for link in harvest(html).links]


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("other.html", "https://www.site.org/folder/other.html"),
        ("./other.html", "https://www.site.org/folder/other.html"),
        ("../up", "https://www.site.org/up"),
        ("/root", "https://www.site.org/root"),
        ("//cdn.other.net/x", "https://cdn.other.net/x"),
        ("?q=2", "https://www.site.org/folder/page.html?q=2"),
        ("http://Other.NET", "http://other.net/"),
        ("HTTP://other.net:80/a/../b", "http://other.net/b"),
        ("  /spaces  ", "https://www.site.org/spaces"),
        ("/li\nne\tbreak", "https://www.site.org/linebreak"),
        ("/a b", "https://www.site.org/a%20b"),
        ("/a#part", "https://www.site.org/a"),
        ("\\back\\slash", "https://www.site.org/back/slash"),
        ("/caf\u00e9?n=\u00e9", "https://www.site.org/caf%C3%A9?n=%C3%A9"),
        ("https://b\u00fccher.de/\u00e4", "https://xn--bcher-kva.de/%C3%A4"),
        ("https://user:secret@other.net/", "https://other.net/"),
        ("/a?utm_source=x&id=1&fbclid=y", "https://www.site.org/a?id=1"),
        ("/a&amp;b", "https://www.site.org/a&b"),
        ("/%7euser/%2f", "https://www.site.org/~user/%2F"),
        ("https:relative", "https://www.site.org/folder/relative"),
        ("http://2130706433/", "http://127.0.0.1/"),
    ],
)
def test_href(href: str, expected: str) -> None:
    assert urls(f'<a href="{href}">x</a>') == [expected]


@pytest.mark.parametrize(
    ("href", "drop"),
    [
        ("javascript:void(0)", Drop.SCHEME),
        ("mailto:someone@site.org", Drop.SCHEME),
        ("tel:+123", Drop.SCHEME),
        ("data:text/html,hello", Drop.SCHEME),
        ("ftp://files.site.org/", Drop.SCHEME),
        ("http://", Drop.BAD_URL),
        ("http://a b/", Drop.BAD_URL),
        ("http://" + "a" * 64 + ".org/", Drop.BAD_URL),
        ("/" + "x" * 2100, Drop.TOO_LONG),
    ],
)
def test_dropped_href(href: str, drop: Drop) -> None:
    found = harvest(f'<a href="{href}">x</a>')
    assert found.links == ()
    assert found.drops == ((drop.value, 1),)
    assert found.seen == 1


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<area href=/map>", [("/map", Via.ANCHOR)]),
        ("<iframe src=/inner></iframe>", [("/inner", Via.ALTERNATE)]),
        ("<frameset><frame src=/left></frameset>", [("/left", Via.ALTERNATE)]),
        ("<link rel=canonical href=/preferred>", [("/preferred", Via.CANONICAL)]),
        ("<link rel=alternate hreflang=de href=/de>", [("/de", Via.ALTERNATE)]),
        ("<link rel='Next' href=/2><link rel=prev href=/0>", [("/2", Via.ALTERNATE), ("/0", Via.ALTERNATE)]),
        ("<link rel=stylesheet href=/s.css><link rel=icon href=/i.png>", []),
        ("<link rel='alternate stylesheet' href=/s.css>", []),
        ("<link rel=preload href=/p.js>", []),
        ("<a>no href</a><a href>empty</a>", []),
        ("<a href=#top>up</a><a href=''>here</a>", []),
        ("<a href=/folder/page.html?q=1>itself</a>", []),
        ("<a href=/1>a</a><a href=/1#b>b</a><a href=https://www.site.org/1>c</a>", [("/1", Via.ANCHOR)]),
        ("<meta http-equiv=refresh content='0; url=/next'>", [("/next", Via.REDIRECT)]),
        ("<meta http-equiv=Refresh content='5;URL=\"/next\"'>", [("/next", Via.REDIRECT)]),
        ("<meta http-equiv=refresh content=\"0;url='/next'\">", [("/next", Via.REDIRECT)]),
        ("<meta http-equiv=refresh content='1, /next'>", [("/next", Via.REDIRECT)]),
        ("<meta http-equiv=refresh content=30>", []),
        ("<!-- <a href=/comment>x</a> --><script>'<a href=/script>'</script>", []),
        ("<noscript><a href=/plain>x</a></noscript>", [("/plain", Via.ANCHOR)]),
        ("<img src=/picture.png><form action=/post></form>", []),
        # What the text leaves out, and wget -r follows.
        ("<object data=/inside.html></object>", [("/inside.html", Via.ALTERNATE)]),
        (
            "<object data=/film.swf type=application/x-shockwave-flash><a href=/film>x</a></object>",
            [("/film", Via.ANCHOR)],
        ),
        ("<embed src=/inside.html><embed src=/film.mp4 type=video/mp4>", [("/inside.html", Via.ALTERNATE)]),
        (
            "<video src=/film.mp4><a href=/film>x</a></video><canvas><a href=/drawn>x</a></canvas>",
            [("/film", Via.ANCHOR), ("/drawn", Via.ANCHOR)],
        ),
        ("<template><a href=/card>x</a></template>", [("/card", Via.ANCHOR)]),
        ("<svg><a href=/node><text>x</text></a></svg>", [("/node", Via.ANCHOR)]),
        ("<svg><a xlink:href=/node><text>x</text></a></svg>", [("/node", Via.ANCHOR)]),
        ("<p>word <ruby>x<rt><a href=/reading>y</a></rt></ruby>", [("/reading", Via.ANCHOR)]),
        ("<pre><span class=lineno><a href=/defined>1</a></span>x</pre>", [("/defined", Via.ANCHOR)]),
        ("<pre><div class=lineno><a href=/defined>1</a></div>x</pre>", [("/defined", Via.ANCHOR)]),
        ("<nav><iframe src=/menu></iframe></nav>", [("/menu", Via.ALTERNATE)]),
        ("<button><iframe src=/menu></iframe></button>", [("/menu", Via.ALTERNATE)]),
        (
            "<frameset><frame src=/left></frameset><noframes><a href='/plain'>x</a></noframes>",
            [("/left", Via.ALTERNATE), ("/plain", Via.ANCHOR)],
        ),
        ("<noscript><meta http-equiv=refresh content='0; url=/plain'></noscript>", [("/plain", Via.REDIRECT)]),
        ("<noscript><iframe src=/plain></iframe></noscript>", [("/plain", Via.ALTERNATE)]),
        (
            "<map><area href=/part></map><nav><map><area href=/side></map></nav>",
            [("/part", Via.ANCHOR), ("/side", Via.ANCHOR)],
        ),
        (
            "<link rel=up href=/up><link rel=index href=/all><link rel=copyright href=/who>",
            [("/up", Via.ALTERNATE), ("/all", Via.ALTERNATE), ("/who", Via.ALTERNATE)],
        ),
        (
            "<link rel=search href=/s.html><link rel=search type=application/opensearchdescription+xml href=/o>",
            [("/s.html", Via.ALTERNATE)],
        ),
    ],
)
def test_elements(html: str, expected: list[tuple[str, Via]]) -> None:
    found = harvest(html)
    assert [(link.url.removeprefix("https://www.site.org"), link.via) for link in found.links] == expected


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("", PAGE),
        ("/elsewhere/", "https://www.site.org/elsewhere/"),
        ("sub/", "https://www.site.org/folder/sub/"),
        ("//cdn.org/", "https://cdn.org/"),
        ("http://other.net/a/b", "http://other.net/a/b"),
        ("javascript:x", PAGE),
        ("http://[", PAGE),
        ("data:text/html,", PAGE),
    ],
)
def test_base(base: str, expected: str) -> None:
    assert based(PAGE, base) == expected


def test_base_counts_for_links_before_it_too_and_only_the_first_one() -> None:
    html = "<a href=1>x</a><base href=/a/><base href=/b/><a href=2>y</a><link rel=canonical href=3>"
    found = harvest(html)
    assert {link.url for link in found.links} == {f"https://www.site.org/a/{number}" for number in (1, 2, 3)}
    assert found.canonical == "https://www.site.org/a/3"


def test_nofollow_links_are_left_out_and_counted() -> None:
    found = harvest("<a href=/1 rel=nofollow>a</a><a href=/2 rel='ugc NoFollow'>b</a><a href=/3 rel=ugc>c</a>")
    assert [link.url for link in found.links] == ["https://www.site.org/3"]
    assert found.drops == (("nofollow", 2),)
    assert found.seen == 3


def test_a_nofollow_page_has_no_links_but_keeps_its_canonical() -> None:
    found = harvest("<link rel=canonical href=/c><a href=/1>a</a>", nofollow=True)
    assert found.links == ()
    assert found.drops == (("nofollow", 2),)
    assert found.canonical == "https://www.site.org/c"


def test_what_a_link_carries() -> None:
    found = harvest(
        "<a href=/in>a</a><a href=https://sub.site.org/>b</a><a href=http://far.net/>c</a>", depth=3, inside=2
    )
    partitions = Config().storage.partitions
    assert found.links == tuple(
        Link(url, depth=4, source=PAGE, inside=inside, key=url_key(url, partitions))
        for url, inside in (("https://www.site.org/in", 3), ("https://sub.site.org/", 3), ("http://far.net/", 0))
    )


def test_depth() -> None:
    html = "<a href=/in>a</a><a href=http://far.net/>b</a>"
    assert harvest(html, depth=19).drops == ()
    assert harvest(html, depth=20).drops == (("too-deep", 2),)
    assert harvest(html, inside=14).drops == ()
    deep = harvest(html, inside=15)
    assert deep.drops == (("too-deep-in-domain", 1),)
    assert [link.url for link in deep.links] == ["http://far.net/"]


def test_scope_rules_apply() -> None:
    config = override(Config(), "scope", exclude=[r"/private/"], block=["bad.net"])
    found = harvest("<a href=/private/1>a</a><a href=http://x.bad.net/>b</a><a href=/ok>c</a>", config=config)
    assert [link.url for link in found.links] == ["https://www.site.org/ok"]
    assert found.drops == (("blocked", 1), ("excluded", 1))


def test_number_of_links_is_bounded() -> None:
    config = override(Config(), "parse", max_links=10)
    many = [RawLink(f"/{number}", "", "", "a") for number in range(1000)]
    found = LinkReader(config).of_page(ParseJob("id", PAGE, b""), many, "", False)
    assert len(found.links) == 10
    assert found.drops == (("too-many-links", 990),)
    ((word, url),) = found.dropped
    assert word == "too-many-links"
    assert url not in {link.url for link in found.links}


def test_one_example_of_each_drop() -> None:
    html = "<a href=/1 rel=nofollow>a</a><a href=/2 rel=nofollow>b</a><a href=tel:1>c</a><a href=tel:2>d</a>"
    assert harvest(html).dropped == (("nofollow", "https://www.site.org/1"), ("scheme", "tel:1"))
    assert harvest("<a href=/in>a</a><a href=/on>b</a>", depth=20).dropped == (("too-deep", "https://www.site.org/in"),)
    long = "/" + "x" * 5000
    assert harvest(f"<a href={long}>a</a>").dropped == (("url-too-long", long[:2048]),)
    assert harvest("<a href=/fine>a</a>").dropped == ()


def test_the_same_reader_does_not_mix_up_sites_or_pages() -> None:
    reader = LinkReader(Config())
    raw = [RawLink("/about", "", "", "a"), RawLink("near", "", "", "a"), RawLink("//cdn.org/x", "", "", "a")]
    for page in (
        "https://a.org/1/x",
        "https://b.org/2/x",
        "http://a.org/3/x",
        "https://a.org/4/x",
        "https://a.org:8443/x",
    ):
        found = reader.of_page(ParseJob("id", page, b""), raw, "", False)
        origin, folder = page.rsplit("/", page.count("/") - 2)[0], page.rpartition("/")[0]
        scheme = page.partition(":")[0]
        assert [link.url for link in found.links] == [f"{origin}/about", f"{folder}/near", f"{scheme}://cdn.org/x"]


def test_lists_carry_hints_and_kinds() -> None:
    hint = Hint(priority=0.9, modified=1.0)
    entries = [
        Entry("https://www.site.org/1", hint),
        Entry("/2.xml", kind=Kind.SITEMAP),
        Entry("https://www.site.org/1"),
    ]
    listing = Listing(tuple(entries), Via.SITEMAP, foreign=3)
    job = ParseJob("id", "https://www.site.org/sitemap.xml", b"")
    found = LinkReader(Config()).of_list(job, listing, nofollow=False)
    assert [(link.url, link.hint, link.kind, link.via) for link in found.links] == [
        ("https://www.site.org/1", hint, Kind.PAGE, Via.SITEMAP),
        ("https://www.site.org/2.xml", None, Kind.SITEMAP, Via.SITEMAP),
    ]
    assert (found.seen, found.drops) == (6, (("out-of-scope", 3),))
    assert LinkReader(Config()).of_list(job, listing, nofollow=True).links == ()


def test_refresh_without_end() -> None:
    assert refreshes([RawMeta("refresh", "0;" + " " * 1_000_000)]) == []
