"""What a host remembers of its pages, and how it judges the next one."""

from array import array
from collections.abc import Iterable

import xxhash
from hypothesis import given
from hypothesis import strategies as st

from weft.frontier.evidence import Hashes, Memory, Pattern, PatternRow, Shown, Site, SiteRow
from weft.frontier.rows import encode
from weft.frontier.trail import Trail
from weft.frontier.traps import Verdict, Window, view_of
from weft.records import Evidence

OUTSIDE, INSIDE = Trail(), Trail(ingrown=True)
NUMBERS = st.integers(1, (1 << 32) - 1)
CLASHING = st.integers(1, 400).map(lambda number: number << 20)  # the same place in any small table


def shown(text: int, raw: Iterable[int], clean: Iterable[int]) -> Shown:
    return Shown(text, array("I", raw), array("I", clean), array("I"))


def line(number: int) -> int:
    return xxhash.xxh3_64_intdigest(str(number).encode()) & 0xFFFFFFFF or 1


def judged(site: Site, page: Shown, trail: Trail = OUTSIDE, text: str = "") -> Verdict:
    """Judge the page as the frontier does, and remember it."""
    patterns = named(site, text, branch=trail.branch) if text else {}
    verdict = site.judge(page, trail, patterns)
    site.remember(page, trail, patterns, verdict)
    return verdict


def named(site: Site, *texts: str, branch: int = 0) -> dict[bytes, str]:
    """Patterns by key."""
    return {site.key_of(text, branch): text for text in texts}


@given(st.lists(NUMBERS | CLASHING, max_size=300), st.lists(NUMBERS | CLASHING, max_size=50))
def test_hashes_are_a_set(numbers: list[int], others: list[int]) -> None:
    hashes, truth = Hashes(), set[int]()
    for number in numbers:
        hashes.add(number)
        truth.add(number)
        assert hashes.count == len(truth)
    for found in (hashes, Hashes(hashes.slots.tobytes())):
        assert found.count == len(truth)
        assert all(number in found for number in truth)
        assert not any(number in found for number in others if number not in truth)
        assert len(found.slots) <= max(16, 4 * len(truth))


@given(st.lists(st.lists(NUMBERS, max_size=8), max_size=60))
def test_a_memory_forgets_the_older_generation_and_no_more(pages: list[list[int]]) -> None:
    memory, limit = Memory(20), 20
    young, old = set[int](), set[int]()
    for page in pages:
        memory.add(page)
        young |= set(page)
        if len(young) >= limit:
            young, old = set(), young
        again = Memory(limit, *memory.stored())
        for found in (memory, again):
            assert all(number in found for number in young | old)
            assert found.young.count + found.old.count == len(young) + len(old)
    gone = {number for page in pages for number in page} - young - old
    assert not any(number in memory for number in gone)


def test_what_is_met_again_stays() -> None:
    memory = Memory(10)
    for start in range(100, 1000, 5):
        memory.add([7, *range(start, start + 5)])
        assert 7 in memory
    assert 100 not in memory


def test_a_page_of_evidence_is_unpacked() -> None:
    found = Shown.of(Evidence(1 << 32 | 5, array("I", [1, 2]).tobytes(), array("I", [3]).tobytes()))
    assert (found.text, list(found.raw), list(found.clean)) == (5, [1, 2], [3])
    assert Shown.of(Evidence(1 << 32)).text != 0
    assert Shown.of(Evidence()).text == 0


def test_a_page_with_a_new_clean_line_is_fruitful_however_it_was_come_by() -> None:
    site = Site()
    for number, trail in enumerate((OUTSIDE, INSIDE, Trail(lent=3), INSIDE)):
        page = shown(number + 1, [], [line(1), line(number + 10)])
        assert judged(site, page, trail, "/*") is Verdict.FRUITFUL
    assert site.judged == 4


def test_a_page_that_says_nothing_new_is_fruitless() -> None:
    site = Site()
    judged(site, shown(1, [1, 2], [3]))
    assert judged(site, shown(2, [1, 2], [3])) is Verdict.FRUITLESS
    assert judged(site, shown(3, [9], [3])) is Verdict.FRUITLESS, "no pattern: nobody lends to it"
    assert judged(site, shown(0, [], [])) is Verdict.FRUITLESS
    assert judged(site, shown(0, [], [])) is Verdict.FRUITLESS, "what says nothing is no duplicate"


