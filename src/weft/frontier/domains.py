"""What is counted per registrable domain: URLs asked for, hosts, and the domains that link to it."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import xxhash

from weft.config import Config
from weft.ports import Key, Put, Table

from . import keys
from .reach import Reach
from .rows import DomainRow, decode_domain, encode

_SAVED: Final = 32  # URLs asked for of a domain between two writes of its count


class Domains:
    """A bounded number of them in memory; written with whatever changed them."""

    def __init__(self, table: Table, config: Config, reach: Reach) -> None:
        self._table = table
        self._limit = config.frontier.hosts
        self._cap = config.scope.pages_per_domain
        self._budget = config.frontier.domain_budget
        self._reach = reach
        self._live: dict[bytes, DomainRow] = {}
        self._counted: dict[bytes, None] = {}  # whose counts are newer than their rows

    async def load(self, wanted: Iterable[tuple[bytes, str]]) -> None:
        """By partition (2 bytes) and name."""
        if len(self._live) > self._limit:
            await self.close()
            self._live.clear()
        missing = {_key(partition, name): name for partition, name in wanted if _key(partition, name) not in self._live}
        if not missing:
            return
        values = await self._table.get([_row(key) for key in missing])
        for (key, name), value in zip(missing.items(), values, strict=True):
            self._live[key] = DomainRow(name) if value is None else decode_domain(value)

    def get(self, partition: bytes, name: str) -> DomainRow:
        """One that was loaded."""
        return self._live[_key(partition, name)]

    def count(self, partition: bytes, row: DomainRow, urls: int) -> None:
        """URLs are asked for. Written now and then: a crash forgets a few of the count."""
        if row.admitted % _SAVED + urls >= _SAVED:
            row.dirty = True
        row.admitted += urls
        self._counted[_key(partition, row.name)] = None

    def changes(self, rows: Iterable[tuple[bytes, DomainRow]]) -> list[Put]:
        """Those of the rows (by partition) that are to be written."""
        puts = []
        for partition, row in rows:
            if row.dirty:
                row.dirty = False
                self._counted.pop(_key(partition, row.name), None)
                puts.append(Put(_row(_key(partition, row.name)), encode(row)))
        return puts

    async def close(self) -> None:
        """Write what is newer than its row."""
        late = [Put(_row(key), encode(row)) for key, row in self._live.items() if key in self._counted]
        self._counted.clear()
        if late:
            await self._table.write(late)

    def room(self, row: DomainRow) -> int:
        """How many more URLs the domain may bring."""
        return self._most(row) - row.admitted

    def _most(self, row: DomainRow) -> int:
        """More, the more other domains link to it."""
        cap = self._cap or 1 << 62
        return cap if self._reach.is_seeded(row.name) else min(cap, self._budget * (1 + row.authority))


@lru_cache(maxsize=16_384)
def _key(partition: bytes, name: str) -> bytes:
    return partition + xxhash.xxh3_64_digest(name.encode())


def _row(key: bytes) -> Key:
    return key[:2] + keys.DOMAIN, key[2:]
