"""One walk over the Lexbor tree of a page: text blocks for the extractor, and everything links and metadata need.

In: a parsed tree. Out: a `Walk`. Called by `weft.parse.reading`; nothing else traverses the tree.
"""

from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser, LexborNode

from weft.parse.collect import MOST_LOOKS, Attributes, Collection
from weft.parse.inline import (
    Sense,
    formula,
    has_sense,
    in_sentence,
    is_gutter,
    is_in_heading,
    is_question,
    is_remark,
    sense,
    stands_apart,
)
from weft.parse.places import Places
from weft.parse.raw import Fact, RawImage, RawLink, RawMeta, Trait, Walk, Wanted
from weft.parse.rows import MOST_CELLS, Rows
from weft.parse.tidy import BREAK, tidy
from weft.parse.vocabulary import Action, actions_of, region_bit, vocabulary

__all__ = ["Fact", "RawImage", "RawLink", "RawMeta", "Trait", "Walk", "Wanted", "walk"]

_TEXT_NODE = 2
# Plain integers: looking up an enum's member costs as much as the rest of a node's share.
_BLOCK, _INLINE, _LINK, _TIME = map(int, (Action.BLOCK, Action.INLINE, Action.LINK, Action.TIME))
_PRE, _ROW, _SKIP = map(int, (Action.PRE, Action.ROW, Action.SKIP))
_META, _SCRIPT = int(Action.META), int(Action.SCRIPT)
_RELATION, _HEAD, _IMAGE, _FRAME = map(int, (Action.RELATION, Action.HEAD, Action.IMAGE, Action.FRAME))
_LINE, _RULE, _FURNITURE, _BUTTON = map(int, (Action.BREAK, Action.RULE, Action.FURNITURE, Action.BUTTON))
_HEADER, _CUSTOM, _FORMULA, _HIDDEN = map(int, (Action.HEADER, Action.CUSTOM, Action.FORMULA, Action.HIDDEN))
_PLACE, _BOX, _LENGTH = int(Fact.PLACE), int(Fact.BOX), int(Fact.LENGTH)
_REGIONS, _CODE = int(Trait.REGIONS), region_bit("pre")
_SUMMED = (int(Fact.LINK_CHARS), int(Fact.LINKS), int(Fact.IMAGES))
_FACTS = len(Fact)
_LINE_ENDS = ("\n", BREAK)
_PARTS = frozenset({"article", "main", "section", "header"})
_NEAR = 16  # elements above a <header> among which a part of the page is looked for: no page may make it many
_ANCHORS = frozenset("#¶§🔗")
_MOST_FORMULAS = 20_000  # that are searched for their TeX
_LONGEST_CELL = 200  # characters: longer cells are layout, not data


