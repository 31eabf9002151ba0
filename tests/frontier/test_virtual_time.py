"""The frontier under a manual clock: a week in seconds, a hundred thousand hosts in two minutes, every gap checked."""

from collections import Counter, deque
from collections.abc import Callable

import pytest

from tests.frontier.driver import Desk, configured
from weft.config import Frontier as FrontierSection
from weft.config import Pace, Scope
from weft.records import Asked, Lease, Link, Outcome, Reason

LATENCY = 0.02
DELAYS = (1.0, 2.0, 5.0, 10.0, 30.0)


class Web:
    """Hosts that answer after a while; the log they keep is the judge."""

    def __init__(self, desk: Desk, delay_of: Callable[[str], float]) -> None:
        self.desk = desk
        self.delay_of = delay_of
        self.under_way: deque[tuple[float, Lease]] = deque()
        self.ended: dict[str, float] = {}
        self.asked: Counter[str] = Counter()
        self.early: list[str] = []
        self.unsettled: list[Outcome] = []

    def ask(self, leases: list[Lease]) -> None:
        now = self.desk.clock.now()
        for lease in leases:
            owed = self.delay_of(lease.host) if self.asked[lease.host] else 0.0
            if now - self.ended.get(lease.host, 0.0) < owed - 0.001:
                self.early.append(lease.host)
            self.asked[lease.host] += 1
            self.under_way.append((now + LATENCY, lease))

    def answer(self) -> None:
        """Everything whose time has come."""
        now = self.desk.clock.now()
        while self.under_way and self.under_way[0][0] <= now:
            _, lease = self.under_way.popleft()
            asked = Asked(lease.host, lease.url, now - LATENCY, now, 200)
            delay = self.delay_of(lease.host)
            outcome = Outcome(lease, Reason.STORED, now, 200, (asked,), crawl_delay=delay)
            self.ended[lease.host] = now
            self.desk.frontier.answered(outcome)
            self.unsettled.append(outcome)

    async def run(self, seconds: float) -> None:
        end = self.desk.clock.now() + seconds
        commit = self.desk.clock.now()
        while self.desk.clock.now() < end:
            self.answer()
            self.ask(await self.desk.lease(2000))
            if self.desk.clock.now() >= commit:
                await self.desk.frontier.settle(self.unsettled)
                self.unsettled = []
                commit = self.desk.clock.now() + 0.5
            ready = self.desk.frontier.ready_in()
            waits = [0.5 if ready is None else ready]
            if self.under_way:
                waits.append(self.under_way[0][0] - self.desk.clock.now())
            self.desk.clock.tick(max(0.002, min(waits)))


async def crowd(hosts: int, seconds: float, pages_of_giant: int) -> None:
    """Hosts with mixed delays and work for the whole time, and a giant among them."""

    def delay_of(host: str) -> float:
        return DELAYS[int(host.removeprefix("h").removesuffix(".com")) % len(DELAYS)]

    desk = Desk(configured(Scope(reach="any", pages_per_domain=0), FrontierSection(hosts=hosts)))
    await desk.frontier.add([Link(f"http://h0.com/giant/{page}") for page in range(pages_of_giant)])
    for host in range(1, hosts):
        name = f"h{host}.com"
        pages = int(seconds / delay_of(name)) + 2
        await desk.frontier.add([Link(f"http://{name}/{page}") for page in range(pages)])
    web = Web(desk, delay_of)
    await web.run(seconds)

    assert not web.early, f"{len(web.early)} requests came early, to {web.early[:5]}"
    allowed = Counter({f"h{host}.com": int(seconds / (delay_of(f"h{host}.com") + LATENCY)) for host in range(hosts)})
    assert web.asked.total() >= 0.98 * allowed.total(), f"{web.asked.total():,} of {allowed.total():,}"
    slow = [host for host, count in allowed.items() if web.asked[host] < 0.95 * count - 1]
    assert not slow, f"made to wait: {slow[:5]}"


async def test_every_host_is_asked_as_often_as_its_delay_allows_and_never_earlier() -> None:
    await crowd(hosts=1500, seconds=20.0, pages_of_giant=20_000)


@pytest.mark.long
async def test_a_hundred_thousand_hosts_and_a_million_leases() -> None:
    await crowd(hosts=100_000, seconds=28.0, pages_of_giant=1_000_000)


async def test_a_week_of_long_delays_passes_in_seconds() -> None:
    """Crawl-delay above the cap goes at the cap; a host closed for a day by Retry-After comes back the day after."""
    desk = Desk(configured(Scope(reach="any"), FrontierSection(), Pace(delay=1.0)))
    hosts, pages = 100, 30
    for host in range(hosts):
        await desk.frontier.add([Link(f"http://h{host}.com/{page}") for page in range(pages)])
    start, order = desk.clock.now(), Counter[str]()
    last: dict[str, float] = {}
    shut: dict[str, float] = {}
    for _ in range(100_000):
        outcomes = []
        for lease in await desk.lease():
            now = desk.clock.now()
            assert now - last.get(lease.host, 0.0) >= 300.0 - 0.001
            assert now >= shut.get(lease.host, 0.0) - 0.001
            last[lease.host] = now
            order[lease.host] += 1
            outcome = desk.outcome(lease)
            limited = order[lease.host] == 5
            if limited:
                shut[lease.host] = now + 86_400.0
            outcomes.append(
                Outcome(
                    lease, Reason.RATE_LIMITED if limited else Reason.STORED, now, 429 if limited else 200,
                    outcome.asked, retry_after=86_400.0 * 3 if limited else None, crawl_delay=1000.0,
                )
            )  # fmt: skip
        for outcome in outcomes:
            desk.frontier.answered(outcome)
        await desk.frontier.settle(outcomes)
        wait = desk.frontier.ready_in()
        if wait is None:
            break
        desk.clock.tick(wait)
    assert desk.frontier.counts().done == hosts * pages
    assert 86_400.0 < desk.clock.now() - start < 7 * 86_400.0
