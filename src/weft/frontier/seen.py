"""Which URLs are known: asked in memory first, then of a file, then of the table, whose word is final."""

from collections.abc import Collection, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING

from weft.config import Config
from weft.ports import Put, Table

from . import keys as rows
from .bloom import SeenFilter
from .known import Known
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

    async def load(self) -> None:
        if self._filter is not None:
            await self._filter.load()

    async def unseen(self, keys: Collection[bytes]) -> list[bytes]:
        """Those that are not in the table, in their order."""
        wanted = hashes(keys)
        away = ~self._recent.knows(wanted)
        if not away.any():
            return []
        wanted = wanted[away]
        kept = self.known.knows(wanted)
        if kept.any():
            self._remember(wanted[kept], kept=True)
            if kept.all():
                return []
            away[away] = ~kept
        asked = list(compress(keys, away.tolist()))
        unseen = await self._not_in_table(asked)
        if len(unseen) < len(asked):
            self._remember(hashes([key for key in asked if key not in unseen]))
        return [key for key in asked if key in unseen]

    async def _not_in_table(self, keys: list[bytes]) -> set[bytes]:
        asked = sorted(keys if self._filter is None else self._filter.perhaps(keys))  # neighbours share a block
        found = await self._table.get([rows.url_row(key) for key in asked])
        return set(keys).difference(key for key, row in zip(asked, found, strict=True) if row is not None)

    def announced(self, keys: Sequence[bytes]) -> list[Put]:
        """Rows to be written before those of these URLs."""
        return [] if self._filter is None else self._filter.added(keys)

    async def remember(self, keys: Sequence[bytes]) -> None:
        """URLs whose rows have been written."""
        self._remember(hashes(keys))
        if self._filter is not None:
            await self._filter.save()

    def _remember(self, keys: "Hashes", kept: bool = False) -> None:
        self.known.keep(self._recent.replace(keys, kept))

    def close(self) -> None:
        self.known.close()
