"""robots.txt to the letter of RFC 9309, in linear time and bounded memory.

The bytes of a file come in (`Robots.parse`); what an agent may fetch, and every other record of the file, goes out.
Called by the fetcher before each request, by the link filter, by `weft robots`, and by parse/consent for signals.
"""

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from .robots_path import rule_paths, url_path
from .robots_rules import Rule, RuleSet

MAX_BYTES = 512 * 1024
"""RFC 9309, 2.5: at least 500 KiB must be read. The rest of a longer file, and its cut line, count for nothing."""

# The names of records we read, with the misspellings that real files have.
_NAMES = {
    "user-agent": ("user-agent", "user agent", "useragent"),
    "disallow": ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "dis-allow"),
    "allow": ("allow", "alow", "alllow"),
    "crawl-delay": ("crawl-delay", "crawl delay", "crawldelay"),
    "sitemap": ("sitemap", "sitemaps", "site-map"),
    "content-signal": ("content-signal", "content-signals"),
    "content-usage": ("content-usage",),
    "license": ("license",),
}
# One record a line; the colon may be forgotten if a single word follows. Possessive: no line is read twice.
_RECORD = re.compile(
    r"^[ \t]*+([A-Za-z]{3,}+(?:[- ](?:agent|delay|map|signals?|usage|allow)(?![a-z]))?+)"
    r"(?:[ \t]*+:|[ \t]++(?=[^\s#]++[ \t]*+(?:#|$)))"
    r"[ \t]*+([^\n# \t]*+(?:[ \t]++[^\n# \t]++)*+)",
    re.MULTILINE | re.IGNORECASE,
)
_WORD = re.compile(r"[a-z0-9_-]+")
# What may follow a name in a user-agent line: nothing of a token. Training crawlers have digits in theirs (AI2Bot).
_DIGIT = re.compile(r"[0-9]")
_BEHIND_STAR = re.compile(r"[ \t]|$")
_BEHIND_TOKEN = re.compile(r"[^A-Za-z_-]|$")
_BEHIND_WORD = re.compile(r"[^A-Za-z0-9_-]|$")
_SECONDS = re.compile(r"\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}")
_UNLIMITED = RuleSet((), ())
_REMEMBERED = 32  # agents and groups whose rules a Robots keeps ready

Line: TypeAlias = tuple[str, str]


def _kinds() -> dict[str, str]:
    """Every usual spelling of a name → its kind."""
    spellings: dict[str, str] = {}
    for kind, names in _NAMES.items():
        for name in names:
            spellings |= dict.fromkeys((name, name.capitalize(), name.title(), name.upper()), kind)
    return spellings


_KIND_OF = _kinds()


class Record(NamedTuple):
    """A line that is no rule: its kind (`crawl-delay`, `content-signal`, `content-usage`) and its value as written."""

    kind: str
    value: str


class Decision(NamedTuple):
    """Whether a URL may be fetched, and the line that says so ("" if none does)."""

    allowed: bool
    line: str


