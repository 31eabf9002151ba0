"""The whole story of a URL, for `weft inspect`: where it came from, what was tried, what comes next and why.

Reads only. The answer is put together from the URL's row, the row that one names, its host, its findings and its
group; for a URL that is not known, the decision on it is made again.
"""

import msgspec

from weft.records import Drop, Hint, Kind, Link, Record, Via, Visit
from weft.urls.host import registrable, url_key

from . import keys, sketch
from .admission import Admission, features_of
from .drops import DropRow
from .holds import Why, looks, place_of
from .leasing import read_lease
from .priority import priority
from .rows import (
    IN_HOLD,
    IN_QUEUE,
    IN_WAIT,
    IS_DEAD,
    GroupRow,
    HostRow,
    Learned,
    Pending,
    Settled,
    decode_group,
    decode_host,
    decode_learned,
    decode_pending,
    decode_settled,
)
from .state import State


class HostStory(Record, frozen=True):
    """How a host stands."""

    name: str
    domain: str
    may_be_asked: float  # wall time; in the past: now
    why: str  # the reason of the last pause
    crawl_delay: float | None
    latency: float
    strain: int
    parked: str
    full: str  # the cap that is reached
    authority: int
    address: str
    pending: int
    waiting: int
    held: int
    dead: int
    done: int
    gone: int


class HoldStory(Record, frozen=True):
    """URLs that are held together."""

    looks: str  # as `weft dead DIR release` takes it
    why: str
    meaning: str
    held: int
    tried: int
    fruitful: int  # of the trials
    examples: tuple[str, ...]


class Story(Record, frozen=True):
    """Everything the frontier knows of a URL."""

    url: str
    state: str  # unknown, pending, leased, waiting, held, dead, done, gone
    next: str  # what comes next, in words
    next_at: float | None = None
    discovered: float | None = None
    source: str = ""
    via: str = ""
    depth: int = 0
    kind: str = ""
    priority: float = 0.0
    band: str = ""
    priority_why: str = ""
    attempt: int = 0
    visits: tuple[Visit, ...] = ()
    drop: Drop | None = None  # why it was not taken in, if it is not known
    settled: Settled | None = None
    learned: Learned | None = None
    host: HostStory | None = None
    hold: HoldStory | None = None  # the group it is held in
    drops: tuple[DropRow, ...] = ()  # links to its host that were not taken in


def _extended(story: Story, **changes: object) -> Story:
    return msgspec.structs.replace(story, **changes)


