"""One walk over the Lexbor tree of a page: text blocks for the extractor, and everything links and metadata need.

In: a parsed tree. Out: a `Walk`. Called by `weft.parse.reading`; nothing else traverses the tree.
"""

from collections.abc import Callable
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from weft.parse.collect import Collection
from weft.parse.raw import Fact, RawImage, RawLink, RawMeta, Walk
from weft.parse.vocabulary import Action, Tag, class_bits, region_bit, vocabulary

__all__ = ["Fact", "RawImage", "RawLink", "RawMeta", "Walk", "walk"]

_TEXT_NODE = 2
_BREAK = "\x00"  # stands for <br> inside a block; the parser lets no NUL through
_LINK_REGION = region_bit("link")
_STICKY = frozenset(map(int, (Tag.H1, Tag.H2, Tag.H3, Tag.H4, Tag.H5, Tag.H6)))  # a block inside a heading is one
_STRUCTURAL = frozenset(map(int, (Tag.ITEM, Tag.TERM, Tag.ROW, Tag.CELL)))
_OTHER, _ROW, _CELL = int(Tag.OTHER), int(Tag.ROW), int(Tag.CELL)
# Plain integers: looking up an enum's member costs as much as the rest of a node's share.
_BLOCK, _INLINE, _LINK, _PRE, _TIME = map(int, (Action.BLOCK, Action.INLINE, Action.LINK, Action.PRE, Action.TIME))
_BLOCKS = (_BLOCK, _PRE)
_PLAIN = (_OTHER, 0)  # an element that means nothing
_FACTS = len(Fact)
_LONGEST_CELL = 200  # characters: longer cells are layout, not data
CELL_GAP = " | "

# box, tag, regions, class bits, near bits, far bits, shape, row, cell: a tuple, because one is made for every box.
_Frame: TypeAlias = tuple[int, int, int, int, int, int, int, int, int]


class Walker:
    """The state of a walk. Block elements are `opened`; those that turn out to hold text become frames, root first.

    So wrappers of icons and images cost next to nothing. Inline elements belong to the block they stand in.
    """

    def __init__(self, anchors: bool) -> None:
        words = vocabulary()
        self.elements = words.elements
        self.opened: list[LexborNode] = []
        self.frames: list[_Frame] = [(0, _OTHER, 0, 0, 0, 0, 0, -1, -1)]
        self.texts: list[str] = []
        self.facts: list[int] = []
        self.box_parents, self.box_starts, self.box_ends = [0], [0], [0]
        self.parts: list[str] = []
        self.pre = 0  # index in `opened` of the <pre> we are in
        self.link_chars = self.link_count = self.image_count = 0
        self.item_pending = 0
        self.found = Collection(anchors)

    def resolve(self) -> _Frame:
        """Make frames of all that is open, because a text was found in it."""
        frames, elements, found = self.frames, self.elements, self.found
        above = frames[-1]
        opened = self.opened[len(frames) - 1 :]
        box = self.number_boxes(above[0], len(opened))
        for node in opened:
            _, tag, regions, above_bits, _, far, shape, row, cell = above
            number = node.tag_id
            own, region = elements.get(number, _PLAIN)
            regions |= region
            bits = 0
            attributes = node.attributes
            if attributes:
                name = attributes.get("class")
                if name:
                    bits = class_bits(name)
                if name is None or len(attributes) > 1:
                    more, region = found.marks(node, attributes)
                    bits |= more
                    regions |= region
            if tag not in _STICKY:
                tag = own
                if tag in _STRUCTURAL:
                    if tag == _ROW:
                        row = box
                    elif tag == _CELL:
                        cell = box
                    else:
                        self.item_pending = 1
            above = (box, tag, regions, bits, bits | above_bits, bits | far, hash((shape, number, bits)), row, cell)
            frames.append(above)
            box += 1
        return above

    def number_boxes(self, parent: int, many: int) -> int:
        """Number new boxes, each inside the one before. Returns the first number."""
        first = len(self.box_parents)
        self.box_parents.append(parent)
        self.box_parents += range(first, first + many - 1)
        self.box_starts += [len(self.texts)] * many
        self.box_ends += [0] * many
        return first

    def close(self) -> None:
        """A block element ends that holds text, or text that is not yet a block."""
        opened, frames = self.opened, self.frames
        depth = len(opened)
        if self.parts:
            if self.pre and depth > self.pre:
                self.parts.append(_BREAK)
            else:
                self.flush()
        if depth == self.pre:
            self.pre = 0
        if len(frames) > depth:
            box, tag, _, _, _, _, shape, _, _ = frames.pop()
            if tag == _ROW:
                self.end_row(box, shape)
            self.box_ends[box] = len(self.texts)
        opened.pop()

    def interrupt(self) -> None:
        """A block element begins while a block is running: it ends, or inside <pre> its line does."""
        if self.pre:
            self.parts.append(_BREAK)
        else:
            self.flush()

    def open_pre(self, node: LexborNode) -> None:
        """White space counts from here on."""
        self.opened.append(node)
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
            text = raw.strip()
            # Printable text has no white space but the plain one; most is tidy already.
            if not text.isprintable() or "  " in text:
                text = " ".join(text.split())
        if text:
            frame = self.frames[-1] if len(self.frames) > len(self.opened) else self.resolve()
            box, tag, regions, _, near, far, shape, row, cell = frame
            self.texts.append(text)
            links, images, item, depth = self.link_count, self.image_count, self.item_pending, len(self.opened)
            if self.found.link is not None:
                regions |= _LINK_REGION
            self.facts += (tag, self.link_chars, links, images, regions, near, far, depth, box, shape, item, row, cell)
            self.image_count = self.item_pending = 0
        self.link_chars = self.link_count = 0

    def open_link(self, node: LexborNode) -> None:
        """A link begins inside the running block."""
        self.found.open_link(node)
        self.link_count += 1

    def link_text(self, text: str) -> None:
        """Text inside the open link."""
        self.link_chars += len(text.strip())
        if self.found.anchors:
            self.found.link_parts.append(text)

    def image(self, node: LexborNode) -> None:
        """An image stands before the next block."""
        self.image_count += 1
        self.found.image(node, len(self.texts))

    def end_row(self, box: int, shape: int) -> None:
        """Make one block of a table row of data: of single, short cells. Rows made for layout stay as they are."""
        start = self.box_starts[box]
        texts, facts = self.texts, self.facts
        cells = texts[start:]
        if len(cells) < 2 or max(map(len, cells)) > _LONGEST_CELL:
            return
        first = start * _FACTS
        rows = facts[first + Fact.ROW :: _FACTS]
        if len(set(facts[first + Fact.CELL :: _FACTS])) < len(cells) or rows.count(box) < len(cells):
            return
        merged = facts[first : first + _FACTS]
        for fact in (Fact.LINK_CHARS, Fact.LINKS, Fact.IMAGES):
            merged[fact] = sum(facts[first + fact :: _FACTS])
        merged[Fact.TAG], merged[Fact.BOX], merged[Fact.SHAPE], merged[Fact.CELL] = _ROW, box, shape, -1
        texts[start:] = [CELL_GAP.join(cells).replace("\n", " ")]
        facts[first:] = merged
        inner = len(self.box_starts) - box - 1
        self.box_starts[box + 1 :] = [start] * inner
        self.box_ends[box + 1 :] = [start + 1] * inner

    def line(self, _node: LexborNode) -> None:
        """<br>: one is a line, two in a row end the block."""
        parts = self.parts
        if not parts:
            return
        again = parts[-1] is _BREAK or (len(parts) > 1 and parts[-2] is _BREAK and parts[-1].isspace())
        if again and not self.pre:
            self.flush()
        else:
            parts.append(_BREAK)

    def furniture(self, node: LexborNode) -> None:
        """A menu or footer: a third of all blocks, and in one page of three hundred a part of the main text."""
        if self.parts:
            self.interrupt()
        self.found.furniture(node)

    def rule(self, _node: LexborNode) -> None:
        """<hr> ends the block."""
        if self.parts:
            self.flush()


