"""Sites on which URLs come to be held, and looks at what became of them: for the tests of the trap defence."""

from collections.abc import Callable, Sequence

import msgspec

from tests.frontier.driver import Desk, configured, prose
from weft.config import Config, Frontier, Scope
from weft.frontier import keys
from weft.frontier.rows import HostRow, decode_host
from weft.frontier.traps import Verdict
from weft.records import Link
from weft.urls.host import host_key

HOME = "http://a.example/"
SAME = ["The same words stand on each of these pages"]
MANY = 120  # more pages than any rule needs to make up its mind


def config_of(trials: int = 0, share: float = 0.0, **more: int) -> Config:
    return configured(Scope(reach="any"), msgspec.convert({"trials": trials, "trial_share": share, **more}, Frontier))


async def opened(trials: int = 0, share: float = 0.0, **more: int) -> Desk:
    desk = Desk(config_of(trials, share, **more))
    await desk.frontier.open()
    return desk


async def state(desk: Desk, url: str) -> str:
    return (await desk.frontier.explain(url)).state


async def verdict(desk: Desk, url: str) -> Verdict:
    learned = (await desk.frontier.explain(url)).learned
    assert learned is not None
    return Verdict(learned.verdict)


async def host_row(desk: Desk, name: str = "a.example") -> HostRow:
    (value,) = await desk.table.get([keys.host_row(host_key(name, 4))])
    assert value is not None
    return decode_host(value)


async def fetch(desk: Desk, url: str, lines: Sequence[str], links: Sequence[str] = (), whole: str = "") -> None:
    """The URL is asked for and its page comes in; whatever else is asked for meanwhile brings nothing."""
    for _ in range(1000):
        leases = await desk.lease()
        await desk.settle(leases)
        if any(lease.url == url for lease in leases):
            await desk.bring(url, lines, links, whole)
            return
        desk.clock.tick(desk.frontier.ready_in() or 0.1)
    raise AssertionError(f"never asked for: {url}")


async def dead_end(desk: Desk, links: Sequence[str]) -> None:
    """Three pages that say the same lead from one to the next, and the last one to `links`."""
    await desk.frontier.add([Link(f"{HOME}one", seed=True)])
    await fetch(desk, f"{HOME}one", SAME, [f"{HOME}two"])
    await fetch(desk, f"{HOME}two", SAME, [f"{HOME}three"])
    await fetch(desk, f"{HOME}three", SAME, links)
    desk.clock.tick(10)


def web(lines: Callable[[int], list[str]]) -> Callable[[str], tuple[list[str], list[str]]]:
    """Pages without links, by the number that their URL ends with."""
    return lambda url: (lines(int("0" + "".join(letter for letter in url if letter.isdigit()))), [])


ALIKE = web(lambda number: [f"{SAME[0]} {0 * number}"])
DIFFERENT = web(lambda number: [prose(number)])
WORDS = [f"{HOME}deep/{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)]


async def barren(desk: Desk) -> None:
    """The pattern /p/* has brought nothing for long; all of it was linked from one good page."""
    await desk.frontier.add([Link(HOME, seed=True)])
    await fetch(desk, HOME, [prose(1)], [f"{HOME}p/{number}" for number in range(MANY)])
    await desk.walk(ALIKE)
