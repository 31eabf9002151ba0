"""The life of URLs in the frontier, on every embedded engine."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.frontier.driver import Desk, configured
from weft.clock import SystemClock
from weft.config import Frontier, Pace, Scope
from weft.engines.memory import MemoryTable
from weft.engines.rocksdb import RocksTable
from weft.frontier import keys
from weft.ports import Key, Range, Rows, Table
from weft.records import Drop, Lease, Link, Outcome, Reason


@pytest.fixture(params=["memory", "rocksdb"])
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    table: Table = MemoryTable() if request.param == "memory" else RocksTable(tmp_path / "state", SystemClock())
    desk = Desk(table=table)
    await desk.frontier.open()
    yield desk
    await table.close()


class Counting(MemoryTable):
    """Counts what is read of each sort of group."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: Counter[bytes] = Counter()

    async def get(self, wanted: Sequence[Key]) -> list[bytes | None]:
        self.groups.update(group[2:3] for group, _ in wanted)
        return await super().get(wanted)

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        self.groups.update(wanted.group[2:3] for wanted in ranges)
        return await super().scan(ranges)


async def test_many_links_leave_others_their_turn(desk: Desk) -> None:
    turns = 0

    def another() -> None:
        nonlocal turns
        turns += 1
        asyncio.get_running_loop().call_soon(another)

    another()
    await desk.add(*(f"http://{number % 7}.example/{number}" for number in range(2000)))
    assert turns >= 2000 // 256


async def test_a_new_url_is_leased_once_and_settled(desk: Desk) -> None:
    added = await desk.add("http://a.example/", "http://a.example/")
    assert (added.new, added.seen) == (1, 1)
    (lease,) = await desk.lease()
    assert lease.url == "http://a.example/"
    assert desk.frontier.counts().leased == 1
    await desk.settle([lease])
    counts = desk.frontier.counts()
    assert (counts.done, counts.pending, counts.leased, counts.hosts) == (1, 0, 0, 1)
    assert desk.frontier.ready_in() is None
    assert (await desk.add("http://a.example/")).seen == 1


async def test_what_is_seen_stays_seen_over_a_restart(desk: Desk) -> None:
    await desk.add("http://a.example/", "http://a.example/x")
    assert len(await desk.crawl()) == 2
    await desk.reopened()
    assert (await desk.add("http://a.example/", "http://a.example/x")).new == 0
    assert desk.frontier.counts().done == 2
    assert desk.frontier.ready_in() is None


async def test_one_request_to_a_host_at_a_time_and_the_gap_after_it(desk: Desk) -> None:
    await desk.add("http://a.example/1", "http://a.example/2", "http://b.example/1")
    first = await desk.lease()
    assert sorted(lease.host for lease in first) == ["a.example", "b.example"]
    desk.clock.tick(5)
    assert await desk.lease() == []
    await desk.settle(first)
    assert desk.frontier.ready_in() == pytest.approx(1.0, abs=0.01)
    desk.clock.tick(0.99)
    assert await desk.lease() == []
    desk.clock.tick(0.02)
    assert [lease.url for lease in await desk.lease()] == ["http://a.example/2"]


async def test_branches_take_turns_and_inside_a_branch_first_come_first_served(desk: Desk) -> None:
    await desk.add(*(f"http://a.example/many/{page}" for page in range(6)))
    await desk.add(*(f"http://a.example/few/{page}" for page in range(2)))
    order = [url.removeprefix("http://a.example/") for url in await desk.crawl()]
    assert [page for page in order if page.startswith("many")] == [f"many/{page}" for page in range(6)]
    assert sorted(order[:4]) == ["few/0", "few/1", "many/0", "many/1"]


async def test_a_branch_that_comes_late_has_its_turn_at_once(desk: Desk) -> None:
    await desk.add(*(f"http://a.example/many/{page}" for page in range(100)))
    asked = await ask(desk, 40)
    await desk.add(*(f"http://a.example/late/{page}" for page in range(3)))
    await desk.reopened()
    asked = await ask(desk, 8)
    assert sum("/late/" in url for url in asked) == 3


async def ask(desk: Desk, count: int) -> list[str]:
    """So many requests, one after the other."""
    asked: list[str] = []
    while len(asked) < count:
        leases = await desk.lease()
        await desk.settle(leases)
        asked += [lease.url for lease in leases]
        desk.clock.tick(desk.frontier.ready_in() or 0.0)
    return asked


