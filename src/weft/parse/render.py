"""Blocks as text for people and models: paragraphs apart, list items and headings on lines of their own, tables by rows.

In: a `Walk` and which of its blocks to keep. Out: plain text or Markdown. Called by `weft.parse.text`.
"""

import unicodedata
from collections.abc import Iterable, Iterator

import msgspec

from weft.parse.vocabulary import REGIONS, Tag
from weft.parse.walk import Fact, Walk

_FACTS = len(Fact)
_PRE = 1 << REGIONS.index("pre")
_QUOTE = 1 << REGIONS.index("quote")
_LONG = 40  # characters: a text this long that comes again is a repetition, not a coincidence
_LONGEST_CELL = 300  # characters: longer cells are layout, not data
_TIGHT = frozenset({"item", "row"})  # pieces of the same kind that follow each other without an empty line


class Piece(msgspec.Struct):
    """Something with lines of its own."""

    kind: str  # paragraph, heading, item, row, code, quote
    text: str
    level: int = 0  # of a heading
    row: int = -1
    cells: list[str] = []


def render(walk: Walk, kept: Iterable[int], markdown: bool = False) -> str:
    """The kept blocks, in order."""
    out: list[str] = []
    before = ""
    for piece in _pieces(walk, kept):
        first_row = piece.kind == "row" and before != "row"
        if out:
            out.append("\n" if piece.kind == before and piece.kind in _TIGHT else "\n\n")
        out.append(_markdown(piece, first_row) if markdown else _plain(piece))
        before = piece.kind
    text = "".join(out)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def _pieces(walk: Walk, kept: Iterable[int]) -> Iterator[Piece]:
    """One piece per block, except that the cells of a table row are one."""
    seen: set[str] = set()
    row: Piece | None = None
    for index in kept:
        text = walk.texts[index]
        facts = walk.facts[index * _FACTS : (index + 1) * _FACTS]
        code = bool(facts[Fact.REGIONS] & _PRE)
        if len(text) > _LONG and not code:
            if text in seen:
                continue
            seen.add(text)
        if _is_cell(walk, facts, text):
            if row is not None and row.row == facts[Fact.ROW]:
                row.cells.append(text)
                continue
            if row is not None:
                yield row
            row = Piece("row", "", row=facts[Fact.ROW], cells=[text])
            continue
        if row is not None:
            yield row
            row = None
        yield _piece(facts, text, code)
    if row is not None:
        yield row


def _is_cell(walk: Walk, facts: list[int], text: str) -> bool:
    """A table cell of data: the only block of its cell, short, in one line. Tables for layout have more in theirs."""
    cell = facts[Fact.CELL]
    if cell < 0 or facts[Fact.ROW] < 0 or len(text) > _LONGEST_CELL or "\n" in text:
        return False
    return walk.box_ends[cell] - walk.box_starts[cell] == 1


def _piece(facts: list[int], text: str, code: bool) -> Piece:
    tag = facts[Fact.TAG]
    if code:
        return Piece("code", text)
    if Tag.H1 <= tag <= Tag.H6:
        return Piece("heading", text, level=tag - Tag.H1 + 1)
    if facts[Fact.ITEM] and tag != Tag.TERM:
        return Piece("item", text)
    if facts[Fact.REGIONS] & _QUOTE:
        return Piece("quote", text)
    return Piece("paragraph", text)


def _plain(piece: Piece) -> str:
    if piece.kind == "row":
        return " | ".join(piece.cells)
    return f"- {piece.text}" if piece.kind == "item" else piece.text


def _markdown(piece: Piece, first_row: bool) -> str:
    text = piece.text
    match piece.kind:
        case "heading":
            return f"{'#' * piece.level} {text.replace(chr(10), ' ')}"
        case "item":
            return "- " + text.replace("\n", "\n  ")
        case "quote":
            return "> " + text.replace("\n", "\n> ")
        case "code":
            fence = "````" if "```" in text else "```"
            return f"{fence}\n{text}\n{fence}"
        case "row":
            line = "| " + " | ".join(cell.replace("|", r"\|") for cell in piece.cells) + " |"
            return f"{line}\n|{' --- |' * len(piece.cells)}" if first_row else line
    return text.replace("\n", "  \n")
