"""Engines broken on purpose: the contract's checks and the crash tests must catch each of them."""

from collections.abc import Sequence
from pathlib import Path

from weft.engines.memory import MemoryTable
from weft.engines.rocksdb import RocksTable
from weft.engines.rocksqueue import RocksQueue
from weft.ports import Clock, Step


class BackwardsTable(RocksTable):
    """Writes the steps in the wrong order."""

    async def write(self, *steps: Step, sync: bool = False) -> None:
        await super().write(*reversed(steps), sync=sync)


class ForgetfulTable(RocksTable):
    """Answers before it writes: each write is carried out by the next."""

    _late: tuple[Step, ...] = ()

    async def write(self, *steps: Step, sync: bool = False) -> None:
        late, self._late = self._late, steps
        await super().write(*late, sync=sync)


class UnloggedTable(RocksTable):
    """Writes past the log, into memory only."""

    def __init__(self, path: Path, clock: Clock, block_cache_bytes: int, write_buffer_bytes: int) -> None:
        super().__init__(path, clock, block_cache_bytes, write_buffer_bytes)
        self._write_options.disable_wal = True  # type: ignore[method-assign,assignment]  # the stub calls it a method


class ForgetfulQueue(RocksQueue):
    """Answers before it keeps the messages."""

    _late: Sequence[bytes] = ()

    async def send(self, bodies: Sequence[bytes]) -> None:
        late, self._late = self._late, bodies
        await super().send(late)


class LyingTable(MemoryTable):
    """Says True to every put_if."""

    async def put_if(self, key: tuple[bytes, bytes], old: bytes | None, new: bytes | None) -> bool:
        await super().put_if(key, old, new)
        return True