async def test_few_rows_of_a_host_are_in_memory_and_fewer_once_hosts_outnumber_their_room() -> None:
    desk = Desk(configured(frontier=Frontier(hosts=4, head=8)))
    await desk.frontier.open()
    most = []
    for number in range(12):
        await desk.add(*(f"http://h{number}.example/all/{page}" for page in range(30)), depth=1)
        heads = [head for host in desk.frontier._state.hosts.all_live() for head in host.heads.values()]
        most.append(max(len(head.rows) for head in heads))
    assert (most[0], most[-1]) == (8, 2)
    order = await desk.crawl()
    for number in range(12):
        of_host = [url for url in order if url.startswith(f"http://h{number}.")]
        assert of_host == [f"http://h{number}.example/all/{page}" for page in range(30)]


async def test_hosts_that_left_memory_give_their_first_urls_without_a_look_into_their_queues() -> None:
    table = Counting()
    desk = Desk(configured(frontier=Frontier(hosts=4)), table)
    await desk.frontier.open()
    await desk.add(*(f"http://r{number}.example/" for number in range(3)))  # while there is room
    await desk.crawl()
    urls = [f"http://h{number}.example/" for number in range(40)]
    await desk.add(*urls)
    copies = [Range(partition.to_bytes(2, "big") + keys.FIRST) for partition in range(4)]
    assert sum(map(len, await table.scan(copies))) == 40
    table.groups.clear()
    assert sorted(lease.url for lease in await desk.lease()) == sorted(urls)
    assert table.groups[keys.QUEUE] == 0
    left = sum(map(len, await table.scan(copies)))
    assert left == 4  # of the hosts that had not left memory; each of the others was of use once


async def test_a_url_that_was_answered_while_it_lay_first_in_its_queue_is_not_asked_for_again() -> None:
    desk = Desk(configured(frontier=Frontier(hosts=4)))
    await desk.frontier.open()
    await desk.add(*(f"http://h{number}.example/" for number in range(12)))
    early = Lease("http://h11.example/", "h11.example", 1, 0, desk.clock.now(), desk.clock.now())
    await desk.frontier.settle([desk.outcome(early)])  # as from the archive of a crawl that was cut off
    assert sorted(await desk.crawl()) == sorted(f"http://h{number}.example/" for number in range(11))


async def test_a_crash_gives_leases_back_and_the_host_its_gap(desk: Desk) -> None:
    await desk.add("http://a.example/1", "http://a.example/2")
    (lease,) = await desk.lease()
    await desk.reopened()
    assert desk.frontier.ready_in() == 0.0
    assert await desk.lease() == []
    desk.clock.tick(0.74)
    assert await desk.lease() == []
    desk.clock.tick(0.02)
    (again,) = await desk.lease()
    assert (again.url, again.attempt) == (lease.url, 1)
    await desk.settle([again])
    assert await desk.crawl() == ["http://a.example/2"]


async def test_a_crawl_delay_read_just_before_a_crash_holds_after_it(desk: Desk) -> None:
    await desk.add("http://a.example/1", "http://a.example/2")
    await desk.lease()
    await desk.reopened()
    (orphan,) = desk.frontier.orphans()
    desk.frontier.slow_down(orphan, 20.0)
    desk.clock.tick(19.0)
    assert await desk.lease() == []
    desk.clock.tick(1.01)
    (lease,) = await desk.lease()
    await desk.settle([lease])
    desk.clock.tick(19.0)
    assert await desk.lease() == [], "also from then on"


async def test_a_lease_settled_from_the_archive_after_a_crash_is_not_asked_again(desk: Desk) -> None:
    await desk.add("http://a.example/1")
    (lease,) = await desk.lease()
    outcome = desk.outcome(lease)
    await desk.reopened()
    await desk.frontier.settle([outcome])
    assert await desk.crawl() == []
    assert desk.frontier.counts().done == 1


async def test_settling_twice_and_unknown_leases_change_nothing(desk: Desk) -> None:
    await desk.add("http://a.example/1")
    (lease,) = await desk.lease()
    outcome = desk.outcome(lease)
    desk.frontier.answered(outcome)
    await desk.frontier.settle([outcome])
    before = desk.frontier.counts()
    desk.frontier.answered(outcome)
    await desk.frontier.settle([outcome, outcome])
    assert desk.frontier.counts() == before


