"""Traps: which pattern a URL has, and what the rules make of a page and of the way to it. What follows: test_holds."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.frontier import traps
from weft.frontier.trail import MANY, Trail
from weft.frontier.traps import SESSIONS, Verdict, family_of, is_ordinary, pattern_of


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", ""),
        ("/about/us", ""),
        ("/a/b/c/d/e", ""),
        ("/x/more/more/more/", ""),
        ("/a-fine-day", ""),
        ("/tag/48151623", "/tag/*"),
        ("/tag/1/", "/tag/*/"),
        ("/part-3/page-7", "/*"),
        ("/chapter7.html", "/chapter*.html"),
        ("/calendar/2031/05", "/calendar/*"),
        ("/calendar/2031/05/17", "/calendar/*"),
        ("/calendar/2031-05", "/calendar/*"),
        ("/2031/05/a-fine-day", "/*"),
        ("/2031/05/a-fine-day.html", "/*"),
        ("/v2/guide/start", "/v*/guide/start"),
        ("/shop?color=red", "/shop?*"),
        ("/shop?size=m&color=red", "/shop?*"),
        ("/shop/12?page=7", "/shop/*?*"),
        ("/?page=7", "/?*"),
    ],
)
def test_patterns(path: str, pattern: str) -> None:
    assert pattern_of(f"http://a.example{path}") == pattern
    assert pattern_of(f"https://other.example:8080{path}") == pattern


@pytest.mark.parametrize(
    "path",
    [
        "/board/topic?sid=0123456789abcdef",
        "/board/topic?PHPSESSID=0123456789abcdef&p=2",
        "/board/0123456789abcdef0/topic",
        "/page;jsessionid=ABCDEF0123456789",
        "/(S(lit3py55t21z5v55vlm25s55))/orders",
        "/shop?page=1&session_id=abcdefgh12",
        "/sid=abcdefgh12/topic",
    ],
)
def test_ids_of_a_visit_are_one_pattern_of_their_host(path: str) -> None:
    assert pattern_of(f"http://a.example{path}") == SESSIONS


@pytest.mark.parametrize(
    "path", ["/board/topic?said=0123456789", "/page?s=abc", "/t/0123456789abcde/x", "/session=abc1"]
)
def test_other_ids_are_none_of_a_visit(path: str) -> None:
    assert pattern_of(f"http://a.example{path}") != SESSIONS


@pytest.mark.parametrize("size", [100_000, 1_000_000])
@pytest.mark.clock
def test_a_hostile_url_takes_no_time(size: int) -> None:
    """So long that anything but linear time would be hours."""
    started = time.process_time()
    for path in (
        "a" * size + "1",
        "0-" * size,
        "/1" * size,
        "1/" + "x/" * size,
        "-" * size + "1",
        "a-" * size + "/1",
        ";sid=0" * size,
        "1?" + "&sid=" * size,
        "1?" + "(s(" * size + "0" * 16,
        "0123456789abcde" * size + "?a",
    ):
        pattern_of(f"http://a.example/{path}")
    assert time.process_time() - started < size / 50_000


@given(st.text("ab0159/-_?=&;.", max_size=60))
def test_a_pattern_is_short_and_of_its_urls_numbers_it_knows_nothing(path: str) -> None:
    url = f"http://a.example/{path}"
    pattern = pattern_of(url)
    assert len(pattern) <= len(path) + 4
    if pattern and pattern != SESSIONS:
        assert not any(letter.isdigit() for letter in pattern)
        assert pattern.endswith("?*") == bool(path.partition("?")[2])


def test_a_family_is_the_site_whatever_its_suffix() -> None:
    assert family_of("user-7.shop.co.uk") == "shop.co.uk"
    assert family_of("user-7.name.example") == "name.example"
    assert family_of("a.b.name.example") == "name.example"
    assert family_of("a.github.io") == "a.github.io"
    assert family_of("192.0.2.1") == "192.0.2.1"
    assert is_ordinary("name.org", "name.org")
    assert is_ordinary("www.name.org", "name.org")
    assert not is_ordinary("user-7.name.org", "name.org")


def test_fruitless_pages_in_a_row_are_counted_until_one_is_fruitful() -> None:
    trail = Trail()
    for _ in range(3 * MANY):
        held = traps.is_dry(trail)
        behind = traps.dry_behind(trail, Verdict.FRUITLESS)
        assert behind >= trail.dry
        assert traps.is_dry(trail._replace(dry=behind)) >= held
        trail = trail._replace(dry=behind)
    assert traps.is_dry(trail)
    assert trail.dry == MANY
    for verdict in (Verdict.FRUITFUL, Verdict.LENT):
        assert traps.dry_behind(trail, verdict) == 0
    assert not traps.is_dry(Trail(dry=1)), "one fruitless page is no trap"
    assert not traps.is_dry(trail._replace(pardoned=True))


def test_a_copy_counts_as_one_fruitless_page() -> None:
    """A manual in many languages is full of pages that nobody has translated, and of what only they link to."""
    assert traps.dry_behind(Trail(), Verdict.DUPLICATE) == traps.dry_behind(Trail(), Verdict.FRUITLESS) == 1


def test_a_budget_grows_with_what_was_found_and_fruitful_trials_repay_more_than_they_cost() -> None:
    assert traps.budget(5, 0.1, 0) == 5
    assert traps.budget(5, 0.1, 100) == 15
    assert traps.repaid(100) < 99
    assert traps.repaid(0) == traps.repaid(1) == 0
