"""Blocks as text for people and models: paragraphs apart, items and headings on lines of their own, tables by rows.

In: a `Walk` and which of its blocks to keep. Out: plain text or Markdown. Called by `weft.parse.text`.
"""

from collections.abc import Iterable, Iterator
from unicodedata import is_normalized, normalize

import msgspec

from weft.parse.rows import GAP
from weft.parse.vocabulary import REGIONS, Tag
from weft.parse.walk import Fact, Trait, Walk

_FACTS = len(Fact)
# Plain integers: an enum's member takes longer to look up than to compare.
_PLACE, _ITEM = int(Fact.PLACE), int(Fact.ITEM)
_TAG, _REGIONS = int(Trait.TAG), int(Trait.REGIONS)
_ROW, _H1, _H6, _TERM = int(Tag.ROW), int(Tag.H1), int(Tag.H6), int(Tag.TERM)
_PRE = 1 << REGIONS.index("pre")
_QUOTE = 1 << REGIONS.index("quote")
_LONG = 40  # characters: a text this long that comes again is a repetition, not a coincidence
_TIGHT = frozenset({"item", "row"})  # pieces of the same kind that follow each other without an empty line


class Piece(msgspec.Struct, gc=False):
    """Something with lines of its own."""

    kind: str  # paragraph, heading, item, row, code, quote
    text: str
    level: int = 0  # of a heading


def render(walk: Walk, kept: Iterable[int], markdown: bool = False) -> str:
    """The kept blocks, in order."""
    out: list[str] = []
    before = ""
    for piece in _pieces(walk, kept):
        kind, text = piece.kind, piece.text
        if out:
            out.append("\n" if kind == before and kind in _TIGHT else "\n\n")
        if markdown:
            text = _markdown(piece, first_row=before != "row")
        elif kind == "item":
            text = f"- {text}"
        out.append(text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text))
        before = kind
    return "".join(out)


def _pieces(walk: Walk, kept: Iterable[int]) -> Iterator[Piece]:
    """One piece per block; long texts that come again are left out."""
    seen: set[str] = set()
    texts, facts, places = walk.texts, walk.facts, walk.places
    for index in kept:
        text = texts[index]
        place = places[facts[index * _FACTS + _PLACE]]
        tag, regions = place[_TAG], place[_REGIONS]
        if regions & _PRE:
            yield Piece("code", text)
            continue
        if len(text) > _LONG:
            if text in seen:
                continue
            seen.add(text)
        if _H1 <= tag <= _H6:
            yield Piece("heading", text, tag - _H1 + 1)
        elif tag == _ROW:
            yield Piece("row", text)
        elif facts[index * _FACTS + _ITEM] and tag != _TERM:
            yield Piece("item", text)
        else:
            yield Piece("quote" if regions & _QUOTE else "paragraph", text)


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
            return f"| {text} |\n|{' --- |' * (text.count(GAP) + 1)}" if first_row else f"| {text} |"
    return text.replace("\n", "  \n")