class Teller:
    def __init__(self, state: State, admission: Admission) -> None:
        self._state = state
        self._admission = admission

    async def tell(self, url: str) -> Story:
        key = url_key(url, self._state.config.storage.partitions)
        site = key[: keys.HOST_KEY]
        rows = [keys.url_row(key), keys.lease_row(key), keys.finding_row(key)]
        rows += [keys.host_row(site), keys.authority_row(site)]
        where, lease, learned, value, links = await self._state.table.get(rows)
        row = decode_host(value) if value else None
        host = host_story(row, links) if row else None
        story = self._unknown(url) if where is None else await self._told(key, url, where, lease, host)
        hold = await self._hold(where) if where is not None and where[:1] == IN_HOLD else None
        return _extended(
            story,
            host=host,
            learned=decode_learned(learned) if learned else None,
            hold=hold,
            drops=tuple(await self._admission.drops.of(key)),
        )

    async def _told(self, key: bytes, url: str, where: bytes, lease: bytes | None, host: HostStory | None) -> Story:
        kind, rest = where[:1], where[1:]
        if lease is not None and kind in (IN_QUEUE, IN_WAIT):
            given, _, pending = read_lease(lease)
            text = "it was handed out for a request; when that ends, it is settled"
            return self._pending_story("leased", text, pending, host, given)
        if kind == IN_QUEUE:
            return await self._queued(key, url, rest, host)
        if kind == IN_WAIT:
            return await self._waiting(key, url, rest, host)
        if kind == IN_HOLD:
            holder, item = place_of(where)
            (value,) = await self._state.table.get([keys.held_row(holder, item)])
            text = "a trial, when its host may try what it holds; `weft dead DIR release` takes it up at once"
            return self._maybe("held", text, url, value, host)
        if kind == IS_DEAD:
            (value,) = await self._state.table.get([keys.dead_row(key)])
            return self._maybe("dead", "nothing, unless it is revived by `weft dead DIR retry`", url, value, host)
        return _settled_story(decode_settled(rest))

    async def _hold(self, where: bytes) -> HoldStory | None:
        holder, item = place_of(where)
        host, group = await self._state.table.get([keys.host_row(holder), keys.hold_row(holder, item[:8])])
        return hold_story(decode_host(host).name, decode_group(group)) if host and group else None

    async def _queued(self, key: bytes, url: str, item: bytes, host: HostStory | None) -> Story:
        (value,) = await self._state.table.get([keys.queue_row(key, item)])
        if host is not None and host.parked:
            text = f"nothing until its host is revived: it was given up ({host.parked})"
            return self._maybe("pending", text, url, value, host)
        if host is not None and host.full:
            text = f"nothing: its host has brought as many pages as it may ({host.full})"
            return self._maybe("pending", text, url, value, host)
        moment = host.may_be_asked if host else None
        story = self._maybe("pending", "a request, when its turn in its host's queue comes", url, value, host)
        return _extended(story, next_at=moment)

    async def _waiting(self, key: bytes, url: str, due: bytes, host: HostStory | None) -> Story:
        due_ms = int.from_bytes(due, "big")
        (value,) = await self._state.table.get([keys.waiting_row(key, due_ms)])
        return _extended(self._maybe("waiting", "another attempt", url, value, host), next_at=due_ms / 1000)

    def _unknown(self, url: str) -> Story:
        drop = self._admission.would_drop(Link(url))
        text = "it has not been found yet" if drop is None else f"it is not taken in: {drop.value}"
        return Story(url, "unknown", text, drop=drop)

    def _maybe(self, state: str, text: str, url: str, value: bytes | None, host: HostStory | None) -> Story:
        if value is None:  # moved between two reads
            return Story(url, state, text)
        return self._pending_story(state, text, decode_pending(value), host, None)

    def _pending_story(
        self, state: str, text: str, pending: Pending, host: HostStory | None, at: float | None
    ) -> Story:
        rank = priority(features_of(_link(pending), host.authority if host else 0, self._state.time.wall()))
        return Story(
            url=pending.url,
            state=state,
            next=text,
            next_at=at,
            discovered=float(pending.discovered),
            source=pending.source,
            via=Via(pending.via).name.lower(),
            depth=pending.depth,
            kind=Kind(pending.kind).name.lower(),
            priority=rank.score,
            band=rank.band.name.lower(),
            priority_why=rank.why,
            attempt=pending.attempt,
            visits=tuple(visit.visit() for visit in pending.visits),
        )


def _link(pending: Pending) -> Link:
    hint = Hint(pending.priority, pending.changed or None) if pending.priority != 0.5 or pending.changed else None
    return Link(
        pending.url,
        depth=pending.depth,
        via=Via(pending.via),
        kind=Kind(pending.kind),
        source=pending.source,
        hint=hint,
    )


def _settled_story(row: Settled) -> Story:
    fate = row.visits[-1].visit().reason.fate.value if row.visits else "done"
    return Story(
        url=row.url,
        state=fate,
        next="nothing: it was asked for" if fate == "done" else "nothing: it is not worth another request",
        discovered=float(row.discovered),
        source=row.source,
        via=Via(row.via).name.lower(),
        depth=row.depth,
        kind=Kind(row.kind).name.lower(),
        attempt=row.visits[-1].attempt if row.visits else 1,
        visits=tuple(visit.visit() for visit in row.visits),
        settled=row,
    )


def host_story(row: HostRow, links: bytes | None) -> HostStory:
    """`links`: the sketch of the domains that link to it."""
    return HostStory(
        name=row.name,
        domain=registrable(row.name),
        may_be_asked=row.next_ms / 1000,
        why=row.pause,
        crawl_delay=row.crawl_delay if row.crawl_delay >= 0 else None,
        latency=row.latency,
        strain=row.strain,
        parked=row.parked,
        full=row.full,
        authority=sketch.estimate(links or b""),
        address=row.address,
        pending=row.pending,
        waiting=row.waiting,
        held=row.held,
        dead=row.dead,
        done=row.done,
        gone=row.gone,
    )


def hold_story(holder: str, row: GroupRow) -> HoldStory:
    meaning = next(why.meaning for why in Why if why.value == row.why)
    return HoldStory(looks(holder, row), row.why, meaning, row.held, row.tried, row.fruitful, row.examples)
