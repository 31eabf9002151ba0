"""The contract's checks catch engines that break it: each wrong engine below fails the check beside it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.contracts import blobs_checks, queue_checks, table_checks
from tests.engines.broken import BackwardsTable, LyingTable
from weft.clock import ManualClock, SystemClock
from weft.engines.memory import MemoryBlobs, MemoryQueue, MemoryTable
from weft.engines.torn import TornTable
from weft.ports import Key, Message, Range, Rows, Step, Table


class BackwardsTorn(TornTable):
    """Writes the steps in the wrong order."""

    async def write(self, *steps: Step, sync: bool = False) -> None:
        await super().write(*reversed(steps), sync=sync)


class FirstWins(MemoryTable):
    """Keeps the first value that a step gives a key."""

    async def write(self, *steps: Step, sync: bool = False) -> None:
        for step in steps:
            await super().write(list({operation.key: operation for operation in reversed(step)}.values()), sync=sync)


class Mixed(MemoryTable):
    """Runs groups into each other: the key is only group and item put together."""

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        everything = sorted(
            (group + item, value) for group, rows in self._values.items() for item, value in rows.items()
        )
        return [[(key, value) for key, value in everything if key.startswith(wanted.group)] for wanted in ranges]


class Confused(MemoryTable):
    """Takes an empty value for no row."""

    async def get(self, keys: Sequence[Key]) -> list[bytes | None]:
        return [value or None for value in await super().get(keys)]


class Amnesiac(MemoryTable):
    """Forgets everything when closed."""

    async def close(self) -> None:
        self._values.clear()
        self._items.clear()


BROKEN_TABLES = [
    (BackwardsTorn, table_checks.a_later_step_never_shows_first),
    (FirstWins, table_checks.the_last_operation_on_a_key_wins),
    (Mixed, table_checks.groups_do_not_run_into_each_other),
    (Confused, table_checks.rows_read_back),
    (LyingTable, table_checks.put_if_compares),
    (LyingTable, table_checks.put_if_has_one_winner),
    (Amnesiac, table_checks.closing_keeps_everything),
]


@pytest.mark.parametrize(("engine", "check"), BROKEN_TABLES)
async def test_a_broken_table_is_caught(engine: type[MemoryTable | TornTable], check: table_checks.Check) -> None:
    table: Table = engine()

    async def opener() -> Table:
        return table

    with pytest.raises(AssertionError):
        await check(opener)


async def test_a_rocksdb_that_writes_backwards_is_caught(tmp_path: Path) -> None:
    async def opener() -> Table:
        return BackwardsTable(tmp_path, SystemClock(), 8 << 20, 4 << 20)

    with pytest.raises(AssertionError, match="rows seen per step"):
        await table_checks.a_later_step_never_shows_first(opener)


class Unhidden(MemoryQueue):
    """Shows received messages to the next receiver."""

    async def receive(self, limit: int, wait: float = 0.0) -> list[Message]:
        messages = await super().receive(limit, wait)
        self._waiting.extend(int.from_bytes(message.receipt, "big") for message in messages)
        return messages


class Once(MemoryQueue):
    """Delivers at most once."""

    async def receive(self, limit: int, wait: float = 0.0) -> list[Message]:
        messages = await super().receive(limit, wait)
        await self.ack(messages)
        return messages


class DeafToAcks(MemoryQueue):
    async def ack(self, messages: Sequence[Message]) -> None:
        pass


class DeafToExtends(MemoryQueue):
    async def extend(self, messages: Sequence[Message]) -> None:
        pass


BROKEN_QUEUES = [
    (Unhidden, queue_checks.a_received_message_is_hidden_for_its_term),
    (Once, queue_checks.a_received_message_is_hidden_for_its_term),
    (Once, queue_checks.reopening_brings_back_what_was_not_acked),
    (DeafToAcks, queue_checks.acking_twice_or_in_vain_does_nothing),
    (DeafToExtends, queue_checks.extending_hides_for_another_term),
]


@pytest.mark.parametrize(("engine", "check"), BROKEN_QUEUES)
async def test_a_broken_queue_is_caught(engine: type[MemoryQueue], check: queue_checks.Check) -> None:
    clock = ManualClock()
    queue = engine(clock, 30.0)

    async def opener() -> MemoryQueue:
        return queue

    with pytest.raises(AssertionError):
        await check(queue_checks.Bench(opener, 30.0, clock))


class Loose(MemoryBlobs):
    """Lists by folder, not by prefix, and has no order."""

    async def list(self, prefix: str = "") -> list[tuple[str, int]]:
        return [(name, len(data)) for name, data in self._blobs.items() if name.startswith(prefix.rpartition("/")[0])]


async def test_a_broken_list_is_caught() -> None:
    with pytest.raises(AssertionError):
        await blobs_checks.listing_is_by_prefix_and_in_order(Loose())
