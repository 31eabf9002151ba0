"""What the trap defence holds, what it never holds, and how URLs are taken up again. Pages are given by hand."""

import pytest

from tests.frontier.dead_end import (
    ALIKE,
    DIFFERENT,
    HOME,
    MANY,
    SAME,
    WORDS,
    barren,
    dead_end,
    fetch,
    host_row,
    opened,
    state,
    verdict,
)
from tests.frontier.driver import Desk, configured, prose
from weft.config import Scope
from weft.frontier.traps import Verdict
from weft.records import Evidence, Kind, Link, Outcome, Page, Reason, Via


async def test_what_lies_behind_two_fruitless_pages_is_held_when_it_is_found() -> None:
    desk = await opened()
    await dead_end(desk, WORDS)
    assert (desk.frontier.counts().held, desk.frontier.counts().pending) == (60, 0)
    assert desk.frontier.ready_in() is None, "what may not be tried does not keep the crawl open"
    story = await desk.frontier.explain(WORDS[0])
    assert story.state == "held"
    assert story.hold is not None
    assert (story.hold.held, story.hold.tried, len(story.hold.examples)) == (60, 0, 3)
    assert (await host_row(desk)).held == 60


async def test_what_lies_behind_one_fruitless_page_is_fetched() -> None:
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}one", seed=True)])
    await fetch(desk, f"{HOME}one", SAME, [f"{HOME}two"])
    await fetch(desk, f"{HOME}two", SAME, WORDS)
    assert set(await desk.walk(ALIKE)) == set(WORDS)


async def test_a_fruitful_page_on_the_way_sets_the_count_back() -> None:
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}one", seed=True)])
    for number, (url, to) in enumerate([("one", "two"), ("two", "three"), ("three", "four"), ("four", "five")]):
        await fetch(desk, HOME + url, [prose(7)] if number == 2 else SAME, [HOME + to])
    assert await state(desk, f"{HOME}five") == "pending"


async def test_what_a_copy_links_to_is_fetched_and_what_that_links_to_is_held() -> None:
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}one", seed=True), Link(f"{HOME}other", seed=True)])
    await fetch(desk, f"{HOME}one", SAME, (), "word for word")
    await desk.bring(f"{HOME}other", SAME, [f"{HOME}below"], "word for word")
    assert await verdict(desk, f"{HOME}other") is Verdict.DUPLICATE
    await fetch(desk, f"{HOME}below", SAME, WORDS, "word for word")
    assert desk.frontier.counts().held == 60


async def test_urls_of_a_barren_pattern_are_held_when_they_are_drawn_not_when_they_are_found() -> None:
    desk = await opened()
    await barren(desk)
    first = desk.frontier.counts().held
    assert 0 < first < MANY
    more = [f"{HOME}p/{number}" for number in range(1000, 1030)]
    await desk.bring(HOME, [prose(2)], more)
    assert (desk.frontier.counts().held, desk.frontier.counts().pending) == (first, 30)
    assert await desk.walk(ALIKE) == []
    assert (desk.frontier.counts().held, desk.frontier.counts().pending) == (first + 30, 0)
    story = await desk.frontier.explain(more[0])
    assert story.hold is not None
    assert (story.hold.looks, story.hold.why) == ("a.example/p/*", "pattern")


async def test_what_was_queued_when_its_pattern_was_barren_is_fetched_if_it_has_brought_something_since() -> None:
    desk = await opened(trials=1000)
    await barren(desk)
    good = [f"{HOME}p/{number}" for number in range(2000, 2000 + 2 * MANY)]
    await desk.bring(HOME, [prose(2)], good)
    assert set(good) <= set(await desk.walk(DIFFERENT))


async def test_seeds_and_sitemaps_and_what_sitemaps_name_are_not_held_behind_anything() -> None:
    desk = await opened()
    await barren(desk)
    seeds = [f"{HOME}p/{number}" for number in range(1000, 1010)]
    await desk.frontier.add([Link(url, seed=True) for url in seeds])
    files = [Link(f"{HOME}p/{number}", kind=Kind.SITEMAP, via=Via.SITEMAP) for number in range(5000, 5005)]
    await desk.frontier.add(files)
    await desk.frontier.add([Link(url, via=Via.SITEMAP, source=f"{HOME}three") for url in WORDS])
    wanted = {*seeds, *WORDS, *(link.url for link in files)}
    assert set(await desk.walk(ALIKE)) == wanted


