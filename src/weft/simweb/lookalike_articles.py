"""Honest sites of articles: in sections, by date, as a chain of "next", in parallel languages."""

from collections.abc import Iterator
from datetime import date, timedelta

from .part import PER_LIST, Leaf, Part, items, padded, page_of, paged, pager, pages_for, paragraphs, whole
from .prose import WORDS, Prose, number_of, slug, title_of
from .sheet import Link

# Percent of the pages in each section: the largest of 1,000 pages has 140.
SHARES = (14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 3, 2)
FIRST_DAY = date(2016, 1, 2)
LANGUAGES = ("en", "de", "fr")


def article(prose: Prose, *key: object, language: str = "en") -> str:
    """Three to five paragraphs of their own, about 150 words."""
    writer = prose.writer("article", *key, language=language)
    return paragraphs(*[writer.sentences(writer.number(2, 4)) for _ in range(writer.number(3, 5))])


class Articles(Part):
    """`size` pages in twelve sections: /SECTION (a list, in pages of its own) and /SECTION/SLUG."""

    def __init__(self, prose: Prose, size: int, around: tuple[Part, ...] = ()) -> None:
        super().__init__(prose, size, around)
        # Of n pages of a section, one in 31 is a list.
        pages = [max(2, size * share // 100) for share in SHARES]
        lists = [-(-count // (PER_LIST + 1)) for count in pages]
        names = WORDS[prose.dice("sections") % 40 :][: len(SHARES)]  # from the words that name no other part
        self.sections = {name: count - own for name, count, own in zip(names, pages, lists, strict=True)}
        self._starts = dict(zip(names, range(0, 12_000, 1_000), strict=True))

    def entries(self) -> list[Link]:
        return [Link(f"/{name}", name.capitalize()) for name in self.sections]

    def honest(self) -> Iterator[str]:
        for name, count in self.sections.items():
            yield from (paged(f"/{name}", page) for page in range(1, pages_for(count) + 1))
            yield from (self._path(name, number) for number in range(count))

    def leaf(self, target: str) -> Leaf | None:
        path, _, query = target.partition("?")
        name, _, rest = path[1:].partition("/")
        count = self.sections.get(name)
        if count is None:
            return None
        if rest:
            number = number_of(rest)
            here = -1 if number is None or query else number - self._starts[name]
            return self._article(name, here) if 0 <= here < count else None
        page = page_of(query, pages_for(count)) if path == f"/{name}" else None
        return self._list(name, count, page) if page else None

    def _path(self, name: str, number: int) -> str:
        return f"/{name}/{slug(self._starts[name] + number)}"

    def _link(self, name: str, number: int) -> Link:
        return Link(self._path(name, number), self.prose.writer("title", name, number).title())

    def _list(self, name: str, count: int, page: int) -> Leaf:
        numbers = range((page - 1) * PER_LIST, min(count, page * PER_LIST))
        body = items([self._link(name, number) for number in numbers]) + pager(f"/{name}", page, pages_for(count))
        return Leaf(f"{name.capitalize()}, page {page}", body)

    def _article(self, name: str, number: int) -> Leaf:
        count, dice = self.sections[name], self.prose.dice("related", name, number)
        near = [self._link(name, other % count) for other in (number - 1, number + 1, dice)]
        other = list(self.sections)[(dice >> 8) % len(self.sections)]
        near.append(self._link(other, (dice >> 16) % self.sections[other]))
        body = article(self.prose, name, number) + "<h2>Read on</h2>\n" + items(near)
        return Leaf(self._link(name, number).text, body, (Link(f"/{name}", name.capitalize()),))


class Numbered(Part):
    """The plainest site there is: the start page links to /p1 … /pN, each with a text of its own."""

    def entries(self) -> list[Link]:
        return [Link(f"/p{number}", f"Page {number}") for number in range(1, self.size + 1)]

    def honest(self) -> Iterator[str]:
        return (f"/p{number}" for number in range(1, self.size + 1))

    def leaf(self, target: str) -> Leaf | None:
        number = whole(target[2:], 1, self.size) if target.startswith("/p") else None
        return Leaf(f"Page {number}", article(self.prose, "numbered", number)) if number else None


class Archive(Part):
    """An article every second day: /archive → /YEAR/ → /YEAR/MM/ → /YEAR/MM/DD/SLUG."""

    def entries(self) -> list[Link]:
        return [Link("/archive", "Archive")]

    def honest(self) -> Iterator[str]:
        yield "/archive"
        yield from dict.fromkeys(self._folder(number, 4) for number in range(self.size))
        yield from dict.fromkeys(self._folder(number, 7) for number in range(self.size))
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        if target == "/archive":
            years = dict.fromkeys(self._folder(number, 4) for number in range(self.size))
            return Leaf("Archive", items([Link(path, path.strip("/")) for path in years]))
        number = number_of(target[12:])
        if number is not None and number < self.size and target == self._path(number):
            return self._article(number)
        return self._folder_page(target) if len(target) in (6, 9) and target[1:5].isdigit() else None

    def _date(self, number: int) -> date:
        return FIRST_DAY + timedelta(days=2 * number)

    def _folder(self, number: int, length: int) -> str:
        return f"/{self._date(number).isoformat()[:length].replace('-', '/')}/"

    def _path(self, number: int) -> str:
        return f"/{self._date(number):%Y/%m/%d}/{slug(number)}"

    def _folder_page(self, target: str) -> Leaf | None:
        length = 4 if len(target) == 6 else 7
        inside = [number for number in range(self.size) if self._folder(number, length) == target]
        if not inside:
            return None
        if length == 4:
            months = dict.fromkeys(self._folder(number, 7) for number in inside)
            return Leaf(target.strip("/"), items([Link(path, path[1:-1]) for path in months]))
        links = [Link(self._path(number), title_of(slug(number))) for number in inside]
        return Leaf(target.strip("/"), items(links), (Link("/archive", "Archive"), Link(target[:6], target[1:5])))

    def _article(self, number: int) -> Leaf:
        folder = self._folder(number, 7)
        body = f"<time>{self._date(number):%d %B %Y}</time>\n" + article(self.prose, "archive", number)
        return Leaf(title_of(slug(number)), body, (Link("/archive", "Archive"), Link(folder, folder.strip("/"))))


class Chain(Part):
    """A story in parts: each page is linked only from the one before."""

    def entries(self) -> list[Link]:
        return [Link("/story/1", "The story")]

    def honest(self) -> Iterator[str]:
        return (f"/story/{number}" for number in range(1, self.size + 1))

    def leaf(self, target: str) -> Leaf | None:
        number = whole(target[7:], 1, self.size) if target.startswith("/story/") else None
        if number is None:
            return None
        onward = items([Link(f"/story/{number + 1}", "Next part")]) if number < self.size else "<p>The end.</p>\n"
        return Leaf(f"Part {number}", article(self.prose, "chain", number) + onward)


class Translations(Part):
    """The same tree in three languages, /en/guide/SLUG beside /de/… and /fr/…; code is the same in all of them."""

    @property
    def _count(self) -> int:
        return max(1, self.size // len(LANGUAGES))

    def entries(self) -> list[Link]:
        return [Link(f"/{code}/", code.upper()) for code in LANGUAGES]

    def honest(self) -> Iterator[str]:
        for code in LANGUAGES:
            yield f"/{code}/"
            yield from (f"/{code}/guide/{slug(number)}" for number in range(self._count))

    def leaf(self, target: str) -> Leaf | None:
        code, _, rest = target[1:].partition("/")
        if code not in LANGUAGES or target == f"/{code}":
            return None
        if not rest:
            links = [self._link(code, number) for number in range(self._count)]
            return Leaf(self.prose.language(code).ui[0], items(links), language=code)
        number = number_of(rest.removeprefix("guide/"))
        known = number is not None and number < self._count and rest == f"guide/{slug(number)}"
        return self._page(code, number) if known and number is not None else None

    def _link(self, code: str, number: int) -> Link:
        return Link(f"/{code}/guide/{slug(number)}", self.prose.writer("guide", code, number, language=code).title())

    def _page(self, code: str, number: int) -> Leaf:
        command = f"<pre>$ {' '.join(self.prose.words(3, 'command', number))} --limit {number}</pre>\n"
        others = [Link(f"/{other}/guide/{slug(number)}", other.upper()) for other in LANGUAGES if other != code]
        near = [self._link(code, (number + step) % self._count) for step in (-1, 1)]
        body = article(self.prose, "guide", code, number, language=code) + command + items([*near, *others])
        return Leaf(self._link(code, number).text, body, (Link(f"/{code}/", code.upper()),), code)


class Events(Part):
    """A calendar of `size` days with something on every one of them: /events/YEAR/MM and /events/YEAR/MM/DD."""

    def entries(self) -> list[Link]:
        return [Link(f"/events/{FIRST_DAY:%Y/%m}", "Events")]

    def honest(self) -> Iterator[str]:
        yield from dict.fromkeys(self._path(number)[:-3] for number in range(self.size))
        yield from (self._path(number) for number in range(self.size))

    def leaf(self, target: str) -> Leaf | None:
        parts = target[1:].split("/")
        if parts[0] != "events" or len(parts) not in (3, 4) or not whole(parts[1], 2016, 2100):
            return None
        month, day = padded(parts[2], 2, 12), padded(parts[3], 2, 31) if len(parts) == 4 else 1
        if not month or not day:
            return None
        if len(parts) == 3:
            return self._month(target)
        first = (date(int(parts[1]), month, 1) - FIRST_DAY).days
        number = first + day - 1
        return self._day(number) if 0 <= number < self.size and self._path(number) == target else None

    def _path(self, number: int) -> str:
        return f"/events/{FIRST_DAY + timedelta(days=number):%Y/%m/%d}"

    def _month(self, target: str) -> Leaf | None:
        inside = [number for number in range(self.size) if self._path(number).startswith(f"{target}/")]
        if not inside:
            return None
        beyond = (number for number in (inside[0] - 1, inside[-1] + 1) if 0 <= number < self.size)
        year = (number for number in range(self.size) if self._path(number)[8:12] == target[8:12])
        paths = dict.fromkeys(self._path(number)[:-3] for number in (*year, *beyond))
        months = [Link(path, path[8:]) for path in paths]
        days = [Link(self._path(number), f"{FIRST_DAY + timedelta(days=number):%a %d}") for number in inside]
        return Leaf(f"Events in {target[8:]}", items(days) + items(months))

    def _day(self, number: int) -> Leaf:
        writer, day = self.prose.writer("events", number), FIRST_DAY + timedelta(days=number)
        shows = [f"{writer.number(9, 21)}:30 {writer.title()}. {writer.sentence()}" for _ in range(1 + number % 2)]
        near = [Link(self._path(other), "Day") for other in (number - 1, number + 1) if 0 <= other < self.size]
        month = Link(self._path(number)[:-3], f"{day:%B %Y}")
        return Leaf(f"{day:%A, %d %B %Y}", paragraphs(*shows) + items(near), (month,))
