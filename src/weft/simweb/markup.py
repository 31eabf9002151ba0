"""Pages that say what may be done with them: noindex, nofollow, base, refresh."""

from collections.abc import Iterator

import msgspec

from .answer import Answer, Fate, Handler, Plant, Visit
from .page import render
from .redirects import landing
from .sheet import Link
from .site import NOT_FOUND, Site


class Wish(msgspec.Struct, frozen=True):
    """A page with a wish in its head or header, and the link it bears."""

    path: str
    number: int
    head: str = ""
    header: tuple[str, str] = ("", "")
    onward: str = ""
    attributes: str = ""


def markup(site: Site) -> Iterator[Plant]:
    carries, index = site.world.carries, site.host.index
    if carries(index, "noindex"):
        yield from _noindex(site)
    if carries(index, "nofollow"):
        yield from _nofollow(site)
    if carries(index, "base-href"):
        wish = Wish("/odd/base/index", site.world.extra("base-href"), '<base href="/odd/base/deep/">\n', onward="page")
        yield _wishful(site, wish, "base-href", Fate.STORED)
        yield landing(site, "/odd/base/deep/page", "base-href", 1)
        yield Plant("/odd/base/page", Fate.GONE, lambda _: Answer(404, NOT_FOUND), "base-href", linked=False)
    if carries(index, "refresh"):
        body = b'<html><head><meta http-equiv="refresh" content="0; url=target"></head><body></body></html>'
        yield Plant("/odd/refresh/1", Fate.SKIPPED, lambda _: Answer(200, body), "refresh")
        yield landing(site, "/odd/refresh/target", "refresh", fate=Fate.OPTIONAL)


def wishful_page(site: Site, wish: Wish) -> Handler:
    """The handler of a page with a wish."""

    def answer(visit: Visit) -> Answer:
        article = site.world.article(site.host.index, wish.number)
        text = site.world.title(site.host.index, wish.number + 1)
        links = (Link(wish.onward, text, wish.attributes),) if wish.onward else ()
        page = render(site.extra(article, visit.numeric, wish.path, head=wish.head, odd=links))
        return Answer(200, page, headers=(wish.header,) if wish.header[0] else (), lasting=True)

    return answer


def _wishful(site: Site, wish: Wish, kind: str, fate: Fate) -> Plant:
    return Plant(wish.path, fate, wishful_page(site, wish), kind, text=(site.host.index, wish.number))


def _noindex(site: Site) -> Iterator[Plant]:
    """Kept out of the corpus; the links still count."""
    meta, tag = '<meta name="robots" content="noindex">\n', ("X-Robots-Tag", "noindex")
    number = site.world.extra("noindex")
    yield _wishful(site, Wish("/odd/noindex/meta", number, head=meta, onward="behind-2"), "noindex", Fate.UNWANTED)
    yield landing(site, "/odd/noindex/behind-2", "noindex", 2)
    yield _wishful(site, Wish("/odd/noindex/tag", number + 4, header=tag, onward="behind-6"), "noindex", Fate.UNWANTED)
    yield landing(site, "/odd/noindex/behind-6", "noindex", 6)
    other = ("X-Robots-Tag", "otherbot: noindex")
    yield _wishful(site, Wish("/odd/noindex/other-bot", number + 8, header=other), "noindex", Fate.STORED)


def _nofollow(site: Site) -> Iterator[Plant]:
    """The page is wanted, what only it links to is not; nofollow on a single link is read as a hint by some."""
    number = site.world.extra("nofollow")
    meta, tag = '<meta name="robots" content="nofollow">\n', ("X-Robots-Tag", "nofollow")
    yield _wishful(site, Wish("/odd/nofollow/meta", number, head=meta, onward="never-1"), "nofollow", Fate.STORED)
    yield landing(site, "/odd/nofollow/never-1", "nofollow", 1, Fate.FORBIDDEN)
    yield _wishful(site, Wish("/odd/nofollow/tag", number + 2, header=tag, onward="never-3"), "nofollow", Fate.STORED)
    yield landing(site, "/odd/nofollow/never-3", "nofollow", 3, Fate.FORBIDDEN)
    link = Wish("/odd/nofollow/link", number + 4, onward="perhaps-5", attributes=' rel="nofollow"')
    yield _wishful(site, link, "nofollow", Fate.STORED)
    yield landing(site, "/odd/nofollow/perhaps-5", "nofollow", 5, Fate.OPTIONAL)
