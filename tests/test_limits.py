"""Limits of the whole crawl and of one run: which totals end it, and which run goes on with which."""

import pytest

from weft.engines.memory import MemoryTable
from weft.limits import NO_LIMITS, Amounts, Run, begin, end, next_run, until


@pytest.mark.parametrize(
    ("whole", "of_run", "start", "total"),
    [
        (0, 0, 40, 0),
        (100, 0, 40, 100),
        (0, 100, 40, 140),
        (100, 100, 40, 100),
        (200, 100, 40, 140),
        (100, 50, 120, 100),
    ],
)
def test_the_nearer_limit_ends_it(whole: int, of_run: int, start: int, total: int) -> None:
    for name in ("pages", "bytes", "seconds"):
        found = until(Amounts(**{name: whole}), Amounts(**{name: of_run}), Amounts(**{name: start}))
        assert found == Amounts(**{name: total})
        assert found.reached(Amounts(**{name: total})) == (total > 0)
        assert not found.reached(Amounts(**{name: total - 1}))


SPENT, BEFORE = Amounts(pages=40), Amounts(pages=10)


@pytest.mark.parametrize(
    ("last", "again", "start"),
    [
        (None, False, SPENT),
        (Run(BEFORE, "limit"), False, SPENT),
        (Run(BEFORE, "exhausted"), False, SPENT),
        (Run(BEFORE, ""), False, BEFORE),  # killed
        (Run(BEFORE, "stopped"), False, BEFORE),
        (Run(BEFORE, "waiting"), False, BEFORE),
        (Run(BEFORE, "stopped"), True, SPENT),  # --again is no rest of a first visit
        (Run(BEFORE, "", again=True), True, BEFORE),
        (Run(BEFORE, "", again=True), False, BEFORE),
        (Run(BEFORE, "limit", again=True), True, SPENT),
    ],
)
def test_where_a_run_begins_to_count(last: Run | None, again: bool, start: Amounts) -> None:
    run = next_run(last, SPENT, again=again)
    assert run.start == start
    assert run.ended == ""


async def test_the_row() -> None:
    table = MemoryTable()
    await end(table, "limit")
    assert (await begin(table, NO_LIMITS, again=False)).start == NO_LIMITS
    assert (await begin(table, SPENT, again=False)).start == NO_LIMITS
    await end(table, "stopped")
    assert (await begin(table, SPENT, again=False)).start == NO_LIMITS
    await end(table, "limit")
    assert (await begin(table, SPENT, again=True)).start == SPENT
    assert (await begin(table, Amounts(pages=50), again=True)).start == SPENT
