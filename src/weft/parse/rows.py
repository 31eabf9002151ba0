"""Rows of tables with each cell under its column: empty ones, and those over several columns or rows, keep their place.

In: a <tr>, row by row, and the texts of its cells. Out: the text of the row. Called by `weft.parse.walk`; `loose`
and `markdown` use its gap.
"""

from selectolax.lexbor import LexborNode

GAP = " | "
Span = tuple[int, int]
_CELLS = frozenset({"td", "th"})
MOST_CELLS = 1000  # of a row; wider ones are no table that anybody reads
_WIDEST = 30  # columns of a cell, and of a row with such cells: no page may make much text of few bytes
_HIGHEST = 1000  # rows of a cell
_LONGEST_NUMBER = 6  # digits; Python refuses to read thousands of them


class Rows:
    """What cells of earlier rows reach down into the rows to come, by table section."""

    def __init__(self) -> None:
        self.reaching: dict[int, dict[int, int]] = {}  # columns, and how many rows more they are taken

    def text(self, row: LexborNode, texts: list[str]) -> str:
        """The row in one line. The texts are those of its cells that have any, in order."""
        cells, is_spanned = _cells(row)
        if len(cells) == len(texts) and not is_spanned and not self.reaching:
            return GAP.join(map(cell, texts))
        filled = [bool(cell.text().strip()) for cell in cells]
        if sum(filled) != len(texts):  # some text of it is not read: a button's, a menu's
            self.pass_over(row)
            return GAP.join(map(cell, texts))
        left = iter(texts)
        spans = [_span(cell.attributes) for cell in cells]
        columns = self._columns(row, [cell(next(left)) if is_filled else "" for is_filled in filled], spans)
        while not columns[-1]:
            columns.pop()
        return GAP.join(columns)

    def pass_over(self, row: LexborNode) -> None:
        """A row that is not put in one line: what reaches into it, and out of it, is counted all the same."""
        cells, is_spanned = _cells(row)
        if is_spanned or self.reaching:
            self._columns(row, [""] * len(cells), [_span(cell.attributes) for cell in cells])

    def reach_into(self, row: LexborNode) -> bool:
        """Whether cells of earlier rows do."""
        return bool(self.reaching) and row.parent is not None and bool(self.reaching.get(row.parent.mem_id))

    def _columns(self, row: LexborNode, cells: list[str], spans: list[Span]) -> list[str]:
        """Each cell at its column, and empty ones for what reaches into the row from the side or from above."""
        section = row.parent
        taken = self.reaching.get(section.mem_id, {}) if section is not None else {}
        below = {column: rows - 1 for column, rows in taken.items() if rows > 1}
        columns: list[str] = []
        for cell, (width, height) in zip(cells, spans, strict=True):
            while len(columns) in taken:
                columns.append("")
            if height > 1 and len(columns) < _WIDEST:
                below |= dict.fromkeys(range(len(columns), len(columns) + width), height - 1)
            columns += [cell, *[""] * (width - 1 if len(columns) < _WIDEST else 0)]
        if section is not None and below:
            self.reaching[section.mem_id] = below
        elif section is not None and taken:
            del self.reaching[section.mem_id]
        return columns


def _cells(row: LexborNode) -> tuple[list[LexborNode], bool]:
    """The cells, and whether any of them takes more than one column or row."""
    cells: list[LexborNode] = []
    is_spanned = False
    node = row.first_child
    while node is not None and len(cells) < MOST_CELLS:
        if node.tag in _CELLS:
            cells.append(node)
            attributes = node.attributes
            if attributes and ("colspan" in attributes or "rowspan" in attributes):
                is_spanned = True
        node = node.next
    return cells, is_spanned


def _span(attributes: dict[str, str | None]) -> Span:
    """How many columns and rows a cell takes."""
    return _number(attributes.get("colspan"), _WIDEST), _number(attributes.get("rowspan"), _HIGHEST)


def cell(text: str) -> str:
    """The text of a cell in one line, which can be told from its neighbours."""
    if "\n" in text or "|" in text:
        return text.replace("\n", " ").replace(GAP, "|")
    return text


def _number(written: str | None, most: int) -> int:
    if not written or not written.isdecimal():
        return 1
    number = written.lstrip("0")
    return most if len(number) > _LONGEST_NUMBER else min(int(number or 1), most)
