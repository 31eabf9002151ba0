"""A whole group of the table, however long: a bounded number of rows at a time."""

from collections.abc import AsyncIterator
from typing import Final

from weft.ports import Range, Rows, Table

PAGE: Final = 1000


async def pages(
    table: Table, group: bytes, start: bytes = b"", stop: bytes | None = None, size: int = PAGE
) -> AsyncIterator[Rows]:
    """All rows of a group, or of a range of it, `size` at a time."""
    while True:
        (rows,) = await table.scan([Range(group, start, stop, limit=size)])
        if rows:
            yield rows
        if len(rows) < size:
            return
        start = rows[-1][0] + b"\0"
