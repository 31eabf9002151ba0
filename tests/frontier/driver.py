"""A frontier under a manual clock, on any table, with the parts of a crawl that tests need played by hand."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from weft.clock import ManualClock
from weft.config import Config, Pace, Scope, Storage
from weft.config import Frontier as FrontierSection
from weft.engines.memory import MemoryTable
from weft.frontier.admission import Added
from weft.frontier.frontier import Frontier
from weft.parse.evidence import told
from weft.ports import Table
from weft.records import Asked, Lease, Link, Outcome, Page, Reason

Web: TypeAlias = Callable[[str], tuple[Sequence[str], Sequence[str]]]
"""What stands at a URL: lines of text, and links."""


def configured(scope: Scope | None = None, frontier: FrontierSection | None = None, pace: Pace | None = None) -> Config:
    """Few partitions, everything in scope unless told otherwise."""
    return Config(
        storage=Storage(partitions=4),
        scope=scope or Scope(reach="any"),
        frontier=frontier or FrontierSection(),
        pace=pace or Pace(),
    )


class Desk:
    """The frontier, its clock and its table."""

    def __init__(
        self, config: Config | None = None, table: Table | None = None, addresses: Mapping[str, str] | None = None
    ) -> None:
        self.addresses = addresses or {}  # of hosts; the others have one of their own each
        self.config = config or configured()
        self.clock = ManualClock()
        self.table = table or MemoryTable()
        self.frontier = Frontier(self.table, self.clock, self.config)

    async def reopened(self) -> None:
        """As after a crash: nothing of the memory is left. Budgets hold for their interval after a start."""
        self.frontier = Frontier(self.table, self.clock, self.config)
        await self.frontier.open()
        self.clock.tick(0.25)

    async def add(self, *urls: str, depth: int = 0, source: str = "") -> Added:
        return await self.frontier.add([Link(url, depth=depth, source=source) for url in urls])

    async def lease(self, limit: int = 100) -> list[Lease]:
        """Leases, with every host's address told as soon as it is wanted."""
        leases = await self.frontier.lease(limit)
        while await self.resolve() and len(leases) < limit:
            leases += await self.frontier.lease(limit - len(leases))
        return leases

    async def resolve(self) -> int:
        lookups = self.frontier._state.lookups
        if not lookups.names:
            return 0
        names = await self.frontier.wants_address(10_000)
        self.frontier.resolved({name: self.addresses.get(name) or address_of(name) for name in names})
        return len(names)

    def outcome(
        self, lease: Lease, reason: Reason = Reason.STORED, seconds: float = 0.0, retry_after: float | None = None
    ) -> Outcome:
        """An answer that ends now and took `seconds`."""
        now = self.clock.now()
        asked = Asked(lease.host, lease.url, now - seconds, now, 200 if reason is Reason.STORED else 500)
        return Outcome(lease, reason, now, asked.status, (asked,), retry_after=retry_after)

    async def settle(self, leases: Iterable[Lease], reason: Reason = Reason.STORED) -> None:
        outcomes = [self.outcome(lease, reason) for lease in leases]
        for outcome in outcomes:
            self.frontier.answered(outcome)
        await self.frontier.settle(outcomes)

    async def bring(self, url: str, lines: Sequence[str], links: Sequence[str] = (), whole: str = "") -> Added:
        """The parsed page of a URL reaches the frontier."""
        return await self.frontier.add_pages([page(url, lines, links, whole)])

    async def walk(self, web: Web, limit: int = 10_000) -> list[str]:
        """Fetch, settle and hand in pages, until nothing can become ready or `limit` were asked for."""
        order: list[str] = []
        while len(order) < limit:
            leases = await self.lease(limit - len(order))
            await self.settle(leases)
            for lease in leases:
                await self.bring(lease.url, *web(lease.url))
            order += [lease.url for lease in leases]
            wait = self.frontier.ready_in()
            if wait is None:
                break
            self.clock.tick(wait)
        return order

    async def crawl(self, limit: int = 1000) -> list[str]:
        """Lease and settle until nothing can become ready; the URLs in the order they were asked for."""
        order: list[str] = []
        for _ in range(limit):
            leases = await self.lease()
            await self.settle(leases)
            order += [lease.url for lease in leases]
            wait = self.frontier.ready_in()
            if wait is None:
                return order
            self.clock.tick(wait)
        raise AssertionError(f"not at its end after {limit} rounds")


def address_of(name: str) -> str:
    """An address for each host name, nearly always a different one."""
    number = sum(ord(letter) * 31**place for place, letter in enumerate(name)) % (1 << 24)
    return f"93.{number >> 16}.{number >> 8 & 255}.{number & 255}"


def page(url: str, lines: Sequence[str], links: Sequence[str] = (), whole: str = "") -> Page:
    """Its whole text is one of its own, unless it is given."""
    found = tuple(Link(link, depth=1, source=url) for link in links)
    return Page(
        "", url, links=found, evidence=told(url, [(line, False) for line in lines], (), whole or f"{url} {lines}")
    )


def prose(number: int) -> str:
    """A line that no other number has, not even without its digits."""
    letters = "".join(chr(97 + int(digit)) for digit in str(number))
    return f"x{letters}x says y{letters}y"
