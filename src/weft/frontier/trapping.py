"""Keeps the patterns of URLs: counts what is taken in of each, holds the rest, lets go what has proved itself.

Admission asks before it takes a URL in; settling and learning report what pages turned out to be.
"""

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import xxhash

from weft.ports import Delete, Put, Range
from weft.records import Finding, Kind, Link
from weft.urls.host import host_key, host_of, url_key

from . import keys, traps
from .priority import plain_band
from .rows import IN_HOLD, IN_QUEUE, PatternRow, decode_pattern, decode_pending, encode, encode_link
from .settling import Batch, Settling
from .state import State

_EXAMPLES: Final = 3
_SAVED: Final = 8  # URLs taken in of a pattern between two writes of its count
_RELEASED: Final = 500  # rows let go at once


Shapes: TypeAlias = tuple[tuple[bytes, traps.Pattern], ...]
"""Patterns with their keys."""


class Trapping:
    def __init__(self, state: State, settling: Settling) -> None:
        self._state = state
        self._settling = settling
        self._sample = state.config.frontier.trap_sample
        self._partitions = state.config.storage.partitions
        self._live: dict[bytes, PatternRow] = {}
        self._changed: dict[bytes, None] = {}

    def shapes(self, host: bytes, url: str) -> Shapes:
        """The pattern a URL of the host (by its key) belongs to, if any."""
        shape = traps.pattern_of(url)
        return () if shape is None else ((host + xxhash.xxh3_64_digest(shape.text.encode()), shape),)

    def family(self, host: str) -> Shapes:
        """The pattern that the host's name belongs to, if it is not one that every site has."""
        family = traps.family_of(host)
        if traps.is_ordinary(host, family):
            return ()
        key = host_key(family, self._partitions) + xxhash.xxh3_64_digest(b"*")
        return ((key, traps.Pattern(traps.Rule.SUBDOMAINS, f"*.{family}")),)

    def _of(self, url: str) -> Shapes:
        host = host_of(url)
        return self.shapes(host_key(host, self._partitions), url) + self.family(host)

    async def load(self, patterns: Iterable[tuple[bytes, traps.Pattern]]) -> None:
        if len(self._live) > 2 * self._state.config.frontier.hosts:
            self._live.clear()
        missing = {key: pattern for key, pattern in patterns if key not in self._live}
        if not missing:
            return
        values = await self._state.table.get([keys.pattern_row(key) for key in missing])
        for (key, pattern), value in zip(missing.items(), values, strict=True):
            self._live[key] = decode_pattern(value) if value else PatternRow(pattern.rule.value, pattern.text)

    def admits(self, link: Link, patterns: Shapes) -> bytes | None:
        """None: take it in, it is counted. Otherwise the pattern that holds it."""
        if not link.seed and link.kind is Kind.PAGE:
            for key, _ in patterns:
                row = self._live[key]
                if row.admitted >= self._sample // 3 and row.admitted >= traps.allowance(row, self._sample):
                    row.held += 1
                    self._changed[key] = None
                    _exemplify(row, link.url)
                    return key
        for key, _ in patterns:
            row = self._live[key]
            if row.admitted % _SAVED == 0:
                self._changed[key] = None
            row.admitted += 1
        return None

    def hold(self, pattern: bytes, key: bytes, link: Link) -> tuple[Put, Put]:
        """The held row and the URL row of a link beyond the sample."""
        state = self._state
        held = keys.held_row(pattern, state.next_sequence(), key)
        value = encode_link(link, int(state.time.wall()))
        return Put(held, value), Put(keys.url_row(key), IN_HOLD + pattern + held[1])

    def changes(self) -> list[Put]:
        """Rows that changed since the last call. A count is written now and then: a crash forgets a few URLs of it."""
        changed, self._changed = self._changed, {}
        return self._saved(changed)

    def _saved(self, patterns: Iterable[bytes]) -> list[Put]:
        return [Put(keys.pattern_row(key), encode(self._live[key])) for key in patterns]

    async def judge(self, pages: Sequence[tuple[str, Finding | None]]) -> None:
        """What pages turned out to be (URL, finding), and the release of what that proves."""
        found = [(finding, self._of(url)) for url, finding in pages]
        await self.load(pair for _, patterns in found for pair in patterns)
        touched: dict[bytes, None] = {}
        for finding, patterns in found:
            for key, _ in patterns:
                traps.judge(self._live[key], finding)
                touched[key] = None
        if touched:
            await self._state.table.write(self._saved(touched))
        for key in touched:
            row = self._live[key]
            if row.held and traps.allowance(row, self._sample) > row.admitted:
                await self._release(key, row)

    async def _host_room(self, pattern: bytes, row: PatternRow) -> int:
        """How many more URLs the pattern's host may bring."""
        cap = self._state.config.scope.pages_per_host
        if not cap or row.rule == traps.Rule.SUBDOMAINS.value:  # hosts that are hardly asked at all
            return _RELEASED
        host = (await self._state.hosts.load([pattern[: keys.HOST_KEY]]))[pattern[: keys.HOST_KEY]]
        return max(0, cap - host.row.admitted)

    async def _release(self, pattern: bytes, row: PatternRow) -> None:
        """Held rows go to their hosts' queues. Order of writing: hosts and pattern, queue, URLs, then held rows go."""
        room = min(traps.allowance(row, self._sample) - row.admitted, _RELEASED, await self._host_room(pattern, row))
        if room <= 0:
            return
        group, prefix = keys.group(pattern, keys.HELD), pattern[10:]
        stop = (int.from_bytes(prefix, "big") + 1).to_bytes(9, "big")[1:]
        (rows,) = await self._state.table.scan([Range(group, prefix, stop if any(stop) else None, limit=room)])
        batch = Batch()
        found = [(item, decode_pending(value)) for item, value in rows]
        places = [url_key(pending.url, self._partitions) for _, pending in found]
        hosts = await self._state.hosts.load(list({key[: keys.HOST_KEY] for key in places}))
        for key, (item, pending) in zip(places, found, strict=True):
            host = hosts[key[: keys.HOST_KEY]]
            level = keys.level(plain_band(pending.depth, host.authority), pending.depth)
            place = keys.queue_item(level, int.from_bytes(item[8:15], "big"), key)
            self._settling.requeue(key, host, (place, pending), batch)
            batch.urls.append(Put(keys.url_row(key), IN_QUEUE + place))
            batch.ends.append(Delete((group, item)))
            self._state.queued(host, 1)
            self._state.holds(host, -1)
            host.row.admitted += 1
        row.admitted += len(rows)
        row.held = max(0, row.held - len(rows)) if len(rows) == room else 0
        if not row.held:
            row.examples = ()
        batch.rows += self._saved([pattern])
        await self._settling.write(batch)

    async def suspected(self, url: str) -> list[PatternRow]:
        """For a person who asks about a URL: the patterns it belongs to that are held back."""
        patterns = self._of(url)
        await self.load(patterns)
        return [row for key, _ in patterns if traps.is_suspected(row := self._live[key], self._sample)]


def _exemplify(row: PatternRow, url: str) -> None:
    if len(row.examples) < _EXAMPLES:
        row.examples = (*row.examples, url)
