"""Which rule decides: the longest that matches, Allow on ties (RFC 9309, 2.2.2), in bounded time.

Rules in normal form come in (robots_path.py), the one that decides about a path goes out. Called by robots.py.

Rules without wildcards are looked up by the prefixes of the path, one dict access per distinct rule length: a file of
512 KiB has at most about a thousand of those. Rules with `*` lie under their literal prefix and are matched segment by
segment, or all at once (robots_bulk.py) where there are so many that this could take long.
"""

from functools import cached_property
from typing import NamedTuple

from .robots_bulk import BulkMatcher, Sieve

_WORK_LIMIT = 2_000_000  # octets of rules × octets of path: about 1 ms of segment search at worst
_HUGE = 50_000  # octets of star rules that are not worth sorting by prefix: nearly every path would pass the limit


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

    def __init__(self, allow: list[str], disallow: list[str]) -> None:
        """Values of lines, in normal form; empty ones mean nothing."""
        starred = [pattern for pattern in allow if "*" in pattern], [pattern for pattern in disallow if "*" in pattern]
        self._stars = _Stars(*starred) if any(starred) else None
        if self._stars:
            allow, disallow = _without_stars(allow), _without_stars(disallow)
        rules = _by_pattern(allow, disallow)
        rules.pop("", None)
        # Paths in normal form hold no `$`, so that rules with one may stay among the plain ones.
        self._plain = rules
        self._plain_lengths = sorted(set(map(len, rules)), reverse=True)
        self._exact = {pattern[:-1]: rules[pattern] for pattern in rules if pattern[-1] == "$"}

    def __bool__(self) -> bool:
        return bool(self._plain or self._stars)

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

    def __init__(self, allow: list[str], disallow: list[str]) -> None:
        self._starred = allow, disallow
        self._always_bulk = sum(map(len, allow)) + sum(map(len, disallow)) > _HUGE
        self._allow = {} if self._always_bulk else _by_pattern(allow, disallow)
        self._patterns: dict[str, list[str]] = {}
        for pattern in self._allow:
            if pattern[0] in "/*":  # others can match no path
                self._patterns.setdefault(pattern.partition("*")[0], []).append(pattern)
        self._octets = {prefix: sum(map(len, patterns)) for prefix, patterns in self._patterns.items()}
        self._lengths = sorted(set(map(len, self._patterns)))
        self._ready: dict[str, list[_StarRule]] = {}
        self._bulk: _Bulk | None = None

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
        stars = [_taken_apart(pattern, self._allow[pattern]) for pattern in self._patterns[prefix]]
        self._ready[prefix] = sorted(stars, key=lambda star: star.rule, reverse=True)
        return self._ready[prefix]

    def _bulk_match(self, path: str, best: Rule | None) -> Rule | None:
        """As `decide`, where the rules are very many: the heaviest that matches, among those that may match at all."""
        allow, disallow = self._starred
        if self._bulk is None:
            self._bulk = _Bulk(sorted([*allow, *disallow], key=len, reverse=True))  # of equal ones Allow stays first
        pattern = self._bulk.first_match(path)
        if pattern is None:
            return best
        found = Rule(len(pattern), pattern in allow, pattern)
        return found if best is None or found > best else best


class _Bulk:
    """Very many patterns, heaviest first."""

    def __init__(self, patterns: list[str]) -> None:
        self._patterns = patterns
        self._sieve = Sieve(patterns)

    @cached_property
    def _matcher(self) -> BulkMatcher:
        return BulkMatcher(self._patterns)

    def first_match(self, path: str) -> str | None:
        possible, octets = self._sieve.possible(path)
        if len(path) * octets > _WORK_LIMIT:
            number = self._matcher.first_match(path)
            return None if number is None else self._patterns[number]
        numbers: list[int] = possible.tolist()
        for pattern in [self._patterns[number] for number in numbers]:
            prefix = pattern.partition("*")[0]
            if path.startswith(prefix) and _taken_apart(pattern).matches(path, len(prefix)):
                return pattern
        return None


def _taken_apart(pattern: str, allow: bool = True) -> _StarRule:
    anchored = pattern[-1] == "$"
    segments = (pattern[:-1] if anchored else pattern).split("*")[1:]
    tail = segments.pop() if anchored else None
    return _StarRule(Rule(len(pattern), allow, pattern), tuple(filter(None, segments)), tail)


def _by_pattern(allow: list[str], disallow: list[str]) -> dict[str, bool]:
    """Whether each pattern allows. Most files have one kind of rule only, or few of the other."""
    if not disallow:
        return dict.fromkeys(allow, True)
    rules = dict.fromkeys(disallow, False)
    rules.update(dict.fromkeys(allow, True))
    return rules


def _without_stars(patterns: list[str]) -> list[str]:
    return [pattern for pattern in patterns if "*" not in pattern]
