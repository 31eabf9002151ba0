"""The two sides of a corpus in its stores: one counts, on the other the next one is made. One row says which is which.

The row is the moment at which a corpus made anew takes the place of the old one. Called by corpus and build.
"""

from enum import Enum
from typing import Final

import msgspec

from weft.ports import Key, Put, Table
from weft.records import Record

_KEY: Final[Key] = (b"corpus.sides", b"standing")


class Side(Enum):
    """What its rows and files have at the end of their names."""

    FIRST = ""
    SECOND = "2"

    @property
    def other(self) -> "Side":
        return Side.SECOND if self is Side.FIRST else Side.FIRST

    @property
    def mark(self) -> bytes:
        """As a part of keys."""
        return self.value.encode()


class Standing(Record, frozen=True):
    """Which side counts; `dirty`: the other may hold something that never counted, or no longer does."""

    live: Side = Side.FIRST
    dirty: bool = False


async def standing(table: Table) -> Standing:
    (row,) = await table.get([_KEY])
    return msgspec.msgpack.decode(row, type=Standing) if row is not None else Standing()


async def write(table: Table, now: Standing) -> None:
    """Durable, against loss of power too, when it returns."""
    await table.write([Put(_KEY, msgspec.msgpack.encode(now))], sync=True)
