"""The same text more than once: the same bytes, the same article in another page, nearly the same, and print views."""

from collections.abc import Iterator

import msgspec

from .answer import Answer, Fate, Handler, Plant, Visit
from .page import render
from .sheet import Link, Sheet
from .site import Site


def duplicates(site: Site) -> Iterator[Plant]:
    index, world = site.host.index, site.world
    before = world.neighbour(index, -1)
    if world.carries(index, "mirrors"):
        yield from _mirrors(site, index, ("1", "2"))
    if before != index and world.carries(before, "mirrors"):
        yield from _mirrors(site, before, ("3",))
    if world.carries(index, "reprints"):
        yield _reprint(site, index, "1")
    if before != index and world.carries(before, "reprints"):
        yield _reprint(site, before, "2")
    if world.carries(index, "near-duplicates"):
        for turn in range(2):
            yield _nearly(site, turn)
    if world.carries(index, "canonical"):
        yield from _print_views(site)


def _mirrors(site: Site, origin: int, copies: tuple[str, ...]) -> Iterator[Plant]:
    """Bytes of another host (or path) as they are; their links are absolute, so they lead home from anywhere."""
    number = site.world.extra("mirrors")

    def answer(visit: Visit) -> Answer:
        source = site.other(origin)
        sheet = source.extra(site.world.article(origin, number), visit.numeric, "/odd/mirrors/1")
        return Answer(200, render(_absolute(sheet, source, visit.numeric)), lasting=True)

    for copy in copies:
        yield Plant(f"/odd/mirrors/{copy}", Fate.STORED, answer, "mirrors", text=(origin, number))


def _absolute(sheet: Sheet, source: Site, numeric: bool) -> Sheet:
    def whole(links: tuple[Link, ...]) -> tuple[Link, ...]:
        return tuple(msgspec.structs.replace(link, href=source.url(link.href, numeric)) for link in links)

    return msgspec.structs.replace(sheet, nav=whole(sheet.nav), popular=whole(sheet.popular))


def _reprint(site: Site, origin: int, copy: str) -> Plant:
    """The same article inside this site's own furniture; no comments, which would make the texts differ."""
    number, path = site.world.extra("reprints"), f"/odd/reprints/{copy}"

    def answer(visit: Visit) -> Answer:
        article = site.world.article(origin, number)
        return Answer(
            200, render(site.extra(article, visit.numeric, path, template="news", comments=False)), lasting=True
        )

    return Plant(path, Fate.STORED, answer, "reprints", text=(origin, number))


def _nearly(site: Site, turn: int) -> Plant:
    """Turn 0 is the original; the others have one sentence more and a marker of their own."""
    index, original, path = site.host.index, site.world.extra("near-duplicates"), f"/odd/near-duplicates/{turn}"

    def answer(visit: Visit) -> Answer:
        world = site.world
        article = world.revision(index, original, original + turn) if turn else world.article(index, original)
        return Answer(
            200, render(site.extra(article, visit.numeric, path, template="news", comments=False)), lasting=True
        )

    return Plant(path, Fate.STORED, answer, "near-duplicates", text=(index, original + turn))


def _print_views(site: Site) -> Iterator[Plant]:
    index, number = site.host.index, site.world.extra("canonical")
    for path in ("/odd/canonical/1", "/odd/canonical/1?view=print", "/odd/canonical/1?view=mobile"):
        yield Plant(path, Fate.STORED, _canonical(site, path), "canonical", text=(index, number))


def _canonical(site: Site, path: str) -> Handler:
    def answer(visit: Visit) -> Answer:
        article = site.world.article(site.host.index, site.world.extra("canonical"))
        home = site.url("/odd/canonical/1", visit.numeric)
        head = f'<link rel="canonical" href="{home}">\n'
        sheet = site.extra(article, visit.numeric, path, head=head, template="news", comments=False)
        return Answer(200, render(sheet), lasting=True)

    return answer
