"""What crosses the pipes between the pool and its parser processes: a job goes in, a `Page` comes back.

A frame is its length (4 bytes, little endian) and a payload in msgpack. A job's payload is the length of its head, its
head in msgpack, and the body as the archive holds it: a large body is copied by nobody but the kernel.
"""

import os
from collections.abc import Iterator
from itertools import repeat

import msgspec

from weft.records import Announcement, Headers, Hint, Kind, Link, Page, Record, Refusal, Via

PREFIX = 4
_READ = 1 << 18


class ParseJob(Record, frozen=True):
    """A capture on its way into a parser."""

    id: str
    url: str
    body: bytes  # as sent: content encoding not undone
    headers: Headers = ()
    status: int = 200
    kind: Kind = Kind.PAGE
    depth: int = 0
    inside: int = 0
    source: str = ""  # the URL it was found on
    fetched: float = 0.0  # wall seconds: dates in directives are judged by it
    ended: Refusal | None = None  # what ended the parser that read it whole: now only its links are wanted

    @classmethod
    def of(cls, announced: Announcement, headers: Headers, body: bytes) -> "ParseJob":
        """From an announcement and the answer that it points to."""
        return cls(
            id=announced.id,
            url=announced.url,
            body=body,
            headers=headers,
            status=announced.status,
            kind=announced.kind,
            depth=announced.depth,
            inside=announced.inside,
            source=announced.source,
            fetched=announced.fetched,
        )


def frame(payload: bytes) -> bytes:
    """A payload with its length."""
    return len(payload).to_bytes(PREFIX, "little") + payload


class JobWire:
    """Jobs to bytes and back."""

    def __init__(self) -> None:
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(ParseJob)

    def pieces(self, job: ParseJob) -> tuple[bytes, bytes]:
        """A frame in two pieces, the second being the body itself."""
        head = self._encoder.encode(msgspec.structs.replace(job, body=b""))
        total = PREFIX + len(head) + len(job.body)
        return total.to_bytes(PREFIX, "little") + frame(head), job.body

    def job(self, payload: memoryview) -> ParseJob:
        """From a frame's payload."""
        end = PREFIX + int.from_bytes(payload[:PREFIX], "little")
        return msgspec.structs.replace(self._decoder.decode(payload[PREFIX:end]), body=bytes(payload[end:]))


class _Columns(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A page with its links column by column: half the bytes and half the time of a list of records."""

    page: Page  # without links
    urls: list[str]
    keys: list[bytes]
    inside: list[int]
    vias: bytes
    kinds: bytes
    hints: list[Hint | None]  # empty when none has one


class PageWire:
    """Pages to bytes and back. The links of a page share their source and depth, and have no hops: they are fresh."""

    def __init__(self) -> None:
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(tuple[_Columns, int])
        self._vias = tuple(Via)
        self._kinds = tuple(Kind)

    def payload(self, page: Page) -> bytes:
        """A frame's payload."""
        links = page.links
        columns = _Columns(
            msgspec.structs.replace(page, links=()),
            [link.url for link in links],
            [link.key for link in links],
            [link.inside for link in links],
            bytes([link.via for link in links]),
            bytes([link.kind for link in links]),
            [link.hint for link in links] if any(link.hint for link in links) else [],
        )
        return self._encoder.encode((columns, links[0].depth if links else 0))

    def page(self, payload: memoryview) -> Page:
        """From a frame's payload."""
        columns, depth = self._decoder.decode(payload)
        links = map(
            Link,
            columns.urls,
            repeat(depth),
            map(self._vias.__getitem__, columns.vias),
            repeat(columns.page.url),
            map(self._kinds.__getitem__, columns.kinds),
            repeat(0),
            columns.inside,
            repeat(False),
            columns.hints or repeat(None),
            columns.keys,
        )
        return msgspec.structs.replace(columns.page, links=tuple(links))


class Frames:
    """Cuts a stream of bytes into payloads."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._have = 0
        self._need = PREFIX

    def feed(self, data: bytes) -> Iterator[memoryview]:
        """Take what has arrived; yield every payload that is whole now."""
        self._parts.append(data)
        self._have += len(data)
        if self._have < self._need:
            return
        view = memoryview(b"".join(self._parts) if len(self._parts) > 1 else data)
        start = 0
        while True:
            end = start + PREFIX
            self._need = PREFIX
            if end <= len(view):
                self._need += int.from_bytes(view[start:end], "little")
                end = start + self._need
            if end > len(view):
                break
            yield view[start + PREFIX : end]
            start = end
        self._parts = [bytes(view[start:])] if start < len(view) else []
        self._have = len(view) - start


class Stdio:
    """The worker's end: frames over what were its standard input and output."""

    def __init__(self) -> None:
        self._input, self._output = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)  # a stray print must not get between the frames
        self._frames = Frames()

    def receive(self) -> Iterator[memoryview]:
        """Payloads until the parent closes the pipe."""
        while data := os.read(self._input, _READ):
            yield from self._frames.feed(data)

    def send(self, payload: bytes) -> None:
        """Write one frame whole."""
        rest = memoryview(frame(payload))
        while rest:
            rest = rest[os.write(self._output, rest) :]
