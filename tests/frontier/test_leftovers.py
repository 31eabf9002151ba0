"""What is left at the end: counted and named by groups, taken up again by a person, and never held again."""

import pytest

from tests.frontier.driver import Desk, configured
from weft.config import Frontier, Scope
from weft.engines.memory import MemoryTable
from weft.engines.torn import Crashed, TornTable
from weft.frontier.leftovers import Left, merged
from weft.frontier.rows import GroupRow
from weft.records import Evidence, Link, Page

NO_TRIALS = configured(frontier=Frontier(trials=0, trial_share=0.0))
SAME = Evidence(digest=7)


async def hold(desk: Desk, *urls: str) -> None:
    """Links behind two pages that say the same."""
    hosts = dict.fromkeys(url.split("/")[2] for url in urls)
    for host in hosts:
        first, second = f"http://{host}/", f"http://{host}/copy"
        await desk.add(first)
        links = tuple(Link(url, depth=1, source=second) for url in urls if url.split("/")[2] == host)
        await desk.frontier.add_pages([Page("1", first, links=(Link(second, source=first),), evidence=SAME)])
        await desk.crawl()
        await desk.frontier.add_pages([Page("2", second, links=links, evidence=SAME)])
    await desk.crawl()


def summed(left: Left) -> list[tuple[str, str, int]]:
    return [(story.looks, story.why, story.held) for story in left.holds]


async def test_groups_are_named_most_held_first() -> None:
    desk = Desk(NO_TRIALS)
    await hold(desk, *(f"http://a.org/p/{n}" for n in range(3)), *(f"http://b.org/q/{n}" for n in range(5)))
    await hold(desk, "http://c.org/r/1")
    expected = [("b.org/q*", "branch", 5), ("a.org/p*", "branch", 3), ("c.org/r*", "branch", 1)]
    assert summed(await desk.frontier.leftovers()) == expected
    left = await desk.frontier.leftovers(limit=2)
    assert (summed(left), left.groups) == (expected[:2], 3)
    assert left.holds[0].examples == tuple(f"http://b.org/q/{n}" for n in range(3))
    await desk.frontier.close()
    await desk.reopened()
    assert summed(await desk.frontier.leftovers()) == expected, "as a process beside it reads it"


def test_groups_that_look_alike_are_one() -> None:
    found = merged(
        "a.org", [GroupRow("/p*", "branch", 2, 0, 9, 1, b"", ("x", "y")), GroupRow("/p*", "pattern", 3, 0, 4)]
    )
    assert [(one.looks, one.why, one.held, one.tried, one.fruitful, one.examples) for one in found] == [
        ("a.org/p*", "pattern", 5, 13, 1, ("x", "y"))
    ]
    assert merged("a.org", [GroupRow("/p*", "branch")]) == []


async def test_a_cap_that_is_reached_is_named_with_its_hosts() -> None:
    desk = Desk(configured(Scope(reach="any", pages_per_host=2)))
    await desk.add(*(f"http://{host}.org/{n}" for host in "ab" for n in range(5)))
    await desk.crawl()
    assert desk.frontier.counts().capped == 6
    (cap,) = (await desk.frontier.leftovers()).caps
    assert (cap.word, cap.urls, cap.hosts, cap.example in ("a.org", "b.org")) == ("pages-per-host", 6, 2, True)


@pytest.mark.parametrize(
    ("wanted", "released"),
    [
        ("a.org/p/*", 3),
        ("http://a.org/p/1", 1),
        ("a.org", 4),
        ("*.org", 5),
        ("*", 5),
        ("a.org/x*", 0),
    ],
)
async def test_what_looks_so_is_released_and_the_rest_stays(wanted: str, released: int) -> None:
    desk = Desk(NO_TRIALS)
    urls = [*(f"http://a.org/p/{n}" for n in range(3)), "http://a.org/q/1", "http://b.org:8080/p/1"]
    await hold(desk, *urls)
    assert desk.frontier.counts().held == 5
    assert await desk.frontier.release(wanted) == released
    assert desk.frontier.counts().held == 5 - released
    await desk.frontier.close()
    await desk.reopened()
    assert desk.frontier.counts().held == 5 - released
    assert len(await desk.crawl()) == released
    assert sum(story.held for story in (await desk.frontier.leftovers()).holds) == 5 - released


async def test_a_group_is_released_by_the_name_it_is_told_by() -> None:
    """Whatever it stands for: ids of sessions, views of one page, brackets."""
    desk = Desk(NO_TRIALS)
    await hold(desk, "http://a.org/[x]/1", "http://b.org:8080/p?q=1")
    for story in (await desk.frontier.leftovers()).holds:
        assert await desk.frontier.release(story.looks) == 1, story.looks
    assert (await desk.frontier.leftovers()).holds == ()


async def test_what_was_released_is_never_held_again() -> None:
    desk = Desk(NO_TRIALS)
    await hold(desk, "http://a.org/p/1")
    await desk.frontier.release("a.org/*")
    again = Page("3", "http://a.org/copy", links=(Link("http://a.org/p/1", source="http://a.org/copy"),), evidence=SAME)
    await desk.frontier.add_pages([again])
    assert await desk.crawl() == ["http://a.org/p/1"]
    assert desk.frontier.counts().held == 0


async def test_a_release_that_is_cut_anywhere_is_completed_by_the_next() -> None:
    urls = {f"http://a.org/p/{n}" for n in range(4)}
    for cut in range(1, 40):
        rows = MemoryTable()
        desk = Desk(NO_TRIALS, rows)
        await hold(desk, *urls)
        await desk.frontier.close()
        desk.table = table = TornTable(cut, cut, rows)
        await desk.reopened()
        try:
            await desk.frontier.release("*")
            await desk.frontier.close()
            over = True
        except Crashed:
            over = False
        desk.table = table.reopened()
        await desk.reopened()
        await desk.frontier.release("*")
        assert urls <= set(await desk.crawl()), cut
        assert (desk.frontier.counts().held, (await desk.frontier.leftovers()).holds) == (0, ()), cut
        if over:
            return
    raise AssertionError("never came to its end")
