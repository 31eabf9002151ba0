"""Keeps what hosts' pages have said: in memory up to a number of bytes, the rest in the table. Called by `trapping`.

A row is written at most once a minute, when its host leaves memory, and at the end. What a kill takes away is made
again from the findings, each of which keeps its page's evidence.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from weft.ports import Put, Table

from . import keys
from .evidence import PatternRow, Shown, Site, SiteRow
from .host import Host
from .paging import pages
from .rows import decode_learned, encode
from .timekeeper import Timekeeper
from .trail import trail_of
from .traps import Verdict

_READ_AGAIN: Final = 20_000  # findings: more than evidence is kept of
_PATIENCE: Final = 60_000  # ms between two writes of a host's evidence
_decode_site: Final = msgspec.msgpack.Decoder(SiteRow).decode
_decode_pattern: Final = msgspec.msgpack.Decoder(PatternRow).decode


class Sites:
    """One per frontier."""

    def __init__(self, table: Table, time: Timekeeper, limit: int) -> None:
        self._table = table
        self._time = time
        self._limit = limit
        self._live: dict[bytes, Site] = {}  # least recently used first
        self._sizes: dict[bytes, int] = {}
        self._bytes = 0

    def live(self, key: bytes) -> Site | None:
        """What is in memory."""
        return self._live.get(key)

    async def load(self, hosts: Iterable[Host]) -> dict[bytes, Site]:
        """By the key of the host."""
        found: dict[bytes, Site] = {}
        for host in hosts:
            site = self._live.pop(host.key, None)
            if site is None:
                site = await self._read(host)
                site.unsure = host.row.held > 0 or host.row.judged > host.row.fruitful
            self._live[host.key] = found[host.key] = site
            self._weigh(host.key, site)
        return found

    async def _read(self, host: Host) -> Site:
        if not host.row.judged:
            return self._new(SiteRow())
        group = keys.group(host.key, keys.EVIDENCE)
        (stored,) = await self._table.get([(group, b"")])
        site = self._new(_decode_site(stored) if stored else SiteRow())
        if site.judged != host.row.judged and not host.is_family:
            return await self._made_again(host)
        async for rows in pages(self._table, group):
            for item, value in rows:
                if item:
                    site.adopt(item, _decode_pattern(value))
        return site

    def _new(self, row: SiteRow) -> Site:
        site = Site(row)
        site.saved_ms = self._time.now_ms()
        return site

    async def _made_again(self, host: Host) -> Site:
        """A kill took away what was newer than the rows; the findings tell it, in another order."""
        site = self._new(SiteRow())
        async for rows in pages(self._table, keys.group(host.key, keys.FINDING)):
            if site.judged >= _READ_AGAIN:
                break
            for _, value in rows:
                found = decode_learned(value)
                if not found.verdict or found.evidence is None:
                    continue
                trail = trail_of(found.trail)
                patterns = site.patterns_of(found.url, found.view, trail)
                site.remember(Shown.of(found.evidence), trail, patterns, Verdict(found.verdict))
        site.judged = host.row.judged
        return site

    async def keep(self, hosts: Sequence[Host]) -> None:
        """They were judged: write what is due, and let go of what memory has no room for."""
        now_ms = self._time.now_ms()
        late: list[Put] = []
        for host in hosts:
            site = self._live[host.key]
            self._weigh(host.key, site)
            if now_ms - site.saved_ms >= _PATIENCE:
                late += self._saved(host.key, site)
        wanted = {host.key for host in hosts}
        while self._bytes > self._limit and (oldest := next(iter(self._live))) not in wanted:
            site = self._live.pop(oldest)
            self._bytes -= self._sizes.pop(oldest)
            late += self._saved(oldest, site)
        if late:
            await self._table.write(late)

    async def close(self) -> None:
        """Write all that is newer than its rows."""
        for key, site in self._live.items():
            if rows := self._saved(key, site):
                await self._table.write(rows)

    def _weigh(self, key: bytes, site: Site) -> None:
        size = site.size
        self._bytes += size - self._sizes.get(key, 0)
        self._sizes[key] = size

    def _saved(self, key: bytes, site: Site) -> list[Put]:
        if not site.changed:
            return []
        changed, site.changed = site.changed, {}
        site.saved_ms = self._time.now_ms()
        group = keys.group(key, keys.EVIDENCE)
        rows = [Put((group, name), encode(site.patterns[name].row())) for name in changed if name]
        return [*rows, Put((group, b""), encode(site.row()))]
