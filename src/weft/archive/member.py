"""Gzip members: a WARC record goes in, the bytes of its member come out, and back. Called by warc, recovery, replay."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

from isal import isal_zlib

from weft.errors import Corrupt, TooLarge

GzipError: type[Exception] = isal_zlib.IsalError  # type: ignore[assignment]  # the stubs take the class for a value
GZIP = 31  # window bits of zlib's interface for a gzip wrapper
LEVEL = 1  # measured on real pages: faster than level 0 and a third smaller; level 2 gains nothing
_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_STORED = struct.Struct("<BHH")
_TAIL = struct.Struct("<II")
_BLOCK = 65_535


class Member(NamedTuple):
    """A whole member: its content and how many bytes it takes in the file."""

    content: bytes
    length: int


def compress(pieces: Sequence[bytes]) -> bytes:
    """One member, compressed."""
    return isal_zlib.compress(b"".join(pieces), LEVEL, GZIP)


def store(pieces: Sequence[bytes]) -> bytes:
    """One member of stored blocks, for what is compressed already: costs a checksum and a copy."""
    content = b"".join(pieces)
    parts: list[bytes | memoryview] = [_HEAD]
    last = max(len(content) - 1, 0) // _BLOCK
    view = memoryview(content)
    for number in range(last + 1):
        block = view[number * _BLOCK : (number + 1) * _BLOCK]
        parts += (_STORED.pack(number == last, len(block), len(block) ^ 0xFFFF), block)
    parts.append(_TAIL.pack(isal_zlib.crc32(content), len(content) & 0xFFFFFFFF))
    return b"".join(parts)


def first(data: bytes, limit: int) -> Member | None:
    """The member at the start of `data`, None if it is not whole.

    Raises Corrupt for what no gzip writer made, TooLarge when its content passes `limit`.
    """
    stream = isal_zlib.decompressobj(wbits=GZIP)
    try:
        content = stream.decompress(data, limit + 1)
        if len(content) > limit:
            raise TooLarge(f"a record of more than {limit} bytes")
        if not stream.eof:
            return None
    except GzipError as error:
        raise Corrupt(f"not a gzip member: {error}") from None
    return Member(content, len(data) - len(stream.unused_data))
