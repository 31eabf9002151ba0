"""robots.txt to the letter of RFC 9309, in linear time and bounded memory.

The bytes of a file come in (`Robots.parse`); what an agent may fetch, and every other record of the file, goes out.
Called by the fetcher before each request, by the link filter, by `weft robots`, and by parse/consent for signals.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, compress
from typing import NamedTuple, TypeAlias

from .robots_path import rule_paths, url_path
from .robots_rules import Rule, RuleSet

MAX_BYTES = 512 * 1024
"""RFC 9309, 2.5: at least 500 KiB must be read. The rest of a longer file, and its cut line, count for nothing."""

# The names of records we read, with the misspellings that real files have, under the letter that stands for them.
_AGENT, _DISALLOW, _ALLOW, _DELAY, _SITEMAP, _SIGNAL, _USAGE, _LICENSE, _OTHER = "UDACSGEL-"
_NAMES = {
    _AGENT: ("user-agent", "user agent", "useragent"),
    _DISALLOW: ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "dis-allow"),
    _ALLOW: ("allow", "alow", "alllow"),
    _DELAY: ("crawl-delay", "crawl delay", "crawldelay"),
    _SITEMAP: ("sitemap", "sitemaps", "site-map"),
    _SIGNAL: ("content-signal", "content-signals"),
    _USAGE: ("content-usage",),
    _LICENSE: ("license",),
}
# A group: user-agent lines, then everything up to the next one. Only a rule ends a run of user-agent lines: other
# records neither end nor split a group (2.2.4).
_GROUP = re.compile("U[^DA]*+[^U]*+")
# One record a line; the colon may be forgotten if a single word follows. Possessive: no line is read twice.
_RECORD = re.compile(
    r"^[ \t]*+([A-Za-z]{3,}+(?:[- ](?i:agent|delay|map|signals?|usage|allow)(?![A-Za-z]))?+)"
    r"(?:[ \t]*+:|[ \t]++(?=[^\s#]++[ \t]*+(?:#|$)))"
    r"[ \t]*+([^\n# \t]*+(?:[ \t]++[^\n# \t]++)*+)",
    re.MULTILINE | re.ASCII,
)
_WORD = re.compile(r"[a-z0-9_-]+")
# What may follow a name in a user-agent line: nothing of a token. Training crawlers have digits in theirs (AI2Bot).
_DIGIT = re.compile(r"[0-9]")
_BEHIND_STAR = re.compile(r"[ \t]|$")
_BEHIND_TOKEN = re.compile(r"[^A-Za-z_-]|$")
_BEHIND_WORD = re.compile(r"[^A-Za-z0-9_-]|$")
_SECONDS = re.compile(r"^(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})", re.MULTILINE | re.ASCII)
_UNLIMITED = RuleSet([], [])
_REMEMBERED = 32  # agents and groups whose rules a Robots keeps ready

Line: TypeAlias = tuple[str, str]


def _letters() -> dict[str, str]:
    """Every usual spelling of a name → its letter."""
    spellings: dict[str, str] = {}
    for letter, names in _NAMES.items():
        for name in names:
            spellings |= dict.fromkeys((name, name.capitalize(), name.title(), name.upper()), letter)
    return spellings


_LETTER_OF = _letters()
_RECORDS = {_DELAY: "crawl-delay", _SIGNAL: "content-signal", _USAGE: "content-usage"}


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
        # Whole-list operations: a hostile file has tens of thousands of lines.
        self._values = [value for _, value in lines]
        self._kinds = _kinds_of([name for name, _ in lines])  # a letter for each line
        first = self._kinds.find(_AGENT)  # rules before it belong to no group
        self._starts = list(accumulate(map(len, _GROUP.findall(self._kinds)), initial=first)) if first >= 0 else []
        agents = [index for index, kind in enumerate(self._kinds) if kind == _AGENT]
        self._agents = [self._values[index] for index in agents]
        self._groups = list(accumulate(map(set(self._starts).__contains__, agents)))  # of the agents, counted from 1
        self.sitemaps = tuple(filter(None, self._of_kind(_SITEMAP, 0, len(lines))))
        """Values of all Sitemap records, wherever they stand."""
        self.licenses = tuple(filter(None, self._of_kind(_LICENSE, 0, len(lines))))
        """Values of all License records (RSL), which belong to no group."""
        self._groups_of_agent: dict[str, tuple[int, ...]] = {}
        self._rules_of_groups: dict[tuple[int, ...], RuleSet] = {}
        self._lines_of_rules: dict[tuple[Rule, str], str] = {}

    @classmethod
    def parse(cls, body: bytes | str) -> "Robots":
        """Whatever the bytes are; what is no record is passed over."""
        return cls(_RECORD.findall(_text(body.encode("utf-8", "replace") if isinstance(body, str) else body)))

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
        delays = _SECONDS.findall("\n".join(self._said_to(agent, _DELAY)))
        return max(map(float, delays), default=None)

    def records(self, agent: str) -> tuple[Record, ...]:
        """What the agent's groups hold beside rules, in order."""
        return tuple(
            Record(_RECORDS[kind], value)
            for start, end in self._runs(self._groups_for(agent))
            for kind, value in zip(self._kinds[start:end], self._values[start:end], strict=True)
            if kind in _RECORDS
        )

    def names(self, agent: str) -> bool:
        """Whether a group is meant for this agent by name, not by `*`."""
        return bool(self._groups_named(_word(agent)))

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
        named = [
            group - 1
            for value, group in zip(self._agents, self._groups, strict=True)
            if value[:size].lower() == word and behind.match(value, size)
        ]
        return tuple(dict.fromkeys(named))

    def _runs(self, groups: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """The lines of groups; those of neighbours are one run, since a hostile file has thousands."""
        start = end = -1
        for group in groups:
            if self._starts[group] != end:
                if end >= 0:
                    yield start, end
                start = self._starts[group]
            end = self._starts[group + 1]
        if end >= 0:
            yield start, end

    def _of_kind(self, kind: str, start: int, end: int) -> Iterable[str]:
        """Values of the lines of one kind."""
        if self._kinds.find(kind, start, end) < 0:
            return ()
        return compress(self._values[start:end], map(kind.__eq__, self._kinds[start:end]))

    def _said_to(self, agent: str, kind: str) -> list[str]:
        """Values of one kind in the agent's groups."""
        said: list[str] = []
        for start, end in self._runs(self._groups_for(agent)):
            said += self._of_kind(kind, start, end)
        return said

    def _rules(self, agent: str) -> RuleSet:
        groups = self._groups_for(agent)
        if not groups:
            return _UNLIMITED
        rules = self._rules_of_groups.get(groups)
        if rules is None:
            allow, disallow = self._said_to(agent, _ALLOW), self._said_to(agent, _DISALLOW)
            rules = RuleSet(rule_paths(allow), rule_paths(disallow))
            if len(self._rules_of_groups) < _REMEMBERED:
                self._rules_of_groups[groups] = rules
        return rules

    def _written(self, rule: Rule, agent: str) -> str:
        """The line of a rule, remembered: one rule denies many URLs as a rule."""
        line = self._lines_of_rules.get((rule, agent))
        if line is None:
            values = self._said_to(agent, _ALLOW if rule.allow else _DISALLOW)
            value = values[rule_paths(values).index(rule.pattern)]
            line = f"{'Allow' if rule.allow else 'Disallow'}: {value}"
            if len(self._lines_of_rules) < _REMEMBERED:
                self._lines_of_rules[rule, agent] = line
        return line


def _kinds_of(names: list[str]) -> str:
    """A letter for each name. They are few but for hostile files, and each is looked up once."""
    letters = {name: _LETTER_OF.get(name) or _LETTER_OF.get(name.lower(), _OTHER) for name in set(names)}
    return "".join(map(letters.__getitem__, names))


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