async def test_again_keeps_the_place_and_counts_no_attempt(desk: Desk) -> None:
    await desk.add("http://a.example/1", "http://a.example/2")
    (lease,) = await desk.lease()
    await desk.settle([lease], Reason.ROBOTS_FETCHED)
    assert await desk.lease() == []
    desk.clock.tick(1.1)
    (again,) = await desk.lease()
    assert (again.url, again.attempt) == ("http://a.example/1", 1)
    assert desk.frontier.counts().pending == 1


async def test_again_is_leased_at_once_where_no_gap_is_owed_even_before_it_is_settled() -> None:
    desk = Desk(configured(Scope(reach="any", own=("a.example",)), pace=Pace(delay=0)))
    await desk.add("http://a.example/1", "http://a.example/2")
    (lease,) = await desk.lease()
    robots = desk.outcome(lease, Reason.ROBOTS_FETCHED)
    desk.frontier.answered(robots)
    (again,) = await desk.lease()
    await desk.frontier.settle([robots])
    assert (again.url, desk.frontier.counts().leased) == (lease.url, 1)
    await desk.settle([again])
    assert await desk.crawl() == ["http://a.example/2"]


async def test_a_failure_is_retried_with_backoff_and_dies_after_the_fifth(desk: Desk) -> None:
    await desk.add("http://a.example/1")
    waits = []
    for attempt in range(1, 6):
        (lease,) = await desk.lease()
        assert lease.attempt == attempt
        await desk.settle([lease], Reason.SERVER_ERROR)
        if attempt < 5:
            assert desk.frontier.counts().waiting == 1
            wait = desk.frontier.ready_in()
            assert wait is not None
            waits.append(wait)
            desk.clock.tick(wait + 0.01)
    for wait, base in zip(waits, (30, 120, 300, 900), strict=True):
        assert base * 0.7 - 0.1 <= wait <= base * 1.3 + 0.1
    counts = desk.frontier.counts()
    assert (counts.dead, counts.waiting, desk.frontier.ready_in()) == (1, 0, None)


async def test_a_host_that_cannot_be_reached_is_parked_with_its_urls_and_does_not_hold_up_the_end(desk: Desk) -> None:
    await desk.add("http://a.example/1", "http://a.example/2")
    for _ in range(5):
        (lease,) = await desk.lease()
        await desk.settle([lease], Reason.ROBOTS_UNREACHABLE)
        desk.clock.tick((desk.frontier.ready_in() or 0.0) + 0.01)
    counts = desk.frontier.counts()
    assert (counts.parked, counts.parked_hosts, counts.pending, counts.dead) == (2, 1, 0, 0)
    assert desk.frontier.ready_in() is None

    await desk.reopened()  # the next run tries once more
    assert desk.frontier.counts().parked == 2
    assert desk.frontier.ready_in() == 0.0
    desk.clock.tick(1000)
    assert len(await desk.crawl()) == 2


async def test_an_origin_that_cannot_be_reached_does_not_park_a_host_that_answers_at_another(desk: Desk) -> None:
    await desk.frontier.add([Link("http://a.example/", seed=True)])
    await desk.add(*(f"https://a.example/{page}" for page in range(20)), depth=3)
    done: list[str] = []
    for _ in range(100):
        for lease in await desk.lease():
            reached = lease.url.startswith("https")
            await desk.settle([lease], Reason.STORED if reached else Reason.CONNECT_FAILED)
            done += [lease.url] if reached else []
        if (wait := desk.frontier.ready_in()) is None:
            break
        desk.clock.tick(wait + 0.01)
    assert len(done) == 20
    counts = desk.frontier.counts()
    assert (counts.parked_hosts, counts.parked) == (1, 1)  # by the one URL that is left


async def test_a_redirect_goes_first_and_a_seeds_redirect_widens_the_scope() -> None:
    desk = Desk(configured(Scope(reach="host")))
    await desk.frontier.add([Link("http://a.example/", seed=True), Link("http://a.example/x")])
    (lease,) = await desk.lease()
    moved = Outcome(lease, Reason.REDIRECTED, desk.clock.now(), 301, redirect="http://www.a.example/")
    added = await desk.frontier.settle([moved])
    assert added.new == 1
    await desk.reopened()
    www = {lease.host: lease for lease in await desk.lease()}["www.a.example"]
    assert (www.host, www.hops, www.seed, www.depth) == ("www.a.example", 1, True, 0)
    assert (await desk.add("http://www.a.example/y")).new == 1
    assert (await desk.add("http://other.example/")).drops == {Drop.OUT_OF_SCOPE: 1}


