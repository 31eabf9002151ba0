"""Every way a site says whether its texts may train a model: headers, markup, robots.txt, policy files.

Signals for single pages are planted where carried; those for a whole host are its habit (world.WHOLE_HOST_CONSENT).
"""

import json
from collections.abc import Iterator

import msgspec

from .answer import Answer, Fate, Handler, Plant, Visit
from .markup import Wish, wishful_page
from .robots import file_plant, rules, text_at
from .site import Site

RSL = "application/rsl+xml"
LICENCE = """<?xml version="1.0" encoding="UTF-8"?>
<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>
<{verb} type="usage">{usage}</{verb}>
</license></content></rsl>
"""
TRAINING_TOKENS = ("CCBot", "GPTBot", "ClaudeBot", "Google-Extended", "Applebot-Extended", "Bytespider")

# kind → (markup for the head, header field)
ON_PAGE: dict[str, tuple[str, tuple[str, str]]] = {
    "aipref-header": ("", ("Content-Usage", "train-ai=n")),
    "tdmrep-header": ("", ("tdm-reservation", "1")),
    "tdmrep-meta": ('<meta name="tdm-reservation" content="1">\n', ("", "")),
    "rsl-header": ("", ("Link", f'</license.xml>; rel="license"; type="{RSL}"')),
    "rsl-link": (f'<link rel="license" type="{RSL}" href="/license.xml">\n', ("", "")),
    "noai-meta": ('<meta name="robots" content="noai, noimageai">\n', ("", "")),
    "noai-header": ("", ("X-Robots-Tag", "noai")),
}
# (verdict, markup, header field): pages that may be stored
ALLOWED: tuple[tuple[str, str, tuple[str, str]], ...] = (
    ("allow", "", ("Content-Usage", "train-ai=y, search=n")),
    ("allow", "", ("tdm-reservation", "0")),
    ("allow", '<meta name="tdm-reservation" content="0">\n', ("tdm-reservation", "1")),  # markup goes before the header
    ("allow", "", ("Link", f'</license-open.xml>; rel="license"; type="{RSL}"')),
    ("", "", ("X-Robots-Tag", "otherbot: noai")),
    ("", "", ("Content-Usage", 'train-ai="n"')),  # a string is no token: says nothing
)


def consent(site: Site) -> Iterator[Plant]:
    carries, index = site.world.carries, site.host.index
    for kind, (head, header) in ON_PAGE.items():
        if carries(index, kind):
            yield _signed(site, kind, 0, ("deny", head, header))
    if carries(index, "consent-allowed"):
        for turn, signal in enumerate(ALLOWED):
            yield _signed(site, "consent-allowed", turn, signal)
        yield _file("/license-open.xml", RSL, LICENCE.format(verb="permits", usage="all"))
    if any(carries(index, kind) for kind in ("rsl-header", "rsl-link")) or site.host.habit == "rsl-robots":
        yield _file("/license.xml", RSL, LICENCE.format(verb="prohibits", usage="ai-train"))
    yield from _whole_host(site)


def _signed(site: Site, kind: str, turn: int, signal: tuple[str, str, tuple[str, str]]) -> Plant:
    verdict, head, header = signal
    fate = Fate.UNWANTED if verdict == "deny" else Fate.STORED
    wish = Wish(f"/odd/{kind}/{turn}", site.world.extra(kind, turn), head=head, header=header)
    text = (site.host.index, wish.number)
    return Plant(wish.path, fate, wishful_page(site, wish), kind, text=text, consent=verdict)


def _file(path: str, kind: str, text: str) -> Plant:
    def answer(_: Visit) -> Answer:
        return Answer(200, text.encode(), kind, lasting=True)

    return Plant(path, Fate.POLICY, answer, "consent", linked=False)


def _whole_host(site: Site) -> Iterator[Plant]:
    """robots.txt of hosts whose habit is a signal, and the file of TDMRep."""
    match site.host.habit:
        case "aipref-robots":
            lines = ("User-agent: *", "Content-Usage: train-ai=n", "Content-Usage: /ai-ok/ train-ai=y", "Disallow:")
            yield file_plant(rules(site, *lines))
            yield _outweighs(text_at(site, "/ai-ok/page", "aipref-robots", 1, Fate.STORED))
        case "content-signal":
            # As often seen: prepended to the site's own file, so there are two groups for *.
            signal = ("User-agent: *", "Content-Signal: search=yes, ai-train=no", "Allow: /")
            yield file_plant(rules(site, *signal, "", "User-Agent: *", "Disallow: /cgi-bin/"))
        case "rsl-robots":
            yield file_plant(_with_licence(site))
        case "training-tokens":
            tokens = [f"User-agent: {token}" for token in TRAINING_TOKENS]
            yield file_plant(rules(site, *tokens, "Disallow: /", "", "User-agent: *", "Disallow:"))
        case "tdmrep-file":
            entries = [{"location": "/odd/free/*", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]
            yield _file("/.well-known/tdmrep.json", "application/json", json.dumps(entries))
            yield _outweighs(text_at(site, "/odd/free/page", "tdmrep-file", 1, Fate.STORED))


def _with_licence(site: Site) -> Handler:
    def answer(visit: Visit) -> Answer:
        licence = f"License: {site.url('/license.xml', visit.numeric)}\nUser-agent: *\nDisallow:\n"
        return Answer(200, licence.encode(), "text/plain", lasting=True)

    return answer


def _outweighs(plant: Plant) -> Plant:
    """A page whose own consent goes before its host's."""
    return msgspec.structs.replace(plant, consent="allow")
