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
    ends: list[int]  # of each outcome's record
    announcements: list[Announcement]
    kept: list[Kept]
    end: int
    size: int


class Found(NamedTuple):
    record: replay.Raw
    offset: int
    length: int


class Gathered:
    """What records of a file say, taken one after another."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._answer: Position | None = None
        self.info = ""
        self.last = ""  # the kind of the last record
        self.outcomes: list[Outcome] = []
        self.ends: list[int] = []  # of each outcome's record
        self.announcements: list[Announcement] = []
        self.kept: list[Kept] = []

    def take(self, found: Found) -> bool:
        """True when a capture is complete with this record: it counts from its metadata record on."""
        record, self.last = found.record, found.record.fields.get("warc-type", "")
        if self.last == "warcinfo":
            self.info = record.fields.get("warc-record-id", "")
            return True
        if self.last in ("response", "revisit"):
            self._answer = Position(self._file, found.offset, found.length)
        elif self.last == "metadata" and self._answer is not None:
            context = _context(record)
            self.kept.append(Kept(record.fields["warc-target-uri"], replay.date_of(record), self._answer))
            if context.announcement:
                self.announcements.append(msgspec.structs.replace(context.announcement, position=self._answer))
            if context.outcome:
                self.outcomes.append(context.outcome)
                self.ends.append(found.offset + found.length)
            self._answer = None
            return True
        return False

    def handed_over(self) -> list[Announcement]:
        """The announcements since the last call; nothing else is kept."""
        announcements, self.announcements = self.announcements, []
        self.outcomes.clear()
        self.ends.clear()
        self.kept.clear()
        return announcements

    @property
    def owed(self) -> Position | None:
        """The answer whose metadata record has not come yet."""
        return self._answer

    def forget_answer(self) -> None:
        """A metadata record behind a gap belongs to an answer that lies in it."""
        self._answer = None


async def read_tail(name: str, read: Read, start: int) -> Tail:
    """A capture counts from its metadata record on; whatever follows the last of them is torn."""
    gathered = Gathered(name)
    end = size = start
    async for found in _whole(read, start):
        if isinstance(found, int):
            size = found
            break
        if gathered.take(found):
            end = found.offset + found.length
    return Tail(gathered.info, gathered.outcomes, gathered.ends, gathered.announcements, gathered.kept, end, size)


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
