"""One walk over the Lexbor tree of a page: text blocks for the extractor, and everything links and metadata need.

In: a parsed tree. Out: a `Walk`. Called by `weft.parse.page`; nothing else traverses the tree.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import TypeAlias

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from weft.parse.vocabulary import REGION_OF_PROPERTY, REGION_OF_ROLE, Action, Tag, class_bits, region_bit, vocabulary

_TEXT_NODE = 2
_BREAK = "\x00"  # stands for <br> inside a block; the parser lets no NUL through
_HIDDEN = region_bit("hidden")
_LINK_REGION = region_bit("link")
_STICKY = frozenset(map(int, (Tag.H1, Tag.H2, Tag.H3, Tag.H4, Tag.H5, Tag.H6)))  # a block inside a heading is one
_STRUCTURAL = frozenset(map(int, (Tag.ITEM, Tag.TERM, Tag.ROW, Tag.CELL)))
_OTHER, _ROW, _CELL = int(Tag.OTHER), int(Tag.ROW), int(Tag.CELL)
_LINK, _TIME = int(Action.LINK), int(Action.TIME)
_VALUE_PROPERTIES = frozenset({"name", "headline", "author", "datepublished", "datemodified", "price", "sku", "brand"})
_LONGEST_VALUE = 300


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


# box, tag, regions, class bits, near bits, far bits, shape, row, cell: a tuple, because one is made for every box.
_Frame: TypeAlias = tuple[int, int, int, int, int, int, int, int, int]


class Walker:
    """The state of a walk. Block elements are `opened`; those that turn out to hold text become frames, from the root up.

    So wrappers of icons and images cost next to nothing. Inline elements belong to the block they stand in.
    """

    def __init__(self) -> None:
        words = vocabulary()
        self.tags = words.tags
        self.regions = words.regions
        self.opened: list[LexborNode] = []
        self.frames: list[_Frame] = [(0, _OTHER, 0, 0, 0, 0, 0, -1, -1)]
        self.texts: list[str] = []
        self.facts: list[int] = []
        self.box_parents, self.box_starts, self.box_ends = [0], [0], [0]
        self.parts: list[str] = []
        self.pre = 0  # index in `opened` of the <pre> we are in
        self.link_chars = self.link_count = self.image_count = 0
        self.item_pending = 0
        self.link: LexborNode | None = None
        self.link_parts: list[str] = []
        self.links: list[RawLink] = []
        self.metas: list[RawMeta] = []
        self.images: list[RawImage] = []
        self.scripts: list[str] = []
        self.title = self.base = self.language = ""
        self.item_types: list[str] = []
        self.script_count = 0

    def resolve(self) -> _Frame:
        """Make frames of all that is open, because a text was found in it."""
        frames, tags, region_bits, parents = self.frames, self.tags, self.regions, self.box_parents
        above = frames[-1]
        for node in self.opened[len(frames) - 1 :]:
            parent, tag, regions, above_bits, _, far, shape, row, cell = above
            number = node.tag_id
            if number in region_bits:
                regions |= region_bits[number]
            bits = read = 0
            attributes = node.attributes
            if "class" in attributes:
                bits = class_bits(attributes["class"] or "")
                read = 1
            if "id" in attributes:
                bits |= class_bits(attributes["id"] or "")
                read += 1
            if len(attributes) > read:
                regions |= self.attribute_regions(node, attributes)
            box = len(parents)
            parents.append(parent)
            self.box_starts.append(len(self.texts))
            if tag not in _STICKY:
                tag = tags.get(number, _OTHER)
                if tag in _STRUCTURAL:
                    if tag == _ROW:
                        row = box
                    elif tag == _CELL:
                        cell = box
                    else:
                        self.item_pending = 1
            above = (box, tag, regions, bits, bits | above_bits, bits | far, hash((shape, number, bits)), row, cell)
            frames.append(above)
        self.box_ends += [0] * (len(parents) - len(self.box_ends))
        return above

    def attribute_regions(self, node: LexborNode, attributes: dict[str, str | None]) -> int:
        """Regions that attributes name: ARIA roles, microdata, hiding. Collects microdata on the way."""
        regions = 0
        role = attributes.get("role")
        if role:
            regions |= region_bit(REGION_OF_ROLE.get(role.lower(), ""))
        if "hidden" in attributes or attributes.get("aria-hidden") == "true":
            regions |= _HIDDEN
        style = attributes.get("style")
        if style and "none" in style and "display:none" in style.replace(" ", "").lower():
            regions |= _HIDDEN
        if "itemtype" in attributes:
            self.item_types.extend((attributes["itemtype"] or "").split())
        if "itemprop" in attributes:
            regions |= self.item_property(node, attributes)
        return regions

    def item_property(self, node: LexborNode, attributes: dict[str, str | None]) -> int:
        """Keep a microdata property whose value is short; long ones are the text itself."""
        name = (attributes["itemprop"] or "").lower()
        value = attributes.get("content") or attributes.get("datetime")
        if not value and name in _VALUE_PROPERTIES:
            value = node.text()
        if value and len(value) <= _LONGEST_VALUE:
            self.metas.append(RawMeta(f"itemprop:{name}", " ".join(value.split())))
        return region_bit(REGION_OF_PROPERTY.get(name, ""))

    def leave(self, action: int) -> None:
        """An element that was entered ends."""
        if action == _LINK:
            self.close_link()
            return
        if action == _TIME:
            return
        opened, frames = self.opened, self.frames
        if self.parts:
            if self.pre and len(opened) > self.pre:
                self.parts.append(_BREAK)
            else:
                self.flush()
        if len(opened) == self.pre:
            self.pre = 0
        if len(frames) > len(opened):
            self.box_ends[frames.pop()[0]] = len(self.texts)
        opened.pop()

    def interrupt(self) -> None:
        """A block element begins while a block is running: it ends, or inside <pre> its line does."""
        if self.pre:
            self.parts.append(_BREAK)
        else:
            self.flush()

    def open_pre(self) -> None:
        """White space counts from here on."""
        if not self.pre:
            self.pre = len(self.opened)

    def flush(self) -> None:
        """The running block ends."""
        parts = self.parts
        raw = parts[0] if len(parts) == 1 else "".join(parts)
        parts.clear()
        if self.pre:
            text = raw.replace(_BREAK, "\n").strip("\n").rstrip()
        elif _BREAK in raw:
            lines = [" ".join(line.split()) for line in raw.split(_BREAK)]
            text = "\n".join(line for line in lines if line)
        else:
            text = " ".join(raw.split())
        if text:
            frame = self.frames[-1] if len(self.frames) > len(self.opened) else self.resolve()
            box, tag, regions, _, near, far, shape, row, cell = frame
            self.texts.append(text)
            links, images, item, depth = self.link_count, self.image_count, self.item_pending, len(self.opened)
            if self.link is not None:
                regions |= _LINK_REGION
            self.facts += (tag, self.link_chars, links, images, regions, near, far, depth, box, shape, item, row, cell)
            self.image_count = self.item_pending = 0
        self.link_chars = self.link_count = 0

    def result(self) -> Walk:
        """What the walk gave."""
        return Walk(
            texts=self.texts,
            facts=self.facts,
            box_parents=self.box_parents,
            box_starts=self.box_starts,
            box_ends=self.box_ends,
            links=self.links,
            metas=self.metas,
            images=self.images,
            scripts=self.scripts,
            title=self.title,
            base=self.base,
            language=self.language,
            item_types=self.item_types,
            script_count=self.script_count,
        )

    def open_link(self, node: LexborNode) -> None:
        """An <a> or <area> begins. Links do not nest: an open one ends here."""
        if self.link is not None:
            self.close_link()
        self.link = node
        self.link_count += 1

    def link_text(self, text: str) -> None:
        """Text inside the open link."""
        self.link_chars += len(text.strip())
        self.link_parts.append(text)

    def close_link(self) -> None:
        """The open link ends."""
        node = self.link
        self.link = None
        if node is None:
            return
        attributes = node.attributes
        href = attributes.get("href")
        if href is not None:
            text = " ".join("".join(self.link_parts).split()) or attributes.get("alt") or ""
            self.links.append(RawLink(href, text, attributes.get("rel") or "", node.tag or "a"))
        self.link_parts.clear()

    def head(self, node: LexborNode) -> None:
        """Metadata elements, wherever they stand: pages put them in the body, too."""
        tag = node.tag
        attributes = node.attributes
        if tag == "meta":
            name = attributes.get("property") or attributes.get("name") or attributes.get("http-equiv")
            if not name and attributes.get("itemprop"):
                name = f"itemprop:{attributes['itemprop']}"
            content = attributes.get("content")
            if name and content:
                self.metas.append(RawMeta(name.strip().lower(), content.strip()))
        elif tag == "link":
            href = attributes.get("href")
            if href is not None and attributes.get("rel"):
                self.links.append(RawLink(href, "", attributes["rel"] or "", "link"))
        elif tag == "base":
            self.base = self.base or attributes.get("href") or ""
        elif tag == "title":
            self.title = self.title or " ".join((node.text() or "").split())
        else:
            self.script_count += 1
            if "ld+json" in (attributes.get("type") or ""):
                self.scripts.append(node.text() or "")

    def image(self, node: LexborNode) -> None:
        """An image: its alternative text stands for a link's text when there is none."""
        attributes = node.attributes
        alt = attributes.get("alt") or ""
        self.image_count += 1
        self.images.append(RawImage(attributes.get("src") or "", alt, len(self.texts)))
        if alt and self.link is not None and not self.link_parts:
            self.link_parts.append(f"{alt} ")

    def time(self, node: LexborNode) -> None:
        """A <time> with a date a program can read."""
        value = node.attributes.get("datetime")
        if value:
            self.metas.append(RawMeta("time", value))

    def frame(self, node: LexborNode) -> None:
        """A frame is a link to the page it shows."""
        source = node.attributes.get("src")
        if source:
            self.links.append(RawLink(source, "", "", node.tag or "iframe"))

    def line(self) -> None:
        """<br>: one is a line, two in a row end the block."""
        parts = self.parts
        if not parts:
            return
        again = parts[-1] is _BREAK or (len(parts) > 1 and parts[-2] is _BREAK and parts[-1].isspace())
        if again and not self.pre:
            self.flush()
        else:
            parts.append(_BREAK)

    def rule(self, _node: LexborNode) -> None:
        """<hr> ends the block."""
        if self.parts:
            self.flush()


