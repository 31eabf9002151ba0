"""Bytes to `Page`: undoes the content encoding, finds out what the body is and has it read. Called by `worker`.

HTML gives text and links, plain text gives text, sitemaps and feeds give links; all else is refused with the reason.
"""

import codecs
import re
from typing import Final

import msgspec

from weft.config import Config
from weft.errors import Refused
from weft.records import Headers, Kind, Language, Page, Refusal
from weft.urls.host import host_of

from . import about, directives, language, reading, sitemap, sniff, text
from .decode import decode
from .evidence import evidence, told
from .fingerprint import body_digest, fingerprints
from .links import Harvest, LinkReader, preferences, refreshes
from .scan import Scan, scan
from .wire import ParseJob

PLAIN: Final = "plain"  # extractor of text that came as text
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
# Byte order mark, processing instructions and comments; no way back into any of them, so that a look stays linear.
_PROLOG: Final = rb"(?:\xef\xbb\xbf)?\s*+(?:(?><!--.*?-->|<\?.*?\?>)\s*+)*+"
_HTML: Final = re.compile(_PROLOG + rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
# What browsers take for HTML when nothing is said of it (WHATWG MIME Sniffing, section 7.1).
_FRAGMENT: Final = re.compile(
    _PROLOG + rb"<(?:script|iframe|h1|div|font|table|a|style|title|b|br|p)[\s>]", re.IGNORECASE | re.DOTALL
)
_UNKNOWN: Final = frozenset({"", "application/octet-stream", "unknown/unknown", "application/unknown", "*/*"})
_LIST: Final = re.compile(_PROLOG + rb"<(?:\w+:)?(?:urlset|sitemapindex|rss|feed|rdf)[\s>]", re.IGNORECASE | re.DOTALL)
_IDEOGRAPH: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LOOKED_AT: Final = 16_384  # characters of plain text whose lines tell what it brings
_REACH: Final = 2048  # bytes looked at to tell what a body is
_MAGIC: Final = (
    b"%PDF-",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"Rar!",
    b"7z\xbc\xaf",
    b"\x7fELF",
)
_CONTROLS: Final = bytes(set(range(1, 32)) - set(b"\t\n\f\r\x1b"))
_CONTROL_SHARE: Final = 0.1
_ZERO_SHARE: Final = 0.6  # half the bytes of ASCII in UTF-16 are zero


class Reader:
    """Reads one capture after another."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._product = config.fetch.product
        self._links = LinkReader(config)

    def read(self, job: ParseJob) -> Page:
        """The page of a capture, or a page with a refusal."""
        if job.kind in (Kind.ROBOTS, Kind.POLICY):
            return refused(job, Refusal.NOT_TEXT, "a file for robots")
        try:
            return self._read(job)
        except Refused as refusal:
            return refused(job, Refusal(str(refusal)))

    def _read(self, job: ParseJob) -> Page:
        most = sitemap.MAX_BYTES if job.kind is Kind.SITEMAP else self._config.parse.max_decoded
        body = decode(job.body, field(job.headers, "content-encoding"), most)
        mime, charset = media_type(job.headers)
        if job.ended is None and (job.kind is Kind.SITEMAP or _LIST.match(body, 0, _REACH)):
            return self._list(job, body)
        if is_binary(body):
            return refused(job, Refusal.NOT_TEXT, f"binary data, declared as {mime or 'nothing'}")
        if (
            mime in _HTML_TYPES
            or _HTML.match(body, 0, _REACH)
            or (mime in _UNKNOWN and _FRAGMENT.match(body, 0, _REACH))
        ):
            return self._html(job, body, charset)
        if job.ended is not None:
            return refused(job, job.ended)
        if mime == "text/plain":
            return self._plain(job, body, charset)
        return refused(job, Refusal.NOT_TEXT, mime)

    def _list(self, job: ParseJob, body: bytes) -> Page:
        """A sitemap or feed: links, no text. Its `inside` counts the indexes above it."""
        # Whose robots.txt, or whose sitemap, names this one is spoken for by it.
        speaks_for = (host_of(job.source),) if job.kind is Kind.SITEMAP and job.source else ()
        listing = sitemap.read(body, job.url, speaks_for, level=job.inside + 1)
        if listing.problem and not listing.entries:
            return refused(job, Refusal.BAD_SITEMAP, listing.problem)
        asked = self._asked(job)
        harvest = self._links.of_list(job, listing, asked.nofollow)
        return self._finished(Page(job.id, job.url, detail=listing.problem), body, harvest, asked)

    def _html(self, job: ParseJob, body: bytes, charset: str) -> Page:
        try:
            if job.ended is not None:
                raise Refused(job.ended.value)
            found = reading.read(body, charset)
        except Refused as refusal:
            return self._links_alone(job, body, charset, Refusal(str(refusal)))
        walk = found.walk
        tags = scan(found.whole) if found.whole else Scan(walk.links, walk.metas, walk.base)
        harvest, asked = self._harvest(job, tags)
        selection = text.select(walk, job.url)
        extract = text.compose(found, job.url, selection=selection)
        page = Page(
            job.id,
            job.url,
            text=extract.text,
            title=extract.title,
            language=Language(extract.language, extract.language_script, extract.language_score),
            charset=extract.charset,
            needs_rendering=extract.needs_rendering,
            extractor=extract.extractor,
            metadata=about.to_json(extract),
            evidence=evidence(job.url, walk, selection.kept),
        )
        return self._finished(page, body, harvest, asked)

    def _links_alone(self, job: ParseJob, body: bytes, charset: str, refusal: Refusal) -> Page:
        """A page that cannot be read, with the links that its tags tell of: what it leads to can be."""
        harvest, asked = self._harvest(job, scan(sniff.decode(body, charset).html))
        return self._finished(refused(job, refusal), body, harvest, asked)

    def _harvest(self, job: ParseJob, tags: Scan) -> tuple[Harvest, directives.Directives]:
        """The links of an HTML page, and what it asks of robots."""
        metas = [(meta.name, meta.content) for meta in tags.metas]
        asked = self._asked(job) | directives.of_metas(metas, self._product, job.fetched)
        found = [*tags.links, *refreshes(tags.metas), *preferences(field(job.headers, "link"), job.url)]
        return self._links.of_page(job, found, tags.base, asked.nofollow, tags.beyond), asked

    def _plain(self, job: ParseJob, body: bytes, charset: str) -> Page:
        decoded = sniff.decode(body, charset)
        words = decoded.html.decode("utf-8", "replace").strip()
        page = Page(
            job.id,
            job.url,
            text=words,
            language=language.detect(words),
            charset=decoded.charset,
            extractor=PLAIN,
            evidence=told(job.url, [(line, False) for line in words[:_LOOKED_AT].splitlines()], (), words),
        )
        asked = self._asked(job)
        harvest = self._links.of_page(job, preferences(field(job.headers, "link"), job.url), "", asked.nofollow)
        return self._finished(page, body, harvest, asked)

    def _asked(self, job: ParseJob) -> directives.Directives:
        return directives.of_headers(job.headers, self._product, job.fetched)

    def _finished(self, page: Page, body: bytes, harvest: Harvest, asked: directives.Directives) -> Page:
        prints = fingerprints(page.text)
        return msgspec.structs.replace(
            page,
            words=count_words(page.text),
            links=harvest.links,
            links_seen=harvest.seen,
            drops=harvest.drops,
            dropped=harvest.dropped,
            canonical=harvest.canonical,
            noindex=asked.noindex,
            nofollow=asked.nofollow,
            body_digest=body_digest(body),
            text_digest=prints.digest,
            simhash=prints.simhash,
        )


def count_words(text: str) -> int:
    """Words as a reader counts them: in Chinese and Japanese, characters."""
    if text.isascii():
        return len(text.split())
    rest, characters = _IDEOGRAPH.subn(" ", text)
    return characters + len(rest.split())


def refused(job: ParseJob, refusal: Refusal, detail: str = "") -> Page:
    """A page that there is not."""
    return Page(job.id, job.url, refusal, detail)


def field(headers: Headers, wanted: str) -> str:
    """The value of a header field; of one that is repeated, all values (RFC 9110, section 5.3)."""
    return ",".join(value for name, value in headers if name.lower() == wanted)


def media_type(headers: Headers) -> tuple[str, str]:
    """Content type and charset as the server declares them, "" where it does not."""
    value = field(headers, "content-type").partition(",")[0]
    charset = _CHARSET.search(value)
    return value.partition(";")[0].strip().lower(), charset[1] if charset else ""


def is_binary(body: bytes) -> bool:
    """Is this no text, whatever the server says?"""
    start = body[:_REACH]
    if start.startswith(_MAGIC):
        return True
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or sniff.wide(start):
        return False
    controls = len(start) - len(start.translate(None, _CONTROLS))
    return controls > len(start) * _CONTROL_SHARE or start.count(0) > len(start) * _ZERO_SHARE
