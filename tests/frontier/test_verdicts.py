"""Verdicts on pages last: over deliveries, restarts and a memory that is too small."""

from collections.abc import Sequence

import pytest

from tests.frontier.dead_end import ALIKE, HOME, SAME, barren, config_of, fetch, host_row, opened, verdict
from tests.frontier.driver import Desk, prose
from weft.engines.memory import MemoryTable
from weft.frontier import keys
from weft.frontier.traps import Verdict
from weft.ports import Range, Rows, Step
from weft.records import Link, Page, Refusal


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


async def test_pages_new_to_their_pattern_alone_are_fruitful_a_few_times_in_a_row() -> None:
    """Each is found outside its pattern, as two patterns take turns; only the numbers change."""
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}p/0", seed=True)])

    def web(url: str) -> tuple[list[str], list[str]]:
        name, number = url[len(HOME) :].split("/")
        return [f"{SAME[0]} {number}"], [f"{HOME}{'q' if name == 'p' else 'p'}/{int(number) + 1}"]

    order = await desk.walk(web, limit=30)
    verdicts = [await verdict(desk, url) for url in order]
    first = verdicts.index(Verdict.LENT)
    after = verdicts[first:].index(Verdict.FRUITLESS)
    assert 1 <= after <= 10
    assert verdicts[first : first + after] == [Verdict.LENT] * after


async def test_a_page_that_has_changed_is_no_further_page() -> None:
    """A site whose pages count their visitors must not come to be held by being visited again."""
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}one", seed=True), Link(f"{HOME}two", seed=True)])
    await desk.walk(lambda url: ([prose(1)] if url.endswith("one") else SAME, []))
    judged = (await host_row(desk)).judged
    await desk.bring(f"{HOME}one", SAME)
    assert await verdict(desk, f"{HOME}one") is Verdict.FRUITFUL, "it was, when it was new"
    row = await host_row(desk)
    assert (row.judged, row.fruitful) == (judged, judged)


async def test_what_a_page_that_cannot_be_read_links_to_is_behind_a_fruitless_one() -> None:
    desk = await opened()
    await desk.frontier.add([Link(f"{HOME}0", seed=True)])
    asked = 0
    while (wait := desk.frontier.ready_in()) is not None and asked < 50:
        desk.clock.tick(wait)
        for lease in await desk.lease():
            await desk.settle([lease])
            number = int(lease.url.removeprefix(HOME))
            links = tuple(Link(f"{HOME}{number * 2 + step}", source=lease.url) for step in (1, 2))
            await desk.frontier.add_pages([Page("1", lease.url, Refusal.TOO_DEEP, links=links)])
            asked += 1
    assert (asked, desk.frontier.counts().held) == (3, 4)


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


class Counting(MemoryTable):
    """Counts the rows of evidence that are written, and how often findings are read one after another."""

    def __init__(self) -> None:
        super().__init__()
        self.written = 0
        self.read = 0

    async def write(self, *steps: Step, sync: bool = False) -> None:
        self.written += sum(operation.key[0][2:3] == keys.EVIDENCE for step in steps for operation in step)
        await super().write(*steps, sync=sync)

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        self.read += sum(wanted.group[2:3] == keys.FINDING for wanted in ranges)
        return await super().scan(ranges)


async def test_evidence_is_written_once_a_minute_and_at_the_end() -> None:
    table = Counting()
    desk = Desk(config_of(), table)
    await desk.frontier.open()
    await desk.frontier.add([Link(HOME, seed=True)])
    for step in range(59):
        await desk.bring(f"{HOME}{'x' * step}", [prose(step)])
        desk.clock.tick(1)
    assert table.written == 0
    desk.clock.tick(60)
    await desk.bring(f"{HOME}later", [prose(100)])
    assert table.written == 1
    await desk.bring(f"{HOME}last", [prose(101)])
    await desk.frontier.close()
    assert table.written == 2
    await desk.reopened()
    await desk.bring(f"{HOME}again", [prose(101)])
    assert await verdict(desk, f"{HOME}again") is Verdict.FRUITLESS
    assert table.read == 0


async def test_what_leaves_memory_is_read_from_its_rows_not_made_again() -> None:
    table = Counting()
    desk = Desk(config_of(evidence_bytes=1), table)
    await desk.frontier.open()
    hosts = [HOME, "http://b.example/"]
    await desk.frontier.add([Link(host, seed=True) for host in hosts])
    for step in range(20):
        await desk.bring(f"{hosts[step % 2]}{'x' * step}", [prose(step // 4)])
    assert table.written >= 19
    assert table.read == 0
