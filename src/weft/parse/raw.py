"""What the walk over a tree brings home, before it is judged: made by `walk`, read by text, metadata and links."""

from enum import IntEnum
from typing import TypeAlias

import msgspec


class Wanted(IntEnum):
    """What a page is read for, each with all before it."""

    TEXT = 0
    METADATA = 1
    LINKS = 2


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


class RawItem(msgspec.Struct, frozen=True, gc=False):
    """A thing described in microdata: its type, and short values by the lower-case name of their property."""

    type: str
    values: dict[str, str]


class RawImage(msgspec.Struct, frozen=True, gc=False):
    """An image with an alternative text."""

    alt: str
    block: int  # how many blocks came before it


class Fact(IntEnum):
    """The columns of what is known of a block beside its text."""

    PLACE = 0  # number of its place
    BOX = 1  # number of the nearest box
    LENGTH = 2  # characters
    LINK_CHARS = 3
    LINKS = 4
    IMAGES = 5  # since the block before
    ITEM = 6  # 1: the first block of a list item


Place: TypeAlias = tuple[int, int, int, int, int, int, int, int]


class Trait(IntEnum):
    """The columns of what is known of a place: a path of elements and classes that many blocks have in common."""

    TAG = 0  # vocabulary.Tag of the nearest block element
    REGIONS = 1  # bits of vocabulary.REGIONS, all ancestors
    NEAR = 2  # class bits of the two nearest block elements
    FAR = 3  # class bits of all ancestors
    DEPTH = 4
    SHAPE = 5  # the same for places that a template repeats
    CELL = 6  # 1: inside a table cell
    OWN = 7  # class bits of the nearest block element


class Walk(msgspec.Struct, frozen=True):
    """All that one pass over a tree gave.

    A block is a run of text between two block boundaries; `facts` has a row of `Fact` columns for each, `places` a
    tuple of `Trait` columns for each place. A box is a block element that holds text: its parent box, its first block,
    the block after its last, and its place.
    """

    texts: list[str]
    facts: list[int]
    places: list[Place]
    data_rows: set[int]  # places whose blocks are rows of tables
    box_parents: list[int]
    box_starts: list[int]
    box_ends: list[int]
    box_places: list[int]
    links: list[RawLink]
    metas: list[RawMeta]
    images: list[RawImage]
    scripts: list[str]  # JSON-LD
    title: str
    base: str
    language: str  # as declared by <html lang>
    item_types: list[str]
    script_count: int
    furniture: int  # menus, footers, dialogs and headers passed over
    items: list[RawItem]  # microdata of the page itself, if metadata is wanted; nothing that the text depends on
    profiles: list[str]  # what links to the author are called, likewise
