"""Links that were not taken in: counted per host and reason, with a few examples of each.

Gathered in memory and written now and then; a crash forgets the last few, which are only statistics.
"""

from typing import Final

import msgspec

from weft.ports import Key, Put, Range, Table
from weft.records import Drop

from . import keys

_EXAMPLES: Final = 3
_GATHERED: Final = 2000  # hosts and reasons
_PATIENCE: Final = 10_000  # ms


class DropRow(msgspec.Struct, array_like=True, gc=False):
    """One host and reason."""

    reason: str
    count: int = 0
    examples: tuple[str, ...] = ()

    def plus(self, more: "DropRow") -> "DropRow":
        return DropRow(self.reason, self.count + more.count, (self.examples + more.examples)[:_EXAMPLES])


class Drops:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._rows: dict[Key, DropRow] = {}
        self._since = 0
        self.examples: dict[Drop, str] = {}
        """One URL for each word, of this process."""

    def note(self, host: bytes, drop: Drop, url: str) -> None:
        """A link to the host (by its key) was dropped."""
        row = self._rows.setdefault(_key(host, drop), DropRow(drop.value))
        row.count += 1
        self.examples.setdefault(drop, url)
        if len(row.examples) < _EXAMPLES:
            row.examples = (*row.examples, url)

    async def write(self, now_ms: int) -> None:
        """Add what was gathered to what is known, if it is much or old."""
        if not self._rows or (len(self._rows) < _GATHERED and now_ms - self._since < _PATIENCE):
            return
        rows, self._rows, self._since = self._rows, {}, now_ms
        known = await self._table.get(list(rows))
        puts = []
        for (key, row), before in zip(rows.items(), known, strict=True):
            merged = _decode(before).plus(row) if before else row
            puts.append(Put(key, msgspec.msgpack.encode(merged)))
        await self._table.write(puts)

    async def of(self, host: bytes) -> list[DropRow]:
        """What was dropped of a host, most frequent first."""
        (rows,) = await self._table.scan([Range(host[:2] + keys.DROPS, host[2:10], limit=len(Drop))])
        found = {item: _decode(value) for item, value in rows if item.startswith(host[2:10])}
        for (_, item), row in self._rows.items():
            if item.startswith(host[2:10]):
                found[item] = found[item].plus(row) if item in found else row
        return sorted(found.values(), key=lambda row: -row.count)


def _key(host: bytes, drop: Drop) -> Key:
    return host[:2] + keys.DROPS, host[2:10] + drop.value.encode()


def _decode(value: bytes) -> DropRow:
    return msgspec.msgpack.decode(value, type=DropRow)
