"""What the trap defence holds, killed at any step: each URL is in one place, and no count forgets it."""

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.frontier.dead_end import ALIKE, HOME, SAME, config_of
from tests.frontier.driver import Desk, prose
from weft.engines.torn import Crashed, TornTable
from weft.frontier import keys
from weft.frontier.holds import place_of
from weft.frontier.rows import IN_HOLD, IN_QUEUE, IS_SETTLED, decode_group, decode_host
from weft.ports import Range
from weft.records import Lease, Link
from weft.urls.host import host_key, url_key

DEEP = [f"{HOME}deep/{letter}" for letter in "abcdefghijkl"]
NUMBERED = [f"{HOME}p/{number}" for number in range(40)]
GOOD = {*DEEP[4:6], *NUMBERED[3:20:8]}
FAMILY = "http://name.example/"
MEMBERS = [f"http://user-{number}.name.example/" for number in range(40)]
MORE = [f"http://more-{number}.name.example/" for number in range(4)]


SEEDS = [f"{HOME}one", f"{HOME}list", FAMILY]
GIVEN = {*SEEDS, f"{HOME}two", f"{HOME}three"}  # pages that come in by hand


class Story:
    """A crawl that holds, tries, releases and takes up again; what a kill cut off is done once more."""

    def __init__(self, seed: int, crash_at: int) -> None:
        self.desk = Desk(config_of(trials=1000), TornTable(seed, crash_at))
        self.known: set[str] = set()  # acknowledged
        self.asked: Counter[str] = Counter()
        self.kills = 0
        self.most_held = 0
        self.begun: list[int] = []  # operations before each step

    async def run(self) -> None:
        steps = [self.seeds, self.dead_end, self.some, self.better, self.all, self.more, self.release, self.all]
        await self.desk.frontier.open()
        while steps:
            self.begun.append(getattr(self.desk.table, "operations", 0))
            try:
                await steps[0]()
                steps.pop(0)
            except Crashed:
                await self.killed()
        await self.killed()
        await self.all()

    async def killed(self) -> None:
        self.kills += 1
        table = self.desk.table
        assert isinstance(table, TornTable)
        self.desk.table = table.reopened()
        await self.desk.reopened()
        await self.desk.frontier.lease(0)  # puts back what was out
        await self.check()
        self.desk.clock.tick(10)

    async def seeds(self) -> None:
        await self.desk.frontier.add([Link(url, seed=True) for url in SEEDS])
        self.known |= set(SEEDS)

    async def bring(self, url: str, lines: Sequence[str], links: Sequence[str] = ()) -> None:
        await self.desk.bring(url, lines, links)
        self.known |= set(links)

    async def dead_end(self) -> None:
        """Found behind pages that say nothing, and so many of one pattern that it is given up."""
        await self.all(limit=3)
        await self.bring(f"{HOME}list", [prose(5)], NUMBERED)
        await self.bring(f"{HOME}one", SAME, [f"{HOME}two"])
        await self.all(limit=6)
        await self.bring(f"{HOME}two", SAME, [f"{HOME}three"])
        await self.all(limit=12)
        await self.bring(f"{HOME}three", SAME, DEEP)
        await self.bring(FAMILY, [prose(1)], MEMBERS)

    async def some(self) -> None:
        await self.all(limit=45)

    async def better(self) -> None:
        self.most_held = self.desk.frontier.counts().held
        await self.bring(f"{HOME}one", [prose(77)], DEEP[:3])

    async def more(self) -> None:
        await self.bring(FAMILY, [prose(2)], MORE)

    async def release(self) -> None:
        await self.desk.frontier.release("*.name.example/")
        await self.desk.frontier.release("a.example/p/*")

    async def all(self, limit: int = 10_000) -> None:
        while limit > 0:
            leases = await self.desk.lease(min(limit, 7))
            await self.answer(leases)
            limit -= len(leases)
            wait = self.desk.frontier.ready_in()
            if wait is None:
                return
            self.desk.clock.tick(wait)

    async def answer(self, leases: Sequence[Lease]) -> None:
        self.asked.update(lease.url for lease in leases)
        for lease in leases:
            if lease.url in GIVEN:
                continue
            number = sum(map(ord, lease.url)) * len(lease.url)
            await self.desk.bring(lease.url, [prose(number)] if lease.url in GOOD else ALIKE(lease.url)[0])
        await self.desk.settle(leases)

    async def check(self) -> None:
        """Where each URL is, by its rows; and hosts and groups count no less than that."""
        table, held = self.desk.table, Counter[bytes]()
        for url in self.known:
            key = url_key(url, 4)
            row, lease = await table.get([keys.url_row(key), keys.lease_row(key)])
            assert row is not None, url
            assert lease is None, url
            if row[:1] == IN_QUEUE:
                (value,) = await table.get([keys.queue_row(key, row[1:])])
                assert value is not None, f"its queue row is not there: {url}"
            elif row[:1] == IN_HOLD:
                holder, item = place_of(row)
                (value,) = await table.get([keys.held_row(holder, item)])
                assert value is not None, f"its held row is not there: {url}"
                held[holder + item[:8]] += 1
                (group,) = await table.get([keys.hold_row(holder, item[:8])])
                assert group is not None
                assert decode_group(group).first <= item, f"it would be passed over: {url}"
            else:
                assert row[:1] == IS_SETTLED, url
        for name, count in held.items():
            (group,) = await table.get([keys.hold_row(name[: keys.HOST_KEY], name[keys.HOST_KEY :])])
            assert group is not None
            assert decode_group(group).held >= count
        for holder in {name[: keys.HOST_KEY] for name in held}:
            (value,) = await table.get([keys.host_row(holder)])
            assert value is not None
            assert decode_host(value).held >= sum(held[name] for name in held if name.startswith(holder))


