"""A whole group of the table, however long: a bounded number of rows at a time."""

from collections.abc import AsyncIterator
from typing import Final

from weft.ports import Range, Rows, Table

_PAGE: Final = 1000


async def pages(table: Table, group: bytes) -> AsyncIterator[Rows]:
    """All rows of a group, a page at a time."""
    start = b""
    while True:
        (rows,) = await table.scan([Range(group, start, limit=_PAGE)])
        if rows:
            yield rows
        if len(rows) < _PAGE:
            return
        start = rows[-1][0] + b"\0"
