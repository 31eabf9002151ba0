"""A perfect polite crawler in few lines, slow and simple: what it stores must be what simweb's truth says.

It shares no code with simweb or weft's stages, so that the truth is checked from outside.
"""

import gzip
import re
from collections import Counter, deque
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from resiliparse.extract.html2text import extract_plain_text  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser

from weft.simweb import SimWeb

AGENT = "weft/1.0 (+mailto:crawler@weft.example)"
TRACKING = re.compile(r"(?<=[?&])(?:utm_[a-z]+|gclid)=[^&]*&?")


class WebResolver(AbstractResolver):
    """Names by the web under test, never by DNS."""

    def __init__(self, web: SimWeb) -> None:
        self._web = web

    async def resolve(self, host: str, port: int = 0, family: int = 2) -> list[ResolveResult]:
        addresses = self._web.resolve(host)
        if not addresses:
            raise OSError(f"{host} does not exist")
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in addresses
        ]

    async def close(self) -> None: ...


class Rules:
    """robots.txt: the group of our token or of *, the longest match, Allow on ties."""

    def __init__(self, body: bytes) -> None:
        text = body.decode("utf-16" if body[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
        self.sitemaps: list[str] = []
        self._groups: dict[str, list[tuple[str, str]]] = {}
        agents: list[str] = []
        in_rules = False
        for line in re.split(r"\r\n|\r|\n", text):
            key, _, value = (part.strip() for part in line.partition("#")[0].partition(":"))
            if key.lower() == "user-agent":
                agents = [value.lower()] if in_rules else [*agents, value.lower()]
                in_rules = False
                self._groups.setdefault(value.lower(), [])
            elif key.lower() in ("allow", "disallow"):
                in_rules = True
                for agent in agents:
                    self._groups[agent].append((key.lower(), value))
            elif key.lower() == "sitemap":
                self.sitemaps.append(value)

    def allows(self, target: str) -> bool:
        best = (0, True)
        for verb, rule in self._groups.get("weft", self._groups.get("*", [])):
            if rule and matches(rule, target):
                best = max(best, (len(rule), verb == "allow"))
        return best[1]


def matches(rule: str, target: str) -> bool:
    if "*" not in rule and "$" not in rule:
        return target.startswith(rule)
    return re.match(re.escape(rule).replace(r"\*", ".*").replace(r"\$", "$"), target) is not None


class ReferenceCrawler:
    """Walks everything that can be reached from the seeds; a page beyond `limit` stops it, so it always ends."""

    def __init__(self, web: SimWeb, attempts: int = 4, limit: int = 5000, obey: bool = True) -> None:
        self._web = web
        self._obey = obey
        self._attempts = attempts
        self._limit = limit
        self._rules: dict[str, Rules | None] = {}
        self._waiting: list[str] = []
        self.documents: dict[str, str] = {}  # URL → text
        self.outcomes: dict[str, str] = {}
        self.reasons: Counter[str] = Counter()

    async def crawl(self, seeds: list[str]) -> None:
        connector = aiohttp.TCPConnector(resolver=WebResolver(self._web), use_dns_cache=False)
        timeout = aiohttp.ClientTimeout(total=20)
        headers = {"User-Agent": AGENT}
        async with aiohttp.ClientSession(connector=connector, headers=headers, timeout=timeout) as self._session:
            queue = deque((seed, 0) for seed in seeds)
            seen = set(seeds)
            while queue and len(self.outcomes) < self._limit:
                url, hops = queue.popleft()
                found = await self._visit(url, hops)
                found += [(link, 0) for link in self._waiting]
                self._waiting.clear()
                for link, step in found:
                    if link not in seen and step <= 5:
                        seen.add(link)
                        queue.append((link, step))

    async def _visit(self, url: str, hops: int) -> list[tuple[str, int]]:
        rules = await self._rules_of(url)
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        if self._obey and (rules is None or not rules.allows(target)):
            self.outcomes[url] = "robots"
            return []
        status, headers, body = await self._get(url, self._attempts)
        self.outcomes[url] = str(status)
        if status in (301, 302, 303, 307, 308):
            return [(clean(urljoin(url, headers["Location"])), hops + 1)]
        if status != 200:
            return []
        kind = headers.get("Content-Type", "")
        if any(word in kind for word in ("application/xml", "rss+xml", "atom+xml", "gzip")):
            return [(clean(link), 0) for link in locations(body)]
        if kind == "text/plain":
            return [(line, 0) for line in body.decode().split() if line.startswith("http")]
        return self._read(url, kind, headers.get("X-Robots-Tag", ""), body)

    def _read(self, url: str, kind: str, tag: str, body: bytes) -> list[tuple[str, int]]:
        if not kind.lower().startswith(("text/html", "application/xhtml")) or body[:4] in (b"%PDF", b"\x89PNG"):
            return []
        html = body.decode("utf-16" if body[:2] == b"\xff\xfe" else "utf-8", "replace")
        tree = LexborHTMLParser(html)
        meta = " ".join(node.attributes.get("content") or "" for node in tree.css('meta[name="robots"]'))
        meta += "" if tag.startswith("otherbot:") else tag
        text = extract_plain_text(html, main_content=True)
        if "noindex" not in meta and text:
            self.documents[url] = text
        if "nofollow" in meta:
            return []
        base_node = tree.css_first("base[href]")
        base = urljoin(url, base_node.attributes.get("href") or "") if base_node else url
        hrefs = [
            node.attributes.get("href") for node in tree.css('a[href]:not([rel="nofollow"]), link[rel="alternate"]')
        ]
        links = [clean(urljoin(base, href)) for href in hrefs if href]
        return [(link, 0) for link in links if link.startswith("http")]

    async def _rules_of(self, url: str) -> Rules | None:
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._rules:
            self._rules[origin] = await self._fetch_rules(origin)
            # The usual place is asked once per origin, as a page of links.
            self._waiting.append(f"{origin}/sitemap.xml")
        return self._rules[origin]

    async def _fetch_rules(self, origin: str) -> Rules | None:
        where = f"{origin}/robots.txt"
        for _ in range(6):
            status, headers, body = await self._get(where, self._attempts)
            if status == 200:
                return Rules(body)
            if status in (301, 302, 303, 307, 308):
                where = urljoin(where, headers["Location"])
            else:
                return Rules(b"") if 400 <= status < 500 else None
        return Rules(b"")

    async def _get(self, url: str, attempts: int) -> tuple[int, dict[str, str], bytes]:
        for _ in range(attempts):
            try:
                async with self._session.get(url, allow_redirects=False) as answer:
                    body = await answer.read() if answer.content_length is None or answer.content_length < 9e6 else b""
                    if answer.status < 500 and answer.status != 429:
                        return answer.status, dict(answer.headers), body
            except (aiohttp.ClientError, OSError, TimeoutError):
                self.reasons["network"] += 1
        return 0, {}, b""


def clean(url: str) -> str:
    """Fragment and tracking parameters dropped, dots resolved."""
    url = TRACKING.sub("", url.partition("#")[0]).rstrip("?&").replace("/./", "/")
    return url + "/" if urlsplit(url).path == "" else url


def locations(body: bytes) -> list[str]:
    """URLs of a sitemap or a feed."""
    text = (gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body).decode()
    found = re.findall(r"<loc>(.*?)</loc>|<link>(.*?)</link>|<link [^>]*href=\"(.*?)\"", text)
    return [next(filter(None, groups)).replace("&amp;", "&") for groups in found]
