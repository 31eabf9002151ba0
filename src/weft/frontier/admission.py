"""Links in, pending rows out: the unseen ones that belong to the crawl. Called by `Frontier.add` and for redirects.

Order of writing: host and domain rows (the host is known, its levels reach down to the new rows), then queue rows, then
URL rows, which say "seen". A crash in between leaves at most a queue row whose URL is taken in again: asked twice,
never lost.
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
from .authority import Authority, linked
from .domains import Domains
from .host import Head, Host, Row
from .priority import Features, plain_band, priority
from .queues import Queues
from .reach import Reach
from .rows import IN_QUEUE, DomainRow, HostRow, encode_link
from .seen import Recent
from .state import State
from .trapping import Trapping
from .traps import Pattern

Admit: TypeAlias = Callable[[str], Drop | None]
Patterns: TypeAlias = dict[bytes, list[tuple[bytes, Pattern]]]
_CHUNK: Final = 512  # links handled between two looks at the event loop


class Added(Record, frozen=True):
    """What became of links."""

    new: int = 0
    seen: int = 0
    drops: dict[Drop, int] = msgspec.field(default_factory=dict)


class Judges(NamedTuple):
    """Who may speak against a link."""

    rules: Rules
    admit: Admit  # robots.txt, where its rules are in memory
    traps: Trapping


class Writes(NamedTuple):
    """What one chunk of links changes."""

    scope: list[Put]
    hosts: dict[Host, DomainRow]  # whose rows changed
    queue: list[Put]
    urls: list[Put]
    joined: dict[Host, list[Row]]
    patterns: dict[bytes, None]  # whose rows changed


class Admission:
    def __init__(self, state: State, queues: Queues, reach: Reach, judges: Judges) -> None:
        config = state.config
        self._state = state
        self._queues = queues
        self._reach = reach
        self._rules, self._admit, self._traps = judges
        self._scope = config.scope
        self._partitions = config.storage.partitions
        self._recent = Recent(config.frontier.recent)
        self._domains = Domains(state.table, config, reach)
        self._authority = Authority()

    async def add(self, links: Sequence[Link]) -> Added:
        new, seen = 0, 0
        drops: Counter[Drop] = Counter()
        left = iter(links)
        while chunk := list(islice(left, _CHUNK)):
            keyed = {link.key or url_key(link.url, self._partitions): link for link in chunk}
            unseen = await self._unseen(keyed)
            dropped, admitted = await self._take_in(keyed, unseen)
            drops.update(dropped)
            new += admitted
            seen += len(chunk) - admitted - dropped.total()
        return Added(new, seen, dict(drops))

    async def _unseen(self, keyed: dict[bytes, Link]) -> list[bytes]:
        """Keys not in the table, in the order they came."""
        missing = self._recent.unknown(keyed.keys())
        if not missing:
            return []
        candidates = [key for key in keyed if key in missing]
        found = await self._state.table.get([keys.url_row(key) for key in candidates])
        self._recent.remember(key for key, row in zip(candidates, found, strict=True) if row is not None)
        return [key for key, row in zip(candidates, found, strict=True) if row is None]

    async def _take_in(self, keyed: dict[bytes, Link], unseen: Sequence[bytes]) -> tuple[Counter[Drop], int]:
        writes = Writes([], {}, [], [], {}, {})
        for link in keyed.values():
            if link.seed:
                writes.scope.extend(self._reach.widen(host_of(link.url)))
        groups: dict[bytes, list[bytes]] = {}
        for key in unseen:
            groups.setdefault(key[: keys.HOST_KEY], []).append(key)
        drops: Counter[Drop] = Counter()
        wanted = self._judged(groups, keyed, drops)
        sources = self._authority.fresh(keyed)
        hosts = await self._state.hosts.load([*wanted, *(key for key in sources if key not in wanted)])
        domains = {(key[:2], registrable(host_of(links[0][1].url))) for key, links in wanted.items()}
        await self._domains.load(domains | {(key[:2], host.domain) for key, host in hosts.items()})
        patterns = await self._patterns(wanted)
        for key, links in wanted.items():
            self._take_in_host(key, self._within_caps(key, links, drops), patterns, writes)
        for key, domains_linking in sources.items():
            self._count_links(key, domains_linking, writes)
        await self._write(writes)
        self._recent.remember(put.key[0][: keys.HOST_KEY] + put.key[1] for put in writes.urls)
        return drops, len(writes.urls)

    async def _patterns(self, wanted: dict[bytes, list[tuple[bytes, Link]]]) -> Patterns:
        """Of every link, the patterns it belongs to; their rows are in memory."""
        found = {}
        for links in wanted.values():
            name = host_of(links[0][1].url)
            for key, link in links:
                found[key] = self._traps.patterns(name, link.url)
        await self._traps.load(pair for pairs in found.values() for pair in pairs)
        return found

    def _count_links(self, key: bytes, sources: set[bytes], writes: Writes) -> None:
        host = self._state.hosts.live(key)
        if host is None:
            return
        domain = self._domains.get(key[:2], host.domain)
        if linked(host, domain, sources):
            writes.hosts[host] = domain

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

    def _take_in_host(
        self, key: bytes, links: Sequence[tuple[bytes, Link]], patterns: Patterns, writes: Writes
    ) -> None:
        if not links:
            return
        name = host_of(links[0][1].url)
        known = self._state.hosts.live(key)
        domain = self._domains.get(key[:2], registrable(name))
        host = known or self._created(key, name, domain)
        was_idle = not host.has_work
        rows = []
        for url, link in links:
            holder = self._traps.admits(known, link, patterns[url])
            if holder is None:
                row = self._placed(host, url, link)
                self._mark(host, row.item)
                rows.append(row)
                writes.queue.append(Put(keys.queue_row(url, row.item), row.value))
                writes.urls.append(Put(keys.url_row(url), IN_QUEUE + row.item))
            else:
                held, where = self._traps.hold(holder, url, link)
                writes.queue.append(held)
                writes.urls.append(where)
            writes.patterns.update(dict.fromkeys(pattern for pattern, _ in patterns[url]))
        writes.joined[host] = rows
        host.row.admitted += len(links)
        domain.admitted += len(links)
        self._state.queued(host, len(rows))
        self._state.holds(host, len(links) - len(rows))
        writes.hosts[host] = domain
        if was_idle:
            self._state.enlist(host)

    def _created(self, key: bytes, name: str, domain: DomainRow) -> Host:
        host = self._state.hosts.create(key, name)
        self._state.expect(host)
        domain.hosts += 1
        return host

    def _mark(self, host: Host, item: bytes) -> None:
        level = keys.level_of(item)
        if level not in host.row.levels:  # nothing lies there, so the head is known without reading
            head = host.heads[level] = Head()
            head.whole = True
        host.lower(level, keys.sequence_of(item))

    def _within_caps(
        self, key: bytes, links: Sequence[tuple[bytes, Link]], drops: Counter[Drop]
    ) -> Sequence[tuple[bytes, Link]]:
        host = self._state.hosts.live(key)
        domain = self._domains.get(key[:2], registrable(host_of(links[0][1].url)))
        host_room = (self._scope.pages_per_host or 1 << 62) - (host.row.admitted if host else 0)
        room = max(0, min(host_room, self._domains.room(domain)))
        if room >= len(links):
            return links
        files = [pair for pair in links if pair[1].kind is not Kind.PAGE]
        pages = [pair for pair in links if pair[1].kind is Kind.PAGE]
        if len(pages) > room:
            drops[Drop.HOST_FULL if host_room <= room else Drop.DOMAIN_FULL] += len(pages) - room
        return files + pages[:room]

    def _placed(self, host: Host, key: bytes, link: Link) -> Row:
        """The link's queue row."""
        state = self._state
        now = state.time.wall()
        if link.kind is Kind.PAGE and link.hint is None and link.via is not Via.REDIRECT:
            band = plain_band(link.depth, host.row.authority)
        else:
            band = priority(features_of(link, host.row.authority, now)).band
        item = keys.queue_item(keys.level(band, link.depth), state.next_sequence(), key)
        return Row(item, encode_link(link, int(now)))

    async def _write(self, writes: Writes) -> None:
        if not (writes.hosts or writes.scope):
            return
        first = [*writes.scope, *(self._state.hosts.saved(host) for host in writes.hosts)]
        first += [self._domains.saved(host.key[:2], domain) for host, domain in writes.hosts.items()]
        first += self._traps.saved(writes.patterns)
        try:
            await self._state.table.write(first, writes.queue, writes.urls)
        except EngineError:
            self._forget_heads(writes.hosts)
            raise
        for host, rows in writes.joined.items():
            self._queues.joined(host, rows)
        self._state.hosts.trim()

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
