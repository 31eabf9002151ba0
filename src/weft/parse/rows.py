"""Rows of tables with each cell under its column: empty ones, and those over several columns or rows, keep their place.

In: a <tr>, row by row, and the texts of its cells. Out: the text of the row. Called by `weft.parse.walk`.
"""

from itertools import repeat

from selectolax.lexbor import LexborNode

GAP = " | "
_CELLS = frozenset({"td", "th"})
_MOST_COLUMNS = 100
_MOST_ROWS = 1000  # that one cell may reach over


class Rows:
    """What cells of earlier rows reach down into the rows to come, by table section."""

    def __init__(self) -> None:
        self.reaching: dict[int, dict[int, int]] = {}  # columns, and how many rows more they are taken

    def text(self, row: LexborNode, texts: list[str]) -> str:
        """The row in one line. The texts are those of its cells that have any, in order."""
        cells = self._cells(row)
        if sum(filled for filled, _ in cells) != len(texts):
            return GAP.join(map(_cell, texts))  # some text of it is not read: a button's, a menu's
        left = iter(texts)
        columns: list[str] = []
        for filled, width in cells:
            columns += [_cell(next(left)) if filled else "", *repeat("", width - 1)]
        while not columns[-1]:
            columns.pop()
        return GAP.join(columns)

    def _cells(self, row: LexborNode) -> list[tuple[bool, int]]:
        """For each cell whether it has text, and its width; cells from above are empty here."""
        section = row.parent
        taken = self.reaching.setdefault(section.mem_id if section is not None else 0, {})
        cells: list[tuple[bool, int]] = []
        column = 0
        below: dict[int, int] = {}
        node = row.first_child
        while node is not None and column < _MOST_COLUMNS:
            if node.tag in _CELLS:
                while taken.get(column):
                    cells.append((False, 1))
                    column += 1
                attributes = node.attributes
                width = _number(attributes.get("colspan"), _MOST_COLUMNS)
                height = _number(attributes.get("rowspan"), _MOST_ROWS)
                if height > 1:
                    below |= dict.fromkeys(range(column, column + width), height)
                cells.append((bool(node.text().strip()), width))
                column += width
            node = node.next
        for place, rows in (taken | below).items():
            taken[place] = rows - 1
        return cells


def _cell(text: str) -> str:
    """The text of a cell in one line, which can be told from its neighbours."""
    return text.replace("\n", " ").replace(GAP, "|")


def _number(written: str | None, most: int) -> int:
    return min(int(written), most) if written and written.isdecimal() and written != "0" else 1
