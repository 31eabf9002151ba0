"""Captures, and an archive on memory engines that can crash. Imported by the tests beside it."""

import uuid
from collections.abc import Sequence

from weft.archive.store import Answer, Archive, Stores
from weft.clock import ManualClock
from weft.config import Archive as ArchiveConfig
from weft.engines.memory import MemoryBlobs, MemoryJournals, MemoryQueue, MemoryTable
from weft.killpoints import KillPoints
from weft.records import Asked, Capture, Exchange, Headers, Kind, Lease, Outcome, Reason, Via

START = 1_700_000_000.25
HTML = b"<!doctype html><title>Seven</title><p>Wool becomes yarn, yarn becomes cloth.</p>"
HEADERS: Headers = (("Content-Type", "text/html; charset=utf-8"), ("Server", "loom/1"))


def exchange(number: int = 0, body: bytes = HTML, headers: Headers = HEADERS, status: int = 200) -> Exchange:
    return Exchange(
        url=f"https://site.example/page/{number}?q=ä",
        started=START + number,
        finished=START + number + 0.125,
        status=status,
        reply="OK",
        headers=headers,
        body=body,
        address="192.0.2.7",
        sent=(("User-Agent", "weft/0.1 (+https://crawler.example)"), ("Accept", "text/html")),
    )


def capture(answer: Exchange, kind: Kind = Kind.PAGE) -> Capture:
    return Capture(id=f"<{uuid.uuid4().urn}>", exchange=answer, kind=kind, lease=lease(answer.url, kind))


def lease(url: str, kind: Kind = Kind.PAGE) -> Lease:
    return Lease(
        url=url,
        host="site.example",
        attempt=2,
        depth=3,
        leased=START,
        expires=START + 300,
        via=Via.REDIRECT,
        source="https://site.example/",
        kind=kind,
        inside=1,
        seed=True,
        etag='"old"',
        place=b"\x00\xffplace",
    )


def answer(one: Capture, reason: Reason = Reason.STORED) -> Answer:
    """The capture with the outcome that a fetcher would give it."""
    told = one.exchange
    asked = Asked("site.example", told.url, told.started, told.finished, told.status, told.address)
    held = one.lease or lease(told.url, one.kind)
    outcome = Outcome(held, reason, told.finished, status=told.status, asked=(asked,), etag='"new"', mime="text/html")
    return outcome, (one,)


def answers(count: int, first: int = 0) -> list[Answer]:
    return [answer(capture(exchange(number))) for number in range(first, first + count)]


class Disk:
    """What outlives a crash of the process: the stores. `archive()` is the next process."""

    def __init__(self, file_bytes: int = 1_000_000_000) -> None:
        self.clock = ManualClock(START)
        self.blobs = MemoryBlobs()
        self.journals = MemoryJournals(self.blobs)
        self.table = MemoryTable()
        self.pages = MemoryQueue(self.clock, 60.0)
        self.config = ArchiveConfig(file_bytes=file_bytes, operator="Weavers\r\nInjected: yes")

    def archive(self) -> Archive:
        stores = Stores(self.journals, self.blobs, self.table, self.pages)
        return Archive(stores, self.clock, self.config, KillPoints())

    async def files(self) -> dict[str, bytes]:
        """All WARC files, sealed or not."""
        found = {name: await self.blobs.get(name) for name, _ in await self.blobs.list("raw/")}
        for name in await self.journals.unsealed():
            found[name] = await (await self.journals.open(name)).read(0, 1 << 40)
        return found


def outcomes(batch: Sequence[Answer]) -> list[Outcome]:
    return [outcome for outcome, _ in batch]
