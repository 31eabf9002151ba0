"""URLs without end: calendars, facets, session ids, subdomains, repeated segments, abnormal fan-out."""

from collections.abc import Iterator
from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

import xxhash

from .answer import Answer, Fate, Handler, Plant, Visit
from .page import render
from .sheet import Link
from .site import Site

FACETS = {
    "color": ("red", "green", "blue"),
    "size": ("s", "m", "l"),
    "sort": ("price", "name"),
    "brand": ("oak", "elm"),
}
SESSION_TEXTS = 10
FANOUT = 500


def traps(site: Site) -> Iterator[Plant]:
    for kind, make in TRAPS.items():
        if site.world.carries(site.host.index, kind):
            yield from make(site)


def _thin(site: Site, title: str, hrefs: list[str]) -> Answer:
    """A page with hardly any text and many links, much the same for every URL."""
    language = site.host.language
    links = "\n".join(f'<li><a href="{escape(href)}">{escape(href[-20:])}</a></li>' for href in hrefs)
    html = f"""<!DOCTYPE html>
<html lang="{language.code}"><head><meta charset="utf-8"><title>{escape(title)}</title></head>
<body><nav><a href="/">{language.ui[0]}</a></nav><h1>{escape(title)}</h1><p>{language.ui[11]}.</p>
<ul>
{links}
</ul></body></html>"""
    return Answer(200, html.encode())


def _endless(path: str, kind: str, sample: str, answer: Handler) -> Plant:
    return Plant(path, Fate.TRAP, answer, kind, prefix=True, sample=sample)


def _calendar(site: Site) -> Iterator[Plant]:
    def answer(visit: Visit) -> Answer:
        parts = visit.target.strip("/").split("/")
        if len(parts) < 3 or not (parts[1].isdigit() and parts[2].isdigit()):
            return Answer(404)
        month = int(parts[1]) * 12 + int(parts[2]) - 1
        near = [f"/calendar/{when // 12}/{when % 12 + 1:02}" for when in (month - 12, month - 1, month + 1, month + 12)]
        days = (
            [f"/calendar/{month // 12}/{month % 12 + 1:02}/{day:02}" for day in range(1, 29)] if len(parts) == 3 else []
        )
        return _thin(site, " ".join(parts[1:]), near + days)

    yield _endless("/calendar/", "calendar", "/calendar/2025/01", answer)


def _facets(site: Site) -> Iterator[Plant]:
    def answer(visit: Visit) -> Answer:
        chosen = dict(parse_qsl(urlsplit(visit.target).query))
        hrefs = []
        for facet, values in FACETS.items():
            for value in values:
                # The last one chosen stands last: every order of the same filters is a URL of its own.
                rest = {key: old for key, old in chosen.items() if key != facet}
                hrefs.append("/catalogue?" + urlencode({**rest, facet: value}))
        page = int(chosen["page"]) + 1 if chosen.get("page", "").isdigit() else 2
        hrefs.append("/catalogue?" + urlencode({**chosen, "page": page}))
        return _thin(site, "Catalogue", hrefs)

    yield _endless("/catalogue?", "facets", "/catalogue?sort=price", answer)


def _sessions(site: Site) -> Iterator[Plant]:
    """Ten texts, each wanted once; every page links to all of them under new ids, in the path and in the query."""
    index = site.host.index

    def session_page(visit: Visit) -> Answer:
        topic = visit.target.partition("?")[0].rpartition("topic-")[2]
        if not topic.isdigit() or int(topic) >= SESSION_TEXTS:
            return Answer(404)
        number = site.world.extra("sessions", int(topic))
        links = tuple(_session_link(site, visit.target, turn) for turn in range(SESSION_TEXTS))
        article = site.world.article(index, number)
        # Without reviews and comments: what an extractor may take or leave would make the same text differ.
        sheet = site.extra(article, visit.numeric, f"/board/topic-{topic}", odd=links, template="news", comments=False)
        return Answer(200, render(sheet))

    for turn in range(SESSION_TEXTS):
        text = (index, site.world.extra("sessions", turn))
        yield Plant(f"/board/topic-{turn}", Fate.STORED, session_page, "sessions", text=text)
    yield Plant("/board/", Fate.TRAP, session_page, "sessions", linked=False, prefix=True)


def _session_link(site: Site, here: str, turn: int) -> Link:
    session = xxhash.xxh3_64_hexdigest(f"{here} {turn}".encode())
    href = f"/board/topic-{turn}?sid={session}" if turn % 2 else f"/board/{session}/topic-{turn}"
    return Link(href, site.world.title(site.host.index, site.world.extra("sessions", turn)))


def _subdomains(site: Site) -> Iterator[Plant]:
    """user-N.name links to user-(2N+1) and user-(2N+2); each is a host of its own."""

    def answer(visit: Visit) -> Answer:
        if visit.target == "/robots.txt":
            return Answer(200, b"User-agent: *\nDisallow:\n", "text/plain")
        label = visit.host.partition(".")[0].removeprefix("user-")
        number = int(label) if label.isdigit() else 0
        hrefs = [f"http://user-{number * 2 + step}.{site.host.name}:{site.port}/" for step in (1, 2)]
        return _thin(site, f"User {number}", hrefs)

    start = f"http://user-0.{site.host.name}:{site.port}/"
    yield Plant("", Fate.TRAP, answer, "subdomains", prefix=True, sample=start)


def _segments(site: Site) -> Iterator[Plant]:
    """A relative link where a rooted one was meant."""
    yield _endless("/topics/", "segments", "/topics/", lambda _: _thin(site, "Topics", ["more/", "more/all/"]))


def _fanout(site: Site) -> Iterator[Plant]:
    def answer(visit: Visit) -> Answer:
        tags = [xxhash.xxh3_64_intdigest(f"{visit.target} {turn}".encode()) % 10**9 for turn in range(FANOUT)]
        return _thin(site, "Tags", [f"/tag/{tag}" for tag in tags])

    yield _endless("/tag/", "fanout", "/tag/all", answer)


TRAPS = {
    "calendar": _calendar,
    "facets": _facets,
    "sessions": _sessions,
    "subdomains": _subdomains,
    "segments": _segments,
    "fanout": _fanout,
}
