"""URLs that the trap defence holds: which, for how long, and what they cost. Through the frontier, pages given by hand."""

from collections.abc import Callable, Sequence

import msgspec
import pytest

from tests.frontier.driver import Desk, configured, prose
from weft.config import Config, Frontier, Scope
from weft.engines.memory import MemoryTable
from weft.frontier import keys
from weft.frontier.rows import HostRow, decode_host
from weft.frontier.traps import Verdict
from weft.records import Kind, Link, Outcome, Reason, Via
from weft.urls.host import host_key

HOME = "http://a.example/"
SAME = ["The same words stand on each of these pages"]
MANY = 120  # more pages than any rule needs to make up its mind


def config_of(trials: int = 0, share: float = 0.0, **more: int) -> Config:
    return configured(Scope(reach="any"), msgspec.convert({"trials": trials, "trial_share": share, **more}, Frontier))


async def opened(trials: int = 0, share: float = 0.0, **more: int) -> Desk:
    desk = Desk(config_of(trials, share, **more))
    await desk.frontier.open()
    return desk


async def state(desk: Desk, url: str) -> str:
    return (await desk.frontier.explain(url)).state


async def verdict(desk: Desk, url: str) -> Verdict:
    learned = (await desk.frontier.explain(url)).learned
    assert learned is not None
    return Verdict(learned.verdict)


async def host_row(desk: Desk, name: str = "a.example") -> HostRow:
    (value,) = await desk.table.get([keys.host_row(host_key(name, 4))])
    assert value is not None
    return decode_host(value)


async def fetch(desk: Desk, url: str, lines: Sequence[str], links: Sequence[str] = (), whole: str = "") -> None:
    """The URL is asked for and its page comes in; whatever else is asked for meanwhile brings nothing."""
    for _ in range(1000):
        leases = await desk.lease()
        await desk.settle(leases)
        if any(lease.url == url for lease in leases):
            await desk.bring(url, lines, links, whole)
            return
        desk.clock.tick(desk.frontier.ready_in() or 0.1)
    raise AssertionError(f"never asked for: {url}")


async def dead_end(desk: Desk, links: Sequence[str]) -> None:
    """Three pages that say the same lead from one to the next, and the last one to `links`."""
    await desk.frontier.add([Link(f"{HOME}one", seed=True)])
    await fetch(desk, f"{HOME}one", SAME, [f"{HOME}two"])
    await fetch(desk, f"{HOME}two", SAME, [f"{HOME}three"])
    await fetch(desk, f"{HOME}three", SAME, links)
    desk.clock.tick(10)


def web(lines: Callable[[int], list[str]]) -> Callable[[str], tuple[list[str], list[str]]]:
    """Pages without links, by the number that their URL ends with."""
    return lambda url: (lines(int("0" + "".join(letter for letter in url if letter.isdigit()))), [])


ALIKE = web(lambda number: [f"{SAME[0]} {0 * number}"])
DIFFERENT = web(lambda number: [prose(number)])
WORDS = [f"{HOME}deep/{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)]


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


async def test_what_a_duplicate_links_to_is_held_at_once() -> None:
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}one", seed=True), Link(f"{HOME}other", seed=True)])
    await fetch(desk, f"{HOME}one", SAME, (), "word for word")
    await desk.bring(f"{HOME}other", SAME, WORDS, "word for word")
    assert await verdict(desk, f"{HOME}other") is Verdict.DUPLICATE
    assert desk.frontier.counts().held == 60


async def barren(desk: Desk) -> None:
    """The pattern /p/* has brought nothing for long; all of it was linked from one good page."""
    await desk.frontier.add([Link(HOME, seed=True)])
    await fetch(desk, HOME, [prose(1)], [f"{HOME}p/{number}" for number in range(MANY)])
    await desk.walk(ALIKE)


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
    files = [Link(f"{HOME}p/{number}.xml", kind=Kind.SITEMAP, via=Via.SITEMAP) for number in range(5)]
    await desk.frontier.add(files)
    await desk.frontier.add([Link(url, via=Via.SITEMAP, source=f"{HOME}three") for url in WORDS])
    wanted = {*seeds, *WORDS, *(link.url for link in files)}
    assert set(await desk.walk(ALIKE)) == wanted


async def test_held_urls_are_tried_one_turn_in_ten() -> None:
    desk = await opened(trials=1000)
    await dead_end(desk, WORDS)
    await desk.frontier.add([Link(f"{HOME}{'abcdefghij'[number % 10]}/x{number}") for number in range(200)])
    order = await desk.walk(DIFFERENT, limit=100)
    tried = [place for place, url in enumerate(order) if url in set(WORDS)]
    assert 5 <= len(tried) <= 15
    assert max(later - sooner for sooner, later in zip(tried, tried[1:], strict=False)) <= 20