def test_the_same_text_is_a_duplicate_whatever_its_pattern_and_lines() -> None:
    site = Site()
    judged(site, shown(5, [1], [1]), text="/*")
    assert judged(site, shown(5, [2], [2]), text="/b/*") is Verdict.DUPLICATE
    assert not Verdict.DUPLICATE.is_fruitful


def test_a_line_new_to_its_pattern_is_lent_for_a_while() -> None:
    site = Site()
    judged(site, shown(1, [1], [3]), text="/*")
    text, trail, verdicts = 2, OUTSIDE, []
    for raw in range(10, 20):
        verdict = judged(site, shown(text, [raw], [3]), trail, "/*")
        verdicts.append(verdict)
        trail = trail._replace(lent=trail.lent + 1 if verdict is Verdict.LENT else trail.lent)
        text += 1
    lent = verdicts.count(Verdict.LENT)
    assert 0 < lent < 10
    assert verdicts == [Verdict.LENT] * lent + [Verdict.FRUITLESS] * (10 - lent)
    assert Verdict.LENT.is_fruitful


def test_nobody_lends_to_what_was_found_inside_its_pattern_nor_to_lines_it_has_had() -> None:
    site = Site()
    judged(site, shown(1, [1], [3]), text="/*")
    assert site.judge(shown(2, [9], [3]), INSIDE, named(site, "/*")) is Verdict.FRUITLESS
    assert site.judge(shown(2, [1], [3]), OUTSIDE, named(site, "/*")) is Verdict.FRUITLESS
    assert site.judge(shown(2, [9], [3]), OUTSIDE, named(site, "/*")) is Verdict.LENT
    judged(site, shown(3, [9], [3]), INSIDE, "/*")
    assert site.judge(shown(4, [9], [3]), OUTSIDE, named(site, "/*")) is Verdict.FRUITLESS


def test_judging_changes_nothing() -> None:
    site = Site()
    page = shown(1, [1], [1])
    assert site.judge(page, OUTSIDE, {}) is site.judge(page, OUTSIDE, {}) is Verdict.FRUITFUL
    assert (site.judged, site.changed, site.patterns) == (0, {}, {})


def test_a_window_looks_at_the_last_pages_only() -> None:
    window = Window()
    for _ in range(300):
        window.push(True)
        assert not window.is_barren
    pushed = 0
    while not window.is_barren:
        window.push(False)
        pushed += 1
    assert 2 < pushed < 200
    assert window.counted < window.judged == 300 + pushed
    assert window.fruitful <= window.counted
    for _ in range(pushed - 1):
        window.push(True)
    assert not window.is_barren, "it is trusted again before it has made up for all"


def test_a_window_is_not_barren_before_some_pages_were_judged() -> None:
    window = Window()
    window.push(False)
    window.push(False)
    young = window.is_barren
    for _ in range(300):
        window.push(False)
    assert (young, window.is_barren) == (False, True)
    assert window.fruitful == 0


def fruitless(site: Site, trail: Trail, text: str, count: int = 300) -> None:
    for _ in range(count):
        judged(site, shown(0, [1], [1]), trail, text)


def test_a_pattern_is_barren_in_the_form_in_which_its_pages_brought_nothing() -> None:
    site = Site()
    assert site.barren_pattern(named(site, "/*"), INSIDE) == b""
    fruitless(site, INSIDE, "/*")
    key = site.key_of("/*", 0)
    assert site.barren_pattern([key], INSIDE) == key
    assert site.barren_pattern([key], OUTSIDE) == b""
    assert site.barren_pattern(named(site, "/b/*"), INSIDE) == b""
    assert site.barren_pattern((), INSIDE) == b""
    assert site.barren == 1
    fruitless(site, OUTSIDE, "/*")
    assert site.barren == 2


