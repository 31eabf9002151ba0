"""Rows that move between the queues of a host: the steps of one write, and the memory that goes with them.

Settling, waking, recovery, revival and release come here. Order of writing: host rows (levels reach down to what comes
back) with URL rows that must name a queue row first, then queue rows, then URL rows, then the rows that go.
"""

from weft.errors import EngineError
from weft.ports import Delete, Put

from . import keys
from .holds import Held, Holds
from .host import Host
from .rows import Pending, encode
from .state import Leased, State


class Batch:
    """The steps of one write."""

    def __init__(self) -> None:
        self.hosts: dict[Host, None] = {}
        self.names: list[Put] = []  # URL rows that name a queue row before it is there, for recovery to compare
        self.rows: list[Put] = []
        self.urls: list[Put] = []
        self.ends: list[Delete] = []
        self.touched: list[tuple[Host, int]] = []  # levels that rows came back to
        self.woken: list[Host] = []  # hosts that had no work
        self.ended: list[Leased] = []
        self.released: list[Held] = []  # held no more


class Moves:
    def __init__(self, state: State, holds: Holds) -> None:
        self._state = state
        self._holds = holds

    def requeue(self, key: bytes, host: Host, queued: tuple[bytes, Pending], batch: Batch) -> None:
        """A row comes back to the host's queue."""
        item, pending = queued
        if not host.has_work:
            batch.woken.append(host)
        host.lower(item)
        batch.hosts[host] = None
        batch.rows.append(Put(keys.queue_row(key, item), encode(pending)))
        batch.touched.append((host, keys.level_of(item)))

    async def write(self, batch: Batch) -> None:
        if not (batch.hosts or batch.ends):
            return
        for host, level in batch.touched:
            host.heads.pop(level, None)
        self._holds.stay(batch.released)
        hosts = self._holds.rows(batch.hosts)
        self._holds.leave(batch.released)
        holders = self._holds.rows({held.holder: None for held in batch.released})
        try:
            await self._state.table.write(hosts + batch.names, batch.rows, batch.urls, [*holders, *batch.ends])
        except EngineError:
            for entry in batch.ended:  # still out, as far as anybody knows: the caller may settle them again
                if entry.key not in self._state.leases:
                    self._state.give(entry)
            raise
        for host in batch.woken:
            self._state.enlist(host)
