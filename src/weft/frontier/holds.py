"""URLs that wait until it is known whether they lead anywhere: held in groups, tried on a budget, never dropped.

Filled by admission (behind fruitless pages) and leasing (patterns that stopped bringing new pages); emptied by trials,
by better links to the same URL, and by `weft dead DIR release`.

Order of writing: host and group rows, held row, URL row, then a queue row goes; and back: queue or lease row, URL row,
host and group rows, then the held row goes. A held row counts while the URL's row names it.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from enum import Enum
from typing import Final, NamedTuple

import xxhash

from weft.ports import Delete, Put, Range
from weft.urls.host import origin_of, url_key

from . import keys, traps
from .evidence import Site
from .host import Host
from .paging import pages
from .rows import IN_HOLD, GroupRow, Pending, decode_group, decode_pending, encode
from .state import State
from .trail import trail_of

_EXAMPLES: Final = 3
_LOOKED_AT: Final = 16  # held rows read at once; the first that its URL's row still names is taken


class Why(Enum):
    """What holds a group, for a person."""

    PATTERN = "pattern", "pages like it have stopped saying anything new"
    BRANCH = "branch", "it was found behind pages that say nothing new"
    FAMILY = "family", "new hosts of its domain have stopped saying anything new"

    meaning: str

    def __new__(cls, word: str, meaning: str) -> "Why":
        member = object.__new__(cls)
        member._value_ = word
        member.meaning = meaning
        return member


class Group(NamedTuple):
    """Which group a URL is held in."""

    key: bytes  # 8 bytes
    text: str
    why: Why


class Held(NamedTuple):
    """A held URL, found."""

    holder: Host
    item: bytes
    key: bytes  # of the URL
    pending: Pending


def group_of(site: Site | None, pending: Pending) -> Group:
    """That of the pattern that has stopped bringing new pages, else that of its branch. Fixed when the URL is held."""
    trail = trail_of(pending.trail)
    view = traps.view_of(pending.url, pending.source)
    barren = site.barren_pattern(site.patterns_of(pending.url, view, trail), trail) if site else b""
    if site and barren:
        key = xxhash.xxh3_64_digest(barren + bytes((trail.ingrown,)))
        return Group(key, site.patterns[barren].text, Why.PATTERN)
    return Group(xxhash.xxh3_64_digest(b"branch %d" % trail.branch), _below(pending.url), Why.BRANCH)


def family_group(family: str) -> Group:
    return Group(xxhash.xxh3_64_digest(b"family"), f"*.{family}", Why.FAMILY)


class Holds:
    def __init__(self, state: State) -> None:
        self._state = state
        self._partitions = state.config.storage.partitions

    async def load(self, hosts: Iterable[Host]) -> None:
        """The groups of these hosts, into memory."""
        for host in hosts:
            if host.groups is not None:
                continue
            groups: dict[bytes, GroupRow] = {}
            if host.row.held or host.row.debt:
                async for rows in pages(self._state.table, keys.group(host.key, keys.HOLD)):
                    groups |= {item: decode_group(value) for item, value in rows}
            host.groups = groups
            # A crash may have left one of the two rows older than the other.
            if (more := sum(row.held for row in groups.values()) - host.row.held) != 0:
                self._changed(host, b"", more)

    def hold(self, holder: Host, group: Group, key: bytes, pending: Pending) -> tuple[Put, Put]:
        """The held row and the URL row; the group's row is among `changes`."""
        groups = holder.groups or {}
        holder.groups = groups
        row = groups.setdefault(group.key, GroupRow(group.text, group.why.value))
        item = keys.held_item(group.key, trail_of(pending.trail).dry, self._state.next_sequence(), key)
        row.held += 1
        row.first = min(row.first, item) if row.held > 1 and row.first else item
        if len(row.examples) < _EXAMPLES:
            row.examples = (*row.examples, pending.url)
        self._changed(holder, group.key, 1)
        return Put(keys.held_row(holder.key, item), encode(pending)), Put(keys.url_row(key), named(holder, item))

    def stay(self, out: Iterable[Held]) -> None:
        """Count what was taken out as held, while rows are made that are written before it is anywhere else.

        A crash may then leave a count too high, which is put right, but never one too low.
        """
        for held in out:
            group = (held.holder.groups or {})[held.item[:8]]
            group.held += 1
            group.first = min(group.first, held.item)
            self._changed(held.holder, held.item[:8], 1)

    def leave(self, out: Iterable[Held]) -> None:
        """It is taken out again."""
        for held in out:
            self._out(held.holder, held.item[:8])

    def rows(self, hosts: Collection[Host]) -> list[Put]:
        """Of these hosts, and of their groups that changed."""
        return [self._state.hosts.saved(host) for host in hosts] + self.changes(hosts)

    def changes(self, hosts: Iterable[Host]) -> list[Put]:
        """Rows of groups that changed since they were last asked for."""
        found = []
        for host in hosts:
            for group in host.regrouped:
                row = (host.groups or {}).get(group)
                if row is not None:
                    found.append(Put(keys.hold_row(host.key, group), encode(row)))
            host.regrouped.clear()
        return found

    async def draw(self, holder: Host) -> Held | None:
        """Take out the URL to be tried next: of the group with the least debt, the one behind the fewest dry pages."""
        await self.load([holder])
        groups = holder.groups or {}
        while holder.tries:
            name = min(
                (name for name, row in groups.items() if row.held), key=lambda name: groups[name].debt, default=None
            )
            if name is None:
                self._changed(holder, b"", -holder.row.held)  # a crash left the count too high
                return None
            if (held := await self._first(holder, name)) is not None:
                row = groups[name]
                row.debt += 1
                row.tried += 1
                row.examples = tuple(url for url in row.examples if url != held.pending.url)
                holder.row.debt += 1
                self._changed(holder, name, 0)
                return held
        return None

    async def _first(self, holder: Host, name: bytes) -> Held | None:
        """The group's first held URL, counted out. Rows that a crash left are passed over; they do no harm."""
        group = (holder.groups or {})[name]
        while group.held:
            stop = name + b"\xff"
            where = Range(keys.group(holder.key, keys.HELD), max(group.first, name), stop, limit=_LOOKED_AT)
            (rows,) = await self._state.table.scan([where])
            if not rows:
                break
            found = [(item, decode_pending(value)) for item, value in rows]
            places = [url_key(pending.url, self._partitions) for _, pending in found]
            states = await self._state.table.get([keys.url_row(key) for key in places])
            for (item, pending), key, state in zip(found, places, states, strict=True):
                group.first = item + b"\0"
                if state == named(holder, item) and key not in self._state.leases:
                    self._out(holder, name)
                    return Held(holder, item, key, pending)
        self._changed(holder, name, -group.held)
        group.held = 0
        return None

    async def find(self, wanted: Iterable[tuple[Host, bytes, bytes]]) -> list[Held]:
        """Held URLs by holder, item and key, as their rows name them."""
        found = []
        for holder, item, key in wanted:
            (value,) = await self._state.table.get([keys.held_row(holder.key, item)])
            if value is not None:
                found.append(Held(holder, item, key, decode_pending(value)))
        return found

    def take_out(self, held: Held) -> Delete:
        """It is held no more; the row that goes."""
        self._out(held.holder, held.item[:8])
        return Delete(keys.held_row(held.holder.key, held.item))

    def recount(self, holder: Host, held: Mapping[bytes, int]) -> None:
        """So many URLs its groups were found to hold: a crash may have left more counted."""
        for name, row in (holder.groups or {}).items():
            if row.held != held.get(name, 0):
                self._changed(holder, name, held.get(name, 0) - row.held)
                row.held = held.get(name, 0)

    def put_back(self, held: Held) -> None:
        """The engine failed when it was to be tried: as if it had not been drawn."""
        group = (held.holder.groups or {})[held.item[:8]]
        group.held += 1
        group.debt -= 1
        group.tried -= 1
        group.first = min(group.first, held.item)
        held.holder.row.debt -= 1
        self._changed(held.holder, held.item[:8], 1)

    def proved(self, holder: Host, group: bytes) -> None:
        """A trial of the group brought something new."""
        row = (holder.groups or {}).get(group)
        if row is None:
            return
        after = traps.repaid(row.debt)
        holder.row.debt = max(0, holder.row.debt + after - row.debt)
        row.debt = after
        row.fruitful += 1
        self._changed(holder, group, 0)

    def _out(self, holder: Host, name: bytes) -> None:
        group = (holder.groups or {}).get(name)
        if group is not None and group.held:
            group.held -= 1
            self._changed(holder, name, -1)

    def _changed(self, holder: Host, group: bytes, held: int) -> None:
        if group:
            holder.regrouped[group] = None
        if held:
            self._state.holds(holder, held)
        holder.dirty = True
        self.weigh(holder)

    def weigh(self, holder: Host) -> None:
        """May the host try what it holds? To be asked whenever its debt or its fruitful pages change."""
        self._state.hosts.weigh(holder)

    async def all_of(self, holder: Host) -> AsyncIterator[Held]:
        """Every URL that the host holds."""
        async for rows in pages(self._state.table, keys.group(holder.key, keys.HELD)):
            found = [(item, decode_pending(value)) for item, value in rows]
            places = [url_key(pending.url, self._partitions) for _, pending in found]
            states = await self._state.table.get([keys.url_row(key) for key in places])
            for (item, pending), key, state in zip(found, places, states, strict=True):
                if state == named(holder, item):
                    yield Held(holder, item, key, pending)


def named(holder: Host, item: bytes) -> bytes:
    """What the row of a held URL says."""
    return IN_HOLD + holder.key + item


def place_of(url_row: bytes) -> tuple[bytes, bytes]:
    """Holder and item, from the row of a held URL."""
    return url_row[1 : 1 + keys.HOST_KEY], url_row[1 + keys.HOST_KEY :]


def _below(url: str) -> str:
    segment = url[len(origin_of(url)) :].split("?")[0].split("/")[1]
    return f"/{segment}*"


def looks(holder: str, row: GroupRow) -> str:
    """How the group's URLs look, as `weft dead DIR release` takes it."""
    return row.text if row.text.startswith("*.") else f"{holder}{row.text}"
