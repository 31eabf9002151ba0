"""Answers with an error status: for ever, or healing after some requests; with Retry-After; and hosts out of reach."""

from collections.abc import Callable, Iterator
from email.utils import formatdate

from .answer import Answer, Fate, Handler, Plant, Visit
from .names import address_of
from .page import render
from .redirects import landing
from .sheet import Link
from .site import NOT_FOUND, Site

NOBODY = 8_000_000  # addresses from here on have no listener


def errors(site: Site) -> Iterator[Plant]:
    world, index = site.world, site.host.index
    if world.carries(index, "not-found"):
        yield Plant("/odd/not-found/1", Fate.GONE, _lookalike(site, 404), "not-found")
        yield Plant("/odd/not-found/2", Fate.GONE, lambda _: Answer(404, NOT_FOUND), "not-found")
    if world.carries(index, "gone"):
        yield Plant("/odd/gone/1", Fate.GONE, _lookalike(site, 410), "gone")
    if world.carries(index, "failing"):
        yield Plant("/odd/failing/1", Fate.DEAD, lambda _: Answer(500, b"<h1>Internal error</h1>"), "failing")
    if world.carries(index, "heals"):
        yield from _healing(site)
    wait = world.config.retry_after
    if world.carries(index, "unavailable"):
        yield _once(site, "unavailable", 503, lambda _: str(wait))
    if world.carries(index, "unavailable-date"):
        # A date has whole seconds only; one more keeps the promise at least as long as configured.
        yield _once(site, "unavailable-date", 503, lambda visit: formatdate(visit.wall + wait + 1, usegmt=True))
    if world.carries(index, "busy"):
        yield _once(site, "busy", 429, lambda _: str(wait))
    yield from _nowhere(site)


def _lookalike(site: Site, status: int) -> Handler:
    """An error page that looks like any other page, marker and all: only the status tells."""
    kind = "not-found" if status == 404 else "gone"

    def answer(visit: Visit) -> Answer:
        article = site.world.article(site.host.index, site.world.extra(kind))
        return Answer(status, render(site.extra(article, visit.numeric, visit.target)))

    return answer


def _healing(site: Site) -> Iterator[Plant]:
    """A page that works in the end, and a text to which only it links."""
    number, failures = site.world.extra("heals"), site.world.config.failures

    def answer(visit: Visit) -> Answer:
        if visit.count <= failures:
            return Answer(500, b"<h1>Internal error</h1>")
        article = site.world.article(site.host.index, number)
        onward = (Link("/odd/heals/behind", site.world.title(site.host.index, number + 1)),)
        return Answer(200, render(site.extra(article, visit.numeric, "/odd/heals/1", odd=onward)))

    yield Plant("/odd/heals/1", Fate.STORED, answer, "heals", text=(site.host.index, number))
    yield landing(site, "/odd/heals/behind", "heals", 1)


def _once(site: Site, kind: str, status: int, retry_after: Callable[[Visit], str]) -> Plant:
    """Refuses the first request and says when to come again."""
    path, number = f"/odd/{kind}/1", site.world.extra(kind)

    def answer(visit: Visit) -> Answer:
        if visit.count == 1:
            return Answer(status, b"<h1>Later</h1>", headers=(("Retry-After", retry_after(visit)),))
        article = site.world.article(site.host.index, number)
        return Answer(200, render(site.extra(article, visit.numeric, path)))

    return Plant(path, Fate.STORED, answer, kind, text=(site.host.index, number))


def _nowhere(site: Site) -> Iterator[Plant]:
    """Pages that link to a name without an address, and to an address without a listener."""
    index = site.host.index
    suffix = site.world.config.suffix
    targets = {
        "unresolvable": f"http://no-such-host-{index}.{suffix}:{site.port}/",
        "refused": f"http://{address_of(NOBODY + index)}:{site.port}/",
    }
    for kind, target in targets.items():
        if site.world.carries(index, kind):
            yield outward(site, kind, target)


def outward(site: Site, kind: str, target: str) -> Plant:
    """A text that links to somewhere beyond this web."""
    number, path = site.world.extra(kind), f"/odd/{kind}/from"

    def answer(visit: Visit) -> Answer:
        article = site.world.article(site.host.index, number)
        onward = (Link(target, site.world.title(site.host.index, number)),)
        return Answer(200, render(site.extra(article, visit.numeric, path, odd=onward)), lasting=True)

    return Plant(path, Fate.STORED, answer, kind, text=(site.host.index, number), beyond=target)
