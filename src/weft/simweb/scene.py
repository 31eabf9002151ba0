"""One host made of look-alikes and traps: what it answers, and the truth of it.

Every page is made from its URL when it is asked for; a plain reader of the links finds what `honest` says.
"""

from collections.abc import Iterator
from functools import cached_property

from .answer import Answer, Visit
from .frame import FOOT, Frame, frame_of
from .part import Leaf, Part, items, paragraphs
from .pixels import PICTURE
from .prose import Prose
from .scenery import parts_of
from .sheet import Link
from .trap_paths import Subdomains
from .world import Host

MENU = 16  # entries of the look-alikes that stand on every page
POLICY = ("/robots.txt", "/sitemap", "/favicon.ico", "/.well-known/", "/static/")


class Scene:
    """A host of a web of scenes. It has what the server asks of a site: `host`, `counts`, `answer`."""

    def __init__(self, host: Host, text: str, seed: int, port: int) -> None:
        self.host, self.text, self.port = host, text, port
        prose = Prose(seed, host.index)
        self._basics: tuple[Part, ...] = (Basics(prose, len(FOOT)),)
        kinds = parts_of(text)
        self._honest = tuple(kind.make(prose, size) for kind, size in kinds.items() if not kind.trap)
        around = (*self._honest, *self._basics)
        self._traps = tuple(kind.make(prose, size, around) for kind, size in kinds.items() if kind.trap)
        self._parts = (*around, *self._traps)
        self._subdomains = next((part for part in self._traps if isinstance(part, Subdomains)), None)
        if self._subdomains is not None:
            self._subdomains.home = f"{host.name}:{port}"

    @cached_property
    def _frame(self) -> Frame:
        menu = [link for part in self._honest for link in part.entries()[:MENU]]
        return frame_of(self.host.name, self.host.index, menu[:MENU])

    # the truth

    def honest(self) -> Iterator[str]:
        """Every target that a perfect crawler fetches."""
        yield "/"
        for part in self._parts:
            yield from part.honest()

    def linked(self) -> Iterator[tuple[str, str]]:
        """(host, target) of a trap that honest pages link to: they may be fetched."""
        for part in self._traps:
            yield from ((self.host.name, target) for target in part.linked())
        if self._subdomains is not None:
            yield f"user-0.{self.host.name}", "/"

    def trap(self, host: str, target: str) -> str:
        """The name of the trap that a request went into; empty for any other request."""
        if target.startswith(POLICY):
            return ""
        if host not in (self.host.name, self.host.address):
            return "subdomains"
        return next(filter(None, (part.trap(target) for part in self._traps)), "")

    # answers

    def counts(self, _target: str) -> bool:
        """No answer depends on how often it was asked for."""
        return False

    def answer(self, visit: Visit) -> Answer:
        target = visit.target
        if target == "/robots.txt":
            return Answer(200, b"User-agent: *\nDisallow:\n", "text/plain")
        if target.startswith("/static/"):
            return Answer(200, PICTURE, "image/png")
        if visit.host.endswith(f".{self.host.name}"):
            below = self._subdomains.below(visit.host.partition(".")[0]) if self._subdomains else None
            return self._drawn(below if target == "/" else None, target, ())
        if target == "/":
            return self._drawn(self._start(), target, ())
        for part in self._parts:
            leaf = part.leaf(target)
            if leaf is not None:
                return self._drawn(leaf, target, self._traps if part not in self._traps else ())
        return self._drawn(None, target, ())

    def _drawn(self, leaf: Leaf | None, target: str, hung: tuple[Part, ...]) -> Answer:
        if leaf is None:
            return Answer(404, self._frame.draw(Leaf("Not found", paragraphs("Nothing here."))))
        return Answer(200, self._frame.draw(leaf, [link for part in hung for link in part.beside(target)]))

    def _start(self) -> Leaf:
        links = [link for part in (*self._honest, *self._traps) for link in part.entries()]
        return Leaf("Welcome", paragraphs("Here you find all that we publish.") + items(links))


class Basics(Part):
    """The pages that every footer links to."""

    def honest(self) -> Iterator[str]:
        return (link.href for link in FOOT)

    def leaf(self, target: str) -> Leaf | None:
        link: Link | None = next((link for link in FOOT if link.href == target), None)
        return Leaf(link.text, paragraphs(self.prose.writer("basics", target).sentences(6))) if link else None
