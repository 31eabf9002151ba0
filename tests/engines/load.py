"""Loads that a kill interrupts, and what must be left of them: shared by the crash tests of every engine.

As a program (`python -m tests.engines.load KIND FOLDER ROUND`) it runs one until it is killed, and reports on standard
output, one line each, what the engine acknowledged.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import TypeAlias

from tests.engines.broken import BackwardsTable, ForgetfulQueue, ForgetfulTable, UnloggedTable
from weft.clock import SystemClock
from weft.engines.files import FileJournals
from weft.engines.objects import FolderBlobs
from weft.engines.rocksdb import RocksTable
from weft.engines.rocksqueue import RocksQueue
from weft.ports import Blobs, Delete, Journals, Put, Queue, Range, Step, Table

Report: TypeAlias = Callable[[str], None]

WRITERS = 4
ROW = b"row of writer "  # a long name, beside the short ones of `whole` and `noted`
ROWS = 130  # more than an engine writes at once, so that a step can be torn
TURNS = 1_000_000  # per round: rounds never meet


def steps_of(writer: int, turn: int) -> tuple[Step, Step, Step]:
    """Rows, then the word that they are whole, then a note of it that takes the word back."""
    name, body = b"%d" % writer, b"%09d" % turn
    rows = [Put((ROW + name, b"%s-%d" % (body, row)), body) for row in range(ROWS)]
    whole = Put((b"whole" + name, body), body)
    return rows, [whole], [Put((b"noted" + name, body), body), Delete(whole.key)]


async def load_table(table: Table, round_: int, report: Report) -> None:
    async def write(writer: int) -> None:
        for turn in count(round_ * TURNS):
            await table.write(*steps_of(writer, turn), sync=turn % 8 == 0)
            report(f"{writer} {turn}")

    async with asyncio.TaskGroup() as tasks:
        for writer in range(WRITERS):
            tasks.create_task(write(writer))


async def check_table(table: Table, reports: list[str]) -> None:
    """Nothing acknowledged is lost, and no step shows without the whole of those before it."""
    acknowledged = {(int(writer), int(turn)) for writer, turn in (line.split() for line in reports)}
    for writer in range(WRITERS):
        name = b"%d" % writer
        groups = [Range(kind + name, limit=10_000_000) for kind in (ROW, b"whole", b"noted")]
        rows, whole, noted = await table.scan(groups)
        counts = Counter(int(body) for _, body in rows)
        words, notes = {int(body) for _, body in whole}, {int(body) for _, body in noted}
        mine = {turn for owner, turn in acknowledged if owner == writer}
        assert mine <= notes, f"lost: {sorted(mine - notes)[:5]}"
        assert not mine & words, "an acknowledged delete came back"
        short = {turn for turn in words | notes if counts[turn] != ROWS}
        assert not short, f"later steps without the whole of the first: {sorted(short)[:5]}"
        assert all(len(item) > 9 for item, _ in rows)


async def load_queue(queue: Queue, round_: int, report: Report) -> None:
    async def send(sender: int) -> None:
        for turn in count(round_ * TURNS):
            await queue.send([b"%d %d %d" % (sender, turn, place) for place in range(3)])
            report(f"sent {sender} {turn}")

    async def receive() -> None:
        while True:
            messages = await queue.receive(7, wait=1.0)
            for message in messages:
                report(f"got {message.body.decode()}")  # before the ack, as real work would be done before it
            await queue.ack(messages[1:])

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(receive())
        for sender in range(2):
            tasks.create_task(send(sender))


async def check_queue(queue: Queue, reports: list[str], term: float) -> None:
    """Every message whose send returned was received before the kill, or still comes."""
    sent = [line.split()[1:] for line in reports if line.startswith("sent")]
    wanted = {f"{sender} {turn} {place}" for sender, turn in sent for place in range(3)}
    wanted -= {line.removeprefix("got ") for line in reports if line.startswith("got")}
    for _ in range(10_000):
        messages = await queue.receive(1000, wait=1.5 * term if wanted else 0.0)
        if not messages:
            break
        wanted -= {message.body.decode() for message in messages}
        await queue.ack(messages)
    assert not wanted, f"lost: {sorted(wanted)[:5]}"


async def load_journal(journals: Journals, round_: int, report: Report) -> None:
    journal = await journals.open(f"raw/{round_}")
    for turn in count():
        await journal.append(chunk_of(turn))
        if turn % 3 == 0:
            report(str(await journal.sync()))


def chunk_of(turn: int) -> bytes:
    return b"%08d" % turn * (turn % 50 + 1)


async def check_journal(journals: Journals, reports: list[str]) -> None:
    """What was synced is there, in order; appending goes on behind the end."""
    (name,) = await journals.unsealed()
    journal = await journals.open(name)
    data = await journal.read(0, 1 << 30)
    assert len(data) >= int(reports[-1]), "synced bytes are gone"
    expected = b"".join(chunk_of(turn) for turn in range(len(data) // 8 + 1))
    assert expected.startswith(data)
    assert await journal.append(b"on") == len(data)
    await journal.seal()


async def load_blobs(blobs: Blobs, round_: int, report: Report) -> None:
    for turn in count(round_ * TURNS):
        await blobs.put(f"b/{turn}", chunk_of(turn) * 200)
        report(str(turn))


async def check_blobs(blobs: Blobs, reports: list[str]) -> None:
    """Acknowledged blobs are there; every blob that shows is whole."""
    names = {name for name, _ in await blobs.list("b/")}
    assert {f"b/{turn}" for turn in reports} <= names
    for name in names:
        assert await blobs.get(name) == chunk_of(int(name.removeprefix("b/"))) * 200


def load_of(kind: str, folder: Path) -> Callable[[int, Report], Awaitable[None]]:
    """The load by its name, bound to an engine in the folder; some engines are broken on purpose."""
    tables = {"table": RocksTable, "backwards": BackwardsTable, "forgetful": ForgetfulTable, "unlogged": UnloggedTable}
    queues = {"queue": RocksQueue, "forgetful-queue": ForgetfulQueue}
    if kind in tables:
        table = tables[kind](folder, SystemClock(), 8 << 20, 1 << 20)
        return lambda round_, report: load_table(table, round_, report)
    if kind in queues:
        queue = queues[kind](folder, SystemClock(), 0.05)
        return lambda round_, report: load_queue(queue, round_, report)
    blobs = FolderBlobs(folder)
    if kind == "journal":
        return lambda round_, report: load_journal(FileJournals(blobs.root, blobs), round_, report)
    assert kind == "blobs", kind
    return lambda round_, report: load_blobs(blobs, round_, report)


def main() -> None:
    kind, folder, round_ = sys.argv[1:]

    async def run() -> None:
        await load_of(kind, Path(folder))(int(round_), lambda line: void(os.write(1, line.encode() + b"\n")))

    asyncio.run(run())


def void(_written: int) -> None:
    """A report's length is of no interest."""


if __name__ == "__main__":
    main()
