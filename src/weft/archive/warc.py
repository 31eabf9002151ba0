"""Captures become WARC/1.1 records: request, response (or revisit) and metadata, one gzip member each.

`encode` takes one lease's outcome with its captures and gives an `Entry`: bytes to append, and where in them the
responses lie. The last metadata record carries the outcome, so that a crash costs neither. Called by store.
"""

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from weft.records import Announcement, Capture, Exchange, Headers, Kind, Outcome, Position, Reason, Record

from . import member
from .identify import identify

CONTEXT_FIELD: Final = "weft-context"
KIND_FIELD: Final = "X-Weft-Kind"
NOWHERE: Final = Position("", 0, 0)
_NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_UNWANTED: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # a tab may stand in a field value, CR and LF never
_COMPRESSED_TYPES: Final = ("image/", "application/gzip", "application/zip", "application/zstd", "application/pdf")


class Context(Record, frozen=True):
    """What a metadata record remembers for us: the outcome it ends (if it does) and the announcement it owes."""

    outcome: Outcome | None = None
    announcement: Announcement | None = None


class Part(NamedTuple):
    """A capture inside an entry: where its response begins there, how long it is, and what to announce."""

    capture: Capture
    start: int
    length: int
    announcement: Announcement | None


class Frame(NamedTuple):
    """What the records of one capture share."""

    capture: Capture
    date: str
    info: str  # the id of the file's warcinfo record


class Entry(NamedTuple):
    """All records of one lease, to be appended as one piece."""

    data: bytes
    parts: tuple[Part, ...]


def encode(outcome: Outcome | None, captures: Sequence[Capture], info: str) -> Entry:
    """The records of `captures`, in order; `info` is the id of the file's warcinfo record."""
    members: list[bytes] = []
    parts: list[Part] = []
    size = 0
    for capture in captures:
        payload = sha1(capture.exchange.body)
        announcement = _announcement(capture, outcome, payload) if _wanted(capture, outcome) else None
        context = Context(outcome if capture is captures[-1] else None, announcement)
        frame = Frame(capture, timestamp(capture.exchange.started), info)
        request = _request(frame)
        response = _response(frame, payload)
        parts.append(Part(capture, size + len(request), len(response), announcement))
        members += (request, response, _metadata(frame, context))
        size += sum(map(len, members[-3:]))
    return Entry(b"".join(members), tuple(parts))


def warcinfo(identity: str, file: str, date: float, fields: Iterable[tuple[str, str]]) -> bytes:
    """The record every file begins with."""
    block = _fields(fields).encode()
    head = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", identity),
        ("WARC-Date", timestamp(date)),
        ("WARC-Filename", file.rpartition("/")[2]),
        ("Content-Type", "application/warc-fields"),
    ]
    return member.compress(_record(head, block))


def record_id() -> str:
    """A random UUID (version 4), at a third of the price of uuid.uuid4()."""
    digits = os.urandom(16).hex()
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}>"


