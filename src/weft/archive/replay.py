"""Reads WARC back: one record of ours by its bytes, or a whole file, ours or anyone's. Called by store and refine.

What a foreign file holds is not ours to trust: a record that gives no capture comes out as `Skipped`, with a reason.
"""

import asyncio
import io
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import BinaryIO, Final, NamedTuple, TypeAlias

import msgspec
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType
from isal import isal_zlib

from weft.errors import Corrupt
from weft.ports import Blobs
from weft.records import Capture, Exchange, Headers, Kind, Position

from . import member
from .warc import KIND_FIELD, field, record_id

LARGEST: Final = 1 << 31  # of our own records: fetch.max_body is far below
_KINDS: Final = {kind.name.lower(): kind for kind in Kind}
_WANTED: Final = (WarcRecordType.response, WarcRecordType.resource, WarcRecordType.revisit)
_WINDOW: Final = 1 << 20
MEMBER: Final = b"\x1f\x8b\x08"
_BLANK: Final = " \t"  # what HTTP calls white space; str.strip takes more


class Skipped(NamedTuple):
    """A record that is no capture, and why."""

    url: str
    reason: str
    damaged: int | None = None  # not a record but damage: where it begins


Replayed: TypeAlias = tuple[Capture, Position] | Skipped


class Raw(NamedTuple):
    """A WARC record taken apart: fields by lower-case name, and the block."""

    fields: dict[str, str]
    block: bytes


def parse(content: bytes) -> Raw:
    """A record of ours, uncompressed."""
    head, found, rest = content.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8", "replace").split("\r\n")
    # Only what a field may be padded with: str.strip takes U+0085 and U+00A0 as well, which may be its value.
    fields = {name.lower(): value.strip(" \t") for name, _, value in (line.partition(":") for line in lines)}
    length = fields.get("content-length", "")
    if not found or not version.startswith("WARC/1.") or not length.isdecimal() or len(rest) < int(length) + 4:
        raise Corrupt("not a WARC record of ours")
    return Raw(fields, rest[: int(length)])


def decode(data: bytes) -> Capture:
    """The capture in a gzip member of ours that holds a response or a revisit."""
    whole = member.first(data, LARGEST)
    if whole is None:
        raise Corrupt("a WARC record that is cut short")
    fields, block = parse(whole.content)
    capture = _capture(fields, block)
    if isinstance(capture, Skipped):
        raise Corrupt(f"{capture.url}: {capture.reason}")
    return capture


def records(source: BinaryIO, name: str, largest: int) -> Iterator[Replayed]:
    """All captures of a WARC file: plain, gzip, zstd or lz4. Blocks over `largest` bytes are skipped.

    Behind damage to a gzip file it goes on at the next member that holds a record.
    """
    members = source.seekable() and source.read(len(MEMBER)) == MEMBER
    if source.seekable():
        source.seek(0)
    found, last = False, 0
    place: int | None = 0
    while place is not None:
        reason = ""
        try:
            for record in ArchiveIterator(source, parse_http=False, quirks_mode=True):
                last = record.stream_pos
                if record.record_type in _WANTED:
                    found = True
                    yield _foreign(record, name, largest)
        except (ValueError, OSError, EOFError, RuntimeError) as error:  # fastwarc's names for a damaged stream
            reason = str(error)
        # fastwarc also ends at what it takes for padding; the end is where no record follows the last one
        place = _next_member(source, max(last, place) + 1) if members else None
        if place is not None or reason:
            found = True
            yield Skipped("", f"the file is damaged behind byte {last}: {reason or 'no record follows'}", last)
    if not found:
        yield Skipped("", "no captures in this file")


def _next_member(source: BinaryIO, start: int) -> int | None:
    """Where the next gzip member with a WARC record begins; the file is left there."""
    source.seek(start)
    window = source.read(_WINDOW)
    while len(window) > len(MEMBER):
        place = window.find(MEMBER)
        while place >= 0:
            source.seek(start + place)
            if begins_record(source.read(_WINDOW)):
                source.seek(start + place)
                return start + place
            place = window.find(MEMBER, place + 1)
        start += len(window) - len(MEMBER) + 1  # a mark may lie across two windows
        source.seek(start)
        window = source.read(_WINDOW)
    return None


def begins_record(data: bytes) -> bool:
    """Is this the beginning of a gzip member with a WARC record?"""
    try:
        return isal_zlib.decompressobj(wbits=member.GZIP).decompress(data, 16).startswith(b"WARC/")
    except member.GzipError:
        return False


