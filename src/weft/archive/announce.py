"""Announcements as messages of the pages queue: many to a message, each message within the port's limit."""

from collections.abc import Iterable

import msgspec

from weft.errors import Corrupt
from weft.ports import MAX_MESSAGE
from weft.records import Announcement

PER_MESSAGE = 64  # a message is what is parsed again after a crash, so it holds a fraction of a second's work

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[Announcement])


def pack(announcements: Iterable[Announcement]) -> list[bytes]:
    """As few messages as the limits allow."""
    messages: list[bytes] = []
    waiting: list[bytes] = []
    size = 5
    for announcement in announcements:
        item = _ENCODER.encode(announcement)
        if waiting and (len(waiting) == PER_MESSAGE or size + len(item) > MAX_MESSAGE):
            messages.append(_array(waiting))
            waiting, size = [], 5
        waiting.append(item)
        size += len(item)
    if waiting:
        messages.append(_array(waiting))
    return messages


def _array(items: list[bytes]) -> bytes:
    """A msgpack array of items that are encoded already."""
    return b"".join((b"\xdd", len(items).to_bytes(4, "big"), *items))


def unpack(message: bytes) -> list[Announcement]:
    try:
        return _DECODER.decode(message)
    except msgspec.DecodeError as error:
        raise Corrupt(f"not a message of announcements: {error}") from None
