"""What stands in a line of text and is not read like it: formulas, which are TeX, and words that nobody sees.

In: an inline element, its attributes. Out: how to read it. Called by `weft.parse.walk`.
"""

from enum import IntEnum

from selectolax.lexbor import LexborNode

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
_CACHED = 1 << 14
_REMARK = 200  # characters
_DISPLAY = "{\\displaystyle "


class Sense(IntEnum):
    """How an inline element is read."""

    TEXT = 0
    UNSEEN = 1
    FORMULA = 2


class _Senses(dict[str | None, Sense]):
    """By class attribute, worked out when first asked for."""

    def __missing__(self, attribute: str | None) -> Sense:
        names = (attribute or "").lower().split()
        sense = Sense.TEXT
        if not _UNSEEN.isdisjoint(names):
            sense = Sense.UNSEEN
        elif not _FORMULAS.isdisjoint(names):
            sense = Sense.FORMULA
        if len(self) >= _CACHED:
            self.clear()
        self[attribute] = sense
        return sense


SENSES = _Senses()


def is_not_displayed(style: str | None) -> bool:
    """Whether a style attribute hides its element."""
    return style is not None and "display:none" in "".join(style.lower().split())


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
    semantics = math.css_first("semantics")
    return math if semantics is None else next(semantics.iter(), math)


def formula(node: LexborNode) -> str:
    """The formula in an element as its author wrote it, in TeX if there is any; empty if there is no formula."""
    math = node if node.tag == "math" else node.css_first("math")
    if math is None:
        return ""
    source = math.css_first('annotation[encoding="application/x-tex"]')
    written = (source.text() if source is not None else math.attributes.get("alttext")) or _shown(math).text()
    written = " ".join(written.split())
    if written.startswith(_DISPLAY) and written.endswith("}"):
        written = written[len(_DISPLAY) : -1].strip()
    return written
