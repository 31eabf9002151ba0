"""A turn at a host without a lease of its own: for the one kind of request that is followed on the spot, redirects of
robots.txt. The host's gap, its budgets and its one connection hold as for any other request.
"""

import asyncio
from collections import deque

from weft.urls.host import host_key

from . import pace
from .host import Host
from .state import State, milliseconds


class Turns:
    def __init__(self, state: State) -> None:
        self._state = state
        self._out: deque[Host] = deque()

    async def wait(self, name: str, holder: str) -> None:
        """Until the host may be asked; it is then held until an answer of it is reported."""
        state = self._state
        host = await self._host(name)
        if holder and (name == holder or (host.busy_until and host.holder == holder)):
            # Ours already, by the lease or an earlier hop: what is left is the gap to the request just made.
            await state.time.sleep_until(state.time.now_ms() + milliseconds(state.gap(host).seconds))
            return
        host.claims += 1
        try:
            while (moment := self._moment(host)) is not None:
                await self._sleep(host, moment)
            host.holder = holder
            self._out.append(host)
            # Durable before the request is made, as with a lease: a restart is not early.
            host.row.next_ms = host.busy_until
            await state.table.write([state.hosts.saved(host)])
        finally:
            host.claims -= 1
            if not host.claims and not host.busy_until:
                state.schedule(host)

    def expire(self) -> None:
        """Turns whose request was never reported do not hold their host for ever."""
        now_ms = self._state.time.now_ms()
        while self._out and (not self._out[0].busy_until or self._out[0].busy_until <= now_ms):
            host = self._out.popleft()
            if host.busy_until and host.holder:
                host.busy_until, host.holder = 0, ""
                self._state.schedule(host)

    def _key(self, name: str) -> bytes:
        return host_key(name, self._state.config.storage.partitions)

    async def _host(self, name: str) -> Host:
        key = self._key(name)
        found = await self._state.hosts.load([key])
        return found.get(key) or self._state.hosts.create(key, name)

    def _moment(self, host: Host) -> int | None:
        """None: the turn is ours, from now on. Otherwise when to look again; 0: when the host is free."""
        state, now_ms = self._state, self._state.time.now_ms()
        if host.busy_until:
            return 0
        if host.row.next_ms > now_ms:
            return host.row.next_ms
        wall = state.time.wall()
        quiet = pace.quiet_until(state.quiet, host.row.name, wall) if state.quiet else None
        if quiet is not None:
            return now_ms + milliseconds(quiet - wall)
        if not state.exempt(host) and (moment := state.budgets.free_ms(host.row.address, host.domain, now_ms)):
            return moment
        patience = state.config.fetch.total_seconds + state.gap(host).seconds
        host.busy_until = now_ms + milliseconds(patience)  # the longest the request can take, and the gap
        return None

    async def _sleep(self, host: Host, moment: int) -> None:
        if moment:
            await self._state.time.sleep_until(moment)
            return
        host.freed = host.freed or asyncio.Event()
        await host.freed.wait()
        host.freed = None
