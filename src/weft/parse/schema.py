"""schema.org as pages embed it: JSON-LD scripts and microdata, brought to one small record.

In: the texts of JSON-LD scripts, microdata items. Out: `SchemaItem`s, and which of them speak for the page. Called by
`weft.parse.metadata`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from weft.parse.jsonld import values
from weft.parse.markup import lines, unescaped, words
from weft.parse.raw import RawItem

_MOST = 200  # items of a page
_DEEPEST = 8
_LONGEST = 1000  # characters of a value
_LONGEST_TYPE = 100
_MOST_NAMES = 10  # of one property
_FEW = 3  # things that may stand beside the one a page is about; more are a list
_BODY_SCRIPTS = 2_000_000  # characters of scripts that a text is looked for in
_LONGEST_BODY = 500_000
_PREFIX = re.compile(r"^https?://(?:www\.)?schema\.org/", re.IGNORECASE)
# Types that speak for the page they stand on, the best first. All others describe a part of it, or who made it.
_SPEAKERS = (
    re.compile(r"(?:Article|Posting|Report|Recipe|HowTo|Question)$"),
    re.compile(
        r"(?:Product|ProductGroup|Event|Course|Book|Movie|Review|CreativeWork|Thesis|Chapter|Dataset|Game|Series|Episode"
        r"|Application|SoftwareSourceCode|MusicAlbum|MusicRecording)$"
    ),
    re.compile(r"Page$"),
    re.compile(r"(?:Video|Audio)Object$"),
)
_LIST = re.compile(r"FAQPage|CollectionPage|SearchResultsPage|List\b")  # what is mainly in these is many things
_POSTING = re.compile(r"(?:Posting|Question|Article)\b")


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


class _Thing(NamedTuple):
    """An object of JSON-LD with a type."""

    values: dict[str, Any]
    is_listed: bool  # an entry of a list or of questions and answers: it never speaks for the page


class Schema(msgspec.Struct, frozen=True):
    """What a page's scripts describe."""

    items: list[SchemaItem]  # in the page's order
    speakers: list[SchemaItem]  # those that may tell title, author and dates of the page, the best first
    site: str  # the name of its web site


def schema(scripts: list[str], titles: str = "") -> Schema:
    """Everything described in JSON-LD, for a page of such titles."""
    things = _all_things(scripts)
    if not things:
        return Schema([], [], "")
    # What refers to another thing gets its name as it is written: names that refer to each other would multiply.
    names = [_text(_called(thing.values), {}) for thing in things]
    known: dict[str, str] = {}
    for thing, name in zip(things, names, strict=True):
        reference = thing.values.get("@id")
        if name and isinstance(reference, str):
            known.setdefault(reference, name)
    items = [_item(thing.values, name, known) for thing, name in zip(things, names, strict=True)]
    own = [item for item, thing in zip(items, things, strict=True) if not thing.is_listed]
    speaking = _speakers(own, titles)
    sites = [item.publisher for item in speaking]
    sites += [item.name for item in own if "WebSite" in item.type.split()]
    sites += [item.publisher for item in own]
    return Schema(items, speaking, next(filter(None, sites), ""))


def microdata_speakers(found: list[RawItem], titles: str = "") -> list[SchemaItem]:
    """The same of microdata; what belongs to no item speaks last."""
    items = [
        SchemaItem(
            type=_PREFIX.sub("", item.type)[:_LONGEST_TYPE],
            name=item.values.get("name", ""),
            headline=item.values.get("headline", ""),
            description=item.values.get("description", ""),
            author=item.values.get("author", ""),
            published=item.values.get("datepublished", "") or item.values.get("datecreated", ""),
            modified=item.values.get("datemodified", ""),
        )
        for item in found
    ]
    return _speakers(items, titles) + [item for item in items if not item.type]


def types_only(item_types: list[str], known: list[SchemaItem]) -> list[SchemaItem]:
    """Microdata types that JSON-LD does not name."""
    kinds = dict.fromkeys(_PREFIX.sub("", name)[:_LONGEST_TYPE] for name in item_types[:_MOST])
    named = {item.type for item in known}
    return [SchemaItem(kind) for kind in kinds if kind and kind not in named]


def _speakers(items: list[SchemaItem], titles: str) -> list[SchemaItem]:
    """The first item of each rank, with others that are plainly the same thing; the best rank first.

    Of many things of a rank the first speaks only if the page is called like it: else the page is a list of them.
    """
    ranks: list[list[SchemaItem]] = [[] for _ in _SPEAKERS]
    for item in items:
        rank = _rank(item.type)
        if rank is not None:
            ranks[rank].append(item)
    speaking: list[SchemaItem] = []
    for peers in filter(None, ranks):
        title = _title(peers[0])
        if len({_title(item) for item in peers}) <= _FEW or (title and title.casefold() in titles.casefold()):
            speaking += [item for item in peers if _title(item) == title]
    return speaking


