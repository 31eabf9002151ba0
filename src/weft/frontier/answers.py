"""What an answer means for its host: free again, and left alone for how long. Called by `Frontier.answered`, in memory.

Everything here is written with the host's row when the lease is settled; until then the lease's own row makes a restart
wait at least as long.
"""

from typing import Final

import msgspec

from weft.records import Asked, Fate, Outcome, Reason
from weft.urls.host import host_key

from . import keys, pace, retry
from .host import Host
from .state import Leased, State, milliseconds

_BAD: Final = (Fate.RETRY, Fate.CLOSED)
_MAX_AGAINS: Final = 10  # leases in a row used for something else; then it counts as a failure
_THROTTLED: Final = frozenset({Reason.RATE_LIMITED, Reason.OVERLOADED})


def fate_of(entry: Leased, outcome: Outcome) -> Fate:
    fate = outcome.reason.fate
    if fate is Fate.AGAIN and entry.pending.agains >= _MAX_AGAINS:
        return Fate.RETRY
    return fate


class Answers:
    def __init__(self, state: State) -> None:
        self._state = state

    def heard(self, entry: Leased, outcome: Outcome) -> None:
        """The answer to a lease: its host is free, and so is every other host that was asked on the way."""
        entry.answered = True
        host = entry.host
        asked = [one for one in outcome.asked if one.host == host.row.name]
        for other in outcome.asked:
            if other.host != host.row.name:
                self.passed_by(other)
        fate = fate_of(entry, outcome)
        if outcome.crawl_delay is not None:
            host.row.crawl_delay = outcome.crawl_delay
        if asked:
            self._timed(host, asked[-1])
        if asked or fate in _BAD:
            self._judge(host, outcome, fate, asked[-1] if asked else None)
        else:
            self._unused(host)
        if fate is Fate.AGAIN:
            self._keep(entry)
        self._free(host)

    def late(self, outcome: Outcome) -> None:
        """The answer to a lease that was given up meanwhile: the hosts were asked all the same."""
        for asked in outcome.asked:
            host = self._state.hosts.live(host_key(asked.host, self._state.config.storage.partitions))
            if host is not None:
                moment = self._state.time.at_ms(asked.finished) + milliseconds(self._state.gap(host).seconds)
                host.row.next_ms = max(host.row.next_ms, moment)
                host.dirty = True

    def passed_by(self, asked: Asked) -> None:
        """A request to a host outside a lease of its own, under a `turn`."""
        host = self._state.hosts.live(host_key(asked.host, self._state.config.storage.partitions))
        if host is None:
            return
        self._timed(host, asked)
        self._pause(host, asked.finished, self._state.gap(host))
        self._free(host)

    def _judge(self, host: Host, outcome: Outcome, fate: Fate, asked: Asked | None) -> None:
        row, lasting = host.row, retry.is_lasting(host.row, outcome)
        if fate in _BAD:
            row.strain = min(pace.MAX_STRAIN, row.strain + (not lasting))  # it was not asked for too much
            row.failed += 1
            row.closed += fate is Fate.CLOSED
            self._give_up(host, outcome)
        else:
            row.strain = max(0, row.strain - 1)
            row.failed = row.closed = 0
        signs = pace.Signs(
            own=host.own,
            crawl_delay=row.crawl_delay,
            latency=row.latency,
            last_latency=asked.finished - asked.started if asked else 0.0,
            strain=row.strain,
            throttled=outcome.reason in _THROTTLED,
            retry_after=outcome.retry_after,
            closed=retry.closure(self._state.config.frontier, row.closed) if row.closed and not lasting else 0.0,
        )
        ended = asked.finished if asked else outcome.finished
        self._pause(host, ended, pace.gap(self._state.config.pace, signs))
        host.unresolved = False
        if fate in _BAD or outcome.retry_after:
            self._state.urgent.append(host)

    def _give_up(self, host: Host, outcome: Outcome) -> None:
        """Park a host that came to its last attempt; what it has waiting must not keep the crawl open."""
        if not host.row.parked and retry.is_hopeless(self._state.config.frontier, host.row, outcome):
            self._state.park(host, outcome.reason.value)

    def _keep(self, entry: Leased) -> None:
        """The URL goes first at its host's next turn. Its lease row stays, so that a crash loses nothing."""
        self._state.take_back(entry)
        pending = msgspec.structs.replace(entry.pending, agains=entry.pending.agains + 1)
        entry.host.again.append((keys.item_of(entry.lease.place), pending))

    def _timed(self, host: Host, asked: Asked) -> None:
        seconds = max(0.0, asked.finished - asked.started)
        if asked.status:
            host.row.latency = pace.smoothed(host.row.latency, seconds)
        if host.granted_ms:
            started_ms = self._state.time.at_ms(asked.finished) - int(seconds * 1000)
            self._state.budgets.used(host.row.address, host.domain, started_ms)
        if asked.address and asked.address != host.row.address:
            self._state.located(host, asked.address)

    def _pause(self, host: Host, ended: float, owed: pace.Gap) -> None:
        end_ms = self._state.time.at_ms(ended)
        host.row.next_ms, host.row.pause = end_ms + milliseconds(owed.seconds), owed.why
        host.row.asked_ms = end_ms

    def _unused(self, host: Host) -> None:
        """No request was made: the host owes nothing for it."""
        host.row.next_ms = host.before_ms
        if host.granted_ms:
            self._state.budgets.give_back(host.row.address, host.domain, host.granted_ms)

    def _free(self, host: Host) -> None:
        host.dirty = True
        host.busy_until = 0
        host.holder = ""
        host.granted_ms = 0
        if host.freed is not None:
            host.freed.set()
        self._state.schedule(host)
