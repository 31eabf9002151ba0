"""What scenes can be made of: every look-alike and every trap with its usual size and a line of help.

A scene is written `articles:1000+calendar+facets`: one host with these parts; a size is what the help says it counts.
"""

import difflib

import msgspec

from weft.errors import ConfigError

from . import lookalike_articles as articles
from . import lookalike_listings as listings
from . import lookalike_reference as reference
from . import trap_paths as paths
from . import trap_views as views
from .part import Part


class Kind(msgspec.Struct, frozen=True):
    """One kind of part; `size` is the usual one, `most` the largest that has paths for all its pages."""

    name: str
    make: type[Part]
    help: str
    size: int = 1
    most: int = 1
    trap: bool = False


def _trap(name: str, make: type[Part], text: str, size: int = 1, most: int = 1) -> Kind:
    return Kind(name, make, text, size, most, trap=True)


KINDS: tuple[Kind, ...] = (
    Kind("articles", articles.Articles, "N pages of articles in twelve sections, the largest of 14 %", 300, 7_000),
    Kind("numbered", articles.Numbered, "a start page and N pages /p1, /p2, …", 400, 10_000),
    Kind("archive", articles.Archive, "N articles under their dates", 300, 7_000),
    Kind("chain", articles.Chain, "N pages, each linked only from the one before by `next`", 600, 1_000_000),
    Kind("translations", articles.Translations, "N pages in parallel trees /en/, /de/, /fr/", 300, 40_000),
    Kind("events", articles.Events, "a calendar of N days that all have events of their own", 300, 10_000),
    Kind("api", reference.Api, "a reference of N functions, 10 to 40 words each", 400, 5_120),
    Kind("manual", reference.Manual, "N numbered sections with back, up and next", 300, 100_000),
    Kind("source", reference.Source, "N source files with numbered lines", 300, 1_920),
    Kind("glossary", reference.Glossary, "N terms of one sentence each", 400, 16_000),
    Kind("releases", reference.Releases, "N release notes that mostly say the same", 200, 9_000),
    Kind("law", reference.Law, "N numbered legal paragraphs", 300, 7_680),
    Kind("index", reference.Index, "one page with N links to pages that are linked only there", 600, 1_000_000),
    Kind("anchors", reference.Anchors, "one page with N links to places inside N/100 pages", 20_000, 1_600_000),
    Kind("products", listings.Products, "a shop of N products, categories with pages", 300, 16_000),
    Kind("forum", listings.Forum, "N threads; boards and threads with pages (?page=N)", 150, 1_000_000),
    Kind("gallery", listings.Gallery, "N photographs with captions", 300, 5_120),
    _trap("calendar", paths.Calendar, "an empty calendar by month and day"),
    _trap("calendars", paths.Calendars, "a page of a hundred rooms, an empty calendar for each"),
    _trap("words", paths.Words, "paths of dictionary words, each leading to five to ten deeper ones"),
    _trap("same-text", paths.SameText, "the same, with one text on all of them"),
    _trap("tarpit", paths.Tarpit, "random words that are new for ever"),
    _trap("mirrors", paths.Mirrors, "the honest pages again under /mirror-1/, /mirror-2/, …"),
    _trap("farm", paths.Farm, "a link farm: forty links a page, a spammer's few words"),
    _trap("subdomains", paths.Subdomains, "ever new subdomains (by name only)"),
    _trap("facets", views.Facets, "a catalogue with any combination of filters"),
    _trap("filters", views.Filters, "N honest products, each with nine filters that add up", 30, 16_000),
    _trap("sort", views.Sort, "one list in every order and view"),
    _trap("session-path", views.SessionPath, "ten honest topics whose links carry ever new ids in the path"),
    _trap("session-query", views.SessionQuery, "the same with the id in the query"),
    _trap("echo", views.Echo, "a search that echoes its words and knows related searches"),
    _trap("print", views.Print, "print and other views of every honest page, linked from each of them"),
    _trap("wiki", views.Wiki, "N honest wiki pages, each with a history of 5,000 revisions", 50, 16_000),
    _trap("next", views.NextForEver, "a list of N honest pages whose `next` goes on for ever", 12, 1_000_000),
    # Last: it answers whatever no other part knows.
    _trap("soft-404", paths.SoftNotFound, "every unknown URL is answered 200 with one text and further such links"),
)
BY_NAME = {kind.name: kind for kind in KINDS}
LOOK_ALIKES = tuple(kind.name for kind in KINDS if not kind.trap)
TRAPS = tuple(kind.name for kind in KINDS if kind.trap)


def parts_of(text: str) -> dict[Kind, int]:
    """`articles:1000+calendar` as kinds with their sizes, in the order of KINDS."""
    chosen: dict[str, int] = {}
    for word in text.split("+"):
        name, _, size = word.strip().partition(":")
        kind = BY_NAME.get(name)
        if kind is None:
            close = difflib.get_close_matches(name, BY_NAME, n=1)
            raise ConfigError(f"unknown part of a scene {name!r}{f'; did you mean {close[0]}?' if close else ''}")
        if size and not (size.isdigit() and 1 <= int(size) <= kind.most):
            raise ConfigError(f"the size of {name} is a number from 1 to {kind.most}, not {size!r}")
        chosen[name] = int(size) if size else kind.size
    return {kind: chosen[kind.name] for kind in KINDS if kind.name in chosen}
