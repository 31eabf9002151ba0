"""What a page says about itself: title, author, dates, Open Graph, schema.org.

In: a `Walk` and the page's URL. Out: `Metadata`. Called by `weft.parse.text`.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from urllib.parse import urljoin

import msgspec

from weft.parse import language
from weft.parse.bylines import author, joined
from weft.parse.dates import parse_date
from weft.parse.declarations import (
    AUTHORS,
    CITED_AUTHOR,
    DATED,
    DESCRIPTIONS,
    KNOWN,
    LANGUAGES,
    MODIFIED,
    OPEN_GRAPH,
    PUBLISHED,
    SITES,
    TITLES,
)
from weft.parse.markup import unescaped
from weft.parse.schema import SchemaItem, microdata_speakers, schema, types_only
from weft.parse.tidy import composed, tidy
from weft.parse.titles import only_heading, without_sites
from weft.parse.vocabulary import Tag
from weft.parse.walk import Fact, Trait, Walk

_LONGEST = 1000  # characters of any one value
_LONGEST_URL = 2048  # characters: part of an address is another address
_MOST = 100  # values of any one kind
_MOST_HEADINGS = 5  # the first may be the site's name or a menu's
_FEW = 3  # dates or names of authors; more stand in a list of posts, and none of them is the page's


class Metadata(msgspec.Struct, frozen=True):
    """Empty strings, None and empty tuples mean that the page does not say."""

    title: str = ""
    description: str = ""
    site_name: str = ""
    author: str = ""
    published: datetime | None = None
    modified: datetime | None = None
    canonical: str = ""
    schema: tuple[SchemaItem, ...] = ()
    open_graph: tuple[tuple[str, str], ...] = ()


def metadata(walk: Walk, url: str | None) -> Metadata:
    """Everything the page declares; where several sources speak, the more specific one wins."""
    named: dict[str, str] = {}
    for meta in walk.metas:
        if meta.name in KNOWN and meta.name not in named and _cut(meta.content):
            named[meta.name] = meta.content
    if CITED_AUTHOR in named:
        named[CITED_AUTHOR] = joined([meta.content for meta in walk.metas if meta.name == CITED_AUTHOR])
    titles = " ".join([*_all(named, TITLES), walk.title])
    described = schema(walk.scripts, titles)
    things, marked = described.speakers, microdata_speakers(walk.items, titles)
    sites = [*_all(named, SITES), described.site]
    names = [thing.author for thing in things] + _all(named, AUTHORS) + [thing.author for thing in marked]
    return Metadata(
        title=only_heading(_title(walk, named, things, marked, sites), _headings(walk), url or ""),
        description=_first([*_all(named, DESCRIPTIONS), *(thing.description for thing in things + marked)]),
        site_name=_first(sites),
        author=_cut(author(names + _few(walk.profiles))),
        published=_published(walk, named, things, marked),
        modified=_date([*_all(named, MODIFIED), *(thing.modified for thing in things + marked)]),
        canonical=_canonical(walk, url),
        schema=tuple((described.items + types_only(walk.item_types, described.items))[:_MOST]),
        open_graph=tuple((meta.name, _cut(meta.content)) for meta in walk.metas if meta.name.startswith(OPEN_GRAPH))[
            :_MOST
        ],
    )


def first_heading(walk: Walk) -> str:
    """The first <h1>, main text or not: what a page is called that names no title."""
    return next(_headings(walk), "")


def _headings(walk: Walk) -> Iterator[str]:
    """The first <h1>s of the page. Often there is none, and its places, of which there are few, tell so."""
    highest = {number for number, place in enumerate(walk.places) if place[Trait.TAG] == Tag.H1}
    if highest:
        numbers = walk.facts[Fact.PLACE :: len(Fact)]
        found = (text for text, place in zip(walk.texts, numbers, strict=True) if place in highest)
        yield from map(_cut, islice(found, _MOST_HEADINGS))


def declared_language(walk: Walk) -> str:
    """The language of <html lang>, or else of what other declarations name one."""
    named = (meta.content for name in LANGUAGES for meta in walk.metas if meta.name == name)
    return next(filter(None, map(language.declared, (walk.language, *named))), "")


def _title(
    walk: Walk, named: dict[str, str], things: list[SchemaItem], marked: list[SchemaItem], sites: list[str]
) -> str:
    """Microdata speaks last: it marks up the headings of any part of a page."""
    said = [*_all(named, TITLES), *(thing.headline for thing in things), walk.title]
    said += [thing.headline or thing.name for thing in marked]
    return without_sites(_first(said), [_cut(site) for site in dict.fromkeys(sites) if site])


def _all(named: dict[str, str], names: tuple[str, ...]) -> list[str]:
    return [" ".join(named[name].split()) for name in names if named.get(name)]


def _first(values: Iterable[str]) -> str:
    """The first that says anything."""
    return next(filter(None, map(_cut, values)), "")


def _cut(value: str) -> str:
    """The value as it is meant to be read, at most so long."""
    value = tidy(unescaped(value[: 4 * _LONGEST]), pre=0)[:_LONGEST]
    return value if value.isascii() else composed(value)


def _few(names: list[str]) -> list[str]:
    """These names, unless they are those of many people."""
    return names if len(set(names)) <= _FEW else []


def _times(walk: Walk) -> list[str]:
    """The first <time> of the page, when there are few: lists of posts have one for each."""
    times = [meta.content for meta in walk.metas if meta.name == "time"]
    return times[:1] if len(times) <= _FEW else []


def _published(
    walk: Walk, named: dict[str, str], things: list[SchemaItem], marked: list[SchemaItem]
) -> datetime | None:
    said = _all(named, PUBLISHED) + [thing.published for thing in things] + _all(named, DATED)
    return _date(said + [thing.published for thing in marked] + _times(walk))


def _date(said: list[str]) -> datetime | None:
    """The first that is a date."""
    return next((date for date in map(parse_date, filter(None, said)) if date is not None), None)


def _canonical(walk: Walk, url: str | None) -> str:
    """The first address of the web that the page prefers to its own."""
    for link in walk.links:
        if link.tag == "link" and "canonical" in (rel := link.rel.lower()) and "canonical" in rel.split():
            try:
                target = urljoin(urljoin(url or "", walk.base), link.href.strip())
            except ValueError:
                continue
            if target.startswith(("http://", "https://")) and len(target) <= _LONGEST_URL:
                return target
    return ""
