"""What a page says about itself: title, author, dates, Open Graph, schema.org.

In: a `Walk` and the page's URL. Out: `Metadata`. Called by `weft.parse.text`.
"""

import re
from datetime import datetime
from urllib.parse import urljoin

import msgspec

from weft.parse.dates import parse_date
from weft.parse.schema import SchemaItem, schema_items
from weft.parse.tidy import tidy
from weft.parse.walk import Walk

_TITLES = ("og:title", "twitter:title", "dc.title", "dcterms.title")
_DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
_SITES = ("og:site_name", "application-name", "apple-mobile-web-app-title", "dc.publisher")
_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "byl")
_PUBLISHED = (
    "article:published_time",
    "og:published_time",
    "datepublished",
    "itemprop:datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.date",
    "pubdate",
    "publishdate",
    "publish-date",
    "parsely-pub-date",
    "sailthru.date",
    "weibo: article:create_at",
)
_MODIFIED = (
    "article:modified_time",
    "og:updated_time",
    "itemprop:datemodified",
    "datemodified",
    "lastmod",
    "last-modified",
    "dcterms.modified",
)
_OPEN_GRAPH = ("og:", "article:", "product:", "book:", "profile:", "video:", "music:")
_SEPARATORS = re.compile(r"\s+[|\-–—·•»›:_]\s+|\s*[_|｜]\s*")
_LONGEST = 1000  # characters of any one value
_MOST = 100  # values of any one kind


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
        named.setdefault(meta.name, meta.content)
    items = schema_items(walk.scripts, walk.item_types)[:_MOST]
    site = _first(named, _SITES) or next((item.publisher for item in items if item.publisher), "")
    title = _first(named, _TITLES) or next((item.headline for item in items if item.headline), "")
    return Metadata(
        title=_cut(title or _without_site(walk.title, site)),
        description=_cut(_first(named, _DESCRIPTIONS) or next((i.description for i in items if i.description), "")),
        site_name=_cut(site),
        author=_cut(_author(walk, named, items)),
        published=_date(named, _PUBLISHED, [item.published for item in items] + _times(walk)),
        modified=_date(named, _MODIFIED, [item.modified for item in items]),
        canonical=_canonical(walk, url),
        schema=tuple(items),
        open_graph=tuple((meta.name, _cut(meta.content)) for meta in walk.metas if meta.name.startswith(_OPEN_GRAPH))[
            :_MOST
        ],
    )


def _first(named: dict[str, str], names: tuple[str, ...]) -> str:
    return next((" ".join(named[name].split()) for name in names if named.get(name)), "")


def _cut(value: str) -> str:
    """The value as it is meant to be read, at most so long."""
    return tidy(value, pre=0)[:_LONGEST]


def _without_site(title: str, site: str) -> str:
    """`Title | Site` without the site, when it is known; otherwise the title as it is."""
    if site:
        parts = _SEPARATORS.split(title)
        if len(parts) > 1 and parts[-1].casefold() == site.casefold():
            return title[: title.rindex(parts[-1])].rstrip(" |-–—·•»›:_｜")
    return title


def _author(walk: Walk, named: dict[str, str], items: list[SchemaItem]) -> str:
    """A name, not a profile's address."""
    candidates = [item.author for item in items]
    candidates += [" ".join(named[name].split()) for name in _AUTHORS if named.get(name)]
    candidates += [named.get("itemprop:author", "")]
    candidates += [link.text for link in walk.links if link.rel == "author"]
    return next((name for name in candidates if name and "://" not in name and len(name) <= 200), "")


def _times(walk: Walk) -> list[str]:
    """The first <time> of the page, when there are few: lists of posts have one for each."""
    times = [meta.content for meta in walk.metas if meta.name == "time"]
    return times[:1] if len(times) <= 3 else []


def _date(named: dict[str, str], names: tuple[str, ...], others: list[str]) -> datetime | None:
    for value in [*(named[name] for name in names if name in named), *others]:
        date = parse_date(value)
        if date is not None:
            return date
    return None


def _canonical(walk: Walk, url: str | None) -> str:
    href = next(
        (link.href.strip() for link in walk.links if link.tag == "link" and link.rel.lower() == "canonical"), ""
    )
    if not href:
        return ""
    try:
        return urljoin(urljoin(url or "", walk.base), href)[:2048]
    except ValueError:
        return ""
