"""Printing: JSON for programs, aligned lines for people."""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from weft.metrics import Hold


def json_line(value: Any) -> None:
    """One JSON object on one line."""
    line(msgspec.json.encode(value).decode())


def line(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def pairs(rows: Iterable[tuple[str, Any]]) -> None:
    """`name  value` lines, names aligned."""
    rows = [(name, str(value)) for name, value in rows]
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        line(f"{name:<{width}}  {printable(value)}")


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Columns as wide as they need to be."""
    cells = [list(head), *([printable(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        line("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def printable(text: str) -> str:
    """What the web wrote must not move our cursor or forge a line."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def moment(seconds: float | None) -> str:
    """Wall time as a person reads it."""
    if not seconds:
        return "-"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def many(count: int, thing: str) -> str:
    """`1 URL`, `2 URLs`."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def held_line(hold: Hold) -> str:
    """A group that is held, what its trials brought, and the command that takes it up again."""
    are, brought = "is" if hold.held == 1 else "are", "has been tried yet" if not hold.tried else "brought new text"
    trials = f"{hold.fruitful} of {many(hold.tried, 'trial')}" if hold.tried else "none"
    held = f"{many(hold.held, 'URL')} like {hold.looks} {are} held: {trials} {brought}"
    return printable(f"{held}; `{hold.release}` takes {'it' if hold.held == 1 else 'them'} up again")


def until(seconds: float) -> str:
    """A moment to come, as the clock on the wall shows it."""
    at, now = datetime.fromtimestamp(seconds).astimezone(), datetime.now().astimezone()
    return f"{at:%H:%M:%S}" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M:%S}"


def size(count: float) -> str:
    """Bytes with a unit."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def duration(seconds: float) -> str:
    """Seconds as h, min, s."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"