class Walker:
    """The state of a walk. Elements are `entered`; block elements that turn out to hold text become boxes, root first.

    So wrappers of icons and images cost next to nothing. Inline elements belong to the block they stand in.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.inline = vocabulary().inline
        self.places = Places()
        self.entered: list[LexborNode] = []
        self.done: list[int] = []  # what was done with each that was entered
        self.boxes = [0]  # the page's, then those of `entered`, as far as these are known to hold text
        self.texts: list[str] = []
        self.facts: list[int] = []
        self.box_parents, self.box_starts, self.box_ends, self.box_places = [0], [0], [0], [0]
        self.parts: list[str] = []
        self.pre = 0  # how many elements were entered up to the <pre> we are in
        self.link_chars = self.links = self.images = 0  # of the running block
        self.item_pending = self.formulas = 0
        self.looked_into: tuple[int, LexborNode | None] = (0, None)  # how many elements above, and the element
        self.rows = Rows()
        self.found = Collection(wanted)

    def open(self, node: LexborNode, action: int) -> tuple[int, int]:
        """A <time> begins, a table row, a <pre> or a custom element: what it is taken for, and `pre` inside it."""
        if action == _TIME:
            self.found.time(node)
            return action, self.pre
        if action == _CUSTOM:
            if in_sentence(node, self.entered, self.done, self.parts):
                return _INLINE, self.pre
            action = _BLOCK
        if self.parts:
            self.interrupt()
        if action == _ROW and node.first_child is None:
            self.rows.pass_over(node)
        if action == _PRE and not self.pre and node.first_child is not None:
            self.pre = len(self.entered) + 1
        return action, self.pre

    def close(self, action: int) -> int:
        """A table row ends, or a <pre>: `pre` after it."""
        depth, box = len(self.entered), self.boxes[-1]
        outermost = depth == self.pre
        if self.parts:
            self.flush() if outermost else self.interrupt()
        if outermost:
            self.pre = 0
        if action == _ROW:
            row = self.entered[-1]
            has_text = len(self.boxes) > depth and self.box_places[box] in self.places.rows
            if not (has_text and self.end_row(row, box)):
                self.rows.pass_over(row)
        return self.pre

    def link_text(self, text: str) -> None:
        """Text inside a link; the sign of one to the heading that it stands in is not read."""
        said = text.strip()
        if said in _ANCHORS and self.found.leads_inside() and is_in_heading(self.entered):
            self.parts.pop()
        else:
            self.link_chars += len(said)
        self.found.link_parts.append(text)

    def inside(self, node: LexborNode, attributes: Attributes, child: LexborNode | None) -> LexborNode | None:
        """The first child of an inline element that is read as it stands."""
        how = sense(attributes)
        if how is Sense.TEXT or self.is_looked_into():
            return child
        if how is Sense.NUMBER:
            return self.gutter(node) if self.pre else child
        if how is Sense.FORMULA and (written := formula(node)):
            self.formula(written)
            return None
        if how is Sense.UNSEEN and is_remark(node):
            self.found.passed_over(node)
            return None
        self.looked_into = (len(self.entered), node)
        return child

    def gutter(self, node: LexborNode) -> LexborNode | None:
        """Numbers of lines are not read; what they lead to is: no child is entered."""
        self.found.followed(node)
        return None

    def is_looked_into(self) -> bool:
        """Whether an element that we are in was searched whole: searching those inside it, too, would be quadratic."""
        depth, node = self.looked_into
        return len(self.entered) > depth and self.entered[depth] is node

    def set_apart(self, node: LexborNode) -> None:
        """What an inline element says is a word of its own where only its style sets it apart."""
        if stands_apart(node, self.entered, self.parts[-1]):
            self.parts.append(" ")
            if self.found.link is not None:
                self.found.link_parts.append(" ")

    def math(self, node: LexborNode) -> None:
        """<math> is a word of its sentence."""
        self.formulas += 1
        self.formula(formula(node) if self.formulas <= _MOST_FORMULAS else node.text())

    def formula(self, written: str) -> None:
        """What a formula says belongs to the link that it stands in, too."""
        self.parts.append(written)
        if self.found.link is not None:
            self.found.link_parts.append(written)

    def interrupt(self) -> None:
        """A block element begins or ends while a block is running: so does that, or inside <pre> its line."""
        if self.pre:
            if not self.parts[-1].endswith(_LINE_ENDS):
                self.parts.append("\n")
        else:
            self.flush()

    def flush(self) -> None:
        """The running block ends. If it holds text, so does all that is entered: boxes are made of that."""
        parts = self.parts
        text = tidy(parts[0] if len(parts) == 1 else "".join(parts), self.pre)
        parts.clear()
        if text:
            texts, boxes, box_places, places = self.texts, self.boxes, self.box_places, self.places
            start, box = len(texts), boxes[-1]
            place = box_places[box]
            for node in self.entered[len(boxes) - 1 :]:
                element = node.tag_id
                if element not in self.inline:
                    attributes = node.attributes
                    name = attributes.pop("class", None)
                    marks = self.found.marks(attributes) if attributes else None
                    step = (place, element, name, marks)
                    place = places.steps.get(step) or places.take(step)
                    if place in places.items:
                        self.item_pending = 1
                    self.box_parents.append(box)
                    box = len(box_places)
                    box_places.append(place)
                    self.box_starts.append(start)
                    self.box_ends.append(start)
                boxes.append(box)
            if self.found.link is not None:
                place = places.linked(place)
            texts.append(text)
            self.facts += (place, box, len(text), self.link_chars, self.links, self.images, self.item_pending)
            self.images = self.item_pending = 0
        self.link_chars = self.links = 0

    def image(self, node: LexborNode) -> None:
        """An image stands before the next block."""
        self.images += 1
        self.found.image(node, len(self.texts))

    def end_row(self, row: LexborNode, box: int) -> bool:
        """Make one block of a table row of data: of single, short cells. Rows made for layout stay as they are."""
        start = self.box_starts[box]
        texts, facts = self.texts, self.facts
        if len(texts) - start > MOST_CELLS:
            return False
        cells = texts[start:]
        if (len(cells) < 2 and not self.rows.reach_into(row)) or max(map(len, cells)) > _LONGEST_CELL:
            return False
        first = start * _FACTS
        if not self.are_cells(facts[first + _BOX :: _FACTS], box):
            return False
        merged = facts[first : first + _FACTS]
        for fact in _SUMMED:
            merged[fact] = sum(facts[first + fact :: _FACTS])
        merged[_PLACE], merged[_BOX] = self.places.row(merged[_PLACE], self.box_places[box]), box
        texts[start:] = [self.rows.text(row, cells)]
        merged[_LENGTH] = len(texts[start])
        facts[first:] = merged
        inner = len(self.box_starts) - box - 1
        self.box_starts[box + 1 :] = [start] * inner
        self.box_ends[box + 1 :] = [start + 1] * inner
        return True

    def are_cells(self, boxes: list[int], row: int) -> bool:
        """Whether the blocks in these boxes lie each in a cell of its own, and in no row inside this one."""
        parents, places, rows = self.box_parents, self.box_places, self.places.rows
        cells = set()
        for box in boxes:
            if self.places.all[places[box]][_REGIONS] & _CODE:
                return False  # lines of code, and perhaps their numbers
            while box != row and parents[box] != row:
                if places[box] in rows:
                    return False
                box = parents[box]
            cells.add(box)
        return len(cells) == len(boxes)

    def line(self, _node: LexborNode) -> None:
        """<br>: one is a line, two in a row end the block."""
        parts = self.parts
        if not parts:
            return
        again = parts[-1] is BREAK or (len(parts) > 1 and parts[-2] is BREAK and parts[-1].isspace())
        if again and not self.pre:
            self.flush()
        else:
            parts.append(BREAK)

    def furniture(self, node: LexborNode) -> None:
        """A menu, footer, dialog or site's header: a third of all blocks, and next to none of the main text."""
        if self.parts:
            self.interrupt()
        self.found.furniture(node)

    def button(self, node: LexborNode) -> LexborNode | None:
        """A button's words are no text, except in a heading, where they name the part that it opens, and questions."""
        if is_in_heading(self.entered):
            self.parts.append(node.text())
        elif is_question(node):
            if self.parts:
                self.interrupt()
            return node.first_child
        self.found.passed_over(node)
        return None

    def header(self, node: LexborNode) -> LexborNode | None:
        """A site's header is furniture; one with title or date, or of a part of the page, is read: its first child."""
        alone = _PARTS.isdisjoint([above.tag for above in self.entered[-_NEAR:]])
        if alone and (self.found.furniture_count > MOST_LOOKS or node.css_first("h1,time") is None):
            self.furniture(node)
            return None
        if self.parts:
            self.interrupt()
        return node.first_child

    def rule(self, _node: LexborNode) -> None:
        """<hr> ends the block."""
        if self.parts:
            self.flush()


