"""One host: its paths, the links on its pages, and what it answers to a request.

Ordinary pages form a tree below `/` with links across it; misbehaviours are planted beside them (planting.py).
"""

from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache
from typing import Any

import msgspec

from weft.errors import ConfigError

from .answer import Answer, Plant, Reply, Visit
from .article import Article
from .names import TEMPLATES
from .page import render
from .paths import page_number, page_path, without_tracking
from .pixels import PICTURE
from .sheet import Link, Sheet
from .world import WHOLE_HOST_CONSENT, World

YEAR_2025 = 1_735_689_600
PERIODS = (0, 1, 2, 4, 8)  # of `advance` calls after which a changing page changes; 0: never


class Site:
    """A host's pages. `plant` must be called once before the site answers."""

    def __init__(self, world: World, index: int, port: int, find: Callable[[int], "Site"]) -> None:
        self.world = world
        self.host = world.host(index)
        self.port = port
        self.other = find
        self.path = lru_cache(maxsize=4096)(self._path)
        self.plants: tuple[Plant, ...] = ()
        self._exact: dict[str, Plant] = {}
        self._prefixes: tuple[Plant, ...] = ()
        self._subdomains: Plant | None = None

    def plant(self, plants: tuple[Plant, ...]) -> None:
        self.plants = plants
        self._exact = {plant.path: plant for plant in plants if not plant.prefix}
        self._prefixes = tuple(plant for plant in plants if plant.prefix and plant.path)
        self._subdomains = next((plant for plant in plants if plant.kind == "subdomains"), None)

    def counts(self, target: str) -> bool:
        """Whether the answer may depend on how often it was asked for."""
        return target in self._exact

    @property
    def denied(self) -> bool:
        """The whole host says that its texts must not train a model."""
        return self.host.habit in WHOLE_HOST_CONSENT

    @property
    def validators(self) -> bool:
        """Whether ordinary pages have an ETag and a date."""
        return self.world.has("validators") and self.host.index % 4 != 3

    # where things are

    @property
    def pages(self) -> int:
        return self.world.config.pages

    def url(self, path: str, numeric: bool) -> str:
        """Absolute, by address or by name; a web that was not given a port yet has none in its URLs."""
        if numeric and self.world.config.hosts_per_address > 1:
            raise ConfigError("simweb: hosts that share an address can only be told apart by name")
        port = f":{self.port}" if self.port else ""
        return f"http://{self.host.address if numeric else self.host.name}{port}{path}"

    def _path(self, page: int) -> str:
        dice = self.world.dice("path", self.host.index, page)
        return page_path(self.host.template, self.host.language.topics, dice, page)

    def page_at(self, target: str) -> int | None:
        """The page at a path; a query that is none of its own is ignored, as most sites do."""
        target = without_tracking(target)
        for candidate in (target, target.partition("?")[0]):
            page = page_number(candidate)
            if page is not None and page < self.pages and self.path(page) == candidate:
                return page
        return None

    # what stands on a page

    def sheet(self, page: int, numeric: bool, version: int = 0) -> Sheet:
        """An ordinary page."""
        index, config = self.host.index, self.world.config
        first = page * config.fanout + 1
        parent = [] if page == 0 else [(page - 1) // config.fanout]
        dice = self.world.dice("links", index, page)
        related = [(dice >> shift) % self.pages for shift in range(0, 48, 8)]
        popular = [(page + step) % self.pages for step in range(1, 4)]
        return Sheet(
            host=self.host,
            template=self.host.template,
            article=self.world.article(index, page, version),
            url=self.url(self.path(page), numeric),
            dice=dice,
            nav=self._nav(),
            crumbs=tuple(self._link(number) for number in parent),
            children=tuple(self._link(n) for n in range(first, min(first + config.fanout, self.pages))),
            related=tuple(self._spelled(number, dice, numeric) for number in related),
            popular=tuple(self._link(number) for number in popular),
            partners=self._partners(page, numeric),
            odd=self._odd(page, numeric),
            head=self._feed_link(),
        )

    def extra(self, article: Article, numeric: bool, path: str, **changes: Any) -> Sheet:
        """A page beside the ordinary ones, with little furniture; `changes` are fields of Sheet."""
        dice = self.world.dice("extra", self.host.index, path)
        sheet = Sheet(
            host=self.host,
            template=TEMPLATES[dice % len(TEMPLATES)],
            article=article,
            url=self.url(path, numeric),
            dice=dice,
            nav=self._nav(),
            popular=tuple(self._link((dice >> shift) % self.pages) for shift in range(0, 24, 8)),
        )
        return msgspec.structs.replace(sheet, **changes)

    def _nav(self) -> tuple[Link, ...]:
        sections = self.host.language.sections
        home = Link("/", self.host.language.ui[0])
        return (home, *(Link(self.path(n), sections[n]) for n in range(1, min(7, self.pages))))

    def _link(self, page: int) -> Link:
        return Link(self.path(page), self.world.title(self.host.index, page))

    def _spelled(self, page: int, dice: int, numeric: bool) -> Link:
        """The same URL written otherwise: absolute, and with what a canonical form drops."""
        path, text = self.path(page), self.world.title(self.host.index, page)
        form = (dice >> 48) + page
        if form % 5 == 0:
            return Link(self.url(path, numeric), text)
        if not self.world.has("tracking"):
            return Link(path, text)
        joint = "&" if "?" in path else "?"
        odd = (
            f"{path}{joint}utm_source=sidebar",
            f"{path}#comments",
            f"/./{path[1:]}",
            f"{path}{joint}gclid=x{page}",
            path,
        )
        return Link(odd[form % 5], text)

    def _partners(self, page: int, numeric: bool) -> tuple[Link, ...]:
        """Other hosts: those that must be found here, and two by a power law."""
        index, world = self.host.index, self.world
        links = [self._outward(guest, 0, numeric) for guest in world.guests(index, page)]
        for turn in range(2):
            chance = world.dice("partner", index, page, turn)
            target = (chance >> 40) % self.pages if chance & 0x300000000 else 0
            links.append(self._outward(world.popular(chance, world.config.hosts), target, numeric))
        return tuple(links)

    def _outward(self, index: int, page: int, numeric: bool) -> Link:
        other = self.other(index)
        return Link(other.url(other.path(page), numeric), self.world.title(index, page))

    def _odd(self, page: int, numeric: bool) -> tuple[Link, ...]:
        """Links to the misbehaviours, spread over the first pages; addresses have no subdomains."""
        linked = [plant for plant in self.plants if plant.linked and not (numeric and plant.kind == "subdomains")]
        places = min(self.pages, self.world.config.fanout + 1)
        chosen = linked[page::places] if page < places else []
        return tuple(Link(plant.sample or plant.path, self._odd_text(plant)) for plant in chosen)

    def _odd_text(self, plant: Plant) -> str:
        return self.world.title(*plant.text) if plant.text else plant.kind.replace("-", " ").capitalize()

    def _feed_link(self) -> str:
        if "/feed.xml" not in self._exact:
            return ""
        return """<link rel="alternate" type="application/rss+xml" href="/feed.xml">
<link rel="alternate" type="application/atom+xml" href="/atom.xml">
"""

    # answers

    def answer(self, visit: Visit) -> Reply:
        """What this host says to a request, before the server adds encodings and validators."""
        plant = self._subdomains if visit.host.endswith(f".{self.host.name}") else self._planted(visit.target)
        if plant is not None:
            return plant.answer(visit)
        page = self.page_at(visit.target)
        if page is not None:
            return self._page(page, visit)
        if visit.target.startswith("/static/"):
            return Answer(200, PICTURE, "image/png", lasting=True)
        return Answer(404, NOT_FOUND)

    def _planted(self, target: str) -> Plant | None:
        plant = self._exact.get(target) or self._exact.get(without_tracking(target))
        if plant is None:
            return next((plant for plant in self._prefixes if target.startswith(plant.path)), None)
        return plant

    def _page(self, page: int, visit: Visit) -> Answer:
        version = self.version_of(page, visit.version)
        body = render(self.sheet(page, visit.numeric, version))
        headers: list[tuple[str, str]] = []
        index = self.host.index
        if self.validators:
            headers.append(("ETag", f'"{index:x}-{page:x}-{version:x}"'))
            headers.append(("Last-Modified", formatdate(self.modified(page, version), usegmt=True)))
        if self.world.has("cache-control") and index % 3 == 1:
            headers.append(("Cache-Control", f"public, max-age={self.world.config.max_age}"))
        if self.world.carries(index, "cookies"):
            headers.append(("Set-Cookie", f"visitor={self.world.dice('cookie', index):x}; Path=/; HttpOnly"))
        return Answer(200, body, headers=tuple(headers), lasting=True)

    def modified(self, page: int, version: int) -> int:
        """When a page last changed, in seconds since 1970: some day before 2025, a day later with each change."""
        return YEAR_2025 - self.world.dice("modified", self.host.index, page) % 20_000_000 + version * 86_400

    def version_of(self, page: int, version: int) -> int:
        """How often a page has changed when the web was advanced `version` times."""
        if not self.world.has("changing"):
            return 0
        period = PERIODS[self.world.dice("period", self.host.index, page) % len(PERIODS)]
        return version // period if period else 0


NOT_FOUND = (
    b"<!DOCTYPE html><html><head><title>Not found</title></head><body><h1>404</h1><p>Nothing here.</p></body></html>"
)
