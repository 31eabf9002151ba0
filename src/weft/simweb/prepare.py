"""From a site's reply to bytes on the wire: headers, content encoding, validators, and a store of what lasts.

server.py asks for a `Prepared` answer per request; ordinary pages are made once and kept.
"""

from collections import OrderedDict
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import brotli  # type: ignore[import-untyped]
import msgspec
import zstandard
from isal import igzip

from .answer import Answer, Script, Visit
from .scene import Scene
from .site import Site

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: igzip.compress(body, compresslevel=1, mtime=0),
    "br": lambda body: brotli.compress(body, quality=3),
    "zstd": lambda body: zstandard.ZstdCompressor(level=1).compress(body),
}
REASONS = {status.value: status.phrase for status in HTTPStatus}


class Prepared(msgspec.Struct, frozen=True):
    """An answer ready to send: the head lacks only Date, Connection and the empty line."""

    status: int
    head: bytes
    body: bytes
    etag: str = ""
    modified: str = ""
    retry_after: str = ""
    unchanged: bytes = b""  # the head of a 304


class Store:
    """The last `limit` answers that are the same for every visitor."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[object, ...], Prepared] = OrderedDict()

    def answer(self, site: Site | Scene, visit: Visit, key: tuple[object, ...]) -> Prepared | Script:
        """From the store, or made now; a key must hold all that the answer depends on."""
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        reply = site.answer(visit)
        if isinstance(reply, Script):
            return reply
        prepared = prepare(reply, accepted(site.host.encoding, visit))
        if reply.lasting:
            self._kept[key] = prepared
            if len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return prepared


def accepted(encoding: str, visit: Visit) -> str:
    """The host's encoding, if the client said it takes it."""
    offers = visit.headers.get("accept-encoding", "")
    return encoding if encoding and encoding in offers else ""


def prepare(answer: Answer, encoding: str = "") -> Prepared:
    body, fields = answer.body, dict(answer.headers)
    lines = [f"{name}: {value}" for name, value in answer.headers]
    if answer.type:
        lines.append(f"Content-Type: {answer.type}")
    if encoding and body and "Content-Encoding" not in fields:
        body = ENCODERS[encoding](body)
        lines += [f"Content-Encoding: {encoding}", "Vary: Accept-Encoding"]
    lines.append(f"Content-Length: {len(body)}")
    # 304 repeats what a 200 would say about freshness (RFC 9110, 15.4.5).
    kept = [line for line in lines if line.startswith(("ETag", "Last-Modified", "Cache-Control"))]
    return Prepared(
        status=answer.status,
        head=head_bytes(answer.status, lines),
        body=body,
        etag=fields.get("ETag", ""),
        modified=fields.get("Last-Modified", ""),
        retry_after=fields.get("Retry-After", ""),
        unchanged=head_bytes(304, kept),
    )


def head_bytes(status: int, lines: list[str]) -> bytes:
    first = f"HTTP/1.1 {status} {REASONS.get(status, 'Unknown')}"
    return "\r\n".join([first, "Server: simweb", *lines, ""]).encode("latin-1")


def unchanged(prepared: Prepared, headers: dict[str, str]) -> bool:
    """Whether a conditional request may be answered 304; If-None-Match goes before If-Modified-Since."""
    if prepared.etag and "if-none-match" in headers:
        return prepared.etag in headers["if-none-match"] or headers["if-none-match"] == "*"
    if prepared.modified and "if-modified-since" in headers:
        try:
            return parsedate_to_datetime(headers["if-modified-since"]) >= parsedate_to_datetime(prepared.modified)
        except ValueError:
            return False
    return False


def retry_seconds(value: str, wall: float) -> float:
    """Retry-After in either form as seconds from now; 0 when there is none."""
    if not value:
        return 0.0
    return float(value) if value.isdigit() else max(0.0, parsedate_to_datetime(value).timestamp() - wall)
