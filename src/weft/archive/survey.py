"""Whole WARC files of ours, read over any damage: what they announce comes out, and what was lost. Called by store.

Behind damage it goes on at the next gzip member that is a whole record, as `replay` does for the files of others.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, NamedTuple, TypeAlias

from weft.errors import Corrupt, TooLarge
from weft.records import Announcement

from . import member, recovery, replay
from .recovery import Found

Read: TypeAlias = Callable[[int, int], Awaitable[bytes]]
_WINDOW: Final = 1 << 20
_LONGEST: Final = 256 << 20  # bytes of a record in the file; one that has not ended by then is damaged
_CYCLE: Final = {
    "request": 0,
    "response": 1,
    "revisit": 1,
    "metadata": 2,
    "warcinfo": 2,
}  # an answer's records, in order


class Lost(NamedTuple):
    """Records that damage made unreadable."""

    file: str
    offset: int  # where the damaged part begins
    records: int  # at least


class _Torn(NamedTuple):
    """Where the first record begins that cannot be read; `surely`: more bytes would not help."""

    offset: int
    surely: bool


async def survey(name: str, read: Read) -> AsyncIterator[list[Announcement] | Lost]:
    """All that one file announces, some at a time, and every gap in it, in the order of the file."""
    gathered = recovery.Gathered(name)
    async for some in records(name, read):
        if isinstance(some, Lost):
            yield some
            gathered.forget_answer()
            continue
        for one in some:
            gathered.take(one)
        if announcements := gathered.handed_over():
            yield announcements


async def records(name: str, read: Read) -> AsyncIterator[list[Found] | Lost]:
    """All records of one file, some at a time, and every gap in it, in the order of the file."""
    last = ""  # the kind of the last record
    offset, window = 0, _WINDOW
    while True:
        data = await read(offset, offset + window)
        ended = len(data) < window
        found, torn = await asyncio.to_thread(_records, data, offset)
        if found:
            last = found[-1].record.fields.get("warc-type", "")
            yield found
        if torn is None:
            if ended:
                return
        elif torn.surely or (torn.offset == offset and (ended or window >= _LONGEST)):
            resumed, passed = await _next_whole(read, torn.offset + 1)
            yield Lost(name, torn.offset, _count(passed + 1, last, resumed))
            if resumed is None:
                return
            torn = _Torn(resumed.offset, surely=False)
        window = window * 2 if torn and torn.offset == offset else _WINDOW
        offset = torn.offset if torn else offset + len(data)


def _records(data: bytes, offset: int) -> tuple[list[Found], _Torn | None]:
    """The whole records that `data` begins with, and where they end before its end."""
    found: list[Found] = []
    used = 0
    while used < len(data):
        try:
            one = _record(data[used:], offset + used)
        except (Corrupt, TooLarge):
            return found, _Torn(offset + used, surely=True)
        if one is None:
            return found, _Torn(offset + used, surely=False)
        found.append(one)
        used += one.length
    return found, None


def _record(data: bytes, offset: int) -> Found | None:
    whole = member.first(data, replay.LARGEST)
    return Found(replay.parse(whole.content), offset, whole.length) if whole else None


async def _next_whole(read: Read, start: int) -> tuple[Found | None, int]:
    """The next record that can be read, and how many begin before it that cannot."""
    passed = 0
    while True:
        data = await read(start, start + _WINDOW)
        place = data.find(replay.MEMBER)
        while place >= 0:
            if replay.begins_record(await read(start + place, start + place + _WINDOW)):
                found = await _whole_at(read, start + place)
                if found is not None:
                    return found, passed
                passed += 1
            place = data.find(replay.MEMBER, place + 1)
        if len(data) < _WINDOW:
            return None, passed
        start += len(data) - len(replay.MEMBER) + 1  # a mark may lie across two windows


async def _whole_at(read: Read, place: int) -> Found | None:
    window = _WINDOW
    while True:
        data = await read(place, place + window)
        try:
            found = await asyncio.to_thread(_record, data, place)
        except (Corrupt, TooLarge):
            return None
        if found is not None or len(data) < window or window >= _LONGEST:
            return found
        window *= 2


def _count(seen: int, last: str, resumed: Found | None) -> int:
    """How many records lie in a gap: as many as were seen to begin there, and what the order of kinds makes of it."""
    if resumed is None or last not in _CYCLE:
        return seen
    following = _CYCLE.get(resumed.record.fields.get("warc-type", ""), 0)
    return seen + (following - _CYCLE[last] - 1 - seen) % 3
