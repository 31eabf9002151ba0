"""A look at a table while another opening writes to it."""

from pathlib import Path

import pytest

from weft.clock import SystemClock
from weft.engines.rocksdb import RocksTable
from weft.errors import EngineError
from weft.ports import Put


async def test_a_second_opening_sees_what_is_there(tmp_path: Path) -> None:
    writer = RocksTable(tmp_path, SystemClock())
    await writer.write([Put((b"group", b"item"), b"value")])
    reader = RocksTable(tmp_path, SystemClock(), read_only=True)
    assert await reader.get([(b"group", b"item")]) == [b"value"]
    with pytest.raises(EngineError):
        await reader.write([Put((b"group", b"item"), b"other")])
    await reader.close()
    assert await writer.get([(b"group", b"item")]) == [b"value"]
    await writer.close()