def speaks(kind: str) -> bool:
    """Whether items of this type, or of one of these, may speak for the page they stand on."""
    return _rank(kind[:_LONGEST_TYPE]) is not None  # what is asked is remembered


def article_body(scripts: list[str]) -> str:
    """The longest text among the items that may speak for the page, a line for each paragraph; empty if there is none.

    For pages that have next to no text of their own: it reads larger scripts than metadata is worth.
    """
    longest = ""
    for thing in _all_things(scripts, _BODY_SCRIPTS, _BODY_SCRIPTS):
        kind = _type(thing.values)
        if thing.is_listed or _rank(kind) is None:
            continue
        for name in ("articleBody", "text") if _POSTING.search(kind) else ("articleBody",):
            value = thing.values.get(name)
            if isinstance(value, str) and len(value) > len(longest):
                longest = max(longest, lines(value[:_LONGEST_BODY]), key=len)
    return longest


@lru_cache(maxsize=1024)
def _rank(kind: str) -> int | None:
    """The best rank of these types; None if none of them speaks for a page."""
    kinds = kind.split()
    return next((rank for rank, speaks in enumerate(_SPEAKERS) if any(map(speaks.search, kinds))), None)


def _title(item: SchemaItem) -> str:
    return item.headline or item.name


def _all_things(scripts: list[str], *limits: int) -> list[_Thing]:
    found: list[_Thing] = []
    for value in values(scripts, *limits):
        for thing in _things(value, 0, is_listed=False):
            if len(found) >= _MOST:
                return found
            found.append(thing)
    return found


def _things(value: Any, depth: int, *, is_listed: bool) -> Iterator[_Thing]:
    """Typed objects at the top, in lists and in @graph; not those nested as properties."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _things(part, depth + 1, is_listed=is_listed)
    elif isinstance(value, dict):
        if "@type" in value:
            yield _Thing(value, is_listed)
        for name in ("@graph", "mainEntity", "blogPost", "itemListElement", "item"):
            inner = value.get(name)
            if isinstance(inner, list | dict):
                yield from _things(inner, depth + 1, is_listed=is_listed or _lists(value, name))


def _lists(thing: dict[str, Any], name: str) -> bool:
    """Whether the things that this property holds are many, and none of them the page."""
    if name == "mainEntity":
        return bool(_LIST.search(_type(thing)))
    if name == "blogPost":
        return isinstance(thing[name], list) and len(thing[name]) > 1
    return name.startswith("item")


def _type(thing: dict[str, Any]) -> str:
    kind = thing.get("@type")
    kinds = kind if isinstance(kind, list) else [kind]
    return " ".join(_PREFIX.sub("", str(name)) for name in kinds[:_MOST_NAMES])[:_LONGEST_TYPE]


def _item(thing: dict[str, Any], name: str, known: dict[str, str]) -> SchemaItem:
    def text(name: str) -> str:
        value = thing.get(name)
        return _text(value, known) if value else ""

    return SchemaItem(
        type=_type(thing),
        name=name,
        headline=text("headline") or text("title"),
        description=text("description"),
        author=text("author") or text("creator"),
        publisher=text("publisher"),
        published=text("datePublished") or text("datePosted") or text("uploadDate") or text("dateCreated"),
        modified=text("dateModified"),
        url=text("url"),
    )


def _text(value: Any, known: dict[str, str], depth: int = 0) -> str:
    """A string, the name of a thing or of the one it refers to, or several of them, each once; without mark-up."""
    if isinstance(value, dict):
        name = _called(value)
        if not name and isinstance(reference := value.get("@id"), str):
            return known.get(reference, "")
        value = name.get("@value") if isinstance(name, dict) else name
    if isinstance(value, list) and depth < _DEEPEST:
        parts = dict.fromkeys(_text(part, known, depth + 1) for part in value[:_MOST_NAMES])
        return ", ".join(filter(None, parts))[:_LONGEST]
    if not isinstance(value, str):
        return ""
    return unescaped(words(value[: 2 * _LONGEST]))[:_LONGEST]


def _called(thing: dict[str, Any]) -> Any:
    """What a thing is called, as it is written; or what an object of JSON-LD's own stands for."""
    name = thing.get("name") or thing.get("@value") or thing.get("@list")
    if name:
        return name
    return " ".join(part for part in (thing.get("givenName"), thing.get("familyName")) if isinstance(part, str))
