"""Content encodings undone: gzip, deflate, br and zstd, never more than `limit` bytes, whatever the body claims to be.

A body as it was transferred and its Content-Encoding come in, the bytes inside go out, or `Refused` with the word of a
`Refusal`. Called by the reader, in a parser process.
"""

from collections.abc import Callable
from typing import Final, cast

import brotli  # type: ignore[import-untyped]
import zstandard
from isal import isal_zlib

from weft.errors import Refused
from weft.records import Refusal

_MAX_STACKED: Final = 2
_MAX_MEMBERS: Final = 64  # in a row; each costs a copy of what is left
_WINDOW: Final = 8 * 1024 * 1024  # RFC 9659: zstd on the web needs no larger one
_ZSTD_SLICE: Final = 512  # bytes of input that give at most 16 MB: four bytes can stand for a block of 128 KiB
_BROTLI_STEP: Final = 1 << 20  # bytes of output at a time: its buffer grows by doubling, up to twice what is asked for
_AUTOMATIC: Final = 47  # wbits: gzip or zlib, by their header
_RAW: Final = -15
_INFLATE_ERROR: Final = cast(type[Exception], isal_zlib.error)  # its stubs call it an instance
# Encodings that exist but are not for us; other words there (`utf-8`, `none`) are mistakes and mean nothing.
_UNREADABLE: Final = frozenset({"compress", "x-compress", "exi", "pack200-gzip", "dcb", "dcz"})


def decode(body: bytes, encoding: str, limit: int) -> bytes:
    """The body with its encodings undone. Raises Refused for bombs, cut or corrupt data and unreadable encodings."""
    words = [word.strip().lower() for word in encoding.split(",")]
    if _UNREADABLE.intersection(words):
        raise _bad()
    decoders = [_DECODERS[word] for word in words if word in _DECODERS]
    if len(decoders) > _MAX_STACKED:
        raise _bad()
    for decoder in reversed(decoders):
        if body:
            body = decoder(body, limit)
    if len(body) > limit:
        raise _bomb()
    return body


def _bomb() -> Refused:
    return Refused(Refusal.BOMB.value)


def _bad() -> Refused:
    return Refused(Refusal.BAD_ENCODING.value)


def _gunzip(body: bytes, limit: int) -> bytes:
    parts: list[bytes] = []
    room = limit
    while body:
        if len(parts) == _MAX_MEMBERS:
            raise _bad()
        inflater = isal_zlib.decompressobj(wbits=_AUTOMATIC)
        try:
            parts.append(inflater.decompress(body, room + 1))
        except _INFLATE_ERROR:
            raise _bad() from None
        room -= len(parts[-1])
        if room < 0:
            raise _bomb()
        if not inflater.eof:
            raise _bad()  # cut
        body = inflater.unused_data
        if not body.startswith(b"\x1f\x8b"):
            break  # what follows is padding, as far as any browser cares
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _inflate(body: bytes, limit: int) -> bytes:
    """`deflate` means zlib, but some servers send it without the wrapping."""
    if body[0] & 0x0F == 8 and (body[0] << 8 | body[1] if len(body) > 1 else 0) % 31 == 0:
        return _gunzip(body, limit)
    inflater = isal_zlib.decompressobj(wbits=_RAW)
    try:
        plain = inflater.decompress(body, limit + 1)
    except _INFLATE_ERROR:
        raise _bad() from None
    if len(plain) > limit:
        raise _bomb()
    if not inflater.eof:
        raise _bad()
    return plain


def _unbrotli(body: bytes, limit: int) -> bytes:
    decoder = brotli.Decompressor()
    parts: list[bytes] = []
    room = limit
    try:
        while True:
            parts.append(decoder.process(body if not parts else b"", output_buffer_limit=min(room + 1, _BROTLI_STEP)))
            room -= len(parts[-1])
            if room < 0:
                raise _bomb()
            if decoder.is_finished():
                return b"".join(parts)
            if not parts[-1] and decoder.can_accept_more_data():
                raise _bad()  # cut: it waits for input that will not come
    except brotli.error:
        raise _bad() from None


def _unzstd(body: bytes, limit: int) -> bytes:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    parts: list[bytes] = []
    size = position = frames = 0
    frame = decompressor.decompressobj()
    try:
        while position < len(body):
            if frame.eof:
                frame = decompressor.decompressobj()  # another frame follows
                frames += 1
                if frames == _MAX_MEMBERS:
                    raise _bad()
            piece = body[position : position + _ZSTD_SLICE]
            parts.append(frame.decompress(piece))
            position += len(piece) - len(frame.unused_data)
            size += len(parts[-1])
            if size > limit:
                raise _bomb()
    except zstandard.ZstdError:
        raise _bad() from None
    if not frame.eof:
        raise _bad()
    return b"".join(parts)


_DECODERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
