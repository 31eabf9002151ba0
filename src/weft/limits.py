"""When a crawl ends by itself: the limits of the whole crawl (weft.toml) and of one run (the command line).

One row says what was spent when the last run began, and how it ended: a run that was killed or stopped is gone on with,
behind one that came to its end the next begins to count at 0. Called by session; crawl asks what is left.
"""

from typing import Final

import msgspec

from .config import Crawl
from .ports import Key, Put, Table
from .records import Record

_KEY: Final[Key] = (b"crawl.run", b"last")
_FINISHED: Final = ("exhausted", "limit")


class Amounts(Record, frozen=True):
    """Pages fetched, bytes of bodies and seconds: what was spent, or at which total of them to end (0: no limit)."""

    pages: int = 0
    bytes: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, crawl: Crawl) -> "Amounts":
        """The limits of a [crawl] section."""
        return cls(crawl.max_pages, crawl.max_bytes, crawl.max_seconds)

    def reached(self, spent: "Amounts") -> bool:
        return 0 < self.pages <= spent.pages or 0 < self.bytes <= spent.bytes or 0 < self.seconds <= spent.seconds


NO_LIMITS: Final = Amounts()


class Run(Record, frozen=True):
    """What is remembered of a run."""

    start: Amounts  # spent by all runs before it
    ended: str = ""  # as in the report; "" while it goes on, or when it was killed
    again: bool = False


def next_run(last: Run | None, spent: Amounts, *, again: bool) -> Run:
    """The run that begins now: the last one, gone on with, or a new one. `--again` is never the rest of another run."""
    if last is None or last.ended in _FINISHED or (again and not last.again):
        return Run(spent, again=again)
    return Run(last.start, again=last.again)


def until(whole: Amounts, of_run: Amounts, start: Amounts) -> Amounts:
    """The totals at which to end: whichever limit comes first."""
    return Amounts(
        int(_least(whole.pages, of_run.pages, start.pages)),
        int(_least(whole.bytes, of_run.bytes, start.bytes)),
        _least(whole.seconds, of_run.seconds, start.seconds),
    )


def _least(whole: float, of_run: float, start: float) -> float:
    return min((total for total in (whole, of_run and start + of_run) if total), default=0)


async def begin(table: Table, spent: Amounts, *, again: bool) -> Run:
    """Write down that a run goes on from here."""
    (row,) = await table.get([_KEY])
    run = next_run(msgspec.msgpack.decode(row, type=Run) if row is not None else None, spent, again=again)
    await table.write([Put(_KEY, msgspec.msgpack.encode(run))])
    return run


async def end(table: Table, ended: str) -> None:
    """Write down how the run ended; the last thing that a run does."""
    (row,) = await table.get([_KEY])
    if row is not None:
        run = msgspec.structs.replace(msgspec.msgpack.decode(row, type=Run), ended=ended)
        await table.write([Put(_KEY, msgspec.msgpack.encode(run))], sync=True)
