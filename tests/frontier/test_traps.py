"""Traps: which pattern a URL has, how a pattern is held to its sample, and how its pages set it free."""

import pytest

from tests.frontier.driver import Desk, configured
from weft.config import Frontier, Scope
from weft.frontier.traps import Rule, family_of, pattern_of
from weft.records import Drop, Finding, Link, Removal


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://a.org/", None),
        ("http://a.org/about/us", None),
        ("http://a.org/a/b/c/d/e", None),
        ("http://a.org/x/more/more/more/", Rule.SEGMENTS),
        ("http://a.org/x/y/x/y/x/y", Rule.SEGMENTS),
        ("http://a.org/calendar/2031/05", Rule.CALENDAR),
        ("http://a.org/calendar/2031/05/17", Rule.CALENDAR),
        ("http://a.org/events?month=5&year=2031", Rule.CALENDAR),
        ("http://a.org/shop?color=red&size=m&sort=price", Rule.QUERY),
        ("http://a.org/board/topic?sid=0123456789abcdef", Rule.SESSION),
        ("http://a.org/board/0123456789abcdef0/topic", Rule.SESSION),
        ("http://a.org/page;jsessionid=ABCDEF0123456789", Rule.SESSION),
        ("http://a.org/tag/48151623", Rule.NUMBERS),
        ("http://a.org/2031/05/a-fine-day", Rule.NUMBERS),
    ],
)
def test_patterns(url: str, rule: Rule | None) -> None:
    pattern = pattern_of(url)
    assert (pattern.rule if pattern else None) is rule


def test_urls_of_one_trap_have_one_pattern() -> None:
    for urls in (
        ["/calendar/2031/05", "/calendar/1999/1/31", "/calendar/2031-05"],
        ["/shop?a=1", "/shop?b=2&a=1", "/shop?page=7"],
        ["/tag/1", "/tag/999999"],
        ["/t/more/more/more/", "/t/all/more/all/more/all/"],
        ["/news/2024/a-title-1.html", "/news/2023/quite-another-title.html"],
    ):
        assert len({pattern_of(f"http://a.org{url}") for url in urls}) == 1, urls


def test_a_family_is_the_site_whatever_its_suffix() -> None:
    assert family_of("user-7.shop.co.uk") == "shop.co.uk"
    assert family_of("user-7.name.example") == "name.example"
    assert family_of("a.github.io") == "a.github.io"
    assert family_of("192.0.2.1") == "192.0.2.1"


def test_a_hostile_url_takes_no_time() -> None:
    """So long that anything but linear time would be hours."""
    twice = "".join(f"{number:x}/" for number in range(200_000)) * 2
    for path, rule in {
        "a" * 1_000_000 + "1": Rule.SESSION,
        "0-" * 500_000: Rule.NUMBERS,
        "1/" + "x/" * 500_000: Rule.SEGMENTS,
        twice: Rule.NUMBERS,
    }.items():
        pattern = pattern_of(f"http://a.org/{path}")
        assert pattern is not None
        assert pattern.rule is rule


def desk_with(sample: int) -> Desk:
    return Desk(configured(Scope(reach="any"), Frontier(trap_sample=sample)))


def finding(url: str, number: int, words: int = 200, removal: Removal | None = None) -> Finding:
    return Finding(url, 1.0, simhash=number * 0x9E3779B97F4A7C15 % 2**64, words=words, removal=removal)


async def test_a_pattern_is_held_to_its_sample_and_nothing_is_dropped() -> None:
    desk = desk_with(sample=10)
    added = await desk.add(*(f"http://a.org/tag/{number}" for number in range(50)))
    assert (added.new, added.drops) == (50, {})
    counts = desk.frontier.counts()
    assert (counts.pending, counts.held) == (9, 41)
    assert len(await desk.crawl()) == 9
    assert desk.frontier.ready_in() is None  # what is held does not keep the crawl open
    story = await desk.frontier.explain("http://a.org/tag/33")
    assert story.state == "held"
    assert (story.traps[0].rule, story.traps[0].taken_in, story.traps[0].held) == ("numbers", 9, 41)
    assert story.traps[0].examples == tuple(f"http://a.org/tag/{number}" for number in (9, 10, 11))


async def test_pages_that_differ_set_their_pattern_free() -> None:
    desk = desk_with(sample=10)
    urls = [f"http://a.org/tag/{number}" for number in range(50)]
    await desk.add(*urls)
    order = await desk.crawl()
    await desk.frontier.learn([finding(url, number) for number, url in enumerate(order)])
    assert desk.frontier.counts().held == 0
    await desk.reopened()
    assert sorted(order + await desk.crawl()) == sorted(urls)


@pytest.mark.parametrize("removal", [None, Removal.DUPLICATE_TEXT])
async def test_pages_that_are_thin_or_alike_keep_their_pattern_held(removal: Removal | None) -> None:
    desk = desk_with(sample=10)
    await desk.add(*(f"http://a.org/tag/{number}" for number in range(50)))
    order = await desk.crawl()
    words = 200 if removal else 3
    learned = [finding(url, number, words, removal) for number, url in enumerate(order)]
    await desk.frontier.learn(learned)
    await desk.frontier.learn(learned)
    assert desk.frontier.counts().held == 41
    await desk.reopened()
    assert (await desk.add("http://a.org/tag/1000")).new == 1
    assert desk.frontier.counts().held == 42


async def test_ever_new_subdomains_are_held_to_the_sample() -> None:
    desk = desk_with(sample=10)
    await desk.add("http://name.org/", "http://www.name.org/", *(f"http://user-{n}.name.org/" for n in range(50)))
    counts = desk.frontier.counts()
    assert (counts.pending, counts.held) == (2 + 3, 47)  # a new host costs three requests
    assert (await desk.frontier.explain("http://user-44.name.org/")).traps[0].rule == "subdomains"


async def test_seeds_are_never_held() -> None:
    desk = desk_with(sample=1)
    await desk.frontier.add([Link(f"http://a.org/{number}", seed=True) for number in range(5)])
    assert desk.frontier.counts().held == 0


async def test_a_trap_does_not_use_up_what_its_site_may_bring() -> None:
    desk = Desk(configured(Scope(reach="any"), Frontier(trap_sample=10, domain_budget=30)))
    trap = await desk.add(*(f"http://a.org/tag/{number}" for number in range(100)))
    assert (trap.new, trap.drops) == (9 + 21, {Drop.DOMAIN_FULL: 70})
    assert desk.frontier.counts().held == 21
    useful = await desk.add(*(f"http://a.org/{letter}" for letter in "abcdefghijklmno"))
    assert (useful.new, useful.drops) == (15, {})
    more = await desk.add(*(f"http://a.org/tag/{number}" for number in range(100, 150)))
    assert sum(more.drops.values()) == 50 - more.new
    assert desk.frontier.counts().held <= 30


async def test_what_is_let_go_counts_for_its_host() -> None:
    desk = Desk(configured(Scope(reach="any", pages_per_host=25), Frontier(trap_sample=20)))
    await desk.add(*(f"http://a.org/tag/{number}" for number in range(25)))
    order = await desk.crawl()
    await desk.frontier.learn([finding(url, number) for number, url in enumerate(order)])
    assert len(order) + len(await desk.crawl()) == 25
    assert (await desk.add("http://a.org/more")).drops == {Drop.HOST_FULL: 1}
