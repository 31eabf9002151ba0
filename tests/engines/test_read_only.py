"""A look at a table while another opening writes to it."""

from pathlib import Path
from typing import Any

import pytest
import rocksdict

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


async def test_a_view_is_tried_again_when_a_file_went_away_under_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RocksTable(tmp_path, SystemClock())
    await writer.write([Put((b"g", b"k"), b"v")])
    real, fails = rocksdict.Rdict, iter([True, True, False])

    def opened(*arguments: Any) -> rocksdict.Rdict:
        if next(fails):
            raise Exception("IO error: No such file or directory: 000012.log")
        return real(*arguments)

    monkeypatch.setattr(rocksdict, "Rdict", opened)
    reader = RocksTable(tmp_path, SystemClock(), read_only=True)
    assert await reader.get([(b"g", b"k")]) == [b"v"]
    await reader.close()
    await writer.close()
