"""Pieces of a page in Markdown: what they are is marked, and what would read as a mark by accident is escaped.

In: runs of pieces of one kind, in order. Out: their text. Called by `weft.parse.render`.
"""

import re
from functools import cached_property

from weft.parse.pieces import Piece, list_levels
from weft.parse.rows import GAP
from weft.parse.walk import Walk

# At the beginning of a line: headings, quotes, list items, rules, definitions of links; CommonMark 0.31, 4 and 5.
_LINE_MARK = re.compile(
    r"^(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|_(?=[ \t_]*$)|\[(?=[^\]\n]{1,999}\]:)|(?:=+|(?=[:| ]*+-)[-:| ]++)$)",
    re.MULTILINE,
)
_NUMBER_MARK = re.compile(r"^(\d{1,9})([.)])(?=\s|$)", re.MULTILINE)
_CLOSING_MARK = re.compile(r"(?<!\S)#+$")  # of a heading
# Inside a line: emphasis, code, HTML, entities, addresses of links, escapes. An underscore inside a word is none.
_INLINE_MARK = re.compile(
    r"(?<=\S)\*|\*(?=\S)|(?<![^\W_])_(?=\S)|(?<=\S)_(?![^\W_])|`|~(?=~)|(?<=~)~"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)|(?<=\])\(|\\(?=[!-/:-@\[-`{-~]|$)",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[^\S\n]*(`{3,})", re.MULTILINE)
_INDENT = "  "


class Markdown:
    """The pieces of one page."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def text(self, kind: str, run: list[Piece]) -> str:
        """A run of pieces of a kind."""
        match kind:
            case "item":
                return self.items(run)
            case "row":
                return _rows(run)
            case "quote":
                return "\n>\n".join("> " + escaped(piece.text).replace("\n", "\n> ") for piece in run)
            case "heading":
                return "\n\n".join(map(_heading, run))
            case "code":
                return "\n\n".join(map(_code, run))
        return "\n\n".join(escaped(piece.text).replace("\n", "  \n") for piece in run)

    def items(self, run: list[Piece]) -> str:
        """Each item below the one whose list holds its own, if that is in the run: further in it would be code."""
        lines = []
        above: list[int] = []
        for piece in run:
            level = self.levels[piece.box]
            while above and above[-1] >= level:
                above.pop()
            margin = _INDENT * len(above)
            above.append(level)
            lines.append(f"{margin}- " + escaped(piece.text).replace("\n", f"\n{margin}{_INDENT}"))
        return "\n".join(lines)

    @cached_property
    def levels(self) -> list[int]:
        """Of each box, in how many list items it lies."""
        return list_levels(self.walk)


def _rows(run: list[Piece]) -> str:
    """The first row is the head: it says how many columns there are; others may have fewer, but not more."""
    rows = [[_inline(cell).replace("|", "\\|") for cell in piece.text.split(GAP)] for piece in run]
    columns = max(map(len, rows))
    rows[0] += [""] * (columns - len(rows[0]))
    head, *others = [f"| {GAP.join(cells)} |" for cells in rows]
    return "\n".join([head, f"|{' --- |' * columns}", *others])


def _heading(piece: Piece) -> str:
    return f"{'#' * piece.level} " + _CLOSING_MARK.sub(r"\\\g<0>", _inline(piece.text.replace("\n", " ")))


def _code(piece: Piece) -> str:
    fence = "`" * (1 + max(map(len, _FENCE.findall(piece.text)), default=2))
    return f"{fence}\n{piece.text}\n{fence}"


def _inline(text: str) -> str:
    return _INLINE_MARK.sub(r"\\\g<0>", text)


def escaped(text: str) -> str:
    """Lines that mean in Markdown what they say."""
    return _NUMBER_MARK.sub(r"\1\\\2", _LINE_MARK.sub(r"\\\g<0>", _inline(text)))