async def run(seed: int, crash_at: int) -> Story:
    story = Story(seed, crash_at)
    await story.run()
    desk = story.desk
    states = {url: (await desk.frontier.explain(url)).state for url in story.known}
    lost = {url: state for url, state in states.items() if state not in ("done", "gone")}
    assert not lost, f"killed at {crash_at}: {lost}"
    assert story.known >= {*DEEP, *NUMBERED, *MEMBERS, *MORE}
    assert desk.frontier.counts().held == 0
    assert max(story.asked.values()) <= story.kills + 1
    return story


async def test_the_story_holds_and_tries() -> None:
    """Or the kills below would fall on nothing."""
    story = await run(0, 10**9)
    assert story.most_held > 12
    row = (await story.desk.table.get([keys.host_row(host_key("a.example", 4))]))[0]
    assert row is not None
    groups = (await story.desk.table.scan([keys_of_groups("a.example")]))[0]
    assert {decode_group(value).why for _, value in groups} == {"pattern", "branch"}
    assert all(decode_group(value).tried for _, value in groups)


def keys_of_groups(host: str) -> Range:
    return Range(keys.group(host_key(host, 4), keys.HOLD))


@pytest.mark.parametrize("part", range(8))
async def test_nothing_is_lost_wherever_it_is_killed(part: int) -> None:
    for crash_at in range(1 + part, 1400, 8 * 14):
        await run(part, crash_at)


@pytest.mark.parametrize("step", [3, 5, 6], ids=["better links", "a family", "release"])
async def test_nothing_is_lost_when_what_is_held_is_taken_up(step: int) -> None:
    begun = (await run(1, 10**9)).begun
    assert begun[step] < begun[step + 1]
    for crash_at in range(begun[step] + 1, begun[step + 1] + 1, 1 + (begun[step + 1] - begun[step]) // 25):
        await run(1, crash_at)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
async def test_nothing_is_lost_wherever_it_is_killed_for_long(seed: int) -> None:
    for crash_at in range(1, 1400):
        await run(seed, crash_at)
