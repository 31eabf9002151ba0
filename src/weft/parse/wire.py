"""What crosses the pipes between the pool and its parser processes: a job goes in, a `Page` comes back.

A frame is its length (4 bytes, little endian) and a msgpack value. Bodies travel as the archive holds them.
"""

import os
from collections.abc import Iterator

import msgspec

from weft.records import Announcement, Headers, Kind, Page, Record

PREFIX = 4
JOBS = msgspec.msgpack.Encoder()
PAGES = msgspec.msgpack.Decoder(Page)
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
    fetched: float = 0.0  # wall seconds: dates in directives are judged by it

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
            fetched=announced.fetched,
        )


def frame(payload: bytes) -> tuple[bytes, bytes]:
    """Two pieces, so that a large payload is not copied to put its length before it."""
    return len(payload).to_bytes(PREFIX, "little"), payload


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
        prefix, payload = frame(payload)
        rest = memoryview(prefix + payload)
        while rest:
            rest = rest[os.write(self._output, rest) :]
