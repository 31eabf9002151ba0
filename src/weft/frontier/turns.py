"""A turn at a host without a lease of its own: for the one kind of request that is followed on the spot, redirects of
robots.txt. The host's gap, its budgets and its one connection hold as for any other request.
"""

import asyncio

from weft.records import Lease
from weft.urls.host import host_key

from . import pace
from .host import Host
from .state import State, milliseconds


class Turns:
    def __init__(self, state: State) -> None:
        self._state = state

    async def wait(self, name: str, lease: Lease | None) -> None:
        """Until the host may be asked; it is then held until an answer of it is reported."""
        state = self._state
        if lease is not None and lease.host == name:
            # The lease holds the host already: what is left is the gap to the request just made.
            host = (await self._host(name)) if state.hosts.live(self._key(name)) is None else None
            live = host or state.hosts.live(self._key(name))
            if live is not None:
                await state.time.sleep_until(state.time.now_ms() + milliseconds(state.gap(live).seconds))
            return
        host = await self._host(name)
        host.claims += 1
        try:
            while (moment := self._moment(host)) is not None:
                await self._sleep(host, moment)
        finally:
            host.claims -= 1
            if not host.claims and not host.busy_until:
                state.schedule(host)

    def _key(self, name: str) -> bytes:
        return host_key(name, self._state.config.storage.partitions)

    async def _host(self, name: str) -> Host:
        key = self._key(name)
        found = await self._state.hosts.load([key])
        return found.get(key) or self._state.hosts.create(key, name)

    def _moment(self, host: Host) -> int | None:
        """None: the turn is ours, from now on. Otherwise when to look again; 0: when the host is free."""
        state, now_ms = self._state, self._state.time.now_ms()
        if host.busy_until > now_ms:
            return 0
        if host.row.next_ms > now_ms:
            return host.row.next_ms
        wall = state.time.wall()
        quiet = pace.quiet_until(state.quiet, host.row.name, wall) if state.quiet else None
        if quiet is not None:
            return now_ms + milliseconds(quiet - wall)
        if not host.own and (moment := state.budgets.wait_until(host.row.address, host.domain, now_ms)):
            return moment
        host.before_ms = host.row.next_ms
        host.busy_until = now_ms + milliseconds(state.config.frontier.lease_seconds)
        return None

    async def _sleep(self, host: Host, moment: int) -> None:
        if moment:
            await self._state.time.sleep_until(moment)
            return
        host.freed = host.freed or asyncio.Event()
        await host.freed.wait()
        host.freed = None