async def test_a_better_link_takes_up_what_is_held() -> None:
    desk = await opened()
    await dead_end(desk, WORDS)
    await desk.bring(f"{HOME}three", SAME, WORDS[:3])
    assert desk.frontier.counts().held == 60, "from where it was found it is no better"
    await desk.bring(f"{HOME}index", [prose(3)], WORDS[:3])
    assert desk.frontier.counts().held == 57
    assert sorted(await desk.walk(ALIKE)) == sorted(WORDS[:3])


@pytest.mark.parametrize("kill", [True, False])
async def test_a_better_link_takes_up_what_was_held_before_a_restart(kill: bool) -> None:
    desk = await opened()
    await dead_end(desk, WORDS)
    if not kill:
        await desk.frontier.close()
    await desk.reopened()
    await desk.bring(f"{HOME}index", [prose(3)], WORDS[:3])
    assert desk.frontier.counts().held == 57


async def test_a_better_link_lifts_the_doubt_of_what_is_queued() -> None:
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}one", seed=True)])
    await fetch(desk, f"{HOME}one", SAME, [f"{HOME}two"])
    await fetch(desk, f"{HOME}two", SAME, [f"{HOME}three", f"{HOME}doubtful"])
    await desk.bring(f"{HOME}index", [prose(3)], [f"{HOME}three"])
    await fetch(desk, f"{HOME}three", SAME, [f"{HOME}four"])
    assert await state(desk, f"{HOME}four") == "pending"
    await fetch(desk, f"{HOME}doubtful", SAME, [f"{HOME}five"])
    assert await state(desk, f"{HOME}five") == "held"


async def test_what_is_released_is_never_held_again() -> None:
    desk = await opened()
    await barren(desk)
    held = desk.frontier.counts().held
    assert await desk.frontier.release("b.example/*") == 0
    assert await desk.frontier.release("a.example/p/*") == held
    await desk.reopened()
    assert (desk.frontier.counts().held, desk.frontier.counts().pending) == (0, held)
    assert len(await desk.walk(ALIKE)) == held


async def test_release_takes_up_what_lay_behind_fruitless_pages() -> None:
    desk = await opened()
    await dead_end(desk, WORDS)
    assert await desk.frontier.release("a.example/deep/a*") == 26
    desk.clock.tick(10)
    assert sorted(await desk.walk(ALIKE)) == sorted(WORDS[:26])
    assert desk.frontier.counts().held == 34


async def test_a_redirect_hands_on_how_it_was_come_by() -> None:
    desk = await opened(trials=1)
    await desk.frontier.add([Link(f"{HOME}one", seed=True)])
    await fetch(desk, f"{HOME}one", SAME, [f"{HOME}two"])
    await fetch(desk, f"{HOME}two", SAME, [f"{HOME}three"])
    for url in ("three", "four"):
        desk.clock.tick(10)
        (lease,) = await desk.lease()
        assert lease.url == HOME + url
        to = f"{HOME}four" if url == "three" else f"{HOME}five"
        await desk.frontier.settle([Outcome(lease, Reason.REDIRECTED, desk.clock.now(), 301, redirect=to)])
    await fetch(desk, f"{HOME}five", SAME, [f"{HOME}six"])
    assert await state(desk, f"{HOME}six") == "held"


async def test_new_hosts_of_a_domain_that_say_nothing_new_are_held_and_tried() -> None:
    desk = await opened(trials=4)
    await desk.frontier.add([Link("http://name.org/", seed=True)])
    hosts = [f"http://user-{number}.name.org/" for number in range(MANY)]
    await fetch(desk, "http://name.org/", [prose(1)], hosts[:MANY])
    asked = await desk.walk(ALIKE)
    more = [f"http://more-{number}.name.org/" for number in range(10)]
    await desk.bring("http://name.org/", [prose(2)], [*more, "http://www.name.org/"])
    assert desk.frontier.counts().held == 10
    story = await desk.frontier.explain(more[0])
    assert story.hold is not None
    assert (story.state, story.hold.looks, story.hold.why) == ("held", "*.name.org", "family")
    asked = await desk.walk(ALIKE)
    assert "http://www.name.org/" in asked
    assert len(set(asked) & set(more)) == 4
    assert desk.frontier.counts().held == 6
    await desk.reopened()
    desk.clock.tick(10)
    assert await desk.walk(ALIKE) == []
    assert await desk.frontier.release("*.name.org") == 6
    assert len(await desk.walk(ALIKE)) == 6


async def test_new_hosts_that_say_something_are_all_taken_in() -> None:
    desk = await opened()
    await desk.frontier.add([Link("http://name.org/", seed=True)])
    hosts = [f"http://user-{number}.name.org/" for number in range(MANY)]
    await fetch(desk, "http://name.org/", [prose(1)], hosts)
    asked = await desk.walk(DIFFERENT)
    more = [f"http://user-{number}.name.org/" for number in range(MANY, 2 * MANY)]
    await desk.bring("http://name.org/", [prose(9999)], more)
    asked += await desk.walk(DIFFERENT)
    assert set(asked) == {*hosts, *more}