async def test_held_urls_are_tried_when_nothing_else_is_there() -> None:
    desk = await opened(trials=1000)
    await dead_end(desk, WORDS)
    assert desk.frontier.ready_in() is not None
    assert sorted(await desk.walk(ALIKE)) == sorted(WORDS)
    assert desk.frontier.counts().held == 0


@pytest.mark.parametrize("kill", [True, False])
async def test_the_budget_of_trials_holds_over_a_restart(kill: bool) -> None:
    desk = await opened(trials=7)
    await dead_end(desk, WORDS)
    tried = await desk.walk(ALIKE, limit=4)
    if not kill:
        await desk.frontier.close()
    await desk.reopened()
    desk.clock.tick(10)
    tried += await desk.walk(ALIKE)
    assert len(tried) == len(set(tried)) == 7
    await desk.reopened()
    desk.clock.tick(10)
    assert await desk.walk(ALIKE) == []
    assert (desk.frontier.counts().held, desk.frontier.counts().pending) == (53, 0)
    assert (await host_row(desk)).debt == 7


async def test_fruitful_pages_allow_for_more_trials() -> None:
    desk = await opened(trials=2, share=0.5)
    await desk.frontier.add([Link(f"{HOME}q/{number}", seed=True) for number in range(20)])
    await desk.walk(DIFFERENT)
    await dead_end(desk, WORDS)
    row = await host_row(desk)
    assert row.fruitful == 21
    assert len(await desk.walk(ALIKE)) == 2 + 11  # the last one begins below the budget of 12.5


async def test_a_fruitful_trial_repays_itself() -> None:
    desk = await opened(trials=2)
    await dead_end(desk, WORDS)
    bring = iter(range(1000))
    assert len(await desk.walk(lambda _: ([prose(next(bring))], []))) == 60
    assert (await host_row(desk)).debt == 0


async def test_a_trial_that_proves_a_duplicate_leaves_its_1_in_the_debt() -> None:
    desk = await opened(trials=5)
    await dead_end(desk, WORDS)
    for number in range(5):
        (lease,) = await desk.lease()
        await desk.settle([lease])
        await desk.bring(lease.url, SAME, (), "word for word")
        assert (await host_row(desk)).debt == number + 1
        desk.clock.tick(10)
    assert await desk.lease() == []


async def test_a_trial_that_leads_to_an_error_costs_as_much() -> None:
    desk = await opened(trials=3)
    await dead_end(desk, WORDS)
    for _ in range(3):
        (lease,) = await desk.lease()
        await desk.settle([lease], Reason.NOT_FOUND)
        desk.clock.tick(10)
    assert await desk.lease() == []
    assert desk.frontier.counts().held == 57


async def test_a_trial_under_way_is_told_as_leased() -> None:
    desk = await opened(trials=3)
    await dead_end(desk, WORDS)
    (lease,) = await desk.lease()
    assert await state(desk, lease.url) == "leased"
    await desk.settle([lease], Reason.ROBOTS_FETCHED)
    assert await state(desk, lease.url) != "held"
    desk.clock.tick(10)
    (again,) = await desk.lease()
    assert again.url == lease.url
    assert (await host_row(desk)).debt == 1


async def test_a_trial_that_a_kill_cut_off_is_asked_for_again_at_no_cost() -> None:
    desk = await opened(trials=1)
    await dead_end(desk, WORDS)
    (lease,) = await desk.lease()
    await desk.reopened()
    desk.clock.tick(10)
    assert await desk.walk(ALIKE) == [lease.url]
    assert desk.frontier.counts().held == 59


async def test_a_better_link_takes_up_what_is_held() -> None:
    desk = await opened()
    await dead_end(desk, WORDS)
    await desk.bring(f"{HOME}index", SAME, WORDS[:3])
    assert desk.frontier.counts().held == 60, "from a page that says nothing it is no better"
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


async def test_a_redirect_of_a_trial_is_the_same_trial() -> None:
    desk = await opened(trials=1)
    await dead_end(desk, WORDS)
    (lease,) = await desk.lease()
    moved = Outcome(lease, Reason.REDIRECTED, desk.clock.now(), 301, redirect=f"{HOME}moved")
    desk.frontier.answered(moved)
    await desk.frontier.settle([moved])
    assert (await host_row(desk)).debt == 1
    await fetch(desk, f"{HOME}moved", [prose(5)])
    assert (await host_row(desk)).debt == 0


async def test_a_page_that_is_delivered_twice_keeps_its_verdict() -> None:
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}one", seed=True)])
    await fetch(desk, f"{HOME}one", SAME)
    before = await host_row(desk)
    for restart in (False, False, True):
        if restart:
            await desk.reopened()
        await desk.bring(f"{HOME}one", SAME, [f"{HOME}two"])
        assert await verdict(desk, f"{HOME}one") is Verdict.FRUITFUL
    after = await host_row(desk)
    assert (after.judged, after.fruitful) == (before.judged, before.fruitful) == (1, 1)


