"""A whole fetch stage on loopback for tests: fetcher, book, transport, names, clocks, and what was connected to."""

from weft.clock import ManualClock, SystemClock
from weft.config import Fetch
from weft.engines.memory import MemoryTable
from weft.fetch.dns import Answer, Resolver
from weft.fetch.fetcher import Fetcher
from weft.fetch.guard import Guard
from weft.fetch.http import HttpTransport
from weft.fetch.identity import Identity
from weft.fetch.robots_book import RobotsBook
from weft.fetch.robots_store import RobotsStore
from weft.records import Kind, Lease, Request
from weft.urls.host import host_of
from weft.urls.own import OwnHosts

QUICK = Fetch(
    contact="https://bot.example/",
    connect_seconds=1.0,
    first_byte_seconds=0.6,
    total_seconds=2.0,
    max_body=100_000,
    max_headers=8192,
)
OPEN = b"User-agent: *\nDisallow: /private\nCrawl-delay: 3\n"


class Names:
    """DNS for tests: names and their addresses, one tuple after another where several are given."""

    def __init__(self, names: dict[str, list[tuple[str, ...]]]) -> None:
        self.names = names
        self.asked: list[str] = []

    async def lookup(self, host: str) -> Answer:
        self.asked.append(host)
        answers = self.names.get(host, [()])
        return Answer(answers.pop(0) if len(answers) > 1 else answers[0], 60.0)

    async def close(self) -> None:
        pass


class Crew:
    """See the module."""

    def __init__(
        self,
        names: dict[str, list[tuple[str, ...]]] | None = None,
        own: tuple[str, ...] = ("127.0.0.1",),
        config: Fetch = QUICK,
    ) -> None:
        self.clock = ManualClock()
        self.names = Names(names or {"h.test": [("127.0.0.1",)], "other.test": [("127.0.0.1",)]})
        self.table = MemoryTable()
        self.turns: list[tuple[str, str]] = []
        self.busy = False
        self.connected: list[tuple[str, str]] = []
        self.own, self.config = own, config
        self.transport, self.book, self.fetcher = self._open()

    def _open(self) -> tuple[HttpTransport, RobotsBook, Fetcher]:
        real = SystemClock()  # timeouts are real and short, ages and back-off are manual
        resolver = Resolver([self.names], real)
        transport = HttpTransport(self.config, Guard(OwnHosts(self.own)), resolver, real)
        transport.on_connect = lambda host, address: self.connected.append((host, address))
        transport.grace = 0.5
        identity = Identity(self.config)
        book = RobotsBook(RobotsStore(self.table, 256), transport, identity, self.clock, self._turn)
        return transport, book, Fetcher(transport, book, identity, self.clock, self.config)

    async def restart(self) -> None:
        """A new process on the same table."""
        await self.close()
        self.transport, self.book, self.fetcher = self._open()

    async def _turn(self, host: str, holder: str) -> bool:
        self.turns.append((host, holder))
        return not self.busy

    async def close(self) -> None:
        await self.fetcher.close()


def lease(url: str, kind: Kind = Kind.PAGE, hops: int = 0, etag: str = "", modified: str = "") -> Lease:
    return Lease(url, host_of(url), 1, 0, leased=0.0, expires=1e10, kind=kind, hops=hops, etag=etag, modified=modified)


def request(url: str, max_body: int = 100_000, accept: tuple[str, ...] = ("text/html",)) -> Request:
    return Request(url, (("User-Agent", "weft/0.1"),), max_body, accept)