async def test_too_many_redirects_are_dropped_with_a_reason() -> None:
    desk = Desk()
    await desk.add("http://a.example/0")
    for hop in range(6):
        (lease,) = await desk.lease()
        assert lease.hops == hop
        moved = Outcome(lease, Reason.REDIRECTED, desk.clock.now(), 301, redirect=f"http://a.example/{hop + 1}")
        added = await desk.frontier.settle([moved])
    assert added.drops == {Drop.TOO_MANY_REDIRECTS: 1}
    assert await desk.crawl() == []


async def test_caps_count_what_is_asked_for_not_what_is_found() -> None:
    desk = Desk(configured(Scope(reach="any", pages_per_host=2, max_depth=3)))
    added = await desk.add(*(f"http://a.example/{number}" for number in range(5)))
    assert (added.new, added.drops) == (5, {})
    asked = await desk.crawl()
    assert len(asked) == 2
    counts = desk.frontier.counts()
    assert (counts.pending, counts.capped) == (0, 3)
    (left, *_) = {f"http://a.example/{number}" for number in range(5)}.difference(asked)
    assert (await desk.frontier.explain(left)).next.startswith("nothing: its host has brought")
    await desk.reopened()
    assert await desk.crawl() == []
    assert (await desk.add("http://b.example/x", depth=4)).drops == {Drop.TOO_DEEP: 1}


async def test_a_larger_cap_takes_up_what_the_smaller_one_left() -> None:
    table = MemoryTable()
    first = Desk(configured(Scope(reach="any", pages_per_host=2)), table)
    await first.add(*(f"http://a.example/{number}" for number in range(5)))
    asked = await first.crawl()
    second = Desk(configured(Scope(reach="any", pages_per_host=4)), table)
    await second.reopened()
    assert len(asked + await second.crawl()) == 4


async def test_an_expired_lease_comes_back_as_an_attempt(desk: Desk) -> None:
    await desk.add("http://a.example/1")
    (lease,) = await desk.lease()
    desk.clock.tick(301)
    assert await desk.lease() == []
    assert desk.frontier.counts().waiting == 1
    desk.clock.tick(60)
    (again,) = await desk.lease()
    assert again.attempt == 2
    late = desk.outcome(lease)
    desk.frontier.answered(late)
    await desk.frontier.settle([late])
    assert desk.frontier.counts().leased == 1


async def test_a_late_answer_counts_and_does_not_lose_its_host(desk: Desk) -> None:
    await desk.add("http://a.example/1", "http://a.example/2")
    (lease,) = await desk.lease()
    desk.clock.tick(301)
    assert await desk.lease() == []  # it expired: another attempt waits, and the host its gap
    late = desk.outcome(lease)
    desk.clock.tick(1.999)
    desk.frontier.answered(desk.outcome(lease))
    await desk.frontier.settle([late])
    desk.clock.tick(0.5)
    assert await desk.lease() == []  # the host was asked a moment ago
    assert sorted(await desk.crawl()) == ["http://a.example/1", "http://a.example/2"]


async def test_a_retry_at_a_host_that_is_full_is_still_made() -> None:
    desk = Desk(configured(Scope(reach="any", pages_per_host=2)))
    await desk.add(*(f"http://a.example/{number}" for number in range(5)))
    (lease,) = await desk.lease()
    await desk.settle([lease], Reason.SERVER_ERROR)
    asked = []
    while (wait := desk.frontier.ready_in()) is not None:
        desk.clock.tick(wait)
        leases = await desk.lease()
        await desk.settle(leases)
        asked += [one.url for one in leases]
    assert lease.url in asked
    assert (len({*asked, lease.url}), desk.frontier.counts().capped, desk.frontier.counts().pending) == (2, 3, 0)


async def test_the_cap_of_a_domain_holds_over_restarts() -> None:
    table = MemoryTable()
    asked = []
    for run in range(3):
        desk = Desk(configured(Scope(reach="any", pages_per_domain=20)), table)
        await desk.reopened()
        await desk.add(*(f"http://www.a.com/{run}/{number}" for number in range(30)))
        asked += await desk.crawl()
        await desk.frontier.close()
    assert len(asked) == 20
