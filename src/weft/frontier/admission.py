"""Links in, pending rows out: the unseen ones that belong to the crawl. Called by `Frontier.add` and for redirects.

Order of writing: host, domain and authority rows (the host is known, its levels reach down to the new rows), then queue
rows, then URL rows, which say "seen". A crash in between leaves at most a queue row whose URL is taken in again: asked
twice, never lost.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

import msgspec

from weft.errors import EngineError
from weft.ports import Put
from weft.records import Drop, Kind, Link, Record, Via
from weft.urls.host import host_of, registrable, url_key
from weft.urls.scope import Rules

from . import keys
from .authority import Authority, vouch
from .domains import Domains
from .drops import Drops
from .host import Head, Host, Row
from .priority import Features, plain_band, priority
from .queues import Queues
from .reach import Reach
from .rows import IN_QUEUE, DomainRow, HostRow, encode_link
from .seen import Seen
from .state import State
from .trapping import Shapes, Trapping

Admit: TypeAlias = Callable[[str], Drop | None]
Patterns: TypeAlias = dict[bytes, Shapes]
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

    rules: Rules
    admit: Admit  # robots.txt, where its rules are in memory
    traps: Trapping


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


class Admission:
    def __init__(self, state: State, queues: Queues, reach: Reach, judges: Judges, seen: Seen) -> None:
        config = state.config
        self._state = state
        self._queues = queues
        self._reach = reach
        self._rules, self._admit, self._traps = judges
        self._scope = config.scope
        self._partitions = config.storage.partitions
        self._seen = seen
        self._domains = Domains(state.table, config, reach)
        self._authority = Authority(state.table, state.hosts, self._partitions)
        self.drops = Drops(state.table)

    async def add(self, links: Sequence[Link]) -> Added:
        new, seen = 0, 0
        drops: Counter[Drop] = Counter()
        left = iter(links)
        while chunk := list(islice(left, _CHUNK)):
            keyed = {link.key or url_key(link.url, self._partitions): link for link in chunk}
            dropped, admitted = await self._take_in(keyed, await self._seen.unseen(keyed))
            drops.update(dropped)
            new += admitted
            seen += len(chunk) - admitted - dropped.total()
        return Added(new, seen, dict(drops))

    async def _take_in(self, keyed: dict[bytes, Link], unseen: Sequence[bytes]) -> tuple[Counter[Drop], int]:
        writes = Writes([], {}, [], [], {})
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
        patterns = await self._patterns(wanted)
        for key, links in wanted.items():
            domain = self._domains.get(key[:2], names[key])
            host = hosts.get(key)
            if host is not None:
                vouch(domain, host)
            kept = self._within_caps(host, domain, links, drops)
            if kept and (surplus := self._take_in_host(Group(key, domain, kept), patterns, writes)):
                drops[Drop.TRAP] += surplus
        await self._write(writes)
        await self._authority.write(self._state.time.now_ms())
        await self.drops.write(self._state.time.now_ms())
        return drops, len(writes.urls)

    async def close(self) -> None:
        """Write down what was gathered to be written with later links."""
        await self._authority.write_all()
        await self.drops.write(1 << 62)

    async def _patterns(self, wanted: dict[bytes, list[tuple[bytes, Link]]]) -> Patterns:
        """Of every link, the patterns it belongs to; their rows are in memory."""
        found: Patterns = {}
        for host, links in wanted.items():
            known = self._state.hosts.live(host) is not None
            family = () if known else self._traps.family(host_of(links[0][1].url))
            for key, link in links:
                found[key] = self._traps.shapes(host, link.url) + family
        await self._traps.load({pair for pairs in found.values() for pair in pairs})
        return found

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

    def would_drop(self, link: Link, host: HostRow | None) -> Drop | None:
        """The decision on a link, made without taking it in."""
        name = host_of(link.url)
        drop = self.judge(link)
        if drop is None and not self._reach.covers(url_key(link.url, self._partitions)[: keys.HOST_KEY], name):
            drop = Drop.OUT_OF_SCOPE
        cap = self._scope.pages_per_host
        if drop is None and host is not None and 0 < cap <= host.admitted:
            drop = Drop.HOST_FULL
        return drop

    def _take_in_host(self, group: Group, patterns: Patterns, writes: Writes) -> int:
        """How many were left out: traps may bring more than can be held."""
        key, domain, links = group
        wanted, held = self._parted(group, patterns)
        if not (wanted or held):
            return len(links)
        host = self._state.hosts.live(key) or self._created(group)
        was_idle = not host.has_work
        now = int(self._state.time.wall())
        rows: list[Row] = []
        queue, urls = keys.group(key, keys.QUEUE), keys.group(key, keys.URL)
        for url, link in wanted:
            item = self._place(host, url, link)
            value = encode_link(link, now)
            rows.append((item, value))
            if host.row.first == item and not self._state.hosts.has_room:
                writes.marks.append(Put(keys.first_row(key), item + value))
            writes.queue.append(Put((queue, item), value))
            writes.urls.append(Put((urls, url[10:]), IN_QUEUE + item))
        for row, where in held:
            writes.queue.append(row)
            writes.urls.append(where)
        writes.joined[host] = rows
        if not host.row.admitted:
            writes.marks.append(Put(keys.authority_row(key), host.sketch))
        host.row.admitted += len(rows)  # a trap that is held must not use up what its site may bring
        self._domains.count(domain, len(rows))
        self._state.queued(host, len(rows))
        self._state.holds(host, len(held))
        writes.hosts[host] = domain
        if was_idle:
            self._state.enlist(host)
        return len(links) - len(rows) - len(held)

    def _parted(self, group: Group, patterns: Patterns) -> tuple[list[tuple[bytes, Link]], list[tuple[Put, Put]]]:
        """The links to be taken in, and the rows of those to be held back."""
        wanted, held = [], []
        for url, link in group.links:
            shapes = patterns[url]
            holder = self._traps.admits(link, shapes) if shapes else None
            if holder is None:
                wanted.append((url, link))
            elif self._domains.holds(group.domain):
                held.append(self._traps.hold(holder, url, link))
        return wanted, held

    def _created(self, group: Group) -> Host:
        host = self._state.hosts.create(group.key, host_of(group.links[0][1].url))
        self._state.expect(host)
        group.domain.hosts += 1
        return host

    def _within_caps(
        self, host: Host | None, domain: DomainRow, links: Sequence[tuple[bytes, Link]], drops: Counter[Drop]
    ) -> Sequence[tuple[bytes, Link]]:
        host_room = (self._scope.pages_per_host or 1 << 62) - (host.row.admitted if host else 0)
        room = max(0, min(host_room, self._domains.room(domain)))
        if room >= len(links):
            return links
        files = [pair for pair in links if pair[1].kind is not Kind.PAGE]
        pages = [pair for pair in links if pair[1].kind is Kind.PAGE]
        drop = Drop.HOST_FULL if host_room <= room else Drop.DOMAIN_FULL
        for key, link in pages[room:]:
            drops[drop] += 1
            self.drops.note(key, drop, link.url)
        return files + pages[:room]

    def _place(self, host: Host, key: bytes, link: Link) -> bytes:
        """The item of the link's queue row; its level is marked as holding rows."""
        if link.kind is Kind.PAGE and link.hint is None and link.via is not Via.REDIRECT:
            band = plain_band(link.depth, host.authority)
        else:
            band = priority(features_of(link, host.authority, self._state.time.wall())).band
        level = keys.level(band, link.depth)
        sequence = self._state.next_sequence()
        item = keys.queue_item(level, sequence, key)
        levels = host.row.levels
        if level not in levels:  # nothing lies there, so the head is known without reading
            head = host.heads[level] = Head()
            head.whole = True
            levels[level] = sequence
            if not host.row.first or level <= keys.level_of(host.row.first):
                host.row.first = item
        elif sequence < levels[level]:
            levels[level] = sequence
        return item

    async def _write(self, writes: Writes) -> None:
        if not (writes.hosts or writes.marks):
            return
        first = [*writes.marks, *(self._state.hosts.saved(host) for host in writes.hosts)]
        first += self._domains.changes((host.key[:2], domain) for host, domain in writes.hosts.items())
        first += self._traps.changes()
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
        via=link.via,
        kind=link.kind,
        authority=authority,
        sitemap=hint.priority if hint else None,
        age=now - hint.modified if hint and hint.modified is not None else None,
    )
