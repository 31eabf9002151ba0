"""What stands in a line of text: whether it is a word of it, and how it is read: formulas are TeX, some words unseen.

In: an element, its attributes, those it stands in. Out: how to read it. Called by `weft.parse.walk`.
"""

from enum import IntEnum

from selectolax.lexbor import LexborNode

from weft.parse.brief import brief_text, is_plain
from weft.parse.vocabulary import STANDARD, Action, vocabulary

_INLINE, _TEXT_NODE = int(Action.INLINE), 2
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# Elements that a style may set apart from each other; not those that make up a word: <sub>, <sup>, <wbr>.
_STYLED = frozenset(
    [
        "a",
        "abbr",
        "b",
        "big",
        "cite",
        "data",
        "em",
        "font",
        "i",
        "ins",
        "label",
        "mark",
        "s",
        "small",
        "span",
        "strong",
        "u",
    ]
)
_CODE = frozenset({"code", "kbd", "samp", "tt", "var"})
QUESTION_MARKS = ("?", "？", "؟")
_NEAR = 6  # elements above one among which code is looked for
_LEADING = 4  # elements into which the first letter of one is looked for
_UNSEEN = frozenset(
    [
        "sr-only",
        "visually-hidden",
        "visuallyhidden",
        "screen-reader-text",
        "screen-reader-only",
        "screenreader",
        "a-offscreen",
        "offscreen",
        "u-visually-hidden",
        "sr-text",
        "katex-html",
        "mathjax_preview",
        "mw-editsection",
    ]
)
# Around <math> and the glyphs drawn for it: KaTeX, MathJax, MediaWiki.
_FORMULAS = frozenset(["katex", "katex-display", "mathjax", "mathjax_display", "mjx-chtml", "mwe-math-element"])
# Of numbers of lines inside code: Pygments, Chroma, Rouge, Prism and others.
_NUMBERS = frozenset(
    ["linenos", "lineno", "linenumber", "line-number", "line-numbers", "ln", "lnt", "lnum", "hljs-ln-numbers", "gutter"]
)
_CACHED = 1 << 14
_REMARK = 200  # characters
_DISPLAY = "{\\displaystyle "


class Sense(IntEnum):
    """How an inline element is read."""

    TEXT = 0
    UNSEEN = 1
    FORMULA = 2
    NUMBER = 3  # of a line of code: left out inside <pre>


class _Senses(dict[str | None, Sense]):
    """By class attribute, worked out when first asked for."""

    def __missing__(self, attribute: str | None) -> Sense:
        names = (attribute or "").lower().split()
        sense = Sense.TEXT
        if not _UNSEEN.isdisjoint(names):
            sense = Sense.UNSEEN
        elif not _FORMULAS.isdisjoint(names):
            sense = Sense.FORMULA
        elif not _NUMBERS.isdisjoint(names):
            sense = Sense.NUMBER
        if len(self) >= _CACHED:
            self.clear()
        self[attribute] = sense
        return sense


SENSES = _Senses()


def is_not_displayed(style: str | None) -> bool:
    """Whether a style attribute hides its element."""
    return style is not None and "display:none" in "".join(style.lower().split())


def has_sense(attributes: dict[str, str | None]) -> bool:
    """Whether these attributes may say how to read an element: most have no more than a class that says nothing."""
    style = attributes.get("style")
    return bool(SENSES[attributes.get("class")] or "hidden" in attributes or (style and "none" in style))


def sense(attributes: dict[str, str | None]) -> Sense:
    """How an element with these attributes is read."""
    if "hidden" in attributes or is_not_displayed(attributes.get("style")):
        return Sense.UNSEEN
    return SENSES[attributes.get("class")]


def is_remark(node: LexborNode) -> bool:
    """Whether an element that nobody sees is a word or two; text that scripts are to show is longer."""
    return len(node.text()) <= _REMARK


