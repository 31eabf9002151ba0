"""Blocks as text for people and models: paragraphs apart, items and headings on lines of their own, tables by rows.

In: a `Walk` and which of its blocks to keep. Out: plain text or Markdown. Called by `weft.parse.text`.
"""

from collections.abc import Iterable
from unicodedata import combining, is_normalized, normalize

from weft.parse.markdown import Markdown, escaped
from weft.parse.pieces import Piece, runs
from weft.parse.tidy import once
from weft.parse.walk import Walk

_TOWER = 120  # marks on one letter: no script needs 30 (UAX 15, section 13), and ordering them takes quadratic time


def render(walk: Walk, kept: Iterable[int], markdown: bool = False) -> str:
    """The kept blocks, in order."""
    written = Markdown(walk).text if markdown else _plain
    texts = [written(kind, run) for kind, run in runs(walk, kept)]
    return "\n\n".join([text if text.isascii() else _normal(text) for text in texts])


def _plain(kind: str, run: list[Piece]) -> str:
    if kind == "item":
        return "\n".join([f"- {piece.text}" for piece in run])
    return ("\n" if kind == "row" else "\n\n").join([piece.text for piece in run])


def paragraphs(lines: str, markdown: bool = False) -> str:
    """A text that is no blocks, a line for each paragraph."""
    return "\n\n".join(escaped(text) if markdown else text for text in map(_normal, lines.split("\n")))


def _normal(text: str) -> str:
    """In NFC, and encoded once. Of a run of marks too long to be put in order only the beginning stays."""
    text = once(text)
    if len(text) > _TOWER and any(map(combining, text[:: _TOWER // 2])):
        text = _without_towers(text)
    return text if is_normalized("NFC", text) else normalize("NFC", text)


def _without_towers(text: str) -> str:
    sampled = bytes(map(bool, map(combining, text[:: _TOWER // 2])))
    if b"\1\1" not in sampled:  # of these, such a run covers two
        return text
    kept: list[str] = []
    height = 0
    for character in text:
        height = height + 1 if combining(character) else 0
        if height <= _TOWER:
            kept.append(character)
    return "".join(kept)
