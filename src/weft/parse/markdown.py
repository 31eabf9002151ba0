"""Pieces of a page in Markdown: what they are is marked, and what would read as a mark by accident is escaped.

In: the pieces, in order. Out: their lines. Called by `weft.parse.render`.
"""

import re

from weft.parse.pieces import Piece, list_levels
from weft.parse.rows import GAP
from weft.parse.walk import Walk

# At the beginning of a line: headings, quotes, list items and rules; CommonMark 0.31, sections 4 and 5.
_LINE_MARK = re.compile(r"^(#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|(?:=+|-{2,}|~{3,}|`{3,}[^`\n]*)$)", re.MULTILINE)
_NUMBER_MARK = re.compile(r"^(\d{1,9})([.)])(?=\s|$)", re.MULTILINE)
# Inside a line: emphasis, HTML, entities, addresses of links. An underscore inside a word is none of these.
_INLINE_MARK = re.compile(
    r"(?<=\S)\*|\*(?=\S)|(?<![^\W_])_(?=\S)|(?<=\S)_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)|(?<=\])\("
)
_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
_INDENT = "  "


class Markdown:
    """The pieces of one page, one after the other."""

    def __init__(self, walk: Walk) -> None:
        self.levels = list_levels(walk)

    def lines(self, piece: Piece, follows: bool) -> str:
        """The lines of a piece; whether one of its kind, and of its table, stands right before it."""
        text = piece.text
        match piece.kind:
            case "heading":
                return f"{'#' * piece.level} {_inline(text.replace(chr(10), ' '))}"
            case "item":
                margin = _INDENT * (self.levels[piece.box] - 1)
                return f"{margin}- " + escaped(text).replace("\n", f"\n{margin}{_INDENT}")
            case "row":
                return _row(text, first=not follows)
            case "quote":
                return "> " + escaped(text).replace("\n", "\n> ")
            case "code":
                fence = "`" * (1 + max(map(len, _FENCE.findall(text)), default=2))
                return f"{fence}\n{text}\n{fence}"
        return escaped(text).replace("\n", "  \n")


def _row(text: str, first: bool) -> str:
    """The first row is the head: it says how many columns there are, and others may have fewer."""
    cells = [_inline(cell).replace("|", "\\|") for cell in text.split(GAP)]
    line = f"| {GAP.join(cells)} |"
    return f"{line}\n|{' --- |' * len(cells)}" if first else line


def _inline(text: str) -> str:
    return _INLINE_MARK.sub(r"\\\g<0>", text)


def escaped(text: str) -> str:
    """Lines that mean in Markdown what they say."""
    return _NUMBER_MARK.sub(r"\1\\\2", _LINE_MARK.sub(r"\\\g<0>", _inline(text)))
