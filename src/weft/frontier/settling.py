"""Leases end here: done, gone, tried again later, or dead. Called by `Frontier.settle` with answers that are durable.

Order of writing: host rows (levels reach down to what comes back; the next moment), then queue, waiting and dead rows,
then URL rows that name them, then the lease rows go. A lease row found after a crash is put back unless the URL row
says that this very lease was settled, or names another queue row that is there: it is named first when a URL moves.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from weft.ports import Delete, Put
from weft.records import Fate, Link, Outcome, Reason, Via
from weft.urls.host import url_key

from . import keys, pace, retry
from .answers import Answers, fate_of
from .host import Host
from .moves import Batch, Moves
from .priority import Band
from .rows import (
    IN_QUEUE,
    IN_WAIT,
    IS_DEAD,
    IS_SETTLED,
    Pending,
    Settled,
    VisitRow,
    decode_pending,
    encode,
)
from .state import Leased, State
from .trail import trail_of
from .trapping import Origin

_KEPT_VISITS: Final = 20
_CONTENT: Final = (Reason.STORED, Reason.UNCHANGED)
_LAST: Final = keys.level(Band.LAST)


class Settling:
    def __init__(self, state: State, answers: Answers, moves: Moves) -> None:
        self._state = state
        self._moves = moves
        self._answers = answers
        self._partitions = state.config.storage.partitions

    async def settle(self, outcomes: Sequence[Outcome]) -> None:
        batch = Batch()
        unknown: list[Outcome] = []
        for outcome in outcomes:
            key = self._key(outcome)
            entry = self._state.leases.get(key)
            if entry is not None and (entry.orphan or entry.lease.leased == outcome.lease.leased):
                if not entry.answered:
                    self._answers.heard(entry, outcome)
                self._end(entry, outcome, batch)
                continue
            host = self._state.hosts.live(key[: keys.HOST_KEY])
            if host is not None and host.dirty:
                batch.hosts[host] = None  # what the host is owed becomes durable even if nothing else is left to do
            if outcome.reason.fate is Fate.AGAIN:
                self._put_back(key, batch)
            else:
                unknown.append(outcome)
        for host in batch.hosts:
            self._state.square(host)
        await self._moves.write(batch)
        if unknown:
            await self._settle_late(unknown)

    def _key(self, outcome: Outcome) -> bytes:
        lease = outcome.lease
        if not lease.place:  # one that was read back from the archive
            return url_key(lease.url, self._partitions)
        return keys.key_of(lease.place)

    def origins(self, outcomes: Sequence[Outcome]) -> dict[str, Origin]:
        """What redirects hand on to their targets: how they were come by, and what they were a trial of."""
        found = {}
        for outcome in outcomes:
            entry = self._state.leases.get(self._key(outcome)) if outcome.reason is Reason.REDIRECTED else None
            if entry is not None:
                trail, url = trail_of(entry.pending.trail), outcome.lease.url
                found[url] = Origin.redirecting(url, trail, entry.pending.trial)
        return found

    async def hasten(self) -> None:
        """Make long pauses durable before anything else is asked for (a kill forgets no Retry-After), and addresses."""
        urgent, self._state.urgent = self._state.urgent, []
        rows = [self._state.hosts.saved(host) for host in dict.fromkeys(urgent) if host.dirty]
        if rows:
            await self._state.table.write(rows)

    async def expire(self, entries: Sequence[Leased]) -> None:
        """Leases whose holder never came back: one attempt is lost."""
        now = self._state.time.wall()
        batch = Batch()
        for entry in entries:
            outcome = Outcome(entry.lease, Reason.LEASE_EXPIRED, now)
            if not entry.answered:
                self._answers.heard(entry, outcome)
            self._end(entry, outcome, batch)
        await self._moves.write(batch)

    def _end(self, entry: Leased, outcome: Outcome, batch: Batch) -> None:
        batch.hosts[entry.host] = None
        fate = fate_of(entry, outcome)
        if fate is Fate.AGAIN:
            self._put_back(entry.key, batch)
            return
        self._state.take_back(entry)
        batch.ended.append(entry)
        batch.ends.append(Delete(keys.lease_row(entry.key)))
        if fate is Fate.DONE or fate is Fate.GONE:
            self._done(entry, outcome, batch)
        elif fate is Fate.CLOSED:
            self._closed(entry, outcome, batch)
        else:
            self._failed(entry, outcome, batch)

    def _put_back(self, key: bytes, batch: Batch) -> None:
        """A URL whose lease was used for something else, and that was not leased again since: back to its place."""
        host = self._state.hosts.live(key[: keys.HOST_KEY])
        for index, (item, pending) in enumerate(host.again if host else ()):
            if host is not None and keys.url_hash_of(item) == keys.url_hash_of(key):
                self._moves.requeue(key, host, (item, pending), batch)
                del host.again[index]
                batch.ends.append(Delete(keys.lease_row(key)))
                return

    def _done(self, entry: Leased, outcome: Outcome, batch: Batch) -> None:
        row, totals = entry.host.row, self._state.totals
        self._state.queued(entry.host, -1)
        if outcome.reason.fate is Fate.DONE:
            row.done += 1
            totals.done += 1
        else:
            row.gone += 1
            totals.gone += 1
        batch.urls.append(Put(keys.url_row(entry.key), IS_SETTLED + encode(settled(entry.pending, outcome))))

    def _failed(self, entry: Leased, outcome: Outcome, batch: Batch) -> None:
        """Later, or never again."""
        config, key, host = self._state.config.frontier, entry.key, entry.host
        failed = _with_visit(entry.pending, outcome)
        self._state.queued(host, -1)
        if failed.attempt >= retry.attempts(config):
            host.row.dead += 1
            self._state.totals.dead += 1
            batch.rows.append(Put(keys.dead_row(key), encode(failed)))
            batch.urls.append(Put(keys.url_row(key), IS_DEAD))
        else:
            pause = max(retry.backoff(config, failed.attempt, key), self._told_to_wait(host, outcome))
            due = self._state.time.wall_ms() + int(pause * 1000)
            pending = msgspec.structs.replace(failed, attempt=failed.attempt + 1, agains=0)
            batch.rows.append(Put(keys.waiting_row(key, due), encode(pending)))
            batch.urls.append(Put(keys.url_row(key), IN_WAIT + due.to_bytes(8, "big")))
            self._state.waits(host, 1)
            partition = int.from_bytes(key[:2], "big")
            self._state.due[partition] = min(due, self._state.due.get(partition, due))

    def _told_to_wait(self, host: Host, outcome: Outcome) -> float:
        """Seconds of Retry-After for the URL, as `pace.gap` cuts them for its host."""
        if outcome.retry_after is None:
            return 0.0
        return pace.gap(self._state.config.pace, pace.Signs(own=host.own, retry_after=outcome.retry_after)).seconds

    def _closed(self, entry: Leased, outcome: Outcome, batch: Batch) -> None:
        """The host cannot be reached: it waits or is parked.

        The URL goes behind the host's others, of which some may be of an origin (another port) that answers.
        """
        config, host = self._state.config.frontier, entry.host
        failed = _with_visit(entry.pending, outcome)
        attempt = min(failed.attempt + 1, retry.attempts(config))  # the last one is kept for when the host answers
        pending = msgspec.structs.replace(failed, attempt=attempt, agains=0)
        place = keys.queue_item(_LAST, self._state.next_sequence(), entry.key)
        self._moves.requeue(entry.key, host, (place, pending), batch)
        batch.names.append(Put(keys.url_row(entry.key), IN_QUEUE + place))

    async def _settle_late(self, outcomes: Sequence[Outcome]) -> None:
        """Leases that are not out: settled before, used again, or expired and waiting for another try.

        If the URL waits in its queue and the answer is good for ever, the answer counts: it is archived already.
        """
        useful = [outcome for outcome in outcomes if outcome.reason.fate in (Fate.DONE, Fate.GONE)]
        found = [(url_key(outcome.lease.url, self._partitions), outcome) for outcome in useful]
        batch = Batch()
        for key, outcome in found:
            if key in self._state.leases:
                continue
            host = (await self._state.hosts.load([key[: keys.HOST_KEY]])).get(key[: keys.HOST_KEY])
            (where,) = await self._state.table.get([keys.url_row(key)])
            if host is None or where is None or where[:1] != IN_QUEUE:
                continue
            (value,) = await self._state.table.get([keys.queue_row(key, where[1:])])
            if value is not None:
                self._answer_late(key, host, (where[1:], decode_pending(value)), (outcome, batch))
        await self._moves.write(batch)

    def _answer_late(self, key: bytes, host: Host, queued: tuple[bytes, Pending], ended: tuple[Outcome, Batch]) -> None:
        (item, pending), (outcome, batch) = queued, ended
        batch.ends.append(Delete(keys.queue_row(key, item)))
        host.heads.pop(keys.level_of(item), None)
        if host.row.first == item:
            host.row.first = b""  # or its copy would be leased
        batch.hosts[host] = None
        self._done(Leased(key, outcome.lease, pending, host), outcome, batch)


def redirect_of(outcome: Outcome) -> Link | None:
    """Where a settled lease redirects to, as a link."""
    lease = outcome.lease
    if outcome.reason is not Reason.REDIRECTED or not outcome.redirect:
        return None
    return Link(
        url=outcome.redirect,
        depth=lease.depth,
        via=Via.REDIRECT,
        source=lease.url,
        kind=lease.kind,
        hops=lease.hops + 1,
        inside=lease.inside,
        seed=lease.seed,
    )


def _visit(pending: Pending, outcome: Outcome) -> VisitRow:
    return VisitRow(outcome.finished, outcome.reason.value, outcome.status, pending.attempt, outcome.detail[:200])


def _with_visit(pending: Pending, outcome: Outcome) -> Pending:
    visits = (*pending.visits, _visit(pending, outcome))[-_KEPT_VISITS:]
    return msgspec.structs.replace(pending, visits=visits)


def settled(pending: Pending, outcome: Outcome) -> Settled:
    """The URL row of a URL whose lease ended so."""
    asked = outcome.asked[-1] if outcome.asked else None
    content = outcome.reason in _CONTENT
    return Settled(
        url=pending.url,
        reason=outcome.reason.value,
        status=outcome.status,
        leased=outcome.lease.leased,
        finished=outcome.finished,
        discovered=pending.discovered,
        depth=pending.depth,
        via=pending.via,
        source=pending.source,
        inside=pending.inside,
        seconds=round(asked.finished - asked.started, 4) if asked else 0.0,
        mime=outcome.mime,
        length=outcome.length,
        digest=outcome.digest,
        visits=(*pending.visits, _visit(pending, outcome))[-_KEPT_VISITS:],
        first=pending.first or (outcome.finished if content else 0.0),
        fetches=pending.fetches + content,
        etag=outcome.etag or pending.etag,
        modified=outcome.modified or pending.modified,
        fresh_until=outcome.fresh_until or 0.0,
        redirect=outcome.redirect,
        detail=outcome.detail[:200],
        kind=pending.kind,
        hops=pending.hops,
        seed=pending.seed,
        trail=pending.trail,
        trial=pending.trial,
    )
