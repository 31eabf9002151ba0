"""Engines broken on purpose: the contract's checks and the crash tests must catch each of them."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weft.engines.memory import MemoryTable
from weft.engines.rocksdb import RocksTable
from weft.engines.rocksqueue import RocksQueue
from weft.ports import Clock, Step

LAG: Final = 8  # more than there are writers at once, so that something answered is unwritten at any moment


class BackwardsTable(RocksTable):
    """Writes the steps in the wrong order."""

    async def write(self, *steps: Step, sync: bool = False) -> None:
        await super().write(*reversed(steps), sync=sync)


class ForgetfulTable(RocksTable):
    """Answers before it writes: each write is carried out LAG writes later."""

    def __init__(self, path: Path, clock: Clock, block_cache_bytes: int, write_buffer_bytes: int) -> None:
        super().__init__(path, clock, block_cache_bytes, write_buffer_bytes)
        self._late = deque[tuple[Step, ...]]([()] * LAG)

    async def write(self, *steps: Step, sync: bool = False) -> None:
        self._late.append(steps)
        await super().write(*self._late.popleft(), sync=sync)


class UnloggedTable(RocksTable):
    """Writes past the log, into memory only."""

    def __init__(self, path: Path, clock: Clock, block_cache_bytes: int, write_buffer_bytes: int) -> None:
        super().__init__(path, clock, block_cache_bytes, write_buffer_bytes)
        self._write_options.disable_wal = True  # type: ignore[method-assign,assignment]  # the stub calls it a method


class ForgetfulQueue(RocksQueue):
    """Answers before it keeps the messages: each send is carried out LAG sends later."""

    def __init__(self, path: Path, clock: Clock, term: float) -> None:
        super().__init__(path, clock, term)
        self._late = deque[Sequence[bytes]]([()] * LAG)

    async def send(self, bodies: Sequence[bytes]) -> None:
        self._late.append(bodies)
        await super().send(self._late.popleft())


class LyingTable(MemoryTable):
    """Says True to every put_if."""

    async def put_if(self, key: tuple[bytes, bytes], old: bytes | None, new: bytes | None) -> bool:
        await super().put_if(key, old, new)
        return True