def walk(tree: LexborHTMLParser, wanted: Wanted = Wanted.LINKS, *, whole: bool = False) -> Walk:
    """Visit every node once, in document order; furniture is read only when the `whole` page is asked for."""
    root = tree.root
    state = Walker(wanted)
    language = ""
    if root is not None:
        language = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "").strip()
        actions = actions_of(wanted is Wanted.TEXT, whole)
        _visit(root.first_child, state, actions)
        state.found.finish(root)
    state.box_ends[0] = len(state.texts)
    found = state.found
    return Walk(
        texts=state.texts,
        facts=state.facts,
        places=state.places.all,
        data_rows=state.places.data_rows,
        box_parents=state.box_parents,
        box_starts=state.box_starts,
        box_ends=state.box_ends,
        box_places=state.box_places,
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
        items=found.items,
        profiles=found.profiles,
    )


def _visit(node: LexborNode | None, state: Walker, actions: dict[int, int]) -> None:
    """The loop. Steps from node to node itself: that gives each element's end, and what is skipped is never touched."""
    rare, found, boxes, ends = _rare(state), state.found, state.boxes, state.box_ends
    entered, done, parts, texts = state.entered, state.done, state.parts, state.texts
    pre = 0  # as in the state, where `open` and `close` change it
    while node is not None:
        if (number := node.tag_id) == _TEXT_NODE:
            if parts or pre or not node.is_empty_text_node:  # most are: the quickest look comes first
                text = node.text_content or ""
                if parts or pre or not text.isspace():
                    parts.append(text)
                    if found.link is not None:
                        state.link_text(text)
        else:
            action = actions[number]
            if action > _CUSTOM:  # the last of those that are entered
                child = None if action == _SKIP else rare[action](node)
            else:
                child = node.first_child
                if action == _BLOCK:
                    if parts:
                        state.interrupt()
                    child = state.gutter(node) if pre and is_gutter(node) else child
                elif action <= _LINK:
                    if parts and not pre and parts[-1][-1:].isalnum():
                        state.set_apart(node)
                    if action == _LINK:
                        found.open_link(node, empty=child is None)
                        state.links += 1
                    elif (attributes := node.attributes) and has_sense(attributes):
                        child = state.inside(node, attributes, child)
                else:
                    action, pre = state.open(node, action)
            if child is not None:
                entered.append(node)
                done.append(action)
                node = child
                continue
        node = node.next
        while node is None and entered:
            action = done.pop()
            if action == _BLOCK and parts:
                state.interrupt() if pre else state.flush()
            elif action == _LINK:
                found.close_link()
            elif action > _TIME:
                pre = state.close(action)
            if len(boxes) > len(entered):
                ends[boxes.pop()] = len(texts)
            node = entered.pop().next


def _rare(state: Walker) -> dict[int, Callable[[LexborNode], LexborNode | None]]:
    """What to do with elements that are not entered; a header that is, after all, gives its first child."""
    found = state.found
    return {
        _META: found.meta,
        _SCRIPT: found.script,
        _RELATION: found.relation,
        _HEAD: found.head,
        _IMAGE: state.image,
        _FRAME: found.frame,
        _LINE: state.line,
        _RULE: state.rule,
        _FURNITURE: state.furniture,
        _BUTTON: state.button,
        _HEADER: state.header,
        _FORMULA: state.math,
        _HIDDEN: found.hidden,
    }
