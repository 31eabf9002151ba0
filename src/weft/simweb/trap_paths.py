"""Traps under ever new paths: calendars, paths of words, a tarpit, mirrors, soft 404s, link farms, subdomains."""

from collections.abc import Iterator

from .part import Leaf, Part, items, padded, paragraphs, whole
from .prose import WORDS, number_of, slug, title_of
from .sheet import Link

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
ROOMS = 100
SPAM = (
    "best",
    "cheap",
    "offers",
    "online",
    "casino",
    "loans",
    "shoes",
    "watches",
    "replica",
    "discount",
    "free",
    "bonus",
)


def calendar_leaf(below: str, rest: str) -> Leaf | None:
    """The empty months and days of a calendar under `below`: YEAR/MM and YEAR/MM/DD."""
    parts = rest.split("/")
    year = whole(parts[0], 1, 99_999)
    month = padded(parts[1], 2, 12) if len(parts) in (2, 3) else None
    day = padded(parts[2], 2, 28) if len(parts) == 3 else 0
    if year is None or month is None or day is None:
        return None
    here, title = year * 12 + month - 1, f"{MONTHS[month - 1]} {year}"
    near = [(here + step, text) for step, text in ((-1, "Previous month"), (1, "Next month"), (12, "Next year"))]
    links = [Link(f"{below}{when // 12}/{when % 12 + 1:02}", text) for when, text in near]
    if day:
        text = paragraphs("There are no entries on this day.")
        return Leaf(f"{day} {title}", text + items([Link(f"{below}{year}/{month:02}", title), *links]))
    days = [Link(f"{below}{year}/{month:02}/{number:02}", str(number)) for number in range(1, 29)]
    return Leaf(title, items(links) + items(days))


class Calendar(Part):
    """A calendar by month and day in which nothing happens."""

    def entries(self) -> list[Link]:
        return [Link("/calendar/2026/05", "Calendar")]

    def linked(self) -> tuple[str, ...]:
        return ("/calendar/2026/05",)

    def trap(self, target: str) -> str:
        return "calendar" if target.startswith("/calendar/") else ""

    def leaf(self, target: str) -> Leaf | None:
        return calendar_leaf("/calendar/", target[10:]) if target.startswith("/calendar/") else None


class Calendars(Part):
    """A page of a hundred rooms, each with an empty calendar of its own: a hundred traps."""

    def entries(self) -> list[Link]:
        return [Link("/rooms", "Rooms")]

    def honest(self) -> tuple[str, ...]:
        return ("/rooms",)

    def linked(self) -> Iterator[str]:
        return (f"/rooms/{room}/calendar/2026/05" for room in range(1, ROOMS + 1))

    def trap(self, target: str) -> str:
        room, _, rest = target.removeprefix("/rooms/").partition("/")
        known = target.startswith("/rooms/") and whole(room, 1, ROOMS) and rest.startswith("calendar/")
        return f"calendars {room}" if known else ""

    def leaf(self, target: str) -> Leaf | None:
        if target == "/rooms":
            return Leaf("Rooms", items([Link(path, f"Room {room}") for room, path in enumerate(self.linked(), 1)]))
        if not self.trap(target):
            return None
        room = target.split("/")[2]
        return calendar_leaf(f"/rooms/{room}/calendar/", target.removeprefix(f"/rooms/{room}/calendar/"))


class Words(Part):
    """Paths of dictionary words without end; each page says its own words in a template."""

    root = "/explore/"
    name = "words"

    def entries(self) -> list[Link]:
        return [Link(path, "Explore") for path in self.linked()]

    def linked(self) -> list[str]:
        return [f"{self.root}{word}" for word in self.prose.words(2, self.name, "entry")]

    def trap(self, target: str) -> str:
        return self.name if target.startswith(self.root) else ""

    def leaf(self, target: str) -> Leaf | None:
        words = target.removeprefix(self.root).split("/")
        if not target.startswith(self.root) or not all(word in WORDS for word in words):
            return None
        count = 5 + self.prose.dice(self.name, target) % 6
        onward = dict.fromkeys(self.prose.words(count, self.name, target, 1) + self.prose.words(1, target))
        links = [Link(f"{target}/{word}", self.label(word)) for word in onward]
        return Leaf(self.title(words), self.text(words) + items([*links, *self.neighbours(2, target)]))

    def label(self, word: str) -> str:
        return word.capitalize()

    def title(self, words: list[str]) -> str:
        return " ".join(words[-3:]).capitalize()

    def text(self, words: list[str]) -> str:
        topic = " ".join(words[-2:])
        return paragraphs(
            f"Everything about {topic}: news, pictures and offers around {topic}. Choose what interests you."
        )


