"""What `ports.Journal` and `ports.Journals` promise, as plain functions of a bench."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from weft.errors import EngineError
from weft.ports import Blobs, Journals


@dataclass(frozen=True)
class Bench:
    """Journals that can be opened again, and the blobs that sealed ones become."""

    opener: Callable[[], Journals]
    blobs: Blobs


Check: TypeAlias = Callable[[Bench], Awaitable[None]]


async def appends_have_positions(bench: Bench) -> None:
    journals = bench.opener()
    journal = await journals.open("raw/a.warc.gz")
    assert journal.name == "raw/a.warc.gz"
    assert await journal.sync() == 0
    assert [await journal.append(chunk) for chunk in (b"one", b"", b"three" * 100_000, b"x")] == [0, 3, 3, 500_003]
    assert await journal.read(0, 8) == b"onethree", "before any sync"
    assert await journal.sync() == 500_004
    assert await journal.read(500_000, 999_999) == b"reex"
    assert await journal.read(999_999, 1_000_000) == b""
    assert await journal.read(5, 5) == b""
    await journals.close()


async def reopening_continues_at_the_end(bench: Bench) -> None:
    journals = bench.opener()
    await (await journals.open("j")).append(b"synced")
    await (await journals.open("j")).sync()
    await (await journals.open("j")).append(b", not synced")
    await journals.close()
    journals = bench.opener()
    journal = await journals.open("j")
    assert await journal.read(0, 100) == b"synced, not synced", "the process ended, the machine did not"
    assert await journal.append(b"!") == 18
    assert await journal.sync() == 19
    await journals.close()


async def a_tail_can_be_cut(bench: Bench) -> None:
    journals = bench.opener()
    journal = await journals.open("j")
    await journal.append(b"whole record, torn rec")
    await journal.cut(12)
    await journal.cut(500)
    assert await journal.read(0, 100) == b"whole record"
    assert await journal.append(b"; next") == 12
    assert await journal.sync() == 18
    await journal.seal()
    assert await bench.blobs.get("j") == b"whole record; next"
    await journals.close()


async def sealing_makes_a_blob(bench: Bench) -> None:
    journals = bench.opener()
    journal = await journals.open("raw/2.warc.gz")
    await journal.append(b"x" * 6_000_000)
    await journals.open("raw/1.warc.gz")
    await journals.open("raw/3")
    assert await bench.blobs.list() == [], "an open journal is no blob"
    assert await journals.unsealed() == ["raw/1.warc.gz", "raw/2.warc.gz", "raw/3"]
    assert await journal.seal() == "raw/2.warc.gz"
    assert await bench.blobs.list("raw/") == [("raw/2.warc.gz", 6_000_000)]
    assert await bench.blobs.get("raw/2.warc.gz", 5_999_999) == b"x"
    assert await journals.unsealed() == ["raw/1.warc.gz", "raw/3"]
    for use in (journal.append(b"more"), journal.sync(), journal.read(0, 1), journal.cut(0), journal.seal()):
        with pytest.raises(EngineError):
            await use
    await journals.close()


async def a_sealed_name_is_not_opened_again(bench: Bench) -> None:
    journals = bench.opener()
    await (await journals.open("done")).seal()
    with pytest.raises(EngineError):
        await journals.open("done")
    await journals.close()
    journals = bench.opener()
    with pytest.raises(EngineError):
        await journals.open("done")
    with pytest.raises(EngineError):
        await journals.open("../done")
    assert await journals.unsealed() == []
    assert await bench.blobs.get("done") == b""
    await journals.close()


CHECKS: tuple[Check, ...] = (
    appends_have_positions,
    reopening_continues_at_the_end,
    a_tail_can_be_cut,
    sealing_makes_a_blob,
    a_sealed_name_is_not_opened_again,
)
