"""Traps that show the same in ever new views: facets, filters, orders, session ids, searches, print, wiki histories."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode

import xxhash

from .lookalike_articles import article
from .part import Leaf, Part, items, paged, paragraphs, whole
from .prose import WORDS, number_of, slug, title_of
from .sheet import Link

FACETS = {
    "color": ("red", "green", "blue", "black"),
    "size": ("s", "m", "l", "xl"),
    "brand": ("oak", "elm", "fir", "yew"),
    "material": ("wool", "linen", "silk"),
    "price": ("low", "middle", "high"),
    "rating": ("3", "4", "5"),
}
FILTERS = {"color": ("red", "green", "blue"), "size": ("s", "m", "l"), "delivery": ("fast", "cheap", "pickup")}
ORDERS = {
    "sort": ("price", "name", "date", "rating"),
    "order": ("asc", "desc"),
    "view": ("grid", "list", "table"),
    "per": ("10", "20", "50"),
    "page": ("2", "3", "4"),
}
VARIANTS = {"print": ("1",), "view": ("mobile", "text"), "comments": ("newest", "oldest"), "font": ("large", "small")}
VARIANTS |= {"share": ("mail", "feed"), "lang": ("en", "de", "fr")}
REVISIONS = 5_000


def choices(path: str, query: str, options: Mapping[str, Sequence[str]]) -> list[Link]:
    """Every option added to a query. What was chosen last stands last, so each order of clicks is a URL."""
    chosen = dict(parse_qsl(query))
    links = []
    for name, values in options.items():
        rest = {key: old for key, old in chosen.items() if key != name}
        links += [
            Link(f"{path}?{urlencode({**rest, name: value})}", f"{name}: {value}")
            for value in values
            if chosen.get(name) != value
        ]
    return links


def allowed(query: str, options: Mapping[str, Sequence[str]]) -> bool:
    pairs = parse_qsl(query)
    return bool(pairs) and all(value in options.get(name, ()) for name, value in pairs)


class Facets(Part):
    """A catalogue whose page lists what any combination of filters leaves."""

    def entries(self) -> list[Link]:
        return [Link("/catalogue", "Catalogue")]

    def honest(self) -> tuple[str, ...]:
        return ("/catalogue",)

    def linked(self) -> Iterator[str]:
        return (link.href for link in choices("/catalogue", "", FACETS))

    def trap(self, target: str) -> str:
        return "facets" if target.startswith("/catalogue?") else ""

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?")
        if path != "/catalogue" or (query and not allowed(query, FACETS)):
            return None
        key = sorted(parse_qsl(query))
        wares = [number for number in range(60) if self.prose.dice("ware", number, key) % (1 + len(key)) == 0][:20]
        rows = "".join([f"<tr><td>{title_of(slug(number))}</td><td>€ {number * 3 + 5}</td></tr>" for number in wares])
        shown = paragraphs(f"{len(wares)} articles found. {' '.join(value for _, value in key)}")
        links = [*choices(path, query, FACETS), *self.neighbours(3, target)]
        return Leaf("Catalogue", f"{shown}<table>{rows}</table>\n{items(links)}")


class Filters(Part):
    """`size` honest products; each carries nine filters that add up in any order without changing much."""

    def entries(self) -> list[Link]:
        return [Link("/items/", "All items")]

    def honest(self) -> Iterator[str]:
        yield "/items/"
        yield from (f"/items/{slug(number)}" for number in range(self.size))

    def linked(self) -> Iterator[str]:
        for number in range(self.size):
            yield from (link.href for link in choices(f"/items/{slug(number)}", "", FILTERS))

    def trap(self, target: str) -> str:
        return "filters" if target.startswith("/items/") and "?" in target else ""

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?")
        if target == "/items/":
            links = [Link(f"/items/{slug(number)}", title_of(slug(number))) for number in range(self.size)]
            return Leaf("All items", items(links))
        number = number_of(path[7:]) if path.startswith("/items/") else None
        if number is None or number >= self.size or (query and not allowed(query, FILTERS)):
            return None
        text = paragraphs(self.prose.writer("item", number).sentences(3))
        chosen = " ".join(f"{name}: {value}." for name, value in parse_qsl(query))
        return Leaf(title_of(path[7:]), text + paragraphs(chosen) + items(choices(path, query, FILTERS)))


class Sort(Part):
    """One list of twenty rows in every order, view and length."""

    def entries(self) -> list[Link]:
        return [Link("/listing", "Listing")]

    def honest(self) -> tuple[str, ...]:
        return ("/listing",)

    def linked(self) -> Iterator[str]:
        return (link.href for link in choices("/listing", "", ORDERS))

    def trap(self, target: str) -> str:
        return "sort" if target.startswith("/listing?") else ""

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?")
        if path != "/listing" or (query and not allowed(query, ORDERS)):
            return None
        order = sorted(range(20), key=lambda row: self.prose.dice("row", row, dict(parse_qsl(query)).get("sort")))
        rows = "".join([f"<tr><td>{title_of(slug(row))}</td><td>{row * 7 + 3}</td></tr>" for row in order])
        return Leaf("Listing", f"<table>{rows}</table>\n{items(choices(path, query, ORDERS))}")


class SessionPath(Part):
    """Ten honest topics; every link on them carries a session id that is new on each page, here in the path."""

    root = "/board/"
    name = "session-path"
    topics = 10

    def entries(self) -> list[Link]:
        return [Link(self.root, "Board")]

    def honest(self) -> Iterator[str]:
        yield self.root
        yield from (f"{self.root}topic-{topic}" for topic in range(self.topics))

    def linked(self) -> Iterator[str]:
        for topic in range(self.topics):
            yield from (link.href for link in self._links(f"{self.root}topic-{topic}"))

    def trap(self, target: str) -> str:
        inside = target.startswith(self.root) and self._session(target[len(self.root) :])
        return self.name if inside else ""

    def leaf(self, target: str) -> Leaf | None:
        if not target.startswith(self.root):
            return None
        if target == self.root:
            return Leaf(
                "Board", items([Link(f"{self.root}topic-{topic}", f"Topic {topic}") for topic in range(self.topics)])
            )
        topic = whole(self._topic(target[len(self.root) :]), 0, self.topics - 1)
        if topic is None:
            return None
        return Leaf(f"Topic {topic}", article(self.prose, self.name, topic) + items(self._links(target)))

    def _links(self, here: str) -> list[Link]:
        sessions = [xxhash.xxh3_64_hexdigest(f"{here} {topic}".encode()) for topic in range(self.topics)]
        return [Link(self._url(topic, session), f"Topic {topic}") for topic, session in enumerate(sessions)]

    def _url(self, topic: int, session: str) -> str:
        return f"{self.root}{session}/topic-{topic}"

    def _session(self, rest: str) -> str:
        return rest.partition("/topic-")[0] if "/topic-" in rest else ""

    def _topic(self, rest: str) -> str:
        return rest.rpartition("topic-")[2]


class SessionQuery(SessionPath):
    """The same with the id in the query."""

    root = "/club/"
    name = "session-query"

    def _url(self, topic: int, session: str) -> str:
        return f"{self.root}topic-{topic}?sid={session}"

    def _session(self, rest: str) -> str:
        return rest.partition("?sid=")[2]

    def _topic(self, rest: str) -> str:
        return rest.partition("?sid=")[0].removeprefix("topic-")


class Echo(Part):
    """A search that finds nothing, says the words again and knows related searches."""

    def entries(self) -> list[Link]:
        return [Link("/search?q=harbour", "Popular: harbour")]

    def linked(self) -> tuple[str, ...]:
        return ("/search?q=harbour",)

    def trap(self, target: str) -> str:
        return "echo" if target.startswith("/search?") else ""

    def leaf(self, target: str) -> Leaf | None:
        words = target.removeprefix("/search?q=").split("+")
        if not target.startswith("/search?q=") or not all(word in WORDS for word in words):
            return None
        asked = " ".join(words)
        related = [[*words[-3:], word] for word in dict.fromkeys(self.prose.words(7, "echo", target))]
        links = [Link(f"/search?q={'+'.join(phrase)}", " ".join(phrase)) for phrase in related]
        text = paragraphs(f"Your search for {asked} brought no results.", f"People who look for {asked} also look for:")
        return Leaf(f"Search: {asked}", text + items(links))


class Print(Part):
    """Print, mobile and other views of every honest page, which add up in any order; each page links to its own."""

    def linked(self) -> Iterator[str]:
        for part in self.around:
            for path in part.honest():
                yield from (link.href for link in self.beside(path))

    def beside(self, path: str) -> tuple[Link, ...]:
        if "?" in path or path == "/":
            return ()
        return (Link(f"{path}?print=1", "Print"), Link(f"{path}?comments=newest", "Newest comments"))

    def trap(self, target: str) -> str:
        path, _, query = target.partition("?")
        return "print" if allowed(query, VARIANTS) and self._honest(path) else ""

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?")
        leaf = self._honest(path) if allowed(query, VARIANTS) else None
        return Leaf(leaf.title, leaf.body + items(choices(path, query, VARIANTS)), leaf.crumbs) if leaf else None

    def _honest(self, path: str) -> Leaf | None:
        return next(filter(None, (part.leaf(path) for part in self.around)), None)


class Wiki(Part):
    """`size` honest pages of a wiki, each with a history: 5,000 old revisions and the differences between them."""

    def entries(self) -> list[Link]:
        return [Link("/wiki/", "Wiki")]

    def honest(self) -> Iterator[str]:
        yield "/wiki/"
        yield from (f"/wiki/{slug(number)}" for number in range(self.size))

    def linked(self) -> Iterator[str]:
        return (f"/wiki/{slug(number)}?action=history" for number in range(self.size))

    def trap(self, target: str) -> str:
        return "wiki" if target.startswith("/wiki/") and "?" in target else ""

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?")
        if target == "/wiki/":
            links = [Link(f"/wiki/{slug(number)}", title_of(slug(number))) for number in range(self.size)]
            return Leaf("All pages", items(links))
        number = number_of(path[6:]) if path.startswith("/wiki/") else None
        if number is None or number >= self.size:
            return None
        if query.startswith("action=history"):
            return self._history(path, query)
        revision = whole(query.removeprefix("oldid="), 1, REVISIONS) if query.startswith("oldid=") else None
        change = whole(query.removeprefix("diff="), 2, REVISIONS) if query.startswith("diff=") else None
        if query and not (revision or change):
            return None
        return self._difference(path, change) if change else self._text(path, number, revision)

    def _history(self, path: str, query: str) -> Leaf | None:
        offset = whole(query.removeprefix("action=history").removeprefix("&offset="), 1, REVISIONS)
        if offset is None and query != "action=history":
            return None
        last = offset or REVISIONS
        numbers = range(last, max(1, last - 50), -1)
        links = [
            Link(f"{path}?{kind}={number}", f"{kind} {number}") for number in numbers for kind in ("oldid", "diff")
        ]
        onward = [Link(f"{path}?action=history&offset={last - 50}", "Older")] if last > 50 else []
        return Leaf(f"History of {title_of(path[6:])}", items([*onward, *links]))

    def _text(self, path: str, number: int, revision: int | None) -> Leaf:
        text, tools = article(self.prose, "wiki", number), [Link(f"{path}?action=history", "History")]
        near = [self._link(number + step) for step in (1, 2)]
        if revision is None:
            return Leaf(title_of(path[6:]), text + items([*near, *tools]))
        kept = [line for place, line in enumerate(text.splitlines()) if self.prose.dice(path, revision, place) % 4]
        text = "\n".join(kept) + "\n"
        steps = [other for other in (revision - 1, revision + 1) if 1 < other <= REVISIONS]
        tools += [Link(f"{path}?{kind}={other}", f"{kind} {other}") for other in steps for kind in ("oldid", "diff")]
        return Leaf(title_of(path[6:]), paragraphs(self._removed(number, revision)) + text + items([*near, *tools]))

    def _removed(self, number: int, revision: int) -> str:
        """One of three sentences that an article once had: old revisions and changes say little that is new."""
        return self.prose.writer("removed", number, revision % 3).sentence()

    def _link(self, number: int) -> Link:
        number %= self.size
        return Link(f"/wiki/{slug(number)}", title_of(slug(number)))

    def _difference(self, path: str, change: int) -> Leaf:
        number = number_of(path[6:])
        before, after = (self._removed(number or 0, when) for when in (change - 1, change))
        links = [
            Link(f"{path}?diff={other}", "Next change") for other in (change - 1, change + 1) if 1 < other <= REVISIONS
        ]
        body = f"<del>{before}</del>\n<ins>{after}</ins>\n"
        return Leaf(f"Change {change} of {title_of(path[6:])}", body + items(links))


class NextForEver(Part):
    """A list of `size` honest pages whose "next" goes on behind the last, to empty pages."""

    def entries(self) -> list[Link]:
        return [Link("/bulletin", "Bulletin")]

    def honest(self) -> Iterator[str]:
        return (paged("/bulletin", page) for page in range(1, self.size + 1))

    def linked(self) -> tuple[str, ...]:
        return (paged("/bulletin", self.size + 1),)

    def trap(self, target: str) -> str:
        page = whole(target.removeprefix("/bulletin?page="), 2, 99_999_999)
        return "next" if target.startswith("/bulletin?page=") and page and page > self.size else ""

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?page=")
        page = 1 if target == "/bulletin" else whole(query, 2, 99_999_999)
        if path != "/bulletin" or not page:
            return None
        near = [Link(paged("/bulletin", page + 1), "Next page")]
        near += [Link(paged("/bulletin", page - 1), "Previous page")] if page > 1 else []
        if page > self.size:
            return Leaf(f"Bulletin, page {page}", paragraphs("There are no entries.") + items(near))
        writer = self.prose.writer("bulletin", page)
        return Leaf(f"Bulletin, page {page}", paragraphs(*[writer.sentences(2) for _ in range(8)]) + items(near))
