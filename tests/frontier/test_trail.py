"""How a URL was come by: one number and back, and the branch that a link begins."""

from hypothesis import given
from hypothesis import strategies as st

from weft.frontier.trail import MANY, MOST_LENT, ROOT, Trail, branch_from, branch_of, is_clean, trail_of

HOME = "http://a.example/"
TRAILS = st.builds(
    Trail,
    dry=st.integers(0, MANY),
    ingrown=st.booleans(),
    branch=st.integers(0, (1 << 22) - 1),
    pardoned=st.booleans(),
    sprout=st.booleans(),
    lent=st.integers(0, MOST_LENT),
)


@given(TRAILS)
def test_a_trail_fits_into_four_bytes_and_comes_back(trail: Trail) -> None:
    assert trail_of(trail.packed()) == trail
    assert 0 <= trail.packed() < 1 << 32
    assert is_clean(trail.packed()) == (trail.dry == 0 and not trail.ingrown)


@given(TRAILS, st.integers(0, 1000), st.integers(0, 1000))
def test_what_is_counted_higher_than_there_are_bits_touches_nothing_else(trail: Trail, dry: int, lent: int) -> None:
    found = trail_of(trail._replace(dry=dry, lent=lent).packed())
    assert found == trail._replace(dry=min(dry, MANY), lent=min(lent, MOST_LENT))


def test_a_url_that_no_page_led_to_is_of_the_branch_of_its_first_segment() -> None:
    assert branch_of(HOME) == branch_of(f"{HOME}?q=1") == ROOT
    assert branch_of(f"{HOME}news/1") == branch_of(f"{HOME}news?page=2") == branch_of("https://b.example/news")
    assert branch_of(f"{HOME}news/1") not in (branch_of(f"{HOME}shop/1"), ROOT)


def test_a_link_of_a_start_page_begins_a_branch_behind_what_both_paths_share() -> None:
    assert branch_from(HOME, f"{HOME}news/1") == branch_of(f"{HOME}news/2")
    start = f"{HOME}docs/en/index.html"
    assert branch_from(start, f"{HOME}docs/en/guide/1") == branch_from(start, f"{HOME}docs/en/guide/2")
    assert branch_from(start, f"{HOME}docs/en/guide/1") != branch_from(start, f"{HOME}docs/en/api/1")
    assert branch_from(start, f"{HOME}docs/en/guide/1") == branch_of(f"{HOME}guide")
    assert branch_from(start, f"{HOME}docs/de/guide/1") == branch_of(f"{HOME}docs")
    assert branch_from(start, f"{HOME}docs/en/") == ROOT


@given(st.text("abcxyz/?.-", max_size=30), st.text("abcxyz/?.-", max_size=30))
def test_every_branch_fits_into_its_bits(start: str, path: str) -> None:
    for branch in (branch_of(HOME + path), branch_from(HOME + start, HOME + path)):
        assert trail_of(Trail(branch=branch).packed()).branch == branch
        assert Trail(branch=branch).packed() < 1 << 32
