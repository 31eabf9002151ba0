"""Links in, pending rows out: the unseen ones that belong to the crawl. Called for seeds, pages and redirects.

Order of writing: host, domain and authority rows (the host is known, its levels reach down to the new rows), then queue
rows, then URL rows, which say "seen". A crash in between leaves at most a queue row whose URL is taken in again: asked
twice, never lost.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import msgspec

from weft.errors import EngineError
from weft.ports import Put
from weft.records import Drop, Kind, Link, Record, Via
from weft.urls.host import host_of, registrable, url_key
from weft.urls.scope import Rules

from . import keys, traps
from .authority import Authority, vouch
from .domains import Domains
from .drops import Drops
from .host import Head, Host, Row
from .priority import Band, Features, priority
from .queues import Queues
from .reach import Reach
from .restoring import Restoring
from .rows import IN_QUEUE, DomainRow, decode_pending, encode_link
from .seen import Seen
from .state import State
from .trail import Trail
from .trapping import Origin, Trapping

Admit: TypeAlias = Callable[[str], Drop | None]
Origins: TypeAlias = Mapping[str, Origin]
"""By URL, what is known of the pages that links were found on."""
_CREDIT: Final = 50  # turns that a branch may catch up with, whose pages were being read while others had theirs
_BRANCHES: Final = 250  # of a host; later ones share a few turns
_SHARED: Final = 8
_CHUNK: Final = 512  # links handled between two looks at the event loop


class Added(Record, frozen=True):
    """What became of links."""

    new: int = 0
    seen: int = 0
    drops: dict[Drop, int] = msgspec.field(default_factory=dict)

    def plus(self, more: "Added") -> "Added":
        return Added(self.new + more.new, self.seen + more.seen, dict(Counter(self.drops) + Counter(more.drops)))


class Judges(NamedTuple):
    """Who may speak against a link."""

    reach: Reach
    rules: Rules
    admit: Admit  # robots.txt, where its rules are in memory
    traps: Trapping
    domains: Domains


class Group(NamedTuple):
    """Links to one host."""

    key: bytes
    domain: DomainRow
    links: Sequence[tuple[bytes, Link]]


class Writes(NamedTuple):
    """What one chunk of links changes."""

    marks: list[Put]  # of scope and authority
    hosts: dict[Host, DomainRow]  # whose rows changed
    queue: list[Put]
    urls: list[Put]
    joined: dict[Host, list[Row]]
    holders: dict[Host, None]  # whose groups changed


class Admission:
    def __init__(self, state: State, queues: Queues, judges: Judges, seen: Seen, restoring: Restoring) -> None:
        config = state.config
        self._state = state
        self._queues = queues
        self._reach, self._rules, self._admit, self._traps, self._domains = judges
        self._restoring = restoring
        self._scope = config.scope
        self._partitions = config.storage.partitions
        self._seen = seen
        self._authority = Authority(state.table, state.hosts, self._partitions)
        self.drops = Drops(state.table)

    async def add(self, links: Sequence[Link], origins: Origins) -> Added:
        new, seen = 0, 0
        drops: Counter[Drop] = Counter()
        left = iter(links)
        while chunk := list(islice(left, _CHUNK)):
            keyed: dict[bytes, Link] = {}
            for link in chunk:
                key = link.key or url_key(link.url, self._partitions)
                if key not in keyed or _dry(link, origins) < _dry(keyed[key], origins):
                    keyed[key] = link
            unseen = await self._seen.unseen(keyed)
            dropped, admitted = await self._take_in(keyed, unseen, origins)
            if len(unseen) < len(keyed):
                await self._restoring.better(keyed, frozenset(unseen), origins)
            drops.update(dropped)
            new += admitted
            seen += len(chunk) - admitted - dropped.total()
        return Added(new, seen, dict(drops))

    async def _take_in(
        self, keyed: dict[bytes, Link], unseen: Sequence[bytes], origins: Origins
    ) -> tuple[Counter[Drop], int]:
        writes = Writes([], {}, [], [], {}, {})
        for link in keyed.values():
            if link.seed:
                writes.marks.extend(self._reach.widen(host_of(link.url)))
        groups: dict[bytes, list[bytes]] = {}
        for key in unseen:
            groups.setdefault(key[: keys.HOST_KEY], []).append(key)
        drops: Counter[Drop] = Counter()
        wanted = self._judged(groups, keyed, drops)
        hosts = await self._state.hosts.load(list(wanted))
        self._authority.note(keyed)
        writes.marks.extend(await self._authority.counted(hosts))  # caps depend on it
        names = {
            key: hosts[key].domain if key in hosts else registrable(host_of(links[0][1].url))
            for key, links in wanted.items()
        }
        await self._domains.load({(key[:2], name) for key, name in names.items()})
        for key, links in wanted.items():
            domain = self._domains.get(key[:2], names[key])
            host = hosts.get(key)
            if host is not None:
                vouch(domain, host)
            group = Group(key, domain, links)
            if host is None and await self._must_wait(group, origins, writes):
                continue
            if host is not None and (host.row.held or host.row.debt):
                await self._traps.ready([host])
            self._take_in_host(group, origins, writes)
        await self._write(writes)
        await self._authority.write(self._state.time.now_ms())
        await self.drops.write(self._state.time.now_ms())
        return drops, len(writes.urls)

    async def _must_wait(self, group: Group, origins: Origins, writes: Writes) -> bool:
        """Are these the first URLs of a new host, and one too many of its family?"""
        (key, link), *_ = group.links
        name = host_of(link.url)
        if any(link.seed for _, link in group.links) or not self._traps.is_sprout(name):
            return False
        family = await self._traps.family(name)
        trail = self._traps.trail(link, origins.get(link.source))
        if not self._traps.family_stops(family, trail):
            return False
        was_idle = not family.has_work
        for key, link in group.links:
            value = self._value(link, trail._replace(sprout=True), b"")
            held, url = self._traps.hold_sprout(family, key, decode_pending(value))
            writes.queue.append(held)
            writes.urls.append(url)
        writes.holders[family] = None
        if was_idle:
            self._state.enlist(family)
        return True

    async def close(self) -> None:
        """Write down what was gathered to be written with later links."""
        await self._authority.write_all()
        await self.drops.write(1 << 62)

    def _judged(
        self, groups: dict[bytes, list[bytes]], keyed: dict[bytes, Link], drops: Counter[Drop]
    ) -> dict[bytes, list[tuple[bytes, Link]]]:
        """By host, the links that nothing speaks against as far as can be said without the host's row."""
        wanted: dict[bytes, list[tuple[bytes, Link]]] = {}
        for host, members in groups.items():
            inside = self._reach.covers(host, host_of(keyed[members[0]].url))
            kept = []
            for key in members:
                link = keyed[key]
                drop = self.judge(link) if inside else Drop.OUT_OF_SCOPE
                if drop is None:
                    kept.append((key, link))
                else:
                    drops[drop] += 1
                    self.drops.note(host, drop, link.url)
            if kept:
                wanted[host] = kept
        return wanted

    def judge(self, link: Link) -> Drop | None:
        """Why the link is dropped whatever its host's state is."""
        if link.depth > self._scope.max_depth:
            return Drop.TOO_DEEP
        if link.inside > self._scope.max_depth_in_domain:
            return Drop.TOO_DEEP_IN_DOMAIN
        if link.hops > self._scope.max_redirects:
            return Drop.TOO_MANY_REDIRECTS
        return self._rules.drop(link.url) or self._admit(link.url)

    def would_drop(self, link: Link) -> Drop | None:
        """The decision on a link, made without taking it in."""
        name = host_of(link.url)
        drop = self.judge(link)
        if drop is None and not self._reach.covers(url_key(link.url, self._partitions)[: keys.HOST_KEY], name):
            drop = Drop.OUT_OF_SCOPE
        return drop

    def _take_in_host(self, group: Group, origins: Origins, writes: Writes) -> None:
        key = group.key
        host = self._state.hosts.live(key) or self._created(group)
        was_idle, is_new = not host.has_work, not host.row.branches
        sprouts = is_new and self._traps.is_sprout(host.row.name)
        rows: list[Row] = []
        queue, urls = keys.group(key, keys.QUEUE), keys.group(key, keys.URL)
        for url, link in group.links:
            origin = origins.get(link.source)
            trail, trial = self._traps.trail(link, origin), origin.trial if origin else b""
            if sprouts and not link.seed:
                trail, sprouts = trail._replace(sprout=True), False
            value = self._value(link, trail, trial)
            if traps.is_dry(trail) and not (link.seed or trial) and link.kind is Kind.PAGE:
                self._hold(host, url, value, writes)
                continue
            item = self._place(host, url, link, trail)
            rows.append((item, value))
            if host.row.first == item and not self._state.hosts.has_room:
                writes.marks.append(Put(keys.first_row(key), item + value))
            writes.queue.append(Put((queue, item), value))
            writes.urls.append(Put((urls, url[10:]), IN_QUEUE + item))
            if trail.dry and (site := self._traps.live_site(key)) is not None:
                site.doubt(url)
        writes.joined[host] = rows
        if is_new:
            writes.marks.append(Put(keys.authority_row(key), host.sketch))
        self._state.queued(host, len(rows))
        writes.hosts[host] = group.domain
        if was_idle:
            self._state.enlist(host)

    def _hold(self, host: Host, key: bytes, value: bytes, writes: Writes) -> None:
        """The way to the URL has led past too little."""
        held, url = self._traps.hold(host, key, decode_pending(value))
        writes.queue.append(held)
        writes.urls.append(url)
        writes.holders[host] = None

    def _value(self, link: Link, trail: Trail, trial: bytes) -> bytes:
        return encode_link(link, int(self._state.time.wall()), trail.packed(), trial)

    def _created(self, group: Group) -> Host:
        host = self._state.hosts.create(group.key, host_of(group.links[0][1].url))
        self._state.expect(host)
        group.domain.hosts += 1
        return host

    def _place(self, host: Host, key: bytes, link: Link, trail: Trail) -> bytes:
        """The item of the link's queue row; its level is marked as holding rows."""
        band = priority(features_of(link, host.authority, self._state.time.wall())).band
        level, row = keys.level(band), host.row
        if band is Band.FRONT:
            number = self._state.next_sequence()
        else:
            branch = trail.branch
            if branch not in row.branches and len(row.branches) >= _BRANCHES:
                branch = 1 + branch % _SHARED
            number = max(row.marks.get(level, 0) - _CREDIT, row.branches.get(branch, 0)) + 1
            row.branches[branch] = number
        item = keys.queue_item(level, number, key)
        if level not in row.levels:  # nothing lies there, so the head is known without reading
            head = host.heads[level] = Head()
            head.whole = True
            if not row.first or level <= keys.level_of(row.first):
                row.first = item
        elif row.first and keys.level_of(row.first) == level:
            row.first = min(row.first, item)
        host.lower(item)
        return item

    async def _write(self, writes: Writes) -> None:
        if not (writes.hosts or writes.marks or writes.holders):
            return
        changed = [*writes.hosts, *(host for host in writes.holders if host not in writes.hosts)]
        first = [*writes.marks, *(self._state.hosts.saved(host) for host in changed)]
        first += self._domains.changes((host.key[:2], domain) for host, domain in writes.hosts.items())
        first += self._traps.changes(writes.holders)
        taken = [keys.of_url_row(put.key) for put in writes.urls]
        first += self._seen.announced(taken)
        try:
            await self._state.table.write(first, writes.queue, writes.urls)
        except EngineError:
            self._forget_heads(writes.hosts)
            raise
        for host, rows in writes.joined.items():
            self._queues.joined(host, rows)
        self._state.hosts.trim()
        await self._seen.remember(taken)

    def _forget_heads(self, hosts: Iterable[Host]) -> None:
        """Nobody knows which rows reached the table: they are read from there."""
        for host in hosts:
            host.heads.clear()
            host.dirty = True


def features_of(link: Link, authority: int, now: float) -> Features:
    hint = link.hint
    return Features(
        depth=link.depth,
        via=Via.SEED if link.seed and link.via is not Via.REDIRECT else link.via,
        kind=link.kind,
        authority=authority,
        sitemap=hint.priority if hint else None,
        age=now - hint.modified if hint and hint.modified is not None else None,
    )


def _dry(link: Link, origins: Origins) -> int:
    """Of two links to a URL the one behind fewer fruitless pages counts."""
    origin = origins.get(link.source)
    return origin.dry if origin else 0