def walk(tree: LexborHTMLParser, *, anchors: bool = True, whole: bool = False) -> Walk:
    """Visit every node once, in document order; menus and footers are read only when the `whole` page is asked for.

    Without `anchors`, the links of <a> and <area> are not listed.
    """
    root = tree.root
    state = Walker(anchors)
    language = ""
    if root is not None:
        language = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "").strip()
        _visit(root, state, _whole() if whole else vocabulary().actions)
    state.box_ends[0] = len(state.texts)
    found = state.found
    return Walk(
        texts=state.texts,
        facts=state.facts,
        box_parents=state.box_parents,
        box_starts=state.box_starts,
        box_ends=state.box_ends,
        links=found.links,
        metas=found.metas,
        images=found.images,
        scripts=found.scripts,
        title=found.title,
        base=found.base,
        language=language,
        item_types=found.item_types,
        script_count=found.script_count,
        furniture=found.furniture_count,
    )


def _visit(root: LexborNode, state: Walker, actions: dict[int, int]) -> None:
    """The loop. Steps from node to node itself: that gives each element's end, and what is skipped is never touched."""
    rare = _rare(state)
    parents: list[LexborNode] = []
    entered: list[int] = []  # what was done with each of them
    parts, opened, frames, found = state.parts, state.opened, state.frames, state.found
    node = root.first_child
    while node is not None:
        number = node.tag_id
        if number == _TEXT_NODE:
            if parts or state.pre or not node.is_empty_text_node:  # most are: the quickest look comes first
                text = node.text_content or ""
                if parts or state.pre or not text.isspace():
                    parts.append(text)
                    if found.link is not None:
                        state.link_text(text)
        else:
            action = actions.get(number, _BLOCK)
            if action <= _TIME:  # the last of those that are entered
                if action == _LINK:
                    state.open_link(node)
                elif action == _TIME:
                    found.time(node)
                elif action != _INLINE and parts:
                    state.interrupt()
                child = node.first_child
                if child is not None:
                    if action == _BLOCK:
                        opened.append(node)
                    elif action == _PRE:
                        state.open_pre(node)
                    parents.append(node)
                    entered.append(action)
                    node = child
                    continue
                if action == _LINK:
                    found.close_link()
            elif action in rare:
                rare[action](node)
        following = node.next
        while following is None and parents:
            node, action = parents.pop(), entered.pop()
            if action == _BLOCK and not parts and len(frames) <= len(opened):
                opened.pop()  # it held no text
            elif action in _BLOCKS:
                state.close()
            elif action == _LINK:
                found.close_link()
            following = node.next
        node = following


def _whole() -> dict[int, int]:
    """The actions with menus and footers as blocks."""
    furniture = int(Action.FURNITURE)
    return {number: action for number, action in vocabulary().actions.items() if action != furniture}


def _rare(state: Walker) -> dict[int, Callable[[LexborNode], None]]:
    """What to do with elements that are not entered."""
    return {
        int(Action.HEAD): state.found.head,
        int(Action.IMAGE): state.image,
        int(Action.FRAME): state.found.frame,
        int(Action.BREAK): state.line,
        int(Action.RULE): state.rule,
        int(Action.FURNITURE): state.furniture,
    }
