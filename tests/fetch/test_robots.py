"""RFC 9309 by the table, its records, and its bounds."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fetch.robots_table import CASES, Case
from weft.fetch.robots import Decision, Record, Robots
from weft.fetch.robots_bulk import BulkMatcher
from weft.fetch.robots_path import rule_paths
from weft.fetch.robots_rules import RuleSet

DECISIONS = [(case, path, allowed) for case in CASES for path, allowed in case.paths]


def test_the_table_is_long_enough() -> None:
    assert len(DECISIONS) >= 150


@pytest.mark.parametrize(("case", "path", "allowed"), DECISIONS, ids=lambda value: getattr(value, "why", None))
def test_decision(case: Case, path: str, allowed: bool) -> None:
    robots = Robots.parse(case.file)
    assert robots.allows("https://h.example" + path, case.agent) is allowed
    assert robots.matched("https://h.example" + path, case.agent).allowed is allowed


def test_deciding_line_is_shown_as_written() -> None:
    robots = Robots.parse(b"User-agent: *\nDISALLOW: /%7ejoe/*  # private\nAllow: /$\nDisallow: /ab\n")
    assert robots.matched("http://h/~joe/x", "weft") == Decision(False, "Disallow: /%7ejoe/*")
    assert robots.matched("http://h/", "weft") == Decision(True, "Allow: /$")
    assert robots.matched("http://h/abc", "weft") == Decision(False, "Disallow: /ab")
    assert robots.matched("http://h/x", "weft") == Decision(True, "")


def test_urls_that_are_not_canonical() -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /p\n")
    for url in ("HTTP://H/p", "http://user:pw@h:8080/p", "http:\\\\h\\p", "/p", "http://h/x/../p", "https://[::1]/p"):
        assert not robots.allows(url, "weft"), url
    for url in ("http://h", "http://h?/p", "http://h#/p", "not a url", "", "http://", "https://h/%70x/../q"):
        assert robots.allows(url, "weft"), url


CRAWL_DELAYS = [
    (b"User-agent: *\nCrawl-delay: 5\n", 5.0),
    (b"User-agent: *\nCrawl-delay: 0.5 # half\n", 0.5),
    (b"User-agent: *\ncrawl-delay: .5\n", 0.5),
    (b"User-agent: *\nCrawl-delay: 10s\n", 10.0),
    (b"User-agent: *\nCrawl-delay: -3\n", None),
    (b"User-agent: *\nCrawl-delay: soon\n", None),
    (b"User-agent: *\nCrawl-delay: nan\n", None),
    (b"User-agent: *\nCrawl-delay: inf\n", None),
    (b"User-agent: *\nCrawl-delay:\n", None),
    (b"User-agent: *\nCrawl-delay: 99999999999999999999\n", 999999999.0),
    (b"User-agent: other\nCrawl-delay: 5\n", None),
    (b"User-agent: *\nCrawl-delay: 5\nUser-agent: weft\nDisallow: /\n", 5.0),
    (b"User-agent: *\nAllow: /\nCrawl-delay: 5\nUser-agent: weft\nDisallow: /\n", None),
    (b"User-agent: *\nDisallow: /a\nCrawl-delay: 5\nUser-agent: *\nDisallow: /b\nCrawl-delay: 2\n", 5.0),
    (b"Crawl-delay: 5\nUser-agent: *\nDisallow: /\n", None),
    (b"User-agent: a\nCrawl-delay: 7\nUser-agent: weft\nDisallow: /\n", 7.0),
]


@pytest.mark.parametrize(("file", "seconds"), CRAWL_DELAYS)
def test_crawl_delay(file: bytes, seconds: float | None) -> None:
    assert Robots.parse(file).crawl_delay("weft") == seconds


def test_other_records_are_kept_with_their_groups() -> None:
    robots = Robots.parse(
        b"License: https://h/license.xml\n"
        b"Sitemap: https://h/one.xml\n"
        b"User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /a\n"
        b"Sitemap: https://h/two.xml # second\n"
        b"Content-Usage: /ok/ train-ai=y\nSitemap:\n"
        b"User-agent: other\nContent-Usage: train-ai=n\nDisallow: /\n"
    )
    assert robots.sitemaps == ("https://h/one.xml", "https://h/two.xml")
    assert robots.licenses == ("https://h/license.xml",)
    signal = Record("content-signal", "search=yes, ai-train=no")
    assert robots.records("weft") == (signal, Record("content-usage", "/ok/ train-ai=y"))
    assert robots.records("other") == (Record("content-usage", "train-ai=n"),)
    assert robots.names("Other/1.0")
    assert not robots.names("weft")


PIECES = st.sampled_from(["/", "a", "b", "*", "$", "?", "%61", "%2f", "%2F", "ab", "//", "%e4", "ä", "%", "&x=1"])
PATTERNS = st.lists(PIECES, max_size=6).map("".join)
RULES = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), PATTERNS), max_size=5)
PATHS = st.lists(st.sampled_from(["a", "b", "/", "?", "ab", "%61", "%2F", "x=1", "ä", "$", "*"]), max_size=8).map(
    "".join
)


@given(st.binary(max_size=400), st.text(max_size=40), st.text(max_size=10))
@settings(max_examples=300)
def test_never_raises(body: bytes, url: str, agent: str) -> None:
    robots = Robots.parse(body)
    assert robots.allows(url, agent) in (True, False)
    assert (robots.crawl_delay(agent) or 0.0) >= 0.0
    robots.records(agent)
    robots.matched("http://h" + url, agent)


@given(st.lists(st.tuples(st.sampled_from(["*", "weft", "x"]), RULES), max_size=4), PATHS, st.randoms())
@settings(max_examples=300)
def test_order_of_groups_and_rules_changes_nothing(
    groups: list[tuple[str, list[tuple[str, str]]]], path: str, chance: random.Random
) -> None:
    def written(groups: list[tuple[str, list[tuple[str, str]]]]) -> bytes:
        # A rule that matches nothing ends each group, so that empty ones do not lend their names to the next.
        return "".join(
            f"User-agent: {agent}\n" + "".join(f"{kind}: {pattern}\n" for kind, pattern in rules) + "Allow: none\n"
            for agent, rules in groups
        ).encode()

    shuffled = [(agent, chance.sample(rules, len(rules))) for agent, rules in chance.sample(groups, len(groups))]
    url = "http://h/" + path
    assert Robots.parse(written(groups)).allows(url, "weft") == Robots.parse(written(shuffled)).allows(url, "weft")


@given(RULES, PATHS)
@settings(max_examples=300)
def test_case_of_percent_encoding_changes_nothing(rules: list[tuple[str, str]], path: str) -> None:
    file = "User-agent: *\n" + "".join(f"{kind}: /{pattern}\n" for kind, pattern in rules)
    decisions = {
        Robots.parse(text.encode()).allows("http://h/" + path, "weft")
        for text in (file, file.replace("%2f", "%2F").replace("%e4", "%E4"), file.replace("%2F", "%2f"))
    }
    assert len(decisions) == 1


def _by_definition(pattern: str, path: str) -> bool:
    """Whether a pattern matches, by the shortest recursion there is."""
    if not pattern:
        return True
    if pattern == "$":
        return not path
    if pattern[0] == "*":
        return any(_by_definition(pattern[1:], path[i:]) for i in range(len(path) + 1))
    return path[:1] == pattern[0] and _by_definition(pattern[1:], path[1:])


NORMAL_PATTERNS = st.text(alphabet="ab/*", max_size=7).flatmap(
    lambda body: st.sampled_from(["/" + body, "/" + body + "$"])
)


@given(st.lists(NORMAL_PATTERNS, min_size=1, max_size=8, unique=True), st.text(alphabet="ab/", max_size=10))
@settings(max_examples=500)
def test_both_matchers_agree_with_the_definition(patterns: list[str], path: str) -> None:
    path = "/" + path
    matching = [pattern for pattern in patterns if _by_definition(pattern, path)]
    rule = RuleSet([], patterns).decide(path)
    assert (rule.octets if rule else 0) == max(map(len, matching), default=0)
    number = BulkMatcher(patterns).first_match(path)
    assert number == (patterns.index(matching[0]) if matching else None)


# Rules that match nothing asked for here, but make a file so large that it is treated in bulk.
FILLING = [f"/zz*{number:04}q" for number in range(8000)]
ALL_OCTETS = "/zzq" + "0123456789" * 40  # no rule of the filling can be ruled out by its octets


@given(
    st.lists(NORMAL_PATTERNS, max_size=8), st.lists(NORMAL_PATTERNS, max_size=8), st.text(alphabet="ab/", max_size=9)
)
@settings(max_examples=100)
def test_a_huge_file_is_decided_like_a_small_one(allow: list[str], disallow: list[str], path: str) -> None:
    few, many = RuleSet(allow, disallow), RuleSet(allow, disallow + FILLING)
    for asked in ("/" + path, ALL_OCTETS + path):
        found, expected = many.decide(asked), few.decide(asked)
        assert (found and found[:2]) == (expected and expected[:2])  # which of two equal ones decides is open


ODD_PIECES = ["%2f", "%3F", "http://x/", "HTTPS://y", "http:///z", "%41", "%E4", "%zz", "%%41", "%", "$", "*", "?", "/"]


@given(st.lists(st.lists(st.sampled_from([*ODD_PIECES, "a", "\xe4", "|", "\0", "%0a"])).map("".join), max_size=10))
@settings(max_examples=300)
def test_many_rules_have_the_normal_form_of_few(values: list[str]) -> None:
    filling = ["/" + "%e4" * 7000]
    assert rule_paths(values + filling)[: len(values)] == (rule_paths(values) if values else [])
