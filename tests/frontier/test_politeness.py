"""Politeness in the whole frontier: what a host is owed survives restarts, and holds for every kind of request."""

import asyncio
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
import pytest

from tests.frontier.driver import Desk, configured
from weft.config import Frontier, Pace, Scope
from weft.records import Asked, Outcome, Reason


async def test_retry_after_stops_the_whole_host_over_a_restart() -> None:
    desk = Desk()
    await desk.add("http://a.example/1", "http://a.example/2")
    (lease,) = await desk.lease()
    outcome = desk.outcome(lease, Reason.RATE_LIMITED, retry_after=3600.0)
    desk.frontier.answered(outcome)
    await desk.frontier.settle([outcome])
    await desk.reopened()
    desk.clock.tick(3598.0)
    assert await desk.lease() == []
    desk.clock.tick(2.0)
    assert len(await desk.lease()) == 1


async def test_a_kill_before_the_settling_forgets_no_retry_after() -> None:
    desk = Desk()
    await desk.add("http://a.example/1", "http://a.example/2")
    (lease,) = await desk.lease()
    desk.frontier.answered(desk.outcome(lease, Reason.OVERLOADED, retry_after=3600.0))
    assert await desk.lease() == []  # the crawl asks for leases whenever an answer has come
    await desk.reopened()
    desk.clock.tick(3598.0)
    assert await desk.lease() == []
    desk.clock.tick(2.0)
    assert len(await desk.lease()) == 1


@pytest.mark.parametrize("longest", [60.0, 7200.0, 3 * 86_400.0])
async def test_the_longest_retry_after_holds_for_the_host_and_the_url(longest: float) -> None:
    desk = Desk(configured(pace=Pace(max_retry_after=longest), frontier=Frontier(retry=(1.0,))))
    await desk.add("http://a.example/1", "http://a.example/2")
    (lease,) = await desk.lease()
    outcome = desk.outcome(lease, Reason.RATE_LIMITED, retry_after=1e9)
    desk.frontier.answered(outcome)
    await desk.frontier.settle([outcome])
    desk.clock.tick(longest - 1.0)
    assert await desk.lease() == []
    desk.clock.tick(1.0)
    asked = await desk.crawl()
    assert sorted(asked) == ["http://a.example/1", "http://a.example/2"]
    assert desk.clock.now() - outcome.finished < longest + 5.0


async def test_a_slow_host_is_asked_less_often() -> None:
    desk = Desk()
    await desk.add("http://a.example/1", "http://a.example/2", "http://a.example/3")
    for _ in range(2):
        (lease,) = await desk.lease()
        desk.clock.tick(3.0)
        outcome = desk.outcome(lease, seconds=3.0)
        desk.frontier.answered(outcome)
        await desk.frontier.settle([outcome])
        assert desk.frontier.ready_in() == pytest.approx(6.0, abs=0.01)
        desk.clock.tick(6.001)


async def test_recovery_after_trouble_is_gradual() -> None:
    desk = Desk(configured(frontier=Frontier(retry=(1.0,) * 20)))
    await desk.add(*(f"http://a.example/{letter}" for letter in "abcdefghijkl"))
    gaps = []
    for turn in range(8):
        (lease,) = await desk.lease()
        outcome = desk.outcome(lease, Reason.SERVER_ERROR if turn < 4 else Reason.STORED)
        desk.frontier.answered(outcome)
        gaps.append(desk.frontier.ready_in() or 0.0)
        desk.clock.tick(gaps[-1] + 0.001)
    assert gaps == pytest.approx([2.0, 4.0, 8.0, 16.0, 8.0, 4.0, 2.0, 1.0], abs=0.01)


async def test_a_thousand_hosts_on_one_address_share_one_budget() -> None:
    names = [f"h{number}.com" for number in range(1000)]
    desk = Desk(addresses=dict.fromkeys(names, "192.0.2.7"))
    await desk.add(*(f"http://{name}/" for name in names))
    moments = []
    for _ in range(250):
        leases = await desk.lease()
        moments += [desk.clock.now()] * len(leases)
        await desk.settle(leases)
        desk.clock.tick(desk.frontier.ready_in() or 0.0)
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert min(gaps) >= 0.249
    assert len(moments) >= 0.95 * (desk.clock.now() - moments[0]) * 4


