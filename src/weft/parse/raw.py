"""What the walk over a tree brings home, before it is judged: made by `walk`, read by text, metadata and links."""

from enum import IntEnum

import msgspec


class RawLink(msgspec.Struct, frozen=True, gc=False):
    """A link as the page wrote it: nothing resolved, nothing dropped."""

    href: str
    text: str  # anchor text, or the alt texts of its images
    rel: str
    tag: str  # a, area, link, iframe, frame


class RawMeta(msgspec.Struct, frozen=True, gc=False):
    """A <meta> with content, or an element with itemprop: its name, property, http-equiv or itemprop in lower case."""

    name: str
    content: str


class RawImage(msgspec.Struct, frozen=True, gc=False):
    """An image with a source or an alternative text."""

    src: str
    alt: str
    block: int  # how many blocks came before it


class Fact(IntEnum):
    """The columns of what is known of a block beside its text."""

    TAG = 0  # vocabulary.Tag of the nearest block element
    LINK_CHARS = 1
    LINKS = 2
    IMAGES = 3  # since the block before
    REGIONS = 4  # bits of vocabulary.REGIONS, all ancestors
    NEAR = 5  # class bits of the two nearest block elements
    FAR = 6  # class bits of all ancestors
    DEPTH = 7
    BOX = 8  # index of the nearest box
    SHAPE = 9  # the same for blocks at the same place of a repeated template
    ITEM = 10  # 1: the first block of a list item
    ROW = 11  # box of the nearest table row, or -1
    CELL = 12  # box of the nearest table cell, or -1


class Walk(msgspec.Struct, frozen=True):
    """All that one pass over a tree gave.

    A block is a run of text between two block boundaries; `facts` has a row of `Fact` columns for each.
    A box is a block element that holds text: its parent box, its first block and the block after its last.
    """

    texts: list[str]
    facts: list[int]
    box_parents: list[int]
    box_starts: list[int]
    box_ends: list[int]
    links: list[RawLink]
    metas: list[RawMeta]
    images: list[RawImage]
    scripts: list[str]  # JSON-LD
    title: str
    base: str
    language: str  # as declared by <html lang>
    item_types: list[str]
    script_count: int
    furniture: int  # menus and footers passed over
