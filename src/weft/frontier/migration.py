"""A table of format 3 becomes one of format 4: called once, before a frontier opens it, by whoever opens DIR for work.

It may be killed at any moment and be run again: a row tells by the number of its fields which format it has. Memory
holds a page of rows, and counts of one partition's hosts and domains.
"""

import struct
from collections import Counter
from typing import Final, NamedTuple

import msgspec

from weft.config import Config
from weft.ports import Delete, Key, Put, Range, Rows, Table
from weft.records import Kind
from weft.urls.host import host_key, registrable

from . import keys
from .paging import PAGE, pages
from .priority import Band
from .rows import (
    IN_HOLD,
    IN_QUEUE,
    IN_WAIT,
    IS_DEAD,
    IS_SETTLED,
    HostRow,
    Pending,
    VisitRow,
    decode_domain,
    decode_host,
    decode_pending,
    decode_settled,
    encode,
)
from .trail import ROOT, Trail, branch_of
from .traps import family_of


class OldPending(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL that waits, in format 3. Rows without visits ended behind `inside`."""

    url: str
    discovered: int
    depth: int
    via: int
    source: str
    inside: int = 0
    kind: int = 0
    hops: int = 0
    seed: bool = False
    priority: float = 0.5
    changed: int = 0
    attempt: int = 1
    agains: int = 0
    visits: tuple[VisitRow, ...] = ()
    first: float = 0.0
    fetches: int = 0
    etag: str = ""
    modified: str = ""


_SHORT: Final = 6  # fields of a pending row of format 3 that is a plain link; format 4: 7
_WHOLE: Final = 18  # of any other; format 4: 20
_HOST: Final = 22  # of a host row; format 4 has more behind them
_PATTERN: Final = keys.HOST_KEY + 8  # bytes that name a pattern in the row of a held URL
_LEASE: Final = struct.Struct(">d17s")  # when, and the queue item
_OLD_LAST: Final = 0x3FF  # the level of what could not be reached; levels were band and depth
_NUMBERS: Final = 1 << 40  # numbers lie below, the times that format 3 had in their place above
_CURSOR: Final[Key] = (b"migration", b"cursor")
_decode_old: Final = msgspec.msgpack.Decoder(OldPending).decode


class Cursor(NamedTuple):
    """How far the numbering of one host's queue got."""

    host: bytes = b""
    number: int = 1


class Counted(NamedTuple):
    """URLs of one partition that are not in queues, by the key of their host."""

    leased: Counter[bytes]
    waiting: Counter[bytes]
    dead: Counter[bytes]


async def migrate(table: Table, config: Config, page: int = PAGE) -> None:
    """Durable on return, against loss of power too."""
    migration = _Migration(table, config.storage.partitions, page)
    for number in range(config.storage.partitions):
        await migration.change(number.to_bytes(2, "big"))
    for number in range(config.storage.partitions):  # only now: a held URL may lie with another host of its domain
        await migration.clear(number.to_bytes(2, "big"))
    await table.write([Delete(_CURSOR)], sync=True)


class _Migration:
    def __init__(self, table: Table, partitions: int, page: int) -> None:
        self._table = table
        self._partitions = partitions
        self._page = page
        self._resumes = True  # the queue that comes first may be half done

    async def change(self, partition: bytes) -> None:
        """Leases before queues: the lease decides where two rows tell of one URL."""
        counted = Counted(
            await self._leases(partition),
            await self._letters(partition, keys.WAITING),
            await self._letters(partition, keys.DEAD),
        )
        admitted: Counter[str] = Counter()
        async for rows in pages(self._table, partition + keys.HOST, size=self._page):
            for item, value in rows:
                row = decode_host(value)
                if _fields(value) == _HOST:
                    row = await self._host(partition + item, row, counted)
                admitted[row.name[-row.domain :] if row.domain else registrable(row.name)] += row.admitted
        await self._domains(partition, admitted)

    async def _letters(self, partition: bytes, letter: bytes) -> Counter[bytes]:
        """Waiting or dead rows, in their places; how many of each host its URLs' rows speak of."""
        counts: Counter[bytes] = Counter()
        async for rows in pages(self._table, partition + letter, size=self._page):
            found = [partition + item[-16:] for item, _ in rows]
            states = await self._table.get([keys.url_row(key) for key in found])
            for key, (item, _), state in zip(found, rows, states, strict=True):
                said = IS_DEAD if letter == keys.DEAD else IN_WAIT + item[:8]
                counts[key[: keys.HOST_KEY]] += state == said
            await self._table.write([Put((partition + letter, item), renewed(value)) for item, value in rows])
        return counts

    async def _leases(self, partition: bytes) -> Counter[bytes]:
        """Leases that nobody settled will go back to the head of their queues, under the number 0."""
        counts: Counter[bytes] = Counter()
        async for rows in pages(self._table, partition + keys.LEASE, size=self._page):
            found = [partition + item for item, _ in rows]
            states = await self._table.get([keys.url_row(key) for key in found])
            placed = [(key, _LEASE.unpack_from(value)[1]) for key, (_, value) in zip(found, rows, strict=True)]
            moved = await self._elsewhere(placed, states)
            urls: list[Put | Delete] = []
            leases: list[Put | Delete] = []
            for (key, old), (_, value), state in zip(placed, rows, states, strict=True):
                (leased, _) = _LEASE.unpack_from(value)
                if (key, old) in moved or _tells_end(state, leased):
                    leases.append(Delete(keys.lease_row(key)))
                    continue
                counts[key[: keys.HOST_KEY]] += 1
                pending = value[_LEASE.size :]
                if _is_old(pending):
                    place = keys.queue_item(_level(keys.level_of(old)), 0, key)
                    urls += [Put(keys.url_row(key), IN_QUEUE + place), Delete(keys.queue_row(key, old))]
                    leases.append(Put(keys.lease_row(key), _LEASE.pack(leased, place) + renewed(pending)))
            await self._table.write(urls, leases)
        return counts

    async def _elsewhere(
        self, placed: list[tuple[bytes, bytes]], states: list[bytes | None]
    ) -> set[tuple[bytes, bytes]]:
        """Of URLs with an item each: those whose own row names another queue row, which is there."""
        named = [
            (pair, state[1:])
            for pair, state in zip(placed, states, strict=True)
            if state is not None and state[:1] == IN_QUEUE and state[1:] != pair[1]
        ]
        found = await self._table.get([keys.queue_row(key, item) for (key, _), item in named])
        return {pair for (pair, _), row in zip(named, found, strict=True) if row is not None}

    async def _host(self, key: bytes, row: HostRow, counted: Counted) -> HostRow:
        """Its URLs, then its row, which says that they are done."""
        await self._number(key)
        if row.held or await self._may_hold(key, row.name):
            await self._take_up(key, max(1, row.held))
        row.levels, row.pending, asked = await self._queued(key)
        row.pending += counted.leased[key]
        row.waiting, row.dead, row.held = counted.waiting[key], counted.dead[key], 0
        row.admitted = row.done + row.gone + row.dead + row.waiting + asked
        row.first = b""
        row.branches = {ROOT: 0}  # not empty: it is no new host
        normal = keys.level(Band.NORMAL)
        row.marks = {normal: row.levels[normal] - 1} if normal in row.levels else {}  # new links take turns with it
        await self._table.write([Put(keys.host_row(key), encode(row))])
        return row

    # Queues: old rows get numbers in their order. Per page: new rows, URL rows, the cursor; then the old rows go.

    async def _number(self, host: bytes) -> None:
        number = 0
        async for rows in pages(self._table, keys.group(host, keys.QUEUE), size=self._page):
            old = [(item, value) for item, value in rows if _is_old(value)]
            if old and not number:
                number = await self._start(host)
            if old:
                number = await self._move(host, old, number)

    async def _start(self, host: bytes) -> int:
        """The number to go on with. What a kill left behind it is written again; the old rows are all there."""
        if not self._resumes:
            return 1
        self._resumes = False
        (stored,) = await self._table.get([_CURSOR])
        cursor = msgspec.msgpack.decode(stored, type=Cursor) if stored else Cursor()
        number = cursor.number if cursor.host == host else 1
        queue = keys.group(host, keys.QUEUE)
        for band in (Band.FRONT, Band.NORMAL, Band.LAST):
            start, stop = (keys.level_start(keys.level(band), end) for end in (number, _NUMBERS))
            async for rows in pages(self._table, queue, start, stop, self._page):
                await self._table.write([Delete((queue, item)) for item, value in rows if not _is_old(value)])
        return number

    async def _move(self, host: bytes, rows: Rows, number: int) -> int:
        """The next number."""
        queue = keys.group(host, keys.QUEUE)
        found = [host + keys.url_hash_of(item) for item, _ in rows]
        states = await self._table.get([keys.url_row(key) for key in found])
        leases = await self._table.get([keys.lease_row(key) for key in found])
        placed = [(key, item) for key, (item, _) in zip(found, rows, strict=True)]
        stale = await self._elsewhere(placed, states)
        taken = {key for key, lease in zip(found, leases, strict=True) if lease is not None}
        moved: list[Put] = []
        urls: list[Put] = []
        for key, (item, value), state in zip(found, rows, states, strict=True):
            if key in taken or (key, item) in stale or not _stands(state, value):
                continue
            taken.add(key)
            place = keys.queue_item(_level(keys.level_of(item)), number, key)
            number += 1
            moved.append(Put((queue, place), renewed(value)))
            urls.append(Put(keys.url_row(key), IN_QUEUE + place))
        cursor = Put(_CURSOR, msgspec.msgpack.encode(Cursor(host, number)))
        await self._table.write(moved, urls, [cursor], [Delete((queue, item)) for item, _ in rows])
        return number

    async def _may_hold(self, key: bytes, name: str) -> bool:
        """A crash may have left the count too low."""
        groups = [Range(keys.group(holder, keys.HELD), limit=1) for holder in self._holders(key, name)]
        return any(await self._table.scan(groups))

    def _holders(self, key: bytes, name: str) -> list[bytes]:
        """Where URLs of the host were held: with itself, or with the family of its domain."""
        return list(dict.fromkeys((key, host_key(family_of(name), self._partitions))))

    async def _take_up(self, host: bytes, spread: int) -> None:
        """Held URLs, spread over the first so many numbers: they take turns with those of the queue.

        A URL's number comes from its hash, so that a second run gives it the same one.
        """
        normal = keys.level(Band.NORMAL)
        async for rows in pages(self._table, keys.group(host, keys.URL), size=self._page):
            held = [(host + item, state[1:]) for item, state in rows if state[:1] == IN_HOLD]
            places = [(keys.group(where, keys.HELD), where[_PATTERN:]) for _, where in held]
            moved: list[Put] = []
            urls: list[Put] = []
            for (key, _), value in zip(held, await self._table.get(places), strict=True):
                if value is None:
                    continue
                place = keys.queue_item(normal, 1 + int.from_bytes(key[-8:], "big") % spread, key)
                moved.append(Put(keys.queue_row(key, place), renewed(value)))
                urls.append(Put(keys.url_row(key), IN_QUEUE + place))
            await self._table.write(moved, urls)

    async def _queued(self, host: bytes) -> tuple[dict[int, int], int, int]:
        """Of the queue as it is now: the first number of each level, all URLs, those that were asked for before."""
        levels: dict[int, int] = {}
        count = asked = 0
        async for rows in pages(self._table, keys.group(host, keys.QUEUE), size=self._page):
            count += len(rows)
            for item, value in rows:
                levels.setdefault(keys.level_of(item), keys.sequence_of(item))
                asked += _fields(value) > _SHORT + 1 and _was_asked(decode_pending(value))
        return levels, count, asked

    async def _domains(self, partition: bytes, admitted: Counter[str]) -> None:
        async for rows in pages(self._table, partition + keys.DOMAIN, size=self._page):
            puts = []
            for item, value in rows:
                row = decode_domain(value)
                row.admitted = admitted[row.name]
                puts.append(Put((partition + keys.DOMAIN, item), encode(row)))
            await self._table.write(puts)

    async def clear(self, partition: bytes) -> None:
        """What format 4 has no use for, or has other rows for in the same place."""
        await self._empty(partition + keys.FIRST)
        async for rows in pages(self._table, partition + keys.HOST, size=self._page):
            holders = {key for item, value in rows for key in self._holders(partition + item, decode_host(value).name)}
            groups = [keys.group(key, letter) for key in sorted(holders) for letter in (keys.HOLD, keys.HELD)]
            firsts = await self._table.scan([Range(group, limit=1) for group in groups])
            for group, first in zip(groups, firsts, strict=True):
                if first:
                    await self._empty(group)

    async def _empty(self, group: bytes) -> None:
        async for rows in pages(self._table, group, size=self._page):
            await self._table.write([Delete((group, item)) for item, _ in rows])


def renewed(value: bytes) -> bytes:
    """A pending row as format 4 has it; one that is so already stays."""
    if not _is_old(value):
        return value
    old = _decode_old(value)
    trail = Trail(branch=branch_of(old.url)).packed()
    if _fields(value) == _SHORT:
        return encode((old.url, old.discovered, old.depth, old.via, old.source, old.inside, trail))
    return encode(Pending(**msgspec.structs.asdict(old), trail=trail))


def _is_old(value: bytes) -> bool:
    return _fields(value) in (_SHORT, _WHOLE)


def _fields(value: bytes) -> int:
    """How many a row has, by the first bytes of its MessagePack array."""
    return value[0] & 0x0F if value[0] >> 4 == 0x9 else int.from_bytes(value[1:3], "big")


def _level(old: int) -> int:
    if old == _OLD_LAST:
        return keys.level(Band.LAST)
    return keys.level(Band.FRONT if old >> 8 == Band.FRONT else Band.NORMAL)


def _stands(state: bytes | None, value: bytes) -> bool:
    """Does the queue row count, by what the URL's own row says? Or did a crash leave it when the URL had moved on?"""
    if state is None or state[:1] in (IN_QUEUE, IN_HOLD):
        return True
    if state[:1] != IS_SETTLED:
        return False
    fetches = _decode_old(value).fetches
    return 0 < fetches == decode_settled(state[1:]).fetches  # it is to be visited again, and was not yet


def _tells_end(state: bytes | None, leased: float) -> bool:
    """Does the URL's own row tell of the end of a lease given then?"""
    if state is None:
        return False
    if state[:1] == IS_SETTLED:
        return decode_settled(state[1:]).leased >= leased
    return state[:1] in (IN_WAIT, IS_DEAD)


def _was_asked(pending: Pending) -> bool:
    return pending.kind == Kind.PAGE and bool(pending.visits or pending.agains or pending.fetches)