async def test_a_jump_of_the_wall_clock_makes_no_host_early_and_holds_none_up() -> None:
    desk = Desk()
    await desk.add("http://a.example/1", "http://a.example/2", "http://a.example/3")
    await desk.settle(await desk.lease())
    desk.clock.jump(3600.0)
    assert await desk.lease() == []
    desk.clock.tick(1.001)
    await desk.settle(await desk.lease())
    desk.clock.jump(-7200.0)
    assert await desk.lease() == []
    desk.clock.tick(1.001)
    (last,) = await desk.lease()
    await desk.settle([last])
    await desk.add("http://a.example/4")
    await desk.reopened()  # rows hold wall time: the next process is not held up by two hours
    desk.clock.tick(1.0)
    assert len(await desk.lease()) == 1


async def test_a_lease_that_made_no_request_owes_nothing() -> None:
    desk = Desk()
    await desk.add(*(f"http://a.example/{letter}" for letter in "abc"))
    for _ in range(3):
        (lease,) = await desk.lease()
        denied = Outcome(lease, Reason.ROBOTS_DENIED, desk.clock.now())
        desk.frontier.answered(denied)
        await desk.frontier.settle([denied])
    assert desk.frontier.counts().gone == 3


async def test_quiet_hours_are_kept() -> None:
    desk = Desk(configured(pace=Pace(quiet=("a.example 00:00-12:00",))))
    start = datetime(2026, 3, 1, 6, 0, tzinfo=UTC).timestamp()
    desk.clock.tick(start - desk.clock.now())
    await desk.add("http://a.example/", "http://b.example/")
    (other,) = await desk.lease()
    assert other.host == "b.example"
    await desk.settle([other])
    assert desk.frontier.ready_in() == pytest.approx(6 * 3600.0, abs=1.0)
    desk.clock.tick(6 * 3600.0 + 1)
    assert [lease.host for lease in await desk.lease()] == ["a.example"]


async def test_a_turn_waits_for_the_host_and_holds_it() -> None:
    desk = Desk()
    await desk.add("http://a.example/1", "http://a.example/2", "http://b.example/1")
    leases = {lease.host: lease for lease in await desk.lease()}
    turn = asyncio.create_task(desk.frontier.turn("a.example", "b.example"))
    await desk.clock.advance(5.0)
    assert not turn.done()  # one connection at a time
    await desk.settle([leases["a.example"]])
    await desk.clock.advance(0.9)
    assert not turn.done()
    await desk.clock.advance(0.2)
    await turn
    assert [lease.host for lease in await desk.lease()] == []
    now = desk.clock.now()
    robots = Asked("a.example", "http://a.example/robots.txt", now, now, 200)
    outcome = msgspec.structs.replace(desk.outcome(leases["b.example"]), asked=(robots,))
    desk.frontier.answered(outcome)
    assert await desk.lease() == []
    await desk.clock.advance(1.1)
    assert [lease.url for lease in await desk.lease()] == ["http://a.example/2"]


async def test_a_turn_at_ones_own_host_waits_for_the_gap_only() -> None:
    desk = Desk()
    await desk.add("http://a.example/1")
    await desk.lease()
    turn = asyncio.create_task(desk.frontier.turn("a.example", "a.example"))
    await desk.clock.advance(0.9)
    assert not turn.done()
    await desk.clock.advance(0.2)
    await turn


async def test_hosts_without_an_address_do_not_fill_the_memory_or_keep_the_loop_busy() -> None:
    desk = Desk(configured(frontier=Frontier(hosts=100)))
    for start in range(0, 15_000, 500):
        await desk.add(*(f"http://h{number}.com/" for number in range(start, start + 500)))
    assert await desk.frontier.lease(100) == []
    assert desk.frontier.ready_in() == 1.0
    state = desk.frontier._state
    assert state.lookups.blocked < 11_000
    seen = []
    for _ in range(300):
        leases = await desk.lease(2000)
        seen += [lease.host for lease in leases]
        await desk.settle(leases)
    assert len(set(seen)) == 15_000
    assert state.lookups.blocked == 0


async def test_own_hosts_go_without_delay_budgets_and_addresses() -> None:
    desk = Desk(configured(Scope(reach="any", own=("*.example",)), pace=Pace(delay=0.0)))
    await desk.add(*(f"http://{host}.example/{page}" for host in "abcdef" for page in "xyz"))
    for _ in range(3):
        leases = await desk.frontier.lease(100)
        assert len(leases) == 6
        await desk.settle(leases)
    assert desk.frontier.ready_in() is None
