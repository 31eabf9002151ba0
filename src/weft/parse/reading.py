"""A body read once: charset, pre-scan, tree, walk. What text, metadata and links are made from.

In: the decoded body of an answer. Out: a `Reading`, or `Refused` for a page no parser may have. Called by
`weft.parse.text` and the parser processes.
"""

import msgspec
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError

from weft.errors import Refused
from weft.parse.prescan import beginning, inspect
from weft.parse.sniff import decode
from weft.parse.walk import Walk, Wanted, walk

_SPARSE = 200  # characters: a page with less outside its furniture is read as a whole


class Reading(msgspec.Struct, frozen=True):
    """A page as its tree tells it."""

    charset: str
    size: int  # bytes of the body
    walk: Walk
    whole: bytes = b""  # in UTF-8, where only the beginning was read


def read(body: bytes, charset: str | None = None, wanted: Wanted = Wanted.LINKS) -> Reading:
    """Read a page; `charset` is what the server declared."""
    decoded = decode(body, charset)
    html = beginning(decoded.html)
    refusal = inspect(html)
    if refusal is not None:
        raise Refused(refusal.value)
    tree = tree_of(html)
    found = walk(tree, wanted)
    if found.furniture and sum(map(len, found.texts)) < _SPARSE:
        found = walk(tree, wanted, whole=True)
    return Reading(decoded.charset, len(body), found, decoded.html if len(html) < len(decoded.html) else b"")


def tree_of(html: bytes) -> LexborHTMLParser:
    """The tree of UTF-8. Without events: nothing here changes it, and building it is a little faster."""
    try:
        return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:
        raise MemoryError from error  # Lexbor takes any HTML: it fails only when it gets no more memory
