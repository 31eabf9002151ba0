"""schema.org as pages embed it: JSON-LD scripts and microdata types, brought to one small record.

In: the texts of JSON-LD scripts. Out: `SchemaItem`s. Called by `weft.parse.metadata`.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

_LARGEST = 200_000  # characters of a script; larger ones are product catalogues
_MOST = 200  # items of a page
_DEEPEST = 8
_CONTROLS = re.compile(r"[\x00-\x1f]")
_PREFIX = re.compile(r"^https?://(?:www\.)?schema\.org/", re.IGNORECASE)
_TAGS = re.compile(r"<[^>]{0,200}>")


class SchemaItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A thing the page describes; dates as written."""

    type: str
    name: str = ""
    headline: str = ""
    description: str = ""
    author: str = ""
    publisher: str = ""
    published: str = ""
    modified: str = ""
    url: str = ""


def schema_items(scripts: list[str], item_types: list[str]) -> list[SchemaItem]:
    """Items with a type, those of JSON-LD first; microdata gives only types."""
    items: list[SchemaItem] = []
    for script in scripts:
        for thing in _things(_load(script), 0):
            if len(items) >= _MOST:
                return items
            items.append(_item(thing))
    known = {item.type for item in items}
    for name in item_types[:_MOST]:
        kind = _PREFIX.sub("", name)
        if kind and kind not in known:
            known.add(kind)
            items.append(SchemaItem(kind))
    return items


def _load(script: str) -> Any:
    """JSON as pages write it: with raw line breaks in strings, in comments, cut off."""
    if len(script) > _LARGEST:
        return None
    try:
        return msgspec.json.decode(script)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    tidy = _CONTROLS.sub(" ", script).strip().removeprefix("<!--").removesuffix("-->").strip().rstrip(";")
    try:
        return msgspec.json.decode(tidy.removeprefix("//<![CDATA[").removesuffix("//]]>"))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _things(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Typed objects at the top, in lists and in @graph; not those nested as properties."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _things(part, depth + 1)
    elif isinstance(value, dict):
        if "@type" in value:
            yield value
        for name in ("@graph", "mainEntity", "itemListElement", "item"):
            if isinstance(value.get(name), list | dict):
                yield from _things(value[name], depth + 1)


def _item(thing: dict[str, Any]) -> SchemaItem:
    kind = thing["@type"]
    kinds = kind if isinstance(kind, list) else [kind]
    return SchemaItem(
        type=_PREFIX.sub("", " ".join(str(name) for name in kinds))[:100],
        name=_text(thing.get("name")),
        headline=_text(thing.get("headline")),
        description=_text(thing.get("description")),
        author=_text(thing.get("author")),
        publisher=_text(thing.get("publisher")),
        published=_text(thing.get("datePublished")),
        modified=_text(thing.get("dateModified")),
        url=_text(thing.get("url")),
    )


def _text(value: Any) -> str:
    """A string, the name of a thing, or several of them; without mark-up."""
    if isinstance(value, dict):
        value = value.get("name") or value.get("@value") or ""
    if isinstance(value, list):
        return ", ".join(filter(None, (_text(part) for part in value[:10])))
    if not isinstance(value, str):
        return ""
    return " ".join(_TAGS.sub(" ", value[:2000]).split())[:1000]
