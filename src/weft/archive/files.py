"""The WARC files being written: which one is current, when it is full, when it may be sealed. Called by store.

A full file is sealed only when everything in it is settled: recovery looks at unsealed files alone.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version

from weft.config import Archive as ArchiveConfig
from weft.ports import Clock, Journal, Journals

from . import warc

FOLDER = "raw/"


class File:
    """A file that can still grow."""

    def __init__(self, journal: Journal, info: str, length: int) -> None:
        self.journal = journal
        self.info = info
        self.length = length
        self.closed = False  # takes no more records; waits to be sealed

    @property
    def name(self) -> str:
        return self.journal.name

    async def append(self, data: bytes) -> int:
        """The offset of the first byte."""
        self.closed, closed = True, self.closed  # after a failure, or cancelled midway, nothing may follow in this file
        offset = await self.journal.append(data)
        self.closed = closed
        self.length = offset + len(data)
        return offset

    async def sync(self) -> None:
        self.closed, closed = True, self.closed
        await self.journal.sync()
        self.closed = closed


class Files:
    """All files that are not sealed, by name."""

    def __init__(self, journals: Journals, clock: Clock, config: ArchiveConfig) -> None:
        self._journals = journals
        self._clock = clock
        self._config = config
        self._files: dict[str, File] = {}
        self._serial = 0

    async def current(self) -> File:
        """The file to write to: the one open, or a new one that begins with its warcinfo."""
        for file in self._files.values():
            if not file.closed and file.length < self._config.file_bytes:
                return file
            file.closed = True
        self._serial += 1
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        name = f"{FOLDER}weft-{now:%Y%m%d%H%M%S}-{self._serial:05d}-{secrets.token_hex(4)}.warc.gz"
        return await self.adopt(await self._journals.open(name), "", 0)

    async def adopt(self, journal: Journal, info: str, length: int) -> File:
        """Take a journal in; one without a warcinfo record gets it now."""
        file = self._files[journal.name] = File(journal, info or warc.record_id(), length)
        if not info:
            fields = (
                ("software", f"weft/{version('weft')}"),
                ("format", "WARC File Format 1.1"),
                ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
                ("robots", "obey"),
                *((("operator", self._config.operator),) if self._config.operator else ()),
            )
            await file.append(warc.warcinfo(file.info, journal.name, self._clock.now(), fields))
        return file

    def close_all_but_last(self) -> None:
        """After a crash more than one may be open; only one takes more."""
        for file in list(self._files.values())[:-1]:
            file.closed = True

    def get(self, name: str) -> File | None:
        return self._files.get(name)

    def names(self) -> list[str]:
        """Of all files that are not sealed."""
        return list(self._files)

    async def seal(self, may: Callable[[File], bool]) -> list[str]:
        """Seal the files that `may` allows; their names."""
        sealed = [name for name, file in self._files.items() if may(file)]
        for name in sealed:
            await self._files[name].journal.seal()
            del self._files[name]
        return sealed