async def test_a_changed_page_is_judged_anew() -> None:
    desk = await opened()
    await desk.bring(f"{HOME}one", SAME)  # of a host that nobody knows: not judged
    await desk.frontier.add([Link(f"{HOME}one", seed=True), Link(f"{HOME}two", seed=True)])
    await desk.walk(lambda url: ([prose(1)] if url.endswith("one") else SAME, []))
    assert await verdict(desk, f"{HOME}one") is Verdict.FRUITFUL
    await desk.bring(f"{HOME}one", SAME)
    assert await verdict(desk, f"{HOME}one") is Verdict.FRUITLESS
    await desk.bring(f"{HOME}one", [prose(2)])
    assert await verdict(desk, f"{HOME}one") is Verdict.FRUITFUL


@pytest.mark.parametrize("kill", [True, False])
async def test_evidence_is_there_again_after_a_restart(kill: bool) -> None:
    desk = await opened()
    await barren(desk)
    held = desk.frontier.counts().held
    if not kill:
        await desk.frontier.close()
    await desk.reopened()
    await desk.frontier.add([Link(f"{HOME}{name}", seed=True) for name in ("new", "same", "copy")])
    await desk.bring(f"{HOME}same", [prose(1)])
    await desk.bring(f"{HOME}new", [prose(9)], (), "new")
    await desk.bring(f"{HOME}copy", [prose(10)], (), "new")
    found = [await verdict(desk, HOME + name) for name in ("same", "new", "copy")]
    assert found == [Verdict.FRUITLESS, Verdict.FRUITFUL, Verdict.DUPLICATE]
    more = [f"{HOME}p/{number}" for number in range(1000, 1005)]
    await desk.frontier.add([Link(url, source=HOME) for url in more])
    assert set(await desk.walk(ALIKE)).isdisjoint(more)
    assert desk.frontier.counts().held == held + 5


async def test_a_host_whose_evidence_has_no_room_in_memory_is_judged_as_any() -> None:
    verdicts = []
    for room in (1, 1 << 28):
        desk = await opened(evidence_bytes=room)
        hosts = [f"http://{letter}.example/" for letter in "abcdef"]
        await desk.frontier.add([Link(host, seed=True) for host in hosts])
        for step in range(60):
            for host in hosts:
                lines = [prose(step // 3)] if host < "http://d" else [prose(step)]
                await desk.bring(f"{host}p/{step}", lines, [f"{host}q/{step}"])
        found = [await verdict(desk, f"{host}p/{step}") for host in hosts for step in range(60)]
        verdicts.append(found)
        assert desk.frontier._trapping._sites._bytes < 20_000 or room > 1
    assert verdicts[0] == verdicts[1]
    assert len(set(verdicts[0])) > 1


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
    """Its pages are all new, and each leads to ten more. Only its start page knows the honest ones."""
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
        words = [f"{HOME}{name}/w{'x' * place}" for place in range(1, sizes[name])]
        return [prose(number)], words if not page else []

    await desk.frontier.add([Link(HOME, seed=True)])
    order = await desk.walk(site, limit=800)
    honest = [place for place, url in enumerate(order) if not url.startswith(f"{HOME}pit")]
    assert len(honest) == 1 + sum(sizes.values())
    assert sum(url.startswith(f"{HOME}pit") for url in order[: honest[-1]]) <= 150


async def test_more_branches_than_are_counted_apart_are_all_fetched() -> None:
    desk = await opened()
    urls = [f"{HOME}{'x' * (number % 30)}{chr(97 + number % 26)}{number}/{page}" for number in range(400) for page in "ab"]
    await desk.add(*urls)
    assert set(await desk.crawl(5000)) == set(urls)
    assert len((await host_row(desk)).branches) <= 300


async def test_rows_of_hosts_count_what_is_stored() -> None:
    table = MemoryTable()
    desk = Desk(config_of(trials=6), table)
    await desk.frontier.open()
    await dead_end(desk, WORDS)
    await desk.walk(ALIKE, limit=3)
    await desk.bring(f"{HOME}index", [prose(3)], WORDS[50:53])
    await desk.lease()
    await desk.frontier.close()
    key = host_key("a.example", 4)
    row = await host_row(desk)
    held = len(table._items[keys.group(key, keys.HELD)])
    queued = len(table._items.get(keys.group(key, keys.QUEUE), []))
    leased = len(table._items[key[:2] + keys.LEASE])
    assert (row.held, row.pending) == (held, queued + leased)
    assert desk.frontier.counts().held == held