def test_views_of_every_page_are_one_more_pattern() -> None:
    """A trap of two views beside each of many pages: no path has enough of them to be judged."""
    site = Site()
    for number in range(100):
        path = f"http://a.org/{'ab'[number % 2] * (number + 1)}"
        patterns = site.patterns_of(
            f"{path}?print=1&view=2", view_of(f"{path}?print=1&view=2", f"{path}?print=1"), INSIDE
        )
        site.remember(shown(0, [1], [1]), INSIDE, patterns, Verdict.FRUITLESS)
    other, page = "http://a.org/other?print=1&view=2", "http://a.org/other?print=1"
    barren = site.barren_pattern(site.patterns_of(other, view_of(other, page), INSIDE), INSIDE)
    assert site.patterns[barren].text == "/…?view=*"
    assert site.barren_pattern(site.patterns_of(other, view_of(other, page), OUTSIDE), OUTSIDE) == b""
    assert site.barren_pattern(site.patterns_of(other, view_of(other, f"{page}&view=3&x=1"), INSIDE), INSIDE) == barren
    listing = "http://a.org/other?page=3"
    assert (
        site.barren_pattern(site.patterns_of(listing, view_of(listing, "http://a.org/other?page=2"), INSIDE), INSIDE)
        == b""
    )


def test_what_lies_below_numbered_folders_is_barren_only_if_it_is_a_copy() -> None:
    site, url = Site(), "http://a.org/mirror-{}/section/{}"
    for number in range(60):
        patterns = site.patterns_of(url.format(1, "x" * number), "", OUTSIDE)
        site.remember(shown(1, [1], [1]), OUTSIDE, patterns, Verdict.FRUITLESS)
    copies = {key for key, text in site.patterns_of(url.format(2, "y"), "", OUTSIDE).items() if text == "/*/…"}
    assert copies
    assert site.barren_pattern(copies, OUTSIDE) == b"", "they say little, but no copy does"
    for number in range(60):
        patterns = site.patterns_of(url.format(3, "x" * number), "", OUTSIDE)
        site.remember(shown(1, [1], [1]), OUTSIDE, patterns, Verdict.DUPLICATE)
    assert {site.barren_pattern(copies, OUTSIDE)} == copies


def test_what_lies_beyond_256_patterns_shares_one_per_branch() -> None:
    site = Site()
    for number in range(1000):
        judged(site, shown(number + 1, [1], [1]), Trail(branch=1 + number % 3), f"/{'x' * number}-*")
    assert len(site.patterns) == 256 + 3
    assert site.key_of("/new/*", 1) == site.key_of("/newer/*", 1) != site.key_of("/new/*", 2)
    assert site.key_of("/x-*", 1) == site.key_of("/x-*", 2), "those that came first keep their own"


def test_a_site_comes_back_from_its_rows() -> None:
    site = Site()
    for number in range(200):
        judged(site, shown(number % 150 + 1, [line(number)], [line(number + 500)]), Trail(ingrown=number % 2 > 0), "/*")
    again = Site(site.row())
    for key, pattern in site.patterns.items():
        again.patterns[key] = Pattern(pattern.row())
    assert again.judged == 200
    key = again.key_of("/*", 0)
    assert again.patterns[key].windows == site.patterns[key].windows
    for number in range(0, 400, 7):
        page = shown(number, [line(number)], [line(number + 450)])
        assert again.judge(page, OUTSIDE, [key]) is site.judge(page, OUTSIDE, [key])
    assert encode(again.row()) == encode(site.row())
    assert Site(SiteRow()).judge(shown(1, [], [1]), OUTSIDE, {}) is Verdict.FRUITFUL
    assert Pattern(PatternRow("/*")).windows == (Window(), Window())


def test_a_site_knows_what_is_newer_than_its_rows_and_how_large_it_is() -> None:
    site = Site()
    judged(site, shown(1, [1], [1]), text="/*")
    assert set(site.changed) == {b"", site.key_of("/*", 0)}
    small = site.size
    for number in range(5000):
        judged(site, shown(number + 1, [line(number)], [line(number)]), text="/*")
    assert site.size > small + 4 * 5000
    for number in range(200_000):
        site.lines.add([line(number)])
    assert site.size < 1_000_000


def test_doubts_are_never_forgotten_and_seldom_invented() -> None:
    site = Site()
    keys = [xxhash.xxh3_128_digest(str(number).encode()) for number in range(2000)]
    for key in keys[:1000]:
        site.doubt(key)
    site.doubt(bytes(16))
    assert all(site.doubts(key) for key in [*keys[:1000], bytes(16)])
    assert sum(site.doubts(key) for key in keys[1000:]) < 5
