"""The pieces a scene is made of: a `Part` is one area of a host, honest pages or a trap, made from the URL alone.

Parts give a `Leaf` for a target and say what is honest; scene.py puts them together, frame.py draws the page.
"""

from collections.abc import Iterable
from functools import cached_property
from itertools import islice

import msgspec

from .prose import Prose
from .sheet import Link

PER_LIST = 30  # entries on one page of a list


class Leaf(msgspec.Struct, frozen=True):
    """What stands on one page inside the host's frame; `below` moves all its links under a prefix."""

    title: str
    body: str
    crumbs: tuple[Link, ...] = ()
    language: str = "en"
    below: str = ""


class Part:
    """One area of a host. A look-alike or trap overrides what it has; `around` are the honest parts beside it."""

    def __init__(self, prose: Prose, size: int, around: tuple["Part", ...] = ()) -> None:
        self.prose = prose
        self.size = size
        self.around = around

    def entries(self) -> list[Link]:
        """What the start page links to."""
        return []

    def honest(self) -> Iterable[str]:
        """Every target that a crawler must fetch."""
        return ()

    def linked(self) -> Iterable[str]:
        """URLs of the trap that honest pages link to: they may be fetched whole."""
        return ()

    def trap(self, _target: str, /) -> str:
        """The name of the trap that a target belongs to; empty for an honest page and for what is not there."""
        return ""

    def beside(self, _path: str, /) -> tuple[Link, ...]:
        """Links that this part hangs on an honest page of the others."""
        return ()

    def leaf(self, _target: str, /) -> Leaf | None:
        """The page at a target; None where it is not this part's."""
        return None

    @cached_property
    def _sample(self) -> tuple[str, ...]:
        return tuple(islice((path for part in self.around for path in part.honest()), 2_000))

    def neighbours(self, count: int, *key: object) -> list[Link]:
        """Links to some honest pages of the parts around, as a trap's pages have them too."""
        if not self._sample:
            return []
        dice = self.prose.dice("neighbours", *key)
        chosen = [self._sample[(dice >> 11 * turn) % len(self._sample)] for turn in range(count)]
        return [Link(path, "Read more") for path in chosen]


def items(links: Iterable[Link]) -> str:
    """A list of links."""
    return "<ul>\n" + "\n".join([f"<li>{link.html()}</li>" for link in links]) + "\n</ul>\n"


def paragraphs(*texts: str) -> str:
    return "".join([f"<p>{text}</p>\n" for text in texts])


def whole(text: str, low: int, high: int) -> int | None:
    """A number written plainly (no sign, no leading zero) from `low` to `high`, both included."""
    if not text.isascii() or not text.isdigit() or len(text) > 9 or text != str(int(text)):
        return None
    return int(text) if low <= int(text) <= high else None


def padded(text: str, width: int, high: int) -> int | None:
    """A number with leading zeros to `width` digits, from 1 to `high`."""
    if len(text) != width or not text.isascii() or not text.isdigit():
        return None
    return int(text) if 1 <= int(text) <= high else None


def pager(path: str, page: int, last: int) -> str:
    """Links to the first, the last and the nearest pages of a list; the first page has no query."""
    near = sorted({1, last, *range(max(1, page - 2), min(last, page + 2) + 1)} - {page})
    return items([Link(paged(path, number), f"Page {number}") for number in near]) if near else ""


def paged(path: str, page: int) -> str:
    return path if page == 1 else f"{path}?page={page}"


def page_of(query: str, last: int) -> int | None:
    """1 without a query, N for `page=N`; None for any other query."""
    if not query:
        return 1
    name, _, value = query.partition("=")
    return whole(value, 2, last) if name == "page" else None


def pages_for(count: int, per_page: int = PER_LIST) -> int:
    return max(1, -(-count // per_page))
