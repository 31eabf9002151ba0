"""Retries go back to the front of their host's queue: when their time has come, before leases are given; or at once,
when a person wants it (`letters`).

Order of writing: host rows, queue rows, URL rows, then the waiting rows go. A waiting row counts only while the URL's
row names it; the queue item is made of the due time, so doing it twice gives one row.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from weft.ports import Delete, Put, Range, Rows

from . import keys
from .host import Host, Row
from .moves import Batch, Moves
from .queues import FRONT
from .rows import IN_QUEUE, IN_WAIT, Pending, decode_pending
from .state import Leased, State

_PAGE: Final = 500


class Waking:
    def __init__(self, state: State, moves: Moves) -> None:
        self._state = state
        self._moves = moves

    async def wake(self) -> None:
        now = self._state.time.wall_ms()
        partitions = [partition for partition, due in self._state.due.items() if due <= now]
        for partition in partitions:
            await self._wake(partition.to_bytes(2, "big"), now)

    async def _wake(self, partition: bytes, now: int) -> None:
        (rows,) = await self._state.table.scan([Range(partition + keys.WAITING, limit=_PAGE)])
        due = [(item, value) for item, value in rows if int.from_bytes(item[:8], "big") <= now]
        if due:
            await self._move(partition, due)
        number = int.from_bytes(partition, "big")
        if len(due) < len(rows):
            self._state.due[number] = int.from_bytes(rows[len(due)][0][:8], "big")
        elif len(rows) < _PAGE:
            del self._state.due[number]

    async def _move(self, partition: bytes, rows: Rows) -> None:
        self._state.urgent += await self.move([(partition + item[8:], (item, value)) for item, value in rows])

    async def move(self, waiting: Sequence[tuple[bytes, Row]], *, anew: bool = False) -> list[Host]:
        """Waiting rows by the keys of their URLs; the host of each that did wait. `anew`: with all attempts to come."""
        hosts = await self._state.hosts.load(list({key[: keys.HOST_KEY] for key, _ in waiting}))
        named = await self._state.table.get([keys.url_row(key) for key, _ in waiting])
        batch = Batch()
        woken: list[Host] = []
        for (key, (item, value)), where in zip(waiting, named, strict=True):
            host = hosts[key[: keys.HOST_KEY]]
            if where == IN_WAIT + item[:8]:
                pending = decode_pending(value)
                if anew:
                    pending = msgspec.structs.replace(pending, attempt=1, agains=0)
                self._requeue(key, host, (item, pending), batch)
                woken.append(host)
            batch.ends.append(Delete((key[:2] + keys.WAITING, item)))
        await self._moves.write(batch)
        for host in woken:
            # Only now: a crash must never leave fewer counted than wait, or the crawl would end without them.
            self._state.waits(host, -1)
            host.dirty = True
        return woken

    def _requeue(self, key: bytes, host: Host, row: tuple[bytes, Pending], batch: Batch) -> None:
        item, pending = row
        place = keys.queue_item(FRONT, int.from_bytes(item[:8], "big") * 1000, key)
        if host.row.full:
            if not host.has_work:
                batch.woken.append(host)
            self._state.fill(host, "")  # what waited counts already; what has not been asked for finds it full
        self._moves.requeue(key, host, (place, pending), batch)
        batch.urls.append(Put(keys.url_row(key), IN_QUEUE + place))
        self._state.queued(host, 1)

    def expired(self) -> Sequence[Leased]:
        """Leases that nobody settled in time, oldest first."""
        now = self._state.time.wall()
        found = []
        for entry in self._state.leases.values():
            if entry.lease.expires > now:
                break
            if not entry.orphan:
                found.append(entry)
        return found