class Robots:
    """The rules of one origin. Immutable but for what it remembers of earlier questions."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._spans: list[tuple[int, int]] = []
        self._agents: list[tuple[str, int]] = []  # values of user-agent lines, with the number of their group
        everywhere: dict[str, list[str]] = {"sitemap": [], "license": []}
        self._sort(everywhere)
        self.sitemaps = tuple(everywhere["sitemap"])
        """Values of all Sitemap records, wherever they stand."""
        self.licenses = tuple(everywhere["license"])
        """Values of all License records (RSL), which belong to no group."""
        self._groups_of_agent: dict[str, tuple[int, ...]] = {}
        self._rules_of_groups: dict[tuple[int, ...], RuleSet] = {}

    @classmethod
    def parse(cls, body: bytes) -> "Robots":
        """Whatever the bytes are; what is no record is passed over."""
        return cls(_RECORD.findall(_text(body)))

    def allows(self, url: str, agent: str) -> bool:
        """Whether the agent (a product token) may fetch the URL."""
        path = url_path(url)
        rule = self._rules(agent).decide(path)
        return rule is None or rule.allow or path == "/robots.txt"

    def has_rules(self, agent: str) -> bool:
        """Whether any rule concerns the agent; if not, it may fetch everything."""
        return bool(self._rules(agent))

    def matched(self, url: str, agent: str) -> Decision:
        """As `allows`, with the line that decides, as the file has it."""
        path = url_path(url)
        rule = self._rules(agent).decide(path)
        if rule is None or path == "/robots.txt":
            return Decision(True, "")
        return Decision(rule.allow, self._written(rule, agent))

    def crawl_delay(self, agent: str) -> float | None:
        """The longest Crawl-delay of the agent's groups, in seconds."""
        delays = [_SECONDS.match(value) for kind, value in self.records(agent) if kind == "crawl-delay"]
        return max((float(seconds[0]) for seconds in delays if seconds), default=None)

    def records(self, agent: str) -> tuple[Record, ...]:
        """What the agent's groups hold beside rules, in order."""
        return tuple(
            Record(kind, value)
            for name, value in self._lines_of(self._groups_for(agent))
            if (kind := _kind(name)) in ("crawl-delay", "content-signal", "content-usage")
        )

    def names(self, agent: str) -> bool:
        """Whether a group is meant for this agent by name, not by `*`."""
        return bool(self._groups_named(_word(agent)))

    def _sort(self, everywhere: dict[str, list[str]]) -> None:
        """Find the groups, and the records that belong to none.

        Only a rule ends a run of user-agent lines: other records neither end nor split a group (2.2.4).
        """
        starts: list[int] = []
        ruled = True  # the first user-agent line opens a group; rules before it belong to none
        kinds = _KIND_OF
        for index, (name, value) in enumerate(self._lines):
            kind = kinds.get(name) or kinds.get(name.lower())
            if kind is None:
                continue
            if kind in ("disallow", "allow"):
                ruled = True
            elif kind == "user-agent":
                if ruled:
                    starts.append(index)
                    ruled = False
                self._agents.append((value, len(starts) - 1))
            elif kind in everywhere and value:
                everywhere[kind].append(value)
        self._spans = list(zip(starts, [*starts[1:], len(self._lines)], strict=False))

    def _groups_for(self, agent: str) -> tuple[int, ...]:
        groups = self._groups_of_agent.get(agent)
        if groups is None:
            groups = self._groups_named(_word(agent)) or self._groups_named("*")
            if len(self._groups_of_agent) < _REMEMBERED:
                self._groups_of_agent[agent] = groups
        return groups

    def _groups_named(self, word: str) -> tuple[int, ...]:
        """Numbers of the groups for a word in lower case.

        A user-agent value counts up to its first character outside the token set; where the word itself has digits,
        they count as well. Looked up when asked for: an index of 40,000 agents would take longer than all the rest.
        """
        if not word:
            return ()
        size = len(word)
        behind = _BEHIND_WORD if _DIGIT.search(word) else _BEHIND_STAR if word == "*" else _BEHIND_TOKEN
        named = [number for value, number in self._agents if value[:size].lower() == word and behind.match(value, size)]
        return tuple(dict.fromkeys(named))

    def _lines_of(self, groups: tuple[int, ...]) -> Iterator[Line]:
        for group in groups:
            start, end = self._spans[group]
            yield from self._lines[start:end]

    def _rules(self, agent: str) -> RuleSet:
        groups = self._groups_for(agent)
        if not groups:
            return _UNLIMITED
        rules = self._rules_of_groups.get(groups)
        if rules is None:
            rules = self._compiled(groups)
            if len(self._rules_of_groups) < _REMEMBERED:
                self._rules_of_groups[groups] = rules
        return rules

    def _compiled(self, groups: tuple[int, ...]) -> RuleSet:
        allow: list[str] = []
        disallow: list[str] = []
        kinds = _KIND_OF
        for name, value in self._lines_of(groups):
            kind = kinds.get(name) or _kind(name)
            if kind == "disallow":
                disallow.append(value)
            elif kind == "allow":
                allow.append(value)
        return RuleSet(filter(None, rule_paths(allow)), filter(None, rule_paths(disallow)))

    def _written(self, rule: Rule, agent: str) -> str:
        kind = "allow" if rule.allow else "disallow"
        for name, value in self._lines_of(self._groups_for(agent)):
            if _kind(name) == kind and rule_paths([value])[0] == rule.pattern:
                return f"{kind.capitalize()}: {value}"
        return f"{kind.capitalize()}: {rule.pattern}"


def _kind(name: str) -> str:
    return _KIND_OF.get(name.lower(), "")


def _word(agent: str) -> str:
    """The token that a User-Agent, or a part of one, begins with."""
    word = _WORD.match(agent.strip().lower())
    return word[0] if word else ""


def _text(body: bytes) -> str:
    """The part that counts, one character per octet of its UTF-8 form, lines ended by LF alone."""
    text = _utf8(body[:MAX_BYTES]).decode("latin-1")
    if "\r" in text:
        text = text.replace("\r", "\n")
    return text if len(body) <= MAX_BYTES else text[: text.rfind("\n") + 1]


def _utf8(body: bytes) -> bytes:
    """UTF-16 is told by its mark, or by the NULs beside its first two characters."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if body.startswith(mark):
            return body[2:].decode(encoding, "replace").encode("utf-8", "replace")
    if body[1:4:2] == b"\0\0" and b"\0" not in body[0:3:2]:
        return body.decode("utf-16-le", "replace").encode("utf-8", "replace")
    if body[0:3:2] == b"\0\0" and b"\0" not in body[1:4:2]:
        return body.decode("utf-16-be", "replace").encode("utf-8", "replace")
    while body.startswith(codecs.BOM_UTF8):
        body = body[3:]
    return body
