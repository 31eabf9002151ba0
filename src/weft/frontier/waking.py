"""Retries whose time has come go back to the front of their host's queue. Called before leases are given.

Order of writing: host rows, queue rows, URL rows, then the waiting rows go. A waiting row counts only while the URL's
row names it; the queue item is made of the due time, so doing it twice gives one row.
"""

from collections.abc import Sequence
from typing import Final

from weft.ports import Delete, Put, Range, Rows

from . import keys
from .host import Host
from .moves import Batch, Moves
from .queues import FRONT
from .rows import IN_QUEUE, IN_WAIT, decode_pending
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
        found = [partition + item[8:] for item, _ in rows]
        hosts = await self._state.hosts.load(list({key[: keys.HOST_KEY] for key in found}))
        named = await self._state.table.get([keys.url_row(key) for key in found])
        batch = Batch()
        woken: list[Host] = []
        for key, (item, value), where in zip(found, rows, named, strict=True):
            host = hosts[key[: keys.HOST_KEY]]
            if where == IN_WAIT + item[:8]:
                place = keys.queue_item(FRONT, int.from_bytes(item[:8], "big") * 1000, key)
                if host.row.full:
                    self._state.fill(host, "")  # what waited counts already; what has not been asked for finds it full
                self._moves.requeue(key, host, (place, decode_pending(value)), batch)
                batch.urls.append(Put(keys.url_row(key), IN_QUEUE + place))
                self._state.queued(host, 1)
                woken.append(host)
            batch.ends.append(Delete((partition + keys.WAITING, item)))
        await self._moves.write(batch)
        for host in woken:
            # Only now: a crash must never leave fewer counted than wait, or the crawl would end without them.
            self._state.waits(host, -1)
            host.dirty = True
        self._state.urgent += woken

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
