"""Which rule decides: the longest that matches, Allow on ties (RFC 9309, 2.2.2), in bounded time.

Rules in normal form come in (robots_path.py), the one that decides about a path goes out. Called by robots.py.

Rules without wildcards are looked up by the prefixes of the path, one dict access per distinct rule length: a file of
512 KiB has at most about a thousand of those. Rules with `*` lie under their literal prefix and are matched segment by
segment, or all at once (robots_bulk.py) where there are so many that this could take long.
"""

from collections.abc import Iterable
from typing import NamedTuple

from .robots_bulk import BulkMatcher

_WORK_LIMIT = 2_000_000  # octets of rules × octets of path: about 1 ms of segment search at worst
_HUGE = 200_000  # octets of star rules that are not worth sorting by prefix: nearly every path would pass the limit


class Rule(NamedTuple):
    """A rule in normal form. The greater one decides: more octets, then Allow."""

    octets: int
    allow: bool
    pattern: str


class _StarRule(NamedTuple):
    rule: Rule
    segments: tuple[str, ...]  # to be found one after another behind the prefix
    tail: str | None  # what the path must end with, for `$`

    def matches(self, path: str, position: int) -> bool:
        for segment in self.segments:
            found = path.find(segment, position)
            if found < 0:
                return False
            position = found + len(segment)
        if self.tail is None:
            return True
        return len(path) - len(self.tail) >= position and path.endswith(self.tail)


class RuleSet:
    """The rules of one agent."""

    def __init__(self, allow: Iterable[str], disallow: Iterable[str]) -> None:
        rules = dict.fromkeys(disallow, False)
        rules.update(dict.fromkeys(allow, True))
        starred = [pattern for pattern in rules if "*" in pattern]
        # Paths in normal form hold neither `*` nor `$`, so that rules with those may stay among the plain ones.
        self._plain = rules
        self._plain_lengths = sorted(set(map(len, rules)), reverse=True)
        self._exact = {pattern[:-1]: rules[pattern] for pattern in rules if pattern[-1] == "$"}
        self._stars = _Stars(starred, rules) if starred else None

    def __bool__(self) -> bool:
        return bool(self._plain)

    def decide(self, path: str) -> Rule | None:
        """The rule that decides about the path; None if no rule matches."""
        best = self._plain_match(path)
        if path in self._exact:
            exact = Rule(len(path) + 1, self._exact[path], path + "$")
            best = exact if best is None or exact > best else best
        return self._stars.decide(path, best) if self._stars else best

    def _plain_match(self, path: str) -> Rule | None:
        plain = self._plain
        for length in self._plain_lengths:
            prefix = path[:length]
            if prefix in plain:
                return Rule(len(prefix), plain[prefix], prefix)
        return None


class _Stars:
    """Rules with `*`, by their literal prefix."""

    def __init__(self, starred: list[str], rules: dict[str, bool]) -> None:
        self._starred, self._allow = starred, rules
        self._patterns: dict[str, list[str]] = {}
        self._always_bulk = sum(map(len, starred)) > _HUGE
        if not self._always_bulk:
            for pattern in starred:
                if pattern[0] in "/*":  # others can match no path
                    self._patterns.setdefault(pattern.partition("*")[0], []).append(pattern)
        self._octets = {prefix: sum(map(len, patterns)) for prefix, patterns in self._patterns.items()}
        self._lengths = sorted(set(map(len, self._patterns)))
        self._ready: dict[str, list[_StarRule]] = {}
        self._bulk: tuple[list[str], BulkMatcher] | None = None

    def decide(self, path: str, best: Rule | None) -> Rule | None:
        """The greater of `best` and the greatest rule that matches."""
        if self._always_bulk:
            return self._bulk_match(path, best)
        patterns = self._patterns
        prefixes = [prefix for length in self._lengths if (prefix := path[:length]) in patterns]
        if not prefixes:
            return best
        if len(path) * sum([self._octets[prefix] for prefix in prefixes]) > _WORK_LIMIT:
            return self._bulk_match(path, best)
        for prefix in prefixes:
            length = len(prefix)
            for star in self._ready.get(prefix) or self._prepare(prefix):
                if best is not None and star.rule < best:
                    break
                if star.matches(path, length):
                    best = star.rule
                    break
        return best

    def _prepare(self, prefix: str) -> list[_StarRule]:
        """The rules under a prefix, greatest first, taken apart when they are first needed."""
        stars = []
        for pattern in self._patterns[prefix]:
            anchored = pattern[-1] == "$"
            segments = (pattern[:-1] if anchored else pattern).split("*")[1:]
            tail = segments.pop() if anchored else None
            rule = Rule(len(pattern), self._allow[pattern], pattern)
            stars.append(_StarRule(rule, tuple(filter(None, segments)), tail))
        self._ready[prefix] = sorted(stars, key=lambda star: star.rule, reverse=True)
        return self._ready[prefix]

    def _bulk_match(self, path: str, best: Rule | None) -> Rule | None:
        if self._bulk is None:
            allowing_first = sorted(self._starred, key=self._allow.__getitem__, reverse=True)
            patterns = sorted(allowing_first, key=len, reverse=True)
            self._bulk = patterns, BulkMatcher(patterns)
        patterns, matcher = self._bulk
        number = matcher.first_match(path)
        if number is None:
            return best
        found = Rule(len(patterns[number]), self._allow[patterns[number]], patterns[number])
        return found if best is None or found > best else best
