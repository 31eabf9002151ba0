"""Captures on their way from the crawler to the refiner of the same process, so that nothing is read back from disk."""

from collections.abc import Iterable, Sequence
from typing import Final

from .archive.store import Archive
from .parse.wire import ParseJob
from .records import Announcement, Capture

_LIMIT: Final = 64 << 20  # bytes of bodies; what does not fit is read from the archive


class Handover:
    """Bounded; whoever is not here any more is in the archive."""

    def __init__(self) -> None:
        self._waiting: dict[str, Capture] = {}
        self._bytes = 0

    def give(self, captures: Iterable[Capture], announced: Iterable[Announcement]) -> None:
        """Keep those that were announced, while there is room."""
        wanted = {announcement.id for announcement in announced}
        for capture in captures:
            size = len(capture.exchange.body)
            if capture.id in wanted and self._bytes + size <= _LIMIT:
                self._waiting[capture.id] = capture
                self._bytes += size

    async def take(self, announcements: Sequence[Announcement], archive: Archive) -> list[ParseJob]:
        """A job for each announcement, in order."""
        captures = {one.id: capture for one in announcements if (capture := self._waiting.pop(one.id, None))}
        self._bytes -= sum(len(capture.exchange.body) for capture in captures.values())
        missing = [one for one in announcements if one.id not in captures]
        if missing:
            read = await archive.read([one.position for one in missing])
            captures |= {one.id: capture for one, capture in zip(missing, read, strict=True)}
        return [_job(one, captures[one.id]) for one in announcements]


def _job(announcement: Announcement, capture: Capture) -> ParseJob:
    return ParseJob.of(announcement, capture.exchange.headers, capture.exchange.body)
