"""What a page's address and declarations say of its kind: article, listing, product, discussion.

In: a `Walk` and a URL. Out: a row of numbers, all zero where nothing is said. Called by `weft.parse.features`.
"""

import re
from collections.abc import Iterator

from weft.parse.walk import Walk

# Types of schema.org, as they stand in JSON-LD and itemtype.
_TYPE_KEY = '"@type"'
_TYPE = re.compile(r'\s*:\s*\[?\s*"([^"]{1,60})"')
_SCHEMA = (
    re.compile(r"Article\b|BlogPosting"),
    re.compile(r"\bProduct\b|\bOffer"),
    re.compile(r"ItemList\b|CollectionPage|SearchResults|ProductGroup"),
    re.compile(r"DiscussionForum|QAPage|Comment\b|SocialMediaPosting"),
    re.compile(r"FAQPage|HowTo\b|Recipe\b"),
    re.compile(r"LocalBusiness|Service\b|SoftwareApplication|\bEvent\b"),
)
_LOOKED_AT = 50_000  # characters of each script
_PATH = re.compile(r"(?:[^:/?#]+:)?(?://[^/?#]*)?([^?#]*)")  # of a URL: RFC 3986, appendix B
_LONG_NUMBER = re.compile(r"\d{5,}")
_DATED = re.compile(r"/(?:19|20)\d\d[-/]?[01]?\d")
_PAGE_NAME = re.compile(r"\.(?:s?html?|aspx?|php|jsp|cms|ece)$", re.IGNORECASE)
_WORD_GAP = re.compile(r"[-_+]|%20")
_LISTING_PATH = re.compile(
    r"/(?:category|categories|tags?|topics?|collections?|archive|search|list|directory|c|index)(?:/|$)"
)
_DISCUSSION_PATH = re.compile(
    r"/(?:t|threads?|topics?|questions?|forums?|viewtopic|showthread|discussions?|comments?|r)(?:/|\b)"
)
_PRODUCT_PATH = re.compile(r"/(?:products?|p|dp|itm|item|shop|store)/")
_ARTICLE_PATH = re.compile(r"/(?:articles?|news|story|stories|blog|posts?|entry|detail|a|wiki|docs?)(?:/|\b)")
_PATHS = (_LISTING_PATH, _DISCUSSION_PATH, _PRODUCT_PATH, _ARTICLE_PATH)
HINTS = 4 + len(_SCHEMA) + 8 + len(_PATHS)


def hints(walk: Walk, url: str | None) -> list[float]:
    """One number per hint."""
    return [*_open_graph(walk), *_schema(walk), *_address(url)]


def _open_graph(walk: Walk) -> list[float]:
    names = {meta.name for meta in walk.metas}
    kinds = {meta.content.lower() for meta in walk.metas if meta.name == "og:type"} if "og:type" in names else set()
    dated = not names.isdisjoint(("article:published_time", "itemprop:datepublished"))
    return ["article" in kinds, "website" in kinds, any("product" in kind for kind in kinds), dated]


def _schema(walk: Walk) -> list[float]:
    if not walk.scripts and not walk.item_types:
        return [0.0] * len(_SCHEMA)
    types = {name for script in walk.scripts for name in _types(script)}
    declared = " ".join(types.union(walk.item_types))
    return [bool(kind.search(declared)) for kind in _SCHEMA]


def _types(script: str) -> Iterator[str]:
    """Values of "@type", found without parsing: plain search is several times faster than an expression's."""
    place = script.find(_TYPE_KEY, 0, _LOOKED_AT)
    while place >= 0:
        place += len(_TYPE_KEY)
        match = _TYPE.match(script, place)
        if match:
            yield match[1]
        place = script.find(_TYPE_KEY, place, _LOOKED_AT)


def _address(url: str | None) -> list[float]:
    """Slugs and numbers make articles, short paths make listings."""
    match = _PATH.match(url or "")
    path = match[1] if match else ""
    if not path:
        return [0.0] * (8 + len(_PATHS))
    parts = [part for part in path.split("/") if part]
    lowered = path.lower()
    last = parts[-1] if parts else ""
    return [
        1.0,
        not parts,
        min(len(parts), 6) / 3,
        min(len(_WORD_GAP.split(last)), 10) / 5,
        min(len(last), 80) / 40,
        bool(_LONG_NUMBER.search(path)),
        bool(_DATED.search(path)),
        bool(_PAGE_NAME.search(path)),
        *(bool(kind.search(lowered)) for kind in _PATHS),
    ]
