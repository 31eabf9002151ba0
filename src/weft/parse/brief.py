"""The text of an element that holds little of it: looking at one must not get dearer by what a page puts into it.

In: an element. Out: its text, on one line. Called by `weft.parse.collect`, `inline` and `microdata`.
"""

from selectolax.lexbor import LexborNode

_TEXT_NODE = 2
_LONGEST = 300  # characters
_LONGEST_RAW = 2_000  # with the white space of its source
_INSIDE = 60  # nodes that are looked at


def brief_text(node: LexborNode) -> str | None:
    """None for an element that holds much."""
    parts: list[str] = []
    size = 0
    for looked_at, inner in enumerate(node.traverse(include_text=True), 1):
        if inner.tag_id == _TEXT_NODE:
            part = inner.text_content or ""
            size += len(part)
            parts.append(part)
        if looked_at == _INSIDE or size > _LONGEST_RAW:
            return None
    text = " ".join(" ".join(parts).split())
    return text if len(text) <= _LONGEST else None


def is_plain(node: LexborNode) -> bool:
    """Whether an element holds nothing, or text and nothing else: it need not be searched."""
    child = node.first_child
    return child is None or (child.tag_id == _TEXT_NODE and child.next is None)
