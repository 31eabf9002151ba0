"""What a crash left in a journal: from the checkpoint on, what is whole, owed and torn. Called by store."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple, TypeAlias

import msgspec

from weft.errors import Corrupt
from weft.records import Announcement, Outcome, Position

from . import member, replay
from .warc import CONTEXT_FIELD, Context

Read: TypeAlias = Callable[[int, int], Awaitable[bytes]]
_WINDOW = 1 << 20
_CONTEXTS = msgspec.json.Decoder(Context)


class Kept(NamedTuple):
    """Where a capture lies, for the index by URL."""

    url: str
    fetched: float
    position: Position


class Tail(NamedTuple):
    """All captures from the checkpoint to `end`; from there to `size` the file is torn."""

    info: str  # the id of the warcinfo record, if it was among them
    outcomes: list[Outcome]
    announcements: list[Announcement]
    kept: list[Kept]
    end: int
    size: int


class Found(NamedTuple):
    record: replay.Raw
    offset: int
    length: int


async def read_tail(name: str, read: Read, start: int) -> Tail:
    """A capture counts from its metadata record on; whatever follows the last of them is torn."""
    info, end, size = "", start, start
    outcomes: list[Outcome] = []
    announcements: list[Announcement] = []
    kept: list[Kept] = []
    answer: Position | None = None
    async for found in _whole(read, start):
        if isinstance(found, int):
            size = found
            break
        kind, after = found.record.fields.get("warc-type"), found.offset + found.length
        if kind == "warcinfo":
            info, end = found.record.fields.get("warc-record-id", ""), after
        elif kind in ("response", "revisit"):
            answer = Position(name, found.offset, found.length)
        elif kind == "metadata" and answer is not None:
            context = _context(found.record)
            kept.append(Kept(found.record.fields["warc-target-uri"], replay.date_of(found.record), answer))
            if context.announcement:
                announcements.append(msgspec.structs.replace(context.announcement, position=answer))
            if context.outcome:
                outcomes.append(context.outcome)
            answer, end = None, after
    return Tail(info, outcomes, announcements, kept, end, size)


def _context(record: replay.Raw) -> Context:
    prefix = f"{CONTEXT_FIELD}: ".encode()
    for line in record.block.split(b"\r\n"):
        if line.startswith(prefix):
            try:
                return _CONTEXTS.decode(line[len(prefix) :])
            except msgspec.DecodeError as error:
                raise Corrupt(f"the archive's tail was written by another version: {error}") from None
    return Context()


async def _whole(read: Read, start: int) -> AsyncIterator[Found | int]:
    """The records that are whole, in order; last, the size of the file."""
    offset, window = start, _WINDOW
    ended = False
    while not ended:
        data = await read(offset, offset + window)
        ended = len(data) < window
        used = 0
        for found in _members(data, offset):
            yield found
            used += found.length
        # a record larger than the window needs a larger one; a damaged one needs the same before all is seen
        window = _WINDOW if used else window * 2
        if ended:
            yield offset + len(data)
        offset += used


def _members(data: bytes, offset: int) -> list[Found]:
    found: list[Found] = []
    used = 0
    while used < len(data):
        try:
            whole = member.first(data[used:], replay.LARGEST)
            if whole is None:
                break
            found.append(Found(replay.parse(whole.content), offset + used, whole.length))
        except Corrupt:
            break
        used += whole.length
    return found


async def info_of(read: Read) -> str:
    """The id of the warcinfo record that a file begins with; "" if there is none."""
    found = _members(await read(0, 1 << 16), 0)
    return found[0].record.fields.get("warc-record-id", "") if found else ""
