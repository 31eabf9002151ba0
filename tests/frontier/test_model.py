"""The frontier against a simple model, on every engine, crashes among the steps: nothing lost, nothing leased twice at
once, nobody asked early, order as promised. `make test` runs a short form; the long one has 10,000 steps per engine.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

import msgspec
import pytest

from tests.frontier.driver import Desk, configured, page, prose
from tests.frontier.model import Model
from tests.redis_server import RedisServer
from weft.clock import SystemClock
from weft.config import Config, Pace, Scope
from weft.config import Frontier as FrontierSection
from weft.engines.memory import MemoryTable
from weft.engines.redis import open_redis_table
from weft.engines.rocksdb import RocksTable
from weft.engines.torn import Crashed, TornTable
from weft.frontier.letters import Filter
from weft.ports import Table
from weft.records import Lease, Link, Outcome, Reason

HOSTS = [f"{name}.example" for name in "abcdef"] + ["www.one.org", "blog.one.org", "two.co.uk"]
ADDRESSES = {host: f"93.0.0.{min(index, 5)}" for index, host in enumerate(HOSTS)}  # the last four share one
OUTCOMES = (
    [Reason.STORED] * 8
    + [Reason.NOT_FOUND, Reason.SERVER_ERROR, Reason.ROBOTS_FETCHED, Reason.RATE_LIMITED]
    + [Reason.REDIRECTED, Reason.TIMEOUT, Reason.DNS_FAILED]
)


def config_of(seed: int) -> Config:
    """Memory for four hosts, for one to three rows of each, and for a few known URLs."""
    # Leases do not expire here: a late answer to one that did is a story of its own (test_frontier).
    section = FrontierSection(retry=(5.0, 20.0, 60.0), hosts=4, head=1 + seed % 3, recent=8, lease_seconds=1e9)
    section = msgspec.structs.replace(section, trials=5, trial_share=0.2, evidence_bytes=20_000)
    return configured(Scope(reach="any"), section, Pace(delay=1.0))


class Driver:
    """Random calls, each checked against the model."""

    def __init__(self, seed: int, table: Table, judged: bool = False) -> None:
        """`judged`: pages come in too, so that URLs are held and tried; their order is not promised then."""
        self.random = Random(seed)
        config = config_of(seed)
        self.desk = Desk(config, table, ADDRESSES)
        self.model = Model(config, ADDRESSES)
        self.answers: list[Outcome] = []
        self.judged = judged
        self.held = 0  # at most, at a time

    async def run(self, steps: int) -> None:
        await self.desk.frontier.open()
        moves = [self.add] * 3 + [self.lease] * 5 + [self.answer] * 5 + [self.settle] * 3 + [self.tick] * 4
        moves += [self.bring] * 6 if self.judged else []
        for _ in range(steps):
            move = self.crash if self.random.random() < 0.01 else self.random.choice(moves)
            try:
                await move()
            except Crashed:
                await self.crash()
        await self.finish()

    async def add(self) -> None:
        links = [self.link() for _ in range(self.random.randrange(1, 6))]
        try:
            await self.desk.frontier.add(links)
        except Crashed:
            for link in links:
                self.model.uncertain(link.url, link.depth)
            raise
        for link in links:
            self.model.added(link.url, link.depth, not self.judged)

    async def bring(self) -> None:
        """A page comes in, of whatever URL: often one that says nothing new, and leads on inside its pattern."""
        sources = list(self.model.urls)[-40:]
        if not sources:
            return
        source = self.random.choice(sources)
        number = self.random.randrange(2000) if self.random.random() < 0.2 else self.random.randrange(8)
        links = [self.link().url for _ in range(self.random.randrange(8))]
        links += [f"{source}{self.random.choice('abc')}"] if len(source) < 40 else []
        whole = "the same" if self.random.random() < 0.1 else ""
        try:
            await self.desk.frontier.add_pages([page(source, [prose(number)], links, whole)])
        except Crashed:
            for url in links:
                self.model.uncertain(url, 1)
            raise
        for url in links:
            self.model.added(url, 1, plain=False)
        self.held = max(self.held, self.desk.frontier.counts().held)

    def link(self) -> Link:
        number = self.random.randrange(1 + self.model.arrivals // 6 + 3)
        depth = number % 7
        return Link(f"http://{self.random.choice(HOSTS)}/{number % 3}/p{number}", depth=depth)

    async def lease(self) -> None:
        now = self.desk.clock.now()
        for lease in await self.desk.lease(self.random.randrange(1, 12)):
            self.model.leased(lease, now)

    async def answer(self) -> None:
        waiting = [lease for url, lease in self.model.out.items() if self.model.busy.get(lease.host) == url]
        if not waiting:
            return
        lease = self.random.choice(waiting)
        latency = self.random.choice((0.0, 0.1, 2.0))
        self.desk.clock.tick(latency)
        outcome = self.outcome(lease, latency, self.random.choice(OUTCOMES))
        self.desk.frontier.answered(outcome)
        self.model.answered(outcome, latency)
        self.answers.append(outcome)

    def outcome(self, lease: Lease, latency: float, reason: Reason) -> Outcome:
        outcome = self.desk.outcome(lease, reason, latency, 7.0 if reason is Reason.RATE_LIMITED else None)
        if reason is Reason.REDIRECTED:
            number = self.random.randrange(self.model.arrivals)  # on its own host, so that no host gains authority
            return msgspec.structs.replace(outcome, redirect=f"http://{lease.host}/{number % 3}/p{number}")
        return outcome

    async def settle(self) -> None:
        self.random.shuffle(self.answers)
        count = self.random.randrange(len(self.answers) + 1)
        batch, self.answers = self.answers[:count], self.answers[count:]
        if self.random.random() < 0.1:
            batch = batch + batch
        try:
            await self.desk.frontier.settle(batch)
        except Crashed:
            for outcome in batch:  # some may be settled: they may be asked again, or not
                self.expect_redirect(outcome, certain=False)
            raise
        for outcome in batch:
            self.model.settled(outcome)
            self.expect_redirect(outcome, certain=True)

    def expect_redirect(self, outcome: Outcome, certain: bool) -> None:
        if outcome.redirect and outcome.lease.hops < 5:
            depth = outcome.lease.depth
            if certain and outcome.redirect not in self.model.urls:
                self.model.added(outcome.redirect, depth, plain=False)
            else:
                self.model.uncertain(outcome.redirect, depth)

    async def tick(self) -> None:
        self.desk.clock.tick(self.random.choice((0.05, 0.3, 1.0, 3.0, 20.0)))

    async def crash(self) -> None:
        table = self.desk.table
        if isinstance(table, TornTable):
            self.desk.table = table.reopened(self.random.randrange(1, 600))
        self.answers.clear()
        await self.desk.reopened()
        self.model.crashed(self.desk.clock.now() - 0.25)

    async def finish(self) -> None:
        """Answer everything, revive what was given up, and look at each URL that was ever acknowledged."""
        if isinstance(self.desk.table, TornTable):
            self.desk.table = self.desk.table.reopened()
        await self.desk.reopened()
        self.model.crashed(self.desk.clock.now() - 0.25)
        await self.desk.frontier.revive(Filter())
        self.model.revived()
        for _ in range(100_000):
            now = self.desk.clock.now()
            leases = await self.desk.lease()
            for lease in leases:
                self.model.leased(lease, now)
            outcomes = [self.outcome(lease, 0.0, Reason.STORED) for lease in leases]
            for outcome in outcomes:
                self.desk.frontier.answered(outcome)
                self.model.answered(outcome, 0.0)
            await self.desk.frontier.settle(outcomes)
            for outcome in outcomes:
                self.model.settled(outcome)
            wait = self.desk.frontier.ready_in()
            if wait is None:
                break
            self.desk.clock.tick(wait + 0.001)
        stories = [await self.desk.frontier.explain(url) for url in self.model.urls]
        lost = [(story.url, story.state) for story in stories if story.state not in ("done", "gone", "held")]
        assert not lost, f"lost: {lost[:5]} of {len(lost)}"


Open = Callable[[], Awaitable[Table]]


@pytest.fixture(params=["memory", "torn", "rocksdb", "redis"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    async def table() -> Table:
        if request.param == "redis":
            server: RedisServer = request.getfixturevalue("redis_server")
            return await open_redis_table(f"{server.url}#model{request.node.name}")
        if request.param == "rocksdb":
            return RocksTable(tmp_path / "state", SystemClock())
        return MemoryTable() if request.param == "memory" else TornTable(5, 300)

    return table


async def run(opened: Open, seed: int, steps: int, judged: bool = False) -> None:
    table = await opened()
    driver = Driver(seed, table, judged)
    print(f"seed {seed}, {steps} steps")
    try:
        await driver.run(steps)
    finally:
        if not isinstance(table, TornTable):
            await table.close()
    assert driver.model.leases > steps // 10
    assert (driver.held > 0) == judged


SHORT = {"memory": 4000, "torn": 4000, "rocksdb": 2500, "redis": 1500}  # steps


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_frontier_keeps_its_promises(opened: Open, seed: int, request: pytest.FixtureRequest) -> None:
    engine = next(name for name in SHORT if name in request.node.name)
    await run(opened, seed, SHORT[engine])


@pytest.mark.parametrize("seed", [11, 12])
async def test_it_keeps_them_when_pages_are_judged(opened: Open, seed: int, request: pytest.FixtureRequest) -> None:
    engine = next(name for name in SHORT if name in request.node.name)
    await run(opened, seed, SHORT[engine] // 2, judged=True)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 204))
async def test_it_keeps_them_for_long_when_pages_are_judged(opened: Open, seed: int) -> None:
    await run(opened, seed, 10_000, judged=True)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 104))
async def test_the_frontier_keeps_its_promises_for_long(opened: Open, seed: int) -> None:
    await run(opened, seed, 10_000)
