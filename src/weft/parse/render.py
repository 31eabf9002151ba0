"""Blocks as text for people and models: paragraphs apart, items and headings on lines of their own, tables by rows.

In: a `Walk` and which of its blocks to keep. Out: plain text or Markdown. Called by `weft.parse.text`.
"""

from collections.abc import Iterable

from weft.parse.markdown import Markdown, escaped
from weft.parse.pieces import Piece, runs
from weft.parse.tidy import composed
from weft.parse.walk import Walk


def render(walk: Walk, kept: Iterable[int], markdown: bool = False) -> str:
    """The kept blocks, in order."""
    written = Markdown(walk).text if markdown else _plain
    texts = [written(kind, run) for kind, run in runs(walk, kept)]
    return "\n\n".join([text if text.isascii() else composed(text) for text in texts])


def _plain(kind: str, run: list[Piece]) -> str:
    if kind == "item":
        return "\n".join([f"- {piece.text}" for piece in run])
    return ("\n" if kind == "row" else "\n\n").join([piece.text for piece in run])


def paragraphs(lines: str, markdown: bool = False) -> str:
    """A text that is no blocks, a line for each paragraph."""
    return "\n\n".join(escaped(text) if markdown else text for text in map(composed, lines.split("\n")))