def walk(tree: LexborHTMLParser) -> Walk:
    """Visit every node once, in document order."""
    root = tree.root
    state = Walker()
    if root is not None:
        state.language = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "").strip()
        _visit(root, state)
    state.box_ends[0] = len(state.texts)
    return state.result()


def _visit(root: LexborNode, state: Walker) -> None:
    """The loop. Steps from node to node itself: that gives each element's end, and what is skipped is never touched."""
    actions = vocabulary().actions
    rare = _rare(state)
    # Plain integers: looking up an enum's member costs as much as the rest of a node's share.
    block, inline, link, pre = int(Action.BLOCK), int(Action.INLINE), int(Action.LINK), int(Action.PRE)
    time, line = int(Action.TIME), int(Action.BREAK)
    parents: list[LexborNode] = []
    entered: list[int] = []
    parts, opened = state.parts, state.opened
    node = root.first_child
    while node is not None:
        number = node.tag_id
        if number == _TEXT_NODE:
            text = node.text_content or ""
            if parts or not text.isspace() or state.pre:
                parts.append(text)
                if state.link is not None:
                    state.link_text(text)
        else:
            action = actions.get(number, block)
            if action <= time:  # the last of those that are entered
                if action == link:
                    state.open_link(node)
                elif action == time:
                    state.time(node)
                elif action != inline and parts:
                    state.interrupt()
                child = node.first_child
                if child is not None:
                    if action == block or action == pre:  # noqa: SIM109  two compares are faster than a tuple
                        opened.append(node)
                        if action == pre:
                            state.open_pre()
                    parents.append(node)
                    entered.append(action)
                    node = child
                    continue
                if action == link:
                    state.close_link()
            elif action == line:
                state.line()
            elif action in rare:
                rare[action](node)
        following = node.next
        while following is None and parents:
            node = parents.pop()
            action = entered.pop()
            if action != inline:
                state.leave(action)
            following = node.next
        node = following


def _rare(state: Walker) -> dict[int, Callable[[LexborNode], None]]:
    """What to do with elements that are not entered."""
    return {
        int(Action.HEAD): state.head,
        int(Action.IMAGE): state.image,
        int(Action.FRAME): state.frame,
        int(Action.RULE): state.rule,
    }