def _foreign(record: WarcRecord, name: str, largest: int) -> Replayed:
    fields = {key.lower(): value for key, value in record.headers.items()}
    url = fields.get("warc-target-uri", "").strip("<> ")
    if record.content_length > largest:
        return Skipped(url, f"{record.content_length} bytes are more than {largest}")
    if fields.get("warc-type") == "revisit":
        return Skipped(url, "a revisit: the body lies in another record")
    block = record.reader.read(record.content_length)
    if len(block) < record.content_length:
        return Skipped(url, "the record is cut short")
    capture = _capture(fields, block)
    if isinstance(capture, Skipped):
        return capture
    if "chunked" in field(capture.exchange.headers, "transfer-encoding").lower():
        exchange = msgspec.structs.replace(capture.exchange, body=unchunked(capture.exchange.body))
        capture = msgspec.structs.replace(capture, exchange=exchange)
    return capture, Position(name, record.stream_pos, 0)  # a foreign record's length on disk is not known


def _capture(fields: dict[str, str], block: bytes) -> Capture | Skipped:
    url = fields.get("warc-target-uri", "").strip("<> ")
    if not url.lower().startswith(("http://", "https://")):
        return Skipped(url, "not an http URL")
    date = _seconds(fields.get("warc-date", ""))
    if date is None:
        return Skipped(url, "no valid WARC-Date")
    answer: tuple[int, str, Headers, bytes] | None
    if fields.get("warc-type") == "resource":
        answer = 200, "OK", (("Content-Type", fields.get("content-type", "")),), block
    else:
        answer = _http(block)
    if answer is None:
        return Skipped(url, "not an HTTP answer")
    status, reply, headers, body = answer
    exchange = Exchange(
        url=url,
        started=date,
        finished=date,
        status=status,
        reply=reply,
        headers=headers,
        body=body,
        address=fields.get("warc-ip-address", ""),
        truncated=fields.get("warc-truncated", ""),
    )
    kind = _KINDS.get(fields.get(KIND_FIELD.lower(), ""), Kind.PAGE)
    return Capture(id=fields.get("warc-record-id") or record_id(), exchange=exchange, kind=kind)


def _http(block: bytes) -> tuple[int, str, Headers, bytes] | None:
    """Status, reason phrase, headers and body of an HTTP answer; None if it is none."""
    head, _, body = block.partition(b"\r\n\r\n")
    if b"\n\n" in head:  # some writers end lines by a bare LF
        head, _, body = block.partition(b"\n\n")
    first, *lines = head.decode("latin-1").replace("\r\n", "\n").split("\n")
    protocol, _, rest = first.partition(" ")
    code, _, reply = rest.strip(_BLANK).partition(" ")
    if not protocol.upper().startswith("HTTP/") or len(code) != 3 or not (code.isascii() and code.isdecimal()):
        return None
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and headers:  # a folded line goes on with the field before
            headers[-1] = headers[-1][0], f"{headers[-1][1]} {line.strip(_BLANK)}"
        elif colon and name.strip(_BLANK):
            headers.append((name.strip(_BLANK), value.strip(_BLANK)))
    return int(code), reply.strip(_BLANK), tuple(headers), body


def unchunked(body: bytes) -> bytes:
    """The body with its chunks put together; as it is, if it has none (some writers undo them and keep the header)."""
    parts: list[bytes] = []
    place = 0
    while True:
        end = body.find(b"\r\n", place, place + 100)
        size = body[place:end].partition(b";")[0].strip()
        if end < 0 or not size or size.strip(b"0123456789abcdefABCDEF"):
            return body
        length = int(size, 16)
        if length == 0:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + length])
        place = end + 2 + length + 2
        if body[place - 2 : place] != b"\r\n":
            return b"".join(parts) if place - 2 >= len(body) else body  # cut short, or never chunked


def date_of(record: Raw) -> float:
    """WARC-Date, in seconds; 0 if it has none."""
    return _seconds(record.fields.get("warc-date", "")) or 0.0


def _seconds(date: str) -> float | None:
    try:
        parsed = datetime.fromisoformat(date.strip())
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


class _BlobFile(io.RawIOBase):
    """A blob as a file, for fastwarc in a thread: every window is asked of the loop that owns the blobs."""

    def __init__(self, blobs: Blobs, name: str, loop: asyncio.AbstractEventLoop) -> None:
        self._blobs, self._name, self._loop = blobs, name, loop
        self._offset = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("a blob's end is found by reading")
        self._offset = offset + (self._offset if whence == io.SEEK_CUR else 0)
        return self._offset

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        window = self._blobs.get(self._name, self._offset, self._offset + min(len(view), _WINDOW))
        data = asyncio.run_coroutine_threadsafe(window, self._loop).result()
        view[: len(data)] = data
        self._offset += len(data)
        return len(data)


async def replay(blobs: Blobs, name: str, largest: int, at_once: int = 32) -> AsyncIterator[list[Replayed]]:
    """A whole sealed file, some records at a time."""
    source = io.BufferedReader(_BlobFile(blobs, name, asyncio.get_running_loop()), _WINDOW)
    found = records(source, name, largest)
    while batch := await asyncio.to_thread(lambda: list(islice(found, at_once))):
        yield batch