async def test_branches_take_turns_so_that_a_tarpit_starves_nobody() -> None:
    """Its pages are all new, and each leads to ten more. The honest ones lead only from one to the next."""
    desk = await opened()
    sizes = {"a": 140, "b": 60, "c": 30}
    count = iter(range(100_000))

    def site(url: str) -> tuple[list[str], list[str]]:
        number = next(count)
        path = url[len(HOME) :]
        if not path:
            return [prose(number)], [f"{HOME}pit/x", *(f"{HOME}{name}/" for name in sizes)]
        if path.startswith("pit"):
            return [prose(number)], [f"{url}{letter}" for letter in "abcdefghij"]
        name, _, page = path.partition("/")
        return [prose(number)], [f"{url}x"] if len(page) < sizes[name] - 1 else []

    await desk.frontier.add([Link(HOME, seed=True)])
    order = await desk.walk(site, limit=800)
    honest = [place for place, url in enumerate(order) if not url.startswith(f"{HOME}pit")]
    assert len(honest) == 1 + sum(sizes.values())
    assert sum(url.startswith(f"{HOME}pit") for url in order[: honest[-1]]) <= 150


async def test_more_branches_than_are_counted_apart_are_all_fetched() -> None:
    desk = await opened()
    urls = [
        f"{HOME}{'x' * (number % 30)}{chr(97 + number % 26)}{number}/{page}" for number in range(400) for page in "ab"
    ]
    await desk.add(*urls)
    assert set(await desk.crawl(5000)) == set(urls)
    assert len((await host_row(desk)).branches) <= 300


async def test_where_a_released_url_redirects_to_is_as_free() -> None:
    desk = await opened()
    await barren(desk)
    await desk.frontier.release("a.example/p/*")
    desk.clock.tick(10)
    (lease,) = await desk.lease()
    moved = Outcome(lease, Reason.REDIRECTED, desk.clock.now(), 301, redirect=f"{HOME}p/9999")
    desk.frontier.answered(moved)
    await desk.frontier.settle([moved])
    assert f"{HOME}p/9999" in await desk.walk(ALIKE)


async def test_what_is_held_in_the_same_turn_is_there_to_be_tried() -> None:
    """A host's whole queue may come to be held before one of it is written."""
    desk = Desk()
    urls = [f"http://a.org/p/{n}" for n in range(60)]
    await desk.add(*urls)
    for _ in range(20):
        (lease,) = await desk.lease()
        await desk.settle([lease])
        await desk.frontier.add_pages([Page("1", lease.url, evidence=Evidence(digest=7))])
        desk.clock.tick(1.0)
    (lease,) = await desk.lease()
    counts = desk.frontier.counts()
    assert (counts.pending, counts.leased, counts.held, counts.done) == (0, 1, 39, 20)
    await desk.settle([lease])
    desk.clock.tick(1.0)
    assert len(await desk.crawl()) == 39, "the budget of the host allows it"
    assert (desk.frontier.counts().held, desk.frontier.counts().done) == (0, 60)


@pytest.mark.parametrize("link", [Link(WORDS[0], seed=True), Link(WORDS[0], via=Via.SITEMAP)])
async def test_who_vouches_for_a_held_url_takes_it_up(link: Link) -> None:
    desk = await opened()
    await dead_end(desk, WORDS)
    await desk.frontier.close()
    await desk.reopened()
    await desk.frontier.add([link])
    assert desk.frontier.counts().held == 59
    assert await desk.walk(ALIKE) == [WORDS[0]]


async def test_trials_keep_to_the_cap_of_the_host() -> None:
    desk = Desk(configured(Scope(reach="any", pages_per_host=5)))
    await desk.frontier.open()
    await dead_end(desk, WORDS)
    assert len(await desk.walk(ALIKE)) == 5 - 3
    assert desk.frontier.counts().held == 58
    assert desk.frontier.ready_in() is None


async def test_a_barren_queue_is_held_a_part_at_a_time() -> None:
    desk = await opened()
    await barren(desk)
    await desk.bring(HOME, [prose(2)], [f"{HOME}p/{number}" for number in range(10_000, 13_000)])
    before = desk.frontier.counts().held
    desk.clock.tick(5)
    assert await desk.lease() == []
    assert 500 < desk.frontier.counts().held - before < 2000
    assert await desk.walk(ALIKE) == []
    assert desk.frontier.counts().held == before + 3000