def _shown(math: LexborNode) -> LexborNode:
    """What is shown of a formula; the rest of <semantics> says it in other notations."""
    semantics = None if is_plain(math) else math.css_first("semantics")
    return math if semantics is None else next(semantics.iter(), math)


def formula(node: LexborNode) -> str:
    """The formula in an element as its author wrote it, in TeX if there is any; empty if there is no formula."""
    math = node if node.tag == "math" else node.css_first("math")
    if math is None:
        return ""
    source = None if is_plain(math) else math.css_first('annotation[encoding="application/x-tex"]')
    written = (source.text() if source is not None else math.attributes.get("alttext")) or _shown(math).text()
    written = " ".join(written.split())
    if written.startswith(_DISPLAY) and written.endswith("}"):
        written = written[len(_DISPLAY) : -1].strip()
    return written


def is_gutter(node: LexborNode) -> bool:
    """Whether a block inside code holds the numbers of its lines."""
    return SENSES[node.attributes.get("class")] is Sense.NUMBER


def is_in_heading(above: list[LexborNode]) -> bool:
    """Whether one of the nearest elements is a heading."""
    return any(node.tag in _HEADINGS for node in above[-3:])


def is_question(button: LexborNode) -> bool:
    """Whether a button opens the answer to what it says."""
    if "aria-expanded" not in button.attributes and not _holds_heading(button):
        return False
    return (brief_text(button) or "").endswith(QUESTION_MARKS)


def _holds_heading(node: LexborNode) -> bool:
    """Whether a heading is the first element inside."""
    child = node.first_child
    if child is not None and child.tag_id == _TEXT_NODE:
        child = child.next
    return child is not None and child.tag in _HEADINGS


def in_sentence(node: LexborNode, above: list[LexborNode], done: list[int], parts: list[str]) -> bool:
    """Whether an element that the page made up, <noscript> or <cite> is words of the sentence it stands in.

    <noscript> is when it has no words of its own, <cite> where it does not name who is quoted.
    """
    if not above:
        return False
    if node.tag == "cite":
        return not (above[-1].tag == "blockquote" or [inner.tag for inner in above[-2:]] == ["blockquote", "div"])
    parent = above[-1].tag_id
    known = vocabulary()
    if parent not in known.sentences and not (parent > STANDARD and done[-1] == _INLINE):
        beside = bool(parts) + _is_followed_by_text(node)
        if beside < (1 if parent in known.phrases else 2):
            return False
    return node.tag_id > STANDARD or brief_text(node) == ""


def _is_followed_by_text(node: LexborNode) -> bool:
    beside = node.next
    return beside is not None and beside.tag_id == _TEXT_NODE and not (beside.text_content or "").isspace()


def stands_apart(node: LexborNode, above: list[LexborNode], said: str) -> bool:
    """Whether only style sets an inline element apart from the one before it: a name and an office, a price and a note.

    Counted on real pages where text and reference disagree: of 275 such places one is a single word.
    """
    before = node.prev
    if before is None or before.tag not in _STYLED or node.tag not in _STYLED or len(said.strip()) == 1:
        return False
    last, first = said[-1], _first_letter(node)
    grows = last.islower() and first.isupper()
    if not grows and not (last.isdigit() and _has_case(first)) and not (_has_case(last) and first.isdigit()):
        return False
    if not _CODE.isdisjoint([inner.tag for inner in above[-_NEAR:]]):
        return False
    own, other = node.attributes.get("class"), before.attributes.get("class")
    return bool(own or other or node.tag == "a") if grows else bool(own or other) and own != other


def _has_case(character: str) -> bool:
    return character.islower() or character.isupper()


def _first_letter(node: LexborNode) -> str:
    """The character that an element begins with, if it does not lie deep."""
    inner: LexborNode | None = node
    for _ in range(_LEADING):
        if inner is None:
            break
        if inner.tag_id == _TEXT_NODE:
            return (inner.text_content or "")[:1]
        inner = inner.first_child
    return ""
