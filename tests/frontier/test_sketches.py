"""Sketches in memory: they count as single sketches do, forget only what the store has, and give each change once."""

from random import Random

import numpy as np

from weft.frontier import sketch
from weft.frontier.sketches import NOBODY, Sketches

RANDOM = Random(6)


def random_hosts(count: int) -> list[bytes]:
    return [RANDOM.randbytes(10) for _ in range(count)]


def hash_of(host: bytes) -> int:
    return int.from_bytes(host[2:], "little")


def add(sketches: Sketches, pairs: list[tuple[bytes, int]]) -> None:
    """To each host a member."""
    places = sketches.find(np.array([hash_of(host) for host, _ in pairs], np.uint64))
    assert places.min() >= 0
    registers, ranks = np.array([sketch.register(member) for _, member in pairs]).T
    sketches.add(places, registers, ranks)


def test_hosts_are_remembered_until_others_take_their_places() -> None:
    sketches = Sketches(1000)
    hosts = {host: sketch.added(b"", [RANDOM.getrandbits(64)]) for host in random_hosts(5000)}
    assert sketches.of(list(hosts)) == {}
    sketches.remember(hosts)
    found = sketches.of(list(hosts))
    assert len(found) == 1024, "every place is used"
    assert all(hosts[host] == links for host, links in found.items())
    last = list(hosts)[-1]
    sketches.remember({last: b""})
    assert [sketch.estimate(links) for links in sketches.of([last]).values()] == [0]


def test_many_hosts_of_half_as_many_places_are_nearly_all_remembered() -> None:
    sketches, hosts = Sketches(1 << 14), random_hosts(1 << 13)
    sketches.remember(dict.fromkeys(hosts, b""))
    assert len(sketches.of(hosts)) > 0.99 * len(hosts)


def test_they_count_as_single_sketches_do() -> None:
    sketches, hosts = Sketches(1000), random_hosts(20)
    sketches.remember(dict.fromkeys(hosts, b""))
    expected = dict.fromkeys(hosts, b"")
    for _ in range(200):
        pairs = [(RANDOM.choice(hosts), RANDOM.getrandbits(64) >> RANDOM.randrange(20)) for _ in range(50)]
        add(sketches, pairs)
        for host, member in pairs:
            expected[host] = sketch.added(expected[host], [member])
    assert sketches.of(hosts) == expected


def test_each_change_is_given_once_the_oldest_first() -> None:
    sketches, hosts = Sketches(1000), random_hosts(10)
    sketches.remember(dict.fromkeys(hosts, b""))
    for host in hosts:
        add(sketches, [(host, 5), (host, 6)])
    assert list(sketches.changes(3)) == hosts[:3]
    assert list(sketches.changes_of([hosts[1], hosts[7], *random_hosts(2)])) == [hosts[7]]
    assert sketches.changes(100) == {host: sketch.added(b"", [5, 6]) for host in hosts[3:] if host != hosts[7]}
    assert sketches.changes(100) == {}
    add(sketches, [(host, 5) for host in hosts])
    assert sketches.waiting == 0, "nothing is new"


def test_what_the_store_does_not_have_yet_keeps_its_place() -> None:
    sketches, hosts = Sketches(8), random_hosts(8)
    sketches.remember(dict.fromkeys(hosts, b""))
    add(sketches, [(host, 5) for host in hosts[:7]])
    others = random_hosts(50)
    sketches.remember(dict.fromkeys(others, b""))
    assert list(sketches.of(hosts)) == hosts[:7]
    assert list(sketches.of(others)) == others[-1:]
    add(sketches, [(others[-1], 5)])
    sketches.remember(dict.fromkeys(random_hosts(50), b""))
    assert len(sketches.changes(100)) == 8


def test_nothing_is_added_to_a_host_that_has_no_row() -> None:
    sketches, [host] = Sketches(8), random_hosts(1)
    sketches.remember({host: NOBODY})
    add(sketches, [(host, number << 40) for number in range(100)])
    assert sketches.of([host]) == {host: NOBODY}
    assert not sketches.changes(1)