def timestamp(date: float) -> str:
    """WARC-Date of version 1.1: UTC, to the microsecond."""
    return datetime.fromtimestamp(date, UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _wanted(capture: Capture, outcome: Outcome | None) -> bool:
    """Only whole answers that say something are refined; robots.txt, errors and redirects are only kept."""
    if outcome is None or outcome.reason is not Reason.STORED or capture.kind is Kind.ROBOTS:
        return False
    return capture.exchange.failure is None and 200 <= capture.exchange.status < 300


def _announcement(capture: Capture, outcome: Outcome | None, digest: str) -> Announcement:
    lease = capture.lease or (outcome.lease if outcome else None)
    return Announcement(
        id=capture.id,
        url=capture.exchange.url,
        position=NOWHERE,
        fetched=capture.exchange.started,
        status=capture.exchange.status,
        kind=capture.kind,
        depth=lease.depth if lease else 0,
        inside=lease.inside if lease else 0,
        seed=lease.seed if lease else False,
        digest=digest,
        source=lease.source if lease else "",
    )


def _request(frame: Frame) -> bytes:
    exchange = frame.capture.exchange
    parts = urlsplit(exchange.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    sent = exchange.sent
    if not any(name.lower() == "host" for name, _ in sent):
        sent = (("Host", parts.netloc.rpartition("@")[2]), *sent)
    block = _http_head(f"GET {target} HTTP/1.1", sent)
    head = _common("request", record_id(), frame)
    head += [
        ("WARC-Concurrent-To", frame.capture.id),
        ("WARC-Block-Digest", f"sha1:{sha1(block)}"),
        ("Content-Type", "application/http; msgtype=request"),
    ]
    return member.compress(_record(head, block))


def _response(frame: Frame, payload: str) -> bytes:
    capture, exchange = frame.capture, frame.capture.exchange
    unchanged = exchange.status == 304
    encoding = field(exchange.headers, "content-encoding")
    version = "1.0" if exchange.version == "1.0" else "1.1"  # later versions have no status line: 1.1 is the custom
    line = f"HTTP/{version} {exchange.status:03d} {exchange.reply}"
    http = _http_head(line, _honest_length(exchange))
    block_digest = hashlib.sha1(http, usedforsecurity=False)
    block_digest.update(exchange.body)
    kind = identify(exchange.body, encoding) or _mime(exchange.headers)
    head = _common("revisit" if unchanged else "response", capture.id, frame)
    head += [
        ("WARC-Payload-Digest", f"sha1:{payload}"),
        ("WARC-Block-Digest", f"sha1:{base64.b32encode(block_digest.digest()).decode()}"),
        ("Content-Type", "application/http; msgtype=response"),
    ]
    if unchanged:
        head += [("WARC-Profile", _NOT_MODIFIED), ("WARC-Refers-To-Target-URI", exchange.url)]
    else:
        head.append(("WARC-Identified-Payload-Type", kind))
    if exchange.version:
        head.append(("WARC-Protocol", "h2" if exchange.version[0] == "2" else f"http/{exchange.version}"))
    if exchange.truncated:
        head.append(("WARC-Truncated", exchange.truncated))
    if capture.kind is not Kind.PAGE:
        head.append((KIND_FIELD, capture.kind.name.lower()))
    packed = bool(encoding) or kind.startswith(_COMPRESSED_TYPES)
    return (member.store if packed else member.compress)(_record(head, http, exchange.body))


def _metadata(frame: Frame, context: Context) -> bytes:
    """Words for people (those Heritrix uses, where it has one) and one line of JSON for us."""
    capture, exchange, outcome = frame.capture, frame.capture.exchange, context.outcome
    fields = [("fetchTimeMs", str(round((exchange.finished - exchange.started) * 1000)))]
    if lease := capture.lease:
        fields += [("via", lease.source)] if lease.source else []
        fields += [("depth", str(lease.depth)), ("attempt", str(lease.attempt))]
    if outcome:
        fields.append(("outcome", outcome.reason.value))
    fields.append((CONTEXT_FIELD, msgspec.json.encode(context).decode()))
    block = _fields(fields).encode()
    head = _common("metadata", record_id(), frame)
    head += [
        ("WARC-Concurrent-To", capture.id),
        ("WARC-Refers-To", capture.id),
        ("WARC-Block-Digest", f"sha1:{sha1(block)}"),
        ("Content-Type", "application/warc-fields"),
    ]
    return member.compress(_record(head, block))


def _common(kind: str, identity: str, frame: Frame) -> list[tuple[str, str]]:
    exchange = frame.capture.exchange
    head = [
        ("WARC-Type", kind),
        ("WARC-Record-ID", identity),
        ("WARC-Warcinfo-ID", frame.info),
        ("WARC-Date", frame.date),
        ("WARC-Target-URI", exchange.url),
    ]
    if exchange.address and kind != "metadata":
        head.append(("WARC-IP-Address", exchange.address))
    return head


def _record(head: list[tuple[str, str]], *block: bytes) -> tuple[bytes, ...]:
    length = sum(map(len, block))
    fields = _fields((*head, ("Content-Length", str(length))))
    return (f"WARC/1.1\r\n{fields}\r\n".encode(), *block, b"\r\n\r\n")


def _fields(fields: Iterable[tuple[str, str]]) -> str:
    return "".join([f"{name}: {clean(value)}\r\n" for name, value in fields])


def _http_head(first_line: str, headers: Headers) -> bytes:
    lines = [clean(first_line)]
    for name, value in headers:
        if label := clean(name).strip(" \t").replace(":", "_"):
            lines.append(f"{label}: {clean(value)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def clean(value: str) -> str:
    """Control characters become spaces: what a server sends in a field can never end the field."""
    return _UNWANTED.sub(" ", value) if _UNWANTED.search(value) else value


def _honest_length(exchange: Exchange) -> Headers:
    """The client has undone the transfer encoding; say so, and give the length of what is stored."""
    length = str(len(exchange.body))
    honest: list[tuple[str, str]] = []
    told = False
    for name, value in exchange.headers:
        low = name.lower()
        if low == "transfer-encoding" or (low == "content-length" and (told or value.strip() != length)):
            name = f"X-Crawler-{name}"
        elif low == "content-length":
            told = True
        honest.append((name, value))
    return tuple(honest) if told else (*honest, ("Content-Length", length))


def field(headers: Headers, name: str) -> str:
    """The values of a field, joined by commas as HTTP has it; "" if it is not there."""
    return ", ".join([value for key, value in headers if key.lower() == name])


def _mime(headers: Headers) -> str:
    mime = field(headers, "content-type").partition(";")[0].strip().lower()
    return mime or "application/octet-stream"


def sha1(data: bytes) -> str:
    """As WARC and CDX write it: base32."""
    return base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()
