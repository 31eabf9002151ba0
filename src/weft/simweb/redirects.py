"""Redirects of every status: to texts found no other way, to other hosts, in circles and in long chains."""

from collections.abc import Iterator

from .answer import Answer, Fate, Handler, Plant, Visit
from .page import render
from .site import Site

STATUSES = (301, 302, 303, 307, 308)
CHAIN = 8


def redirects(site: Site) -> Iterator[Plant]:
    index = site.host.index
    if site.world.carries(index, "moved"):
        yield from _moved(site)
    if site.world.carries(index, "redirect-loops"):
        yield Plant("/odd/loop/self", Fate.REDIRECT, to("/odd/loop/self", 302), "redirect-loops")
        yield Plant("/odd/loop/a", Fate.REDIRECT, to("/odd/loop/b", 301), "redirect-loops")
        yield Plant("/odd/loop/b", Fate.REDIRECT, to("/odd/loop/a", 301), "redirect-loops", linked=False)
    if site.world.carries(index, "redirect-chains"):
        for hop in range(CHAIN):
            here, there = f"/odd/chain/{hop}", f"/odd/chain/{hop + 1}"
            yield Plant(here, Fate.REDIRECT, to(there, 302), "redirect-chains", linked=hop == 0)
        yield landing(site, f"/odd/chain/{CHAIN}", "redirect-chains", fate=Fate.OPTIONAL)


def to(location: str, status: int) -> Handler:
    """A redirect to a location as it is written."""
    return lambda _: Answer(status, b"<html><body>Moved.</body></html>", headers=(("Location", location),))


def landing(site: Site, path: str, kind: str, turn: int = 0, fate: Fate = Fate.STORED) -> Plant:
    """A text of its own that no ordinary page links to."""
    number = site.world.extra(kind, turn)

    def answer(visit: Visit) -> Answer:
        article = site.world.article(site.host.index, number)
        return Answer(200, render(site.extra(article, visit.numeric, path)), lasting=True)

    return Plant(path, fate, answer, kind, text=(site.host.index, number), linked=False)


def _moved(site: Site) -> Iterator[Plant]:
    index = site.host.index
    # One of each five statuses per host, in turn: a relative location, an absolute one, three in a row.
    one, two, three = (STATUSES[(index + turn) % 5] for turn in range(3))
    yield Plant("/odd/moved/relative", Fate.REDIRECT, to("landing-1", one), "moved")
    yield landing(site, "/odd/moved/landing-1", "moved", 1)
    yield Plant("/odd/moved/rooted", Fate.REDIRECT, to("/odd/moved/landing-2", two), "moved")
    yield landing(site, "/odd/moved/landing-2", "moved", 2)
    yield Plant("/odd/moved/abroad", Fate.REDIRECT, _abroad(site, three), "moved")
    for hop in range(3):
        there = f"/odd/moved/hop-{hop + 1}" if hop < 2 else "/odd/moved/landing-3"
        yield Plant(f"/odd/moved/hop-{hop}", Fate.REDIRECT, to(there, 301), "moved", linked=hop == 0)
    yield landing(site, "/odd/moved/landing-3", "moved", 3)


def _abroad(site: Site, status: int) -> Handler:
    """To an ordinary page of another host, which is found there as well."""

    def answer(visit: Visit) -> Answer:
        other = site.other(site.world.neighbour(site.host.index))
        return Answer(status, headers=(("Location", other.url(other.path(other.pages - 1), visit.numeric)),))

    return answer
