"""Which URLs are known: asked in memory first, then of a file, then of the table, whose word is final.

A crawl that began with an empty table has had every URL of it in memory or in the file. So what neither can have lost
is new, and the table need not be asked.
"""

from collections.abc import Collection, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING

from weft.config import Config
from weft.ports import Put, Table

from . import keys as rows
from .bloom import SeenFilter
from .known import NEAR, Known
from .recent import Recent, hashes

if TYPE_CHECKING:
    from .recent import Hashes


class Seen:
    """Each step is asked only what the one before did not know. What memory has no place for goes to the file."""

    def __init__(self, table: Table, config: Config, scratch: Path | None) -> None:
        self._table = table
        self._recent = Recent(config.frontier.recent)
        self.known = Known(scratch, config.frontier.known_bytes)
        # RocksDB has filters of its own, one per file; a second one gained nothing when measured.
        self._filter = SeenFilter(table) if config.storage.state.startswith(("redis", "unix")) else None
        self._began_empty = False
        self._unsure = 0  # batches announced that nobody said were written

    async def load(self, empty: bool) -> None:
        """`empty`: the table has no URLs."""
        self._began_empty = empty
        if self._filter is not None:
            await self._filter.load()

    async def unseen(self, keys: Collection[bytes]) -> list[bytes]:
        """Those that are not in the table, in their order."""
        wanted = hashes(keys)
        away = ~self._recent.knows(wanted)
        if not away.any():
            return []
        wanted = wanted[away]
        kept, lost = self.known.look(wanted)
        if kept.any():
            self._remember(wanted[kept], kept=True)
            if kept.all():
                return []
            away[away] = ~kept
        unseen = list(compress(keys, away.tolist()))
        doubtful = list(compress(unseen, lost[~kept].tolist())) if self._all_remembered else unseen
        if seen := await self._in_table(doubtful):
            self._remember(hashes(seen))
            unseen = [key for key in unseen if key not in seen]
        return unseen

    @property
    def _all_remembered(self) -> bool:
        """Whatever is in the table; a remote one may have other writers."""
        return self._began_empty and not self._unsure and self._filter is None

    async def _in_table(self, keys: list[bytes]) -> set[bytes]:
        asked = sorted(keys if self._filter is None else self._filter.perhaps(keys))  # neighbours share a block
        found = await self._table.get([rows.url_row(key) for key in asked])
        return {key for key, row in zip(asked, found, strict=True) if row is not None}

    def announced(self, keys: Sequence[bytes]) -> list[Put]:
        """Rows to be written before those of these URLs, which may be in the table from now on."""
        self._unsure += 1
        return [] if self._filter is None else self._filter.added(keys)

    async def remember(self, keys: Sequence[bytes]) -> None:
        """URLs announced, whose rows have been written."""
        self._remember(hashes(keys))
        self._unsure -= 1
        if self._filter is not None:
            await self._filter.save()

    def _remember(self, keys: "Hashes", kept: bool = False) -> None:
        for region in self.known.keep(self._recent.replace(keys, kept)):
            self.known.write(region, self._recent.sweep(region * NEAR, NEAR))

    def close(self) -> None:
        self.known.close()
