"""robots.txt of every kind, each with URLs that its rules forbid and look-alikes that they allow."""

from collections.abc import Callable, Iterator

from .answer import Answer, Fate, Handler, Hang, Plant, Reply, Script, Visit
from .page import render
from .redirects import to
from .site import Site

OWN_FILE = frozenset({"aipref-robots", "content-signal", "rsl-robots", "training-tokens"})
PLAIN = "text/plain; charset=utf-8"


def robots(site: Site) -> Iterator[Plant]:
    """The plant at /robots.txt and those its rules are about."""
    yield from KINDS.get(site.host.habit, _silent if site.host.habit in OWN_FILE else _open)(site)
    guest = site.world.neighbour(site.host.index, -1)
    if guest != site.host.index and site.world.host(guest).habit == "robots-redirect":
        path = f"/odd/robots/of-{guest}"
        yield Plant(path, Fate.POLICY, rules(site, *MEMBERS), "robots-redirect", linked=False)


def rules(site: Site, *lines: str, encode: Callable[[str], bytes] = str.encode) -> Handler:
    """A file of these lines, and where the sitemap is."""

    def answer(visit: Visit) -> Answer:
        mapped = site.world.carries(site.host.index, "sitemaps")
        sitemap = [f"Sitemap: {site.url('/sitemap.xml', visit.numeric)}"] if mapped else []
        return Answer(200, encode("\n".join([*lines, *sitemap]) + "\n"), PLAIN, lasting=True)

    return answer


def file_plant(answer: Handler) -> Plant:
    return Plant("/robots.txt", Fate.POLICY, answer, "robots", linked=False)


def text_at(site: Site, path: str, kind: str, turn: int, fate: Fate) -> Plant:
    """A page with a text of its own at a path that the rules speak of."""
    number = site.world.extra(kind, turn)

    def answer(visit: Visit) -> Answer:
        article = site.world.article(site.host.index, number)
        return Answer(200, render(site.extra(article, visit.numeric, path)), lasting=True)

    return Plant(path, fate, answer, kind, text=(site.host.index, number))


def _silent(_: Site) -> Iterator[Plant]:
    """Consent signals bring a file of their own."""
    yield from ()


def _open(site: Site) -> Iterator[Plant]:
    yield file_plant(rules(site, "User-agent: *", "Disallow:"))


def _members_area(site: Site, kind: str) -> Iterator[Plant]:
    """What `Disallow: /members/` with `Allow: /members/open/` means."""
    yield text_at(site, "/members/area", kind, 1, Fate.FORBIDDEN)
    yield text_at(site, "/members/list?id=7", kind, 2, Fate.FORBIDDEN)
    yield text_at(site, "/members/open/house", kind, 3, Fate.STORED)
    yield text_at(site, "/members", kind, 4, Fate.STORED)


MEMBERS = ("User-agent: *", "Disallow: /members/", "Allow: /members/open/")


def _variant(kind: str, encode: Callable[[str], bytes]) -> Callable[[Site], Iterator[Plant]]:
    """The members' area in another spelling of the same file."""

    def make(site: Site) -> Iterator[Plant]:
        yield file_plant(rules(site, *MEMBERS, encode=encode))
        yield from _members_area(site, kind)

    return make


def _own(site: Site) -> Iterator[Plant]:
    """Our group replaces the one for *: what only * forbids is allowed to us."""
    agent = site.world.config.agent
    lines = ("User-agent: *", "Disallow: /others/", "", f"User-agent: {agent.upper()}", "User-agent: friend")
    yield file_plant(rules(site, *lines, "Disallow: /ours/", f"User-agent: {agent}er", "Disallow: /"))
    yield text_at(site, "/ours/page", "robots-own", 1, Fate.FORBIDDEN)
    yield text_at(site, "/others/page", "robots-own", 2, Fate.STORED)


def _wildcard(site: Site) -> Iterator[Plant]:
    lines = (
        "User-agent: *",
        "Disallow: /*.cgi$",
        "Disallow: /*/draft/",
        "Allow: /*/draft/final$",
        "Disallow: /*?print=",
    )
    yield file_plant(rules(site, *lines))
    fates = (
        ("/run/report.cgi", Fate.FORBIDDEN),
        ("/run/report.cgi.html", Fate.STORED),
        ("/papers/draft/one", Fate.FORBIDDEN),
        ("/papers/draft/final", Fate.STORED),
        ("/papers/final?print=1", Fate.FORBIDDEN),
    )
    for turn, (path, fate) in enumerate(fates):
        yield text_at(site, path, "robots-wildcard", turn, fate)


def _delay(site: Site) -> Iterator[Plant]:
    lines = ("User-agent: *", f"Crawl-delay: {site.world.config.crawl_delay:g}", "Disallow:")
    yield file_plant(rules(site, *lines))


def _closed(site: Site) -> Iterator[Plant]:
    yield file_plant(rules(site, "User-agent: *", "Disallow: /"))


def _status(status: int) -> Callable[[Site], Iterator[Plant]]:
    def make(_: Site) -> Iterator[Plant]:
        yield file_plant(lambda _: Answer(status, b"<h1>Error</h1>"))

    return make


def _timeout(_: Site) -> Iterator[Plant]:
    yield file_plant(lambda _: Script(0, (Hang(),)))


def _heals(site: Site) -> Iterator[Plant]:
    healed, failures = rules(site, *MEMBERS), site.world.config.failures

    def answer(visit: Visit) -> Reply:
        return Answer(500, b"later") if visit.count <= failures else healed(visit)

    yield file_plant(answer)
    yield from _members_area(site, "robots-heals")


def _redirect(site: Site) -> Iterator[Plant]:
    """Three hops, the last to another host; the rules count for this one."""

    def abroad(visit: Visit) -> Answer:
        guest = site.other(site.world.neighbour(site.host.index))
        location = guest.url(f"/odd/robots/of-{site.host.index}", visit.numeric)
        return Answer(307, headers=(("Location", location),))

    yield file_plant(to("/odd/robots/1", 301))
    yield Plant("/odd/robots/1", Fate.POLICY, to("2", 302), "robots-redirect", linked=False)
    yield Plant("/odd/robots/2", Fate.POLICY, abroad, "robots-redirect", linked=False)
    yield from _members_area(site, "robots-redirect")


def _html(site: Site) -> Iterator[Plant]:
    def answer(visit: Visit) -> Answer:
        article = site.world.article(site.host.index, site.world.extra("robots-html"))
        return Answer(200, render(site.extra(article, visit.numeric, "/robots.txt")), lasting=True)

    yield file_plant(answer)


def _huge(text: str) -> bytes:
    filler = "".join(f"Disallow: /nowhere/{number:06}/{'x' * 40}\n" for number in range(10_000))
    return (text + filler).encode()


KINDS: dict[str, Callable[[Site], Iterator[Plant]]] = {
    "robots-disallow": _variant("robots-disallow", str.encode),
    "robots-own": _own,
    "robots-wildcard": _wildcard,
    "robots-delay": _delay,
    "robots-closed": _closed,
    "robots-missing": _status(404),
    "robots-forbidden": _status(403),
    "robots-failing": _status(500),
    "robots-heals": _heals,
    "robots-timeout": _timeout,
    "robots-redirect": _redirect,
    "robots-html": _html,
    "robots-huge": _variant("robots-huge", _huge),
    "robots-bom": _variant("robots-bom", lambda text: b"\xef\xbb\xbf" + text.encode()),
    "robots-utf16": _variant("robots-utf16", lambda text: text.encode("utf-16")),
    "robots-cr": _variant("robots-cr", lambda text: text.replace("\n", "\r").encode()),
}
