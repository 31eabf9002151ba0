"""What is held is tried: when, at what cost, and on which budget."""

from itertools import pairwise

import pytest

from tests.frontier.dead_end import (
    ALIKE,
    DIFFERENT,
    HOME,
    SAME,
    WORDS,
    config_of,
    dead_end,
    fetch,
    host_row,
    opened,
    state,
)
from tests.frontier.driver import Desk, prose
from weft.engines.memory import MemoryTable
from weft.frontier import keys
from weft.records import Link, Outcome, Reason
from weft.urls.host import host_key


async def test_held_urls_are_tried_one_turn_in_ten() -> None:
    desk = await opened(trials=1000)
    await dead_end(desk, WORDS)
    await desk.frontier.add([Link(f"{HOME}{'abcdefghij'[number % 10]}/x{number}") for number in range(200)])
    order = await desk.walk(DIFFERENT, limit=100)
    tried = [place for place, url in enumerate(order) if url in set(WORDS)]
    assert 5 <= len(tried) <= 15
    assert max(later - sooner for sooner, later in pairwise(tried)) <= 20


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
