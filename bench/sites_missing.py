"""Why pages that wget got are missing from a crawl, for `bench.sites`: what `weft inspect` says, and who links there.

URLs that the crawl has never heard of are told apart: the page that links to it was not fetched either, or it was, and
the link on it was not read or not followed.
"""

import asyncio
import re
import urllib.request
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import msgspec

from weft.build import looked_at
from weft.directory import CrawlDirectory
from weft.frontier.story import Story
from weft.urls.canonical import BadURLError, canonical

FORBIDDEN = "forbidden"  # first word of the reasons that count against nobody
_STRAY = re.compile("%(?![0-9a-fA-F]{2})")


class Missing(msgspec.Struct, frozen=True):
    """Pages that are missing for one reason."""

    reason: str
    pages: int
    example: str
    found_on: str  # where wget found the example

    @property
    def is_forbidden(self) -> bool:
        return self.reason.startswith(FORBIDDEN)


def explained(out: Path, missing: Mapping[str, str], pages: set[str]) -> list[Missing]:
    """Reasons for the missing URLs (each with the URL that wget found it on), most frequent first."""
    stories = asyncio.run(_stories(out, missing))
    grouped: dict[str, list[str]] = {}
    for url, referer in missing.items():
        grouped.setdefault(_reason(stories.get(url), url, referer, pages), []).append(url)
    groups = sorted(grouped.items(), key=lambda group: -len(group[1]))
    return [Missing(reason, len(urls), urls[0], missing[urls[0]]) for reason, urls in groups]


async def _stories(out: Path, urls: Iterable[str]) -> dict[str, Story]:
    """What `weft inspect` tells of each URL, without a process for each."""
    stories = {}
    async with looked_at(CrawlDirectory.read(out)) as look:
        for url in urls:
            try:
                ours = canonical(url)
            except BadURLError:
                continue
            await look.fetcher.book.verdict(ours)  # loads the rules, so that the frontier's decision knows them
            stories[url] = await look.frontier.explain(ours)
    return stories


def _reason(story: Story | None, url: str, referer: str, pages: set[str]) -> str:
    if story is None:
        return "not a URL to us"
    if story.url != url and story.url in pages:
        return "asked for in another spelling"
    if story.state == "unknown":
        return _unknown(story, referer, pages)
    last = story.visits[-1].reason.value if story.visits else ""
    if last == "robots-denied":
        return f"{FORBIDDEN} by robots.txt"
    rules = [story.hold.why] if story.hold else []
    return ": ".join([story.state, *rules, *([last] if last else [])])


def _unknown(story: Story, referer: str, pages: set[str]) -> str:
    drop = story.drop.value if story.drop else ""
    if drop == "robots-denied":
        return f"{FORBIDDEN} by robots.txt"
    if drop:
        return f"dropped: {drop}"
    if not referer or referer not in pages:
        return "unknown: what links to it is missing too"
    how = Linking.of(referer).by.get(story.url, [])
    if how and all(word == "nofollow" for word in how):
        return f"{FORBIDDEN} by nofollow"
    return f"unknown: linked on a page that was fetched, by {how[0] if how else 'something else than markup'}"


class Linking(HTMLParser):
    """What on a page names each URL: an element and its attribute, or `nofollow` where that forbids to follow it."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.base = url
        self.by: dict[str, list[str]] = {}
        self._forbids = False

    @classmethod
    def of(cls, url: str) -> "Linking":
        """Of the page as its server gives it out now."""
        page = cls(url)
        with urllib.request.urlopen(url, timeout=30) as answer:
            page.feed(answer.read().decode("utf-8", "replace"))
        return page

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attributes}
        if tag == "base" and "href" in named:
            self.base = urljoin(self.base, named["href"])
        if tag == "meta" and named.get("name", "").lower() == "robots":
            self._forbids = self._forbids or bool({"nofollow", "none"} & _words(named.get("content", "")))
        if tag == "meta" and named.get("http-equiv", "").lower() == "refresh":
            self._name(named.get("content", "").rpartition("=")[2], "meta refresh")
        nofollow = self._forbids or "nofollow" in _words(named.get("rel", ""))
        rel = f" rel={named['rel']}" if tag == "link" and "rel" in named else ""
        for name in ("href", "src", "data", "background"):
            if name in named:
                self._name(named[name], "nofollow" if nofollow else f"<{tag} {name}{rel}>")

    def _name(self, href: str, how: str) -> None:
        """wget mends a % that begins no escape; we ask as browsers do."""
        mended = _STRAY.sub("%25", href)
        try:
            url = canonical(mended, self.base)
        except BadURLError:
            return
        self.by.setdefault(url, []).append(how if mended == href else f"{how} as {href}")


def _words(value: str) -> set[str]:
    return set(value.lower().replace(",", " ").split())
