"""Microdata: who wrote a page, when, and what it is called, as marked on its elements, inline ones too.

In: the root of a tree. Out: `RawItem`s in the page's order. Called by `weft.parse.collect`.
"""

from selectolax.lexbor import LexborNode

from weft.parse.brief import brief_text
from weft.parse.raw import RawItem

_PROPERTIES = {
    "author": "author",
    "creator": "author",
    "datepublished": "datepublished",
    "datecreated": "datecreated",
    "dateposted": "datepublished",
    "uploaddate": "datepublished",
    "datemodified": "datemodified",
    "headline": "headline",
    "name": "name",
    "description": "description",
}
_WRITTEN_OUT = frozenset({"author", "datepublished", "datecreated", "datemodified", "headline"})  # else only in <meta>
_OF_THE_PAGE = frozenset({"mainentity", "mainentityofpage", "blogpost"})  # properties whose items are no mere part
_MOST = 60  # properties looked at
_HIGHEST = 50  # elements above one among which its item is looked for


def microdata(root: LexborNode) -> list[RawItem]:
    """Items of the page itself, with the first value of each property; those of its parts are left out."""
    found: dict[int, RawItem] = {}
    looked_at = 0
    for node in root.css("[itemprop]"):
        name = known_property(node.attributes["itemprop"])
        if name is None or not (node.tag == "meta" or name in _WRITTEN_OUT):
            continue
        looked_at += 1
        if looked_at > _MOST:
            break
        item = _item(node)
        place, kind = (0, "") if item is None else (item.mem_id, _kind(item))
        if kind is not None and name not in (known := found.setdefault(place, RawItem(kind, {})).values):
            known[name] = _value(node, name)
    return list(found.values())


def known_property(written: str | None) -> str | None:
    """The first property of an itemprop that tells of the page."""
    return next((_PROPERTIES[name] for name in (written or "").lower().split() if name in _PROPERTIES), None)


def _item(node: LexborNode) -> LexborNode | None:
    """The item that a property belongs to."""
    above = node.parent
    for _ in range(_HIGHEST):
        if above is None or "itemscope" in above.attributes:
            return above
        above = above.parent
    return None


def _kind(item: LexborNode) -> str | None:
    """The type of an item; None if it is a part of another: a comment, a review, an entry of a list."""
    attributes = item.attributes
    parts = (attributes.get("itemprop") or "").lower().split()
    if parts and _OF_THE_PAGE.isdisjoint(parts):
        return None
    return " ".join((attributes.get("itemtype") or "").split()[:1])


def _value(node: LexborNode, name: str) -> str:
    attributes = node.attributes
    said = attributes.get("content") or attributes.get("datetime")
    if said or node.tag == "meta":
        return " ".join((said or "").split())
    if name == "author":
        inner = node.css_first("[itemprop=name]")
        if inner is not None:
            return inner.attributes.get("content") or brief_text(inner) or ""
    return brief_text(node) or ""
