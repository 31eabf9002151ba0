"""Proves that every URL is in exactly one state: its row names a row that is there, which names it back. Reads only.

Hosts one after another, their rows a page at a time. Called by `check`; docs/frontier.md ("Order of writing") says
which rows a crash may leave: those are leftovers.
"""

import struct
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Final, TypeAlias

import msgspec

from weft.checked import Checked, Remark, Word
from weft.ports import Key, Rows, Table
from weft.records import Fate, Reason
from weft.urls.host import url_key

from . import keys
from .leasing import read_lease
from .paging import pages
from .rows import (
    IN_HOLD,
    IN_QUEUE,
    IN_WAIT,
    IS_DEAD,
    IS_SETTLED,
    GroupRow,
    HostRow,
    Pending,
    Settled,
    decode_group,
    decode_host,
    decode_pending,
    decode_settled,
)

Archived: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[bool]]]
"""Which of these URLs have an answer in the archive."""
_COUNTED: Final = ("pending", "waiting", "held", "dead", "done", "gone")
_FATES: Final = {reason.value: reason.fate for reason in Reason}


class Checking:
    def __init__(self, table: Table, partitions: int, archived: Archived, checked: Checked) -> None:
        self._table = table
        self._partitions = partitions
        self._archived = archived
        self._checked = checked

    async def remarks(self) -> AsyncIterator[Remark]:
        for number in range(self._partitions):
            partition = number.to_bytes(2, "big")
            async for rows in pages(self._table, partition + keys.HOST):
                for item, value in rows:
                    try:
                        host = decode_host(value)
                    except msgspec.DecodeError as error:
                        yield Remark(Word.ROW_GARBLED, item.hex(), f"row of a host: {error}")
                        continue
                    async for remark in self._host(partition + item, host):
                        yield remark
            for check in (self._leases, self._waiting, self._dead):
                async for remark in check(partition):
                    yield remark

    async def knows(self, urls: Sequence[str]) -> list[bool]:
        """Which of these URLs have a row, and a host."""
        places = [url_key(url, self._partitions) for url in urls]
        rows = await self._table.get([keys.url_row(place) for place in places])
        hosts = await self._table.get([keys.host_row(place[: keys.HOST_KEY]) for place in places])
        return [row is not None and host is not None for row, host in zip(rows, hosts, strict=True)]

    async def _host(self, key: bytes, host: HostRow) -> AsyncIterator[Remark]:
        self._checked["hosts"] += 1
        found: Counter[str] = Counter()
        async for rows in pages(self._table, keys.group(key, keys.URL)):
            for remark in await self._urls(key, host.name, rows, found):
                yield remark
        async for rows in pages(self._table, keys.group(key, keys.QUEUE)):
            for remark in await self._queued(key, host, rows):
                yield remark
        async for remark in self._held(key, host, found):
            yield remark
        for name in _COUNTED:
            told = getattr(host, name)
            if name == "held" and told < found["held"]:
                yield Remark(Word.HELD_LOW, host.name, f"{told} counted, {found['held']} held")
            elif told != found[name]:
                yield Remark(Word.COUNT_OFF, host.name, f"{name}: {told} counted, {found[name]} stored")

    async def _urls(self, host: bytes, name: str, rows: Rows, found: Counter[str]) -> list[Remark]:
        """What the rows of URLs name is there."""
        self._checked["urls"] += len(rows)
        named: list[tuple[bytes, bytes, Key]] = []  # URL, its row, the row that it names
        settled: list[Settled] = []
        remarks: list[Remark] = []
        for item, value in rows:
            key = host + item
            try:
                if value[:1] == IS_SETTLED:
                    settled.append(decode_settled(value[1:]))
                    remarks += self._placed(key, settled[-1].url)
                else:
                    named.append((key, value, _named(key, value)))
            except (msgspec.DecodeError, ValueError) as error:
                remarks.append(Remark(Word.ROW_GARBLED, item.hex(), f"row of a URL: {error}"))
        found.update("done" if _FATES.get(row.reason) is Fate.DONE else "gone" for row in settled)
        there = await self._table.get([place for _, _, place in named])
        missing = [one for one, row in zip(named, there, strict=True) if row is None]
        leased = dict(
            zip(
                [key for key, _, _ in missing],
                await self._table.get([keys.lease_row(key) for key, _, _ in missing]),
                strict=True,
            )
        )
        for key, value, place in named:
            letter = value[:1]
            if key in leased and (letter != IN_QUEUE or leased[key] is None):
                remarks.append(_lost(name, key, value, place))
            elif letter != IN_HOLD:  # what is held counts for its holder
                found[_STATES[letter]] += 1
        stored = [row.url for row in settled if row.reason == Reason.STORED.value]
        for url, is_there in zip(stored, await self._archived(stored), strict=True):
            if not is_there:
                remarks.append(Remark(Word.NOT_ARCHIVED, url, "the URL's row"))
        return remarks

    async def _queued(self, host: bytes, row: HostRow, rows: Rows) -> list[Remark]:
        """Queue rows are named by their URLs, and lie where the host looks."""
        self._checked["queued"] += len(rows)
        read, remarks = self._read(rows, "queue row")
        places = [(host + keys.url_hash_of(item), item, pending) for item, pending in read]
        named = await self._table.get([keys.url_row(key) for key, _, _ in places])
        leases = await self._table.get([keys.lease_row(key) for key, _, _ in places])
        for (key, item, pending), state, lease in zip(places, named, leases, strict=True):
            remarks += self._placed(key, pending.url)
            if state != IN_QUEUE + item or lease is not None:
                remarks.append(Remark(Word.SPARE_ROW, pending.url, f"queue row of {row.name}"))
            elif not keys.sequence_of(item) >= row.levels.get(keys.level_of(item), 1 << 62):
                remarks.append(Remark(Word.UNREACHABLE, pending.url, f"queue row of {row.name}"))
        return remarks

    async def _held(self, key: bytes, host: HostRow, found: Counter[str]) -> AsyncIterator[Remark]:
        """Held rows are named by their URLs, counted by their groups, and lie where the groups look."""
        groups: dict[bytes, GroupRow] = {}
        async for rows in pages(self._table, keys.group(key, keys.HOLD)):
            groups |= {item: decode_group(value) for item, value in rows}
        held: Counter[bytes] = Counter()
        async for rows in pages(self._table, keys.group(key, keys.HELD)):
            self._checked["held"] += len(rows)
            read, remarks = self._read(rows, "held row")
            places = [url_key(pending.url, self._partitions) for _, pending in read]
            named = await self._table.get([keys.url_row(place) for place in places])
            leases = await self._table.get([keys.lease_row(place) for place in places])
            for (item, pending), state, lease in zip(read, named, leases, strict=True):
                group = groups.get(item[:8])
                if state != IN_HOLD + key + item or lease is not None:
                    remarks.append(Remark(Word.SPARE_ROW, pending.url, f"held row of {host.name}"))
                    continue
                held[item[:8]] += 1
                if group is not None and item < group.first:
                    remarks.append(Remark(Word.UNREACHABLE, pending.url, f"held row of {host.name}"))
            for remark in remarks:
                yield remark
        found["held"] = held.total()
        for name in groups.keys() | held.keys():
            counted, looks = (groups[name].held, groups[name].text) if name in groups else (0, name.hex())
            if counted != held[name]:
                word = Word.HELD_LOW if counted < held[name] else Word.COUNT_OFF
                yield Remark(word, f"{host.name}{looks}", f"held: {counted} counted, {held[name]} stored")

    async def _leases(self, partition: bytes) -> AsyncIterator[Remark]:
        async for rows in pages(self._table, partition + keys.LEASE):
            self._checked["leased"] += len(rows)
            places = [partition + item for item, _ in rows]
            named = await self._table.get([keys.url_row(place) for place in places])
            hosts = await self._table.get([keys.host_row(place[: keys.HOST_KEY]) for place in places])
            for (item, value), state, host in zip(rows, named, hosts, strict=True):
                try:
                    _, place, pending = read_lease(value)
                except (msgspec.DecodeError, struct.error) as error:
                    yield Remark(Word.ROW_GARBLED, item.hex(), f"lease row: {error}")
                    continue
                if host is None:
                    yield Remark(Word.HOST_MISSING, pending.url, "lease row")
                elif state != IN_QUEUE + place:
                    yield Remark(Word.SPARE_ROW, pending.url, "lease row")

    async def _waiting(self, partition: bytes) -> AsyncIterator[Remark]:
        async for rows in pages(self._table, partition + keys.WAITING):
            self._checked["waiting"] += len(rows)
            for remark in await self._named(partition, rows, 8):
                yield remark

    async def _dead(self, partition: bytes) -> AsyncIterator[Remark]:
        async for rows in pages(self._table, partition + keys.DEAD):
            self._checked["dead"] += len(rows)
            for remark in await self._named(partition, rows, 0):
                yield remark

    async def _named(self, partition: bytes, rows: Rows, due: int) -> list[Remark]:
        """Rows of a partition whose URLs name them; the first `due` bytes of their items are a moment."""
        kind, mark = ("waiting row", IN_WAIT) if due else ("dead row", IS_DEAD)
        read, remarks = self._read(rows, kind)
        places = [partition + item[due:] for item, _ in read]
        named = await self._table.get([keys.url_row(place) for place in places])
        hosts = await self._table.get([keys.host_row(place[: keys.HOST_KEY]) for place in places])
        for (item, pending), state, host in zip(read, named, hosts, strict=True):
            if host is None:
                remarks.append(Remark(Word.HOST_MISSING, pending.url, kind))
            elif state != mark + item[:due]:
                remarks.append(Remark(Word.SPARE_ROW, pending.url, kind))
        return remarks

    def _read(self, rows: Rows, kind: str) -> tuple[list[tuple[bytes, Pending]], list[Remark]]:
        read, garbled = [], []
        for item, value in rows:
            try:
                read.append((item, decode_pending(value)))
            except msgspec.DecodeError as error:
                garbled.append(Remark(Word.ROW_GARBLED, item.hex(), f"{kind}: {error}"))
        return read, garbled

    def _placed(self, key: bytes, url: str) -> Iterator[Remark]:
        if url_key(url, self._partitions) != key:
            yield Remark(Word.URL_MISPLACED, url, f"key {key.hex()}")


_STATES: Final = {IN_QUEUE: "pending", IN_WAIT: "waiting", IS_DEAD: "dead"}
_PLACES: Final = {IN_QUEUE: "queue row", IN_WAIT: "waiting row", IS_DEAD: "dead row", IN_HOLD: "held row"}


def _named(key: bytes, value: bytes) -> Key:
    """The row that the row of a URL names."""
    letter, rest = value[:1], value[1:]
    if letter == IN_QUEUE:
        return keys.queue_row(key, rest)
    if letter == IN_WAIT and len(rest) == 8:
        return keys.waiting_row(key, int.from_bytes(rest, "big"))
    if letter == IS_DEAD:
        return keys.dead_row(key)
    if letter == IN_HOLD and len(rest) > keys.HOST_KEY:
        return keys.held_row(rest[: keys.HOST_KEY], rest[keys.HOST_KEY :])
    raise ValueError(f"it begins with {value[:9]!r}")


def _lost(host: str, key: bytes, value: bytes, place: Key) -> Remark:
    """The URL itself stood in the row that is gone."""
    url = f"{host}, URL {key[keys.HOST_KEY :].hex()}"
    return Remark(Word.URL_LOST, url, f"no {_PLACES[value[:1]]} {place[1].hex()}")
