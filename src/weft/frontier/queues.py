"""The queues of hosts: which row a host gives next, and the first rows of each queue kept in memory.

A host's pending rows lie in the table by level (its band) and number. Each branch of the host counts its own, so that
branches take turns. For every level that may hold rows the host's row keeps the number of the first, so that reading
starts behind what was taken, not at its tombstones; what joins later gets a number behind it, or a little before.
Filled by admission, settling and the waking of retries; emptied by leasing.
"""

from bisect import insort
from collections.abc import Iterable, Sequence
from typing import Final

from weft.ports import Delete, Range

from . import keys
from .host import Head, Host, Row
from .priority import Band, drawing_order
from .state import State

FRONT: Final = keys.level(Band.FRONT)
HELD: Final = keys.level(Band.HELD)
_NUMBERED: Final = (keys.level(Band.HIGH), keys.level(Band.NORMAL))


class Queues:
    def __init__(self, state: State) -> None:
        self._state = state
        self._order = drawing_order(state.config.frontier.bands)
        self._head = state.config.frontier.head

    def next_level(self, host: Host) -> int | None:
        """The level to take from: FRONT first, then the bands in the order of this turn. HELD is no queue."""
        row = host.row
        if len(row.levels) <= 1 and not host.tries:
            return next(iter(row.levels), None)
        for band in self._order[row.drawn % len(self._order)]:
            level = keys.level(band)
            if level in row.levels or (level == HELD and host.tries):
                return level
        return None

    async def ready(self, hosts: Sequence[Host]) -> list[Delete]:
        """Read the heads that the next `take` of these hosts needs: single rows by their keys, others in one scan.

        Gives back what is of no use after it: the copies of first rows.
        """
        wanted: list[tuple[Host, int]] = []
        for host in hosts:
            level = None if host.again else self.next_level(host)
            if level is None or level == HELD:
                continue
            if not self._has_head(host, level):
                wanted.append((host, level))
        copies: list[Delete] = []
        if not self._state.hosts.has_room:
            copies = await self._read_firsts([host for host, level in wanted if self._knows_first(host, level)])
            wanted = [(host, level) for host, level in wanted if not self._has_head(host, level)]
        if wanted:
            await self._read(wanted)
        return copies

    def _has_head(self, host: Host, level: int) -> bool:
        head = host.heads.get(level)
        return head is not None and (head.whole or bool(head.rows))

    def _knows_first(self, host: Host, level: int) -> bool:
        """Retries that are due together share a sequence: which of them is the first of FRONT, nobody knows."""
        if level == FRONT or level in host.heads:
            return False
        return host.row.first.startswith(keys.level_start(level, host.row.levels[level]))

    async def _read_firsts(self, hosts: Sequence[Host]) -> list[Delete]:
        """The one row that each gives next: a host that will have left memory by its next turn wants no more.

        Most have a copy among the rows of hosts, which are few: a read there hardly grows with the number of URLs.
        """
        table = self._state.table
        copies = await table.get([keys.first_row(host.key) for host in hosts])
        away: list[Host] = []
        for host, copy in zip(hosts, copies, strict=True):
            first = host.row.first
            if copy is not None and copy.startswith(first):
                host.heads[keys.level_of(first)] = Head([(first, copy[len(first) :])])
            else:
                away.append(host)
        values = await table.get([keys.queue_row(host.key, host.row.first) for host in away])
        for host, value in zip(away, values, strict=True):
            if value is not None:
                host.heads[keys.level_of(host.row.first)] = Head([(host.row.first, value)])
        return [Delete(keys.first_row(host.key)) for host, copy in zip(hosts, copies, strict=True) if copy is not None]

    async def _read(self, wanted: Sequence[tuple[Host, int]]) -> None:
        size = self._size
        ranges = [
            Range(keys.group(host.key, keys.QUEUE), self._start(host, level), keys.level_stop(level), size)
            for host, level in wanted
        ]
        for (host, level), rows in zip(wanted, await self._state.table.scan(ranges), strict=True):
            if self._held(host) >= self._head:
                host.heads.clear()
            head = host.heads[level] = Head()
            head.rows = rows
            head.whole = len(rows) < size

    def _start(self, host: Host, level: int) -> bytes:
        """Where the level's next row may lie. Several rows may share a sequence: retries that are due together."""
        head = host.heads.get(level)
        return head.taken + b"\0" if head and head.taken else keys.level_start(level, host.row.levels[level])

    def take(self, host: Host) -> Row | None:
        """The host's next row, as far as heads were read; forgets levels that turn out empty."""
        while (level := self.next_level(host)) is not None and level != HELD:
            head = host.heads.get(level)
            if head is None:
                return None
            if head.rows:
                row = head.rows.pop(0)
                self._advance(host, level, head, row)
                return row
            if not head.whole:
                return None
            self._forget(host, level)
        return None

    def _advance(self, host: Host, level: int, head: Head, row: Row) -> None:
        if host.row.first == row[0]:
            host.row.first = b""
        if level in _NUMBERED:
            host.row.marks[level] = max(keys.sequence_of(row[0]), host.row.marks.get(level, 0))
        if head.rows:
            host.row.levels[level] = keys.sequence_of(head.rows[0][0])
            host.row.first = head.rows[0][0]
        elif head.whole:
            self._forget(host, level)
        else:
            host.row.levels[level] = keys.sequence_of(row[0])
            head.taken = row[0]

    def _forget(self, host: Host, level: int) -> None:
        host.row.levels.pop(level, None)
        host.heads.pop(level, None)

    def put_back(self, host: Host, row: Row) -> None:
        """A row that was taken and not used: it is still in the table."""
        level = keys.level_of(row[0])
        host.lower(row[0])
        host.heads.pop(level, None)
        host.row.first = b""

    def joined(self, host: Host, rows: Iterable[Row]) -> None:
        """Rows that are now in the table: they extend heads that reach so far, and are read later otherwise."""
        room = self._size - self._held(host)
        for row in rows:
            head = host.heads.get(keys.level_of(row[0]))
            if head is None:
                continue
            if head.taken and not head.rows and row[0] < head.taken:
                del host.heads[keys.level_of(row[0])]  # before what was taken: the next read must begin there
            elif head.whole and room > 0:
                insort(head.rows, row)
                room -= 1
            elif head.rows and row[0] < head.rows[-1][0]:
                insort(head.rows, row)
                head.rows.pop()
                head.whole = False
            else:
                head.whole = False

    @property
    def _size(self) -> int:
        """Rows of a head. With more hosts than memory holds, most are let go before a long one would be used."""
        return self._head if self._state.hosts.has_room else max(1, self._head // 4)

    def _held(self, host: Host) -> int:
        """Rows of the host in memory, over all its levels."""
        return sum(len(head.rows) for head in host.heads.values())
