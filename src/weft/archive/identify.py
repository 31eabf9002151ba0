"""The payload's type as its first bytes show it, for WARC-Identified-Payload-Type. Called by warc.

Content encodings are undone for those bytes only, with a cap on the output, so that a bomb costs nothing.
"""

import io
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import brotli  # type: ignore[import-untyped]
import zstandard
from isal import isal_zlib

from .member import GzipError

_HEAD = 1024  # output bytes looked at
_INPUT = 2048  # input bytes that are surely enough to give them, bombs and oddities apart

_SIGNATURES: Final = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"{\\rtf", "application/rtf"),
)
_XML: Final = (
    (re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)\b"), "application/xml"),
    (re.compile(rb"<rss\b|<rdf:RDF\b", re.IGNORECASE), "application/rss+xml"),
    (re.compile(rb"<(?:\w+:)?feed\b", re.IGNORECASE), "application/atom+xml"),
    (re.compile(rb"<!doctype\s+html|<html\b", re.IGNORECASE), "application/xhtml+xml"),
)
_HTML: Final = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|div|p|a|h1|table|br|iframe|font|b|!--)[\s>/-]",
    re.IGNORECASE,
)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def identify(body: bytes, encoding: str) -> str:
    """A media type. `encoding` is the value of Content-Encoding; "" when the body cannot be looked into."""
    head = body[:_HEAD]
    for name in reversed([word.strip().lower() for word in encoding.split(",") if word.strip()]):
        undo = _DECODERS.get(name)
        if undo is None:
            return ""
        try:
            head = undo(body[:_INPUT])
        except (GzipError, brotli.error, zstandard.ZstdError, EOFError):
            return ""
        body = head
    return _sniff(head)


def _sniff(head: bytes) -> str:
    if not head:
        return "application/x-empty"
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            return name
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "ignore").encode()
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<?xml"):
        return next((name for shape, name in _XML if shape.search(start)), "application/xml")
    if _HTML.search(start):
        return "text/html"
    if _CONTROL.search(head):
        return "application/octet-stream"
    return "application/json" if start[:1] in (b"{", b"[") and start[-1:] in (b"}", b"]") else "text/plain"


def _gzip(body: bytes) -> bytes:
    return isal_zlib.decompressobj(wbits=31).decompress(body, _HEAD)


def _deflate(body: bytes) -> bytes:
    """Zlib by the standard, raw by habit of some servers."""
    try:
        return isal_zlib.decompressobj(wbits=15).decompress(body, _HEAD)
    except GzipError:
        return isal_zlib.decompressobj(wbits=-15).decompress(body, _HEAD)


def _brotli(body: bytes) -> bytes:
    return bytes(brotli.Decompressor().process(body, output_buffer_limit=_HEAD))


def _zstd(body: bytes) -> bytes:
    return zstandard.ZstdDecompressor(max_window_size=1 << 23).stream_reader(io.BytesIO(body)).read(_HEAD)


_DECODERS: Final[Mapping[str, Callable[[bytes], bytes]]] = MappingProxyType(
    {
        "gzip": _gzip,
        "x-gzip": _gzip,
        "deflate": _deflate,
        "br": _brotli,
        "zstd": _zstd,
        "identity": lambda body: body[:_HEAD],
    }
)