class SameText(Words):
    """One and the same text under every path of words."""

    root = "/guide-to/"
    name = "same-text"

    def label(self, _word: str) -> str:
        return "Read more"

    def title(self, _words: list[str]) -> str:
        return "Welcome to the guide"

    def text(self, _words: list[str]) -> str:
        writer = self.prose.writer("same text")
        return paragraphs(writer.sentences(3), writer.sentences(4))


class Tarpit(Words):
    """Random words that are new for ever, at new paths: only its place in line can bound it."""

    root = "/maze/"
    name = "tarpit"

    def leaf(self, target: str) -> Leaf | None:
        last = target.removeprefix(self.root)
        if not target.startswith(self.root) or not (last in WORDS or number_of(last) is not None):
            return None
        writer = self.prose.writer("tarpit", target)
        babble = [" ".join([writer.name().lower() for _ in range(writer.number(20, 40))]) for _ in range(4)]
        links = [
            Link(f"{self.root}{slug(writer.number(0, 16_383))}", writer.name()) for _ in range(writer.number(5, 10))
        ]
        return Leaf(writer.name(), paragraphs(*[f"{text.capitalize()}." for text in babble]) + items(links))


class Mirrors(Part):
    """The honest pages again under /mirror-1/, with all links inside the mirror, and one to the next mirror."""

    def entries(self) -> list[Link]:
        return [Link("/mirror-1/", "Mirror")]

    def linked(self) -> tuple[str, ...]:
        return ("/mirror-1/",)

    def trap(self, target: str) -> str:
        return "mirrors" if self._copy(target) else ""

    def _copy(self, target: str) -> int | None:
        return whole(target[8:].partition("/")[0], 1, 999_999) if target.startswith("/mirror-") else None

    def leaf(self, target: str) -> Leaf | None:
        copy = self._copy(target)
        if not copy:
            return None
        below = f"/mirror-{copy}"
        rest = target.removeprefix(below) or "/"
        onward = Link(f"/../mirror-{copy + 1}/", "Another mirror")
        if rest == "/":
            entries = [link for part in self.around for link in part.entries()]
            return Leaf("Start", items([*entries, onward]), below=below)
        leaf = next(filter(None, (part.leaf(rest) for part in self.around)), None)
        return Leaf(leaf.title, leaf.body, leaf.crumbs, leaf.language, below) if leaf else None


class SoftNotFound(Part):
    """Every unknown URL is answered 200 with one text, whose links lead to further unknown URLs."""

    def entries(self) -> list[Link]:
        return [Link("/old/press-2009.html", "Press")]

    def linked(self) -> tuple[str, ...]:
        return ("/old/press-2009.html",)

    def trap(self, target: str) -> str:  # noqa: ARG002  (asked last: whatever nobody else knows)
        return "soft-404"

    def leaf(self, target: str) -> Leaf | None:
        first, second = self.prose.words(2, "soft 404", target)
        links = [
            Link(f"/{first}-{second}.html", "Did you mean this page?"),
            Link(f"/{second}/{first}", "Similar pages"),
            Link("help/", "Help with this page"),  # relative: it repeats itself below any path
        ]
        return Leaf("Page not found", paragraphs("Sorry, we cannot find what you are looking for.") + items(links))


class Farm(Part):
    """Pages of forty links each to more of the same, under numbers, with a spammer's few words."""

    def entries(self) -> list[Link]:
        return [Link("/links/1", "Partners")]

    def linked(self) -> tuple[str, ...]:
        return ("/links/1",)

    def trap(self, target: str) -> str:
        return "farm" if target.startswith("/links/") else ""

    def leaf(self, target: str) -> Leaf | None:
        if not target.startswith("/links/") or whole(target[7:], 0, 99_999_999) is None:
            return None
        dice = [self.prose.dice("farm", target, turn) for turn in range(40)]
        words = [f"{SPAM[chance % len(SPAM)]} {SPAM[chance // 97 % len(SPAM)]}" for chance in dice]
        links = [Link(f"/links/{chance % 99_999_999}", text) for chance, text in zip(dice, words, strict=True)]
        # Lines of a few words: what is new on a page is soon used up, and only the numbers go on.
        return Leaf(title_of(words[0]), paragraphs(*words[:5]) + items(links))


class Subdomains(Part):
    """Hosts without end: user-N.NAME links to user-(2N+1).NAME and user-(2N+2).NAME. scene.py gives `home`."""

    home = ""  # NAME:PORT

    def entries(self) -> list[Link]:
        return [self._link(0)]

    def _link(self, number: int) -> Link:
        return Link(f"http://user-{number}.{self.home}/", f"User {number}")

    def below(self, label: str) -> Leaf | None:
        """The page of one subdomain."""
        number = whole(label.removeprefix("user-"), 0, 999_999_999)
        if number is None:
            return None
        friends = items([self._link(number * 2 + step) for step in (1, 2)])
        return Leaf(
            f"User {number}",
            paragraphs("This user has not written anything yet.") + friends,
            below=f"http://{self.home}",
        )
