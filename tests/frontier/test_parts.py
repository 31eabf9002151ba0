"""The small pure parts: priority, retry, sketch, budgets, workbench."""

from collections import Counter
from random import Random

import pytest

from weft.config import Frontier, Pace
from weft.errors import ConfigError
from weft.frontier import retry, sketch
from weft.frontier.budget import Budgets, wide_networks
from weft.frontier.priority import Band, Features, drawing_order, priority
from weft.frontier.workbench import Workbench
from weft.records import Kind, Via


def test_priority_rises_with_what_makes_a_page_important() -> None:
    plain = priority(Features(4)).score
    assert priority(Features(3)).score > plain
    assert priority(Features(4, authority=50)).score > plain
    assert priority(Features(4, sitemap=0.8)).score > priority(Features(4, sitemap=0.1)).score > plain
    assert priority(Features(4, age=3600.0)).score > priority(Features(4, age=30 * 86_400.0)).score >= plain
    assert "linked from 50 domains" in priority(Features(4, authority=50)).why


def test_what_a_request_led_to_goes_first() -> None:
    assert priority(Features(9, via=Via.REDIRECT)).band is Band.FRONT
    assert priority(Features(9, kind=Kind.SITEMAP)).band is Band.FRONT


def test_depth_does_not_move_a_page_from_band_to_band_but_what_its_site_says_does() -> None:
    assert {priority(Features(depth)).band for depth in (0, 3, 8, 200)} == {Band.NORMAL}
    assert priority(Features(0, via=Via.SEED)).band is Band.HIGH
    assert priority(Features(5, sitemap=0.9)).band is Band.HIGH
    assert priority(Features(5, sitemap=0.5)).band is Band.NORMAL
    assert priority(Features(5, sitemap=0.5, age=3600.0)).band is Band.HIGH


def test_every_band_leads_as_many_turns_as_its_weight_and_none_starves() -> None:
    order = drawing_order((6, 3, 1))
    assert Counter(turn[1] for turn in order) == {Band.HIGH: 6, Band.NORMAL: 3, Band.HELD: 1}
    assert all(turn[0] is Band.FRONT and len(set(turn)) == len(Band) for turn in order)


def test_retries_spread_by_a_third_and_end() -> None:
    config = Frontier()
    assert retry.attempts(config) == 5
    for attempt, base in enumerate((30, 120, 300, 900), 1):
        times = [retry.backoff(config, attempt, number.to_bytes(8, "big")) for number in range(500)]
        assert base * 0.7 <= min(times) < base * 0.75
        assert base * 1.25 < max(times) <= base * 1.3


@pytest.mark.parametrize("count", [1, 3, 8, 30, 300, 5000])
def test_the_sketch_knows_about_how_many_there_were(count: int) -> None:
    errors = []
    for seed in range(30):
        random, known = Random(seed), b""
        for member in [random.getrandbits(64) for _ in range(count)]:
            known = sketch.added(sketch.added(known, [member]), [member])
        errors.append(abs(sketch.estimate(known) - count))
    assert sum(errors) / len(errors) <= max(0.6, 0.15 * count)
    assert len(known) == 32


def test_a_union_knows_the_members_of_both() -> None:
    random = Random(11)
    for count in (0, 1, 5, 50, 2000):
        ours, theirs = ([random.getrandbits(64) for _ in range(count)] for _ in range(2))
        one, other = sketch.added(b"", ours), sketch.added(b"", theirs)
        both = sketch.union(one, other)
        assert both == sketch.added(one, theirs) == sketch.union(other, one)
        assert sketch.union(both, other) is both


def test_hosts_of_one_address_stand_in_line() -> None:
    budgets = Budgets(Pace(requests_per_address=4.0, requests_per_domain=1000.0))
    hosts = [number.to_bytes(10, "big") for number in range(1000)]
    granted = [(0, host) for host in hosts if budgets.grant(host, "192.0.2.1", f"{host!r}.org", 0)]
    looked = 0
    while (now := budgets.next_ms()) is not None:
        for host in budgets.released(now, 100):
            looked += 1
            if budgets.grant(host, "192.0.2.1", f"{host!r}.org", now):
                granted.append((now, host))
        budgets.regroup()
    assert [host for _, host in granted] == hosts
    assert [moment for moment, _ in granted] == [number * 250 for number in range(1000)]
    assert looked == 999  # each host once: a line costs no more than its first


def test_a_full_address_does_not_hold_up_its_domains_other_hosts() -> None:
    budgets = Budgets(Pace(requests_per_address=1.0, requests_per_domain=10.0))
    assert budgets.grant(b"a", "192.0.2.1", "one.org", 0)
    assert not budgets.grant(b"b", "192.0.2.1", "two.org", 0)
    assert budgets.grant(b"c", "192.0.2.2", "two.org", 0)


def test_unused_grants_are_given_back_and_a_start_waits_an_interval() -> None:
    budgets = Budgets(Pace())
    budgets.open(1000)
    assert budgets.free_ms("192.0.2.1", "one.org", 1000) == 1250
    assert budgets.free_ms("192.0.2.1", "one.org", 1250) == 0
    assert budgets.free_ms("192.0.2.1", "one.org", 1251) == 1500
    budgets.give_back("192.0.2.1", "one.org", 1250)
    assert budgets.free_ms("192.0.2.1", "one.org", 1251) == 0


def test_a_request_that_was_sent_late_moves_the_next_one() -> None:
    budgets = Budgets(Pace())
    assert budgets.grant(b"a", "192.0.2.1", "one.org", 1000)
    assert not budgets.grant(b"b", "192.0.2.1", "two.org", 1001)
    assert budgets.next_ms() == 1250
    budgets.used("192.0.2.1", "one.org", 1100)
    assert budgets.next_ms() == 1355
    assert budgets.released(1354, 10) == []
    assert budgets.released(1355, 10) == [b"b"]


def test_wide_addresses_bear_more() -> None:
    budgets = Budgets(Pace(wide_addresses=("192.0.2.0/24=50",), requests_per_domain=1000.0))
    assert budgets.free_ms("192.0.2.9", "one.org", 1) == 0
    assert budgets.free_ms("192.0.2.9", "two.org", 2) == 21
    for line in ("192.0.2.0/24", "x/8=3", "192.0.2.0/24=0"):
        with pytest.raises(ConfigError):
            wide_networks([line])


def test_the_workbench_gives_by_time_and_by_share() -> None:
    bench = Workbench(0.6)
    for number in range(200):
        bench.push(number.to_bytes(10, "big"), 10, high=number < 100)
    assert bench.pop(9) is None
    first = [bench.pop(10) for _ in range(100)]
    assert sum(int.from_bytes(key or b"", "big") < 100 for key in first) == pytest.approx(60, abs=1)
    rest = [bench.pop(10) for _ in range(100)]
    assert None not in rest  # a share is only a share while both have work
    assert bench.next_ms() is None
