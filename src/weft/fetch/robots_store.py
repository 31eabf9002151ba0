"""Copies of robots.txt, one per origin: in the table, so that a restart asks nobody again, the recent ones in memory.

An origin comes in, its copy and rules go out. Called by robots_book.py only.
"""

from collections import OrderedDict
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from weft.ports import Key, Put, Table
from weft.records import Record
from weft.urls.host import host_key, host_of

from .robots import Robots

_MEMORY: Final = 64 * 1024 * 1024
_ENTRY_BYTES: Final = 1500  # an entry without a file
_PARSED_FACTOR: Final = 20  # bytes in memory per byte of file: 12 on ordinary ones, up to 40 on hostile ones


class Copy(Record, frozen=True):
    """The last word of an origin: its file, or that there is none; and how it went since."""

    origin: str
    fetched: float = 0.0  # when the origin last gave an answer that counts; 0: never
    body: bytes = b""  # empty also where there is no file: then everything is allowed
    tried: float = 0.0  # the last attempt
    failures: int = 0  # attempts since `fetched`, all in vain


class Terms(NamedTuple):
    """The Crawl-delay (0.0: none given), and whether there is any rule at all."""

    crawl_delay: float
    has_rules: bool


class Entry:
    """A copy with its rules, parsed when they are first needed."""

    def __init__(self, copy: Copy) -> None:
        self.copy = copy
        self.cost = _ENTRY_BYTES + _PARSED_FACTOR * len(copy.body)
        self._terms: dict[str, Terms] = {}

    @cached_property
    def robots(self) -> Robots:
        return Robots.parse(self.copy.body)

    def terms(self, agent: str) -> Terms:
        """What the file says to an agent about all of its URLs."""
        terms = self._terms.get(agent)
        if terms is None:
            robots = self.robots
            terms = self._terms[agent] = Terms(robots.crawl_delay(agent) or 0.0, robots.has_rules(agent))
        return terms


class RobotsStore:
    """Bounded memory in front of the table."""

    def __init__(self, table: Table, partitions: int, memory: int = _MEMORY) -> None:
        self._table, self._partitions, self._memory = table, partitions, memory
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._cost = 0
        self.untold: set[str] = set()  # origins in memory whose sitemaps nobody has asked for yet

    def recent(self, origin: str) -> Entry | None:
        """From memory alone."""
        entry = self._entries.get(origin)
        if entry is not None:
            self._entries.move_to_end(origin)
        return entry

    async def load(self, origin: str) -> Entry | None:
        entry = self.recent(origin)
        if entry is None:
            [row] = await self._table.get([self._key(origin)])
            if row is not None:
                entry = self._remember(msgspec.msgpack.decode(row, type=Copy))
        return entry

    async def save(self, copy: Copy) -> Entry:
        await self._table.write([Put(self._key(copy.origin), msgspec.msgpack.encode(copy))])
        return self._remember(copy)

    def _remember(self, copy: Copy) -> Entry:
        replaced = self._entries.pop(copy.origin, None)
        entry = self._entries[copy.origin] = Entry(copy)
        self.untold.add(copy.origin)
        self._cost += entry.cost - (replaced.cost if replaced else 0)
        while self._cost > self._memory and len(self._entries) > 1:
            origin, dropped = self._entries.popitem(last=False)
            self.untold.discard(origin)
            self._cost -= dropped.cost
        return entry

    def _key(self, origin: str) -> Key:
        """Among the rows of the host's partition, which moves as a whole."""
        return host_key(host_of(origin + "/"), self._partitions)[:2] + b"robots", origin.encode()
