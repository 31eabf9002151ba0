"""What `ports.Blobs` promises, as plain functions of an engine; each raises AssertionError when an engine breaks it."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from weft.errors import EngineError, Missing
from weft.ports import Blobs

Check: TypeAlias = Callable[[Blobs], Awaitable[None]]


async def blobs_read_back(blobs: Blobs) -> None:
    data = bytes(range(256)) * 50_000  # 12.8 MB: stores may cut it in parts
    await blobs.put("raw/one.warc.gz", data)
    await blobs.put("empty", b"")
    assert await blobs.get("raw/one.warc.gz") == data
    assert await blobs.get("empty") == b""
    await blobs.put("empty", b"replaced")
    assert await blobs.get("empty") == b"replaced"


async def ranges_are_cut_at_the_end(blobs: Blobs) -> None:
    await blobs.put("ten", b"0123456789")
    wanted = {(0, 3): b"012", (3, 7): b"3456", (8, 20): b"89", (10, 12): b"", (50, 60): b"", (4, 4): b"", (0, 0): b""}
    for (start, end), expected in wanted.items():
        assert await blobs.get("ten", start, end) == expected, (start, end)
    assert await blobs.get("ten", 7) == b"789"
    assert await blobs.get("ten", 10) == b""
    assert await blobs.get("ten", 11) == b""


async def a_missing_blob_is_missing(blobs: Blobs) -> None:
    await blobs.put("here/there", b"x")
    for name in ("nowhere", "here/nowhere", "nowhere/at/all"):
        with pytest.raises(Missing):
            await blobs.get(name)
        with pytest.raises(Missing):
            await blobs.get(name, 1, 2)


async def listing_is_by_prefix_and_in_order(blobs: Blobs) -> None:
    names = ["raw/b", "raw/a", "raw/a-1", "rawer", "raw/deep/er", "corpus/data/x", "Z", "raw/a.b"]
    for name in names:
        await blobs.put(name, name.encode())

    def expected(prefix: str) -> list[tuple[str, int]]:
        return sorted((name, len(name)) for name in names if name.startswith(prefix))

    for prefix in ("", "raw", "raw/", "raw/a", "raw/deep/", "raw/deep/er", "corpus/", "nothing", "nothing/at"):
        assert await blobs.list(prefix) == expected(prefix), prefix


async def deleting_forgives(blobs: Blobs) -> None:
    for name in ("a", "b/c", "d"):
        await blobs.put(name, b"x")
    await blobs.delete([])
    await blobs.delete(["a", "never/there", "b/c", "a"])
    assert await blobs.list() == [("d", 1)]
    with pytest.raises(Missing):
        await blobs.get("a")
    await blobs.put("a", b"again")
    assert await blobs.get("a") == b"again"


async def moving_gives_another_name(blobs: Blobs) -> None:
    await blobs.put("from/one", b"one")
    await blobs.put("to/two", b"replaced")
    await blobs.move("from/one", "to/two")
    await blobs.move("to/two", "to/two")
    assert await blobs.list() == [("to/two", 3)]
    assert await blobs.get("to/two") == b"one"
    for name in ("from/one", "never"):
        with pytest.raises(Missing):
            await blobs.move(name, "to/three")
    assert await blobs.list() == [("to/two", 3)]


async def bad_names_are_refused(blobs: Blobs) -> None:
    outside = ["/etc/passwd", "../up", "a/../b", "a/..", "..", "."]
    for name in [*outside, "", "a//b", "a/", "a b", "ä", "a\n", "a+open", "a\\b", "a#1"]:
        with pytest.raises(EngineError):
            await blobs.put(name, b"x")
        with pytest.raises(EngineError):
            await blobs.get(name)
        with pytest.raises(EngineError):
            await blobs.delete([name])
        with pytest.raises(EngineError):
            await blobs.move("good", name)
        with pytest.raises(EngineError):
            await blobs.move(name, "good")
    assert await blobs.list() == []


CHECKS: tuple[Check, ...] = (
    blobs_read_back,
    ranges_are_cut_at_the_end,
    a_missing_blob_is_missing,
    listing_is_by_prefix_and_in_order,
    deleting_forgives,
    moving_gives_another_name,
    bad_names_are_refused,
)
