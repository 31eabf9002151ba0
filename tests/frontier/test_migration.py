"""Format 3 becomes format 4: nothing is lost, nothing is there twice, wherever it is cut."""

import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from random import Random

import pytest

from tests.frontier.driver import Desk
from tests.frontier.format3 import CONFIG, kept_rows, rows_of, table_of
from tests.redis_server import RedisServer
from weft.clock import ManualClock
from weft.engines.redis import open_redis_table
from weft.engines.torn import Crashed, TornTable
from weft.frontier import keys
from weft.frontier.migration import OldPending, migrate
from weft.frontier.rows import (
    HostRow,
    Settled,
    VisitRow,
    decode_domain,
    decode_host,
    decode_pending,
    encode,
)
from weft.frontier.trail import branch_of, trail_of
from weft.ports import Key, Put
from weft.urls.host import registrable, url_key

Rows = dict[Key, bytes]
LATER = 1_795_300_000.0  # wall time after the kept crawl
LEASE = struct.Struct(">d17s")
NORMAL, LAST = 0x200, 0x300
PAGE = 7  # rows; hosts of the kept crawl have up to a few dozen


@pytest.fixture(scope="module")
def kept() -> Rows:
    return kept_rows()


async def migrated(rows: Rows) -> Rows:
    table = table_of(rows)
    await migrate(table, CONFIG, PAGE)
    return await rows_of(table)


def part(rows: Rows, letter: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """(partition and host, item, value) of the groups of a letter."""
    for (group, item), value in rows.items():
        if group[2:3] == letter and group != b"migration":
            yield group[:2] + group[3:], item, value


def places(rows: Rows) -> dict[bytes, list[str]]:
    """Where each URL is, by its own row and by the rows that this one names."""
    found: defaultdict[bytes, list[str]] = defaultdict(list)
    states = {host + item: state for host, item, state in part(rows, keys.URL)}
    leased = {partition + item: LEASE.unpack_from(value)[1] for partition, item, value in part(rows, keys.LEASE)}
    for key, state in states.items():
        if state[:1] == b"u":
            found[key].append("settled")
        elif state[:1] == b"y":
            assert (state[1:3] + b"y" + state[3:11], state[19:]) in rows
            found[key].append("held")
    for host, item, _ in part(rows, keys.QUEUE):
        key = host + keys.url_hash_of(item)
        assert states[key] == b"q" + item
        found[key].append("pending")
    for key, place in leased.items():
        assert states[key] == b"q" + place
        found[key].append("leased")
    for partition, item, _ in part(rows, keys.WAITING):
        assert states[partition + item[8:]] == b"w" + item[:8]
        found[partition + item[8:]].append("waiting")
    for partition, item, _ in part(rows, keys.DEAD):
        found[partition + item].append("dead")
    assert found.keys() == states.keys()
    return found


async def test_every_url_is_in_one_place_and_the_right_one(kept: Rows) -> None:
    before, after = places(kept), places(await migrated(kept))
    assert Counter(where for places in before.values() for where in places) == {
        "pending": 134, "leased": 8, "held": 24, "waiting": 1, "dead": 2, "settled": 74,
    }  # fmt: skip
    moved = {key: ["pending"] if where == ["held"] else where for key, where in before.items()}
    assert after == moved
    assert all(len(where) == 1 for where in after.values())


async def test_urls_keep_all_that_was_known_of_them(kept: Rows) -> None:
    after = await migrated(kept)
    for letter, start in ((keys.QUEUE, 0), (keys.WAITING, 0), (keys.DEAD, 0), (keys.LEASE, LEASE.size)):
        pending = [decode_pending(value[start:]) for _, _, value in part(after, letter)]
        assert pending
        assert all(trail_of(row.trail) == (0, False, branch_of(row.url), False, False, 0) for row in pending)
    (waiting,) = [decode_pending(value) for _, _, value in part(after, keys.WAITING)]
    assert waiting.attempt == 2
    assert [visit.reason for visit in waiting.visits] == ["server-error"]


async def test_queues_keep_their_order(kept: Rows) -> None:
    rows = kept
    after = await migrated(rows)
    assert queues(rows)
    held = {value[19:][-8:] for _, _, value in part(rows, keys.URL) if value[:1] == b"y"}
    for host, before in queues(rows).items():
        assert [url for url in queues(after)[host] if url not in held] == before


def queues(rows: Rows) -> dict[bytes, list[bytes]]:
    found: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for host, item, _ in sorted(part(rows, keys.QUEUE)):
        found[host].append(keys.url_hash_of(item))
    return dict(found)


async def test_counts_agree_with_what_is_stored(kept: Rows) -> None:
    after = await migrated(kept)
    found: defaultdict[bytes, Counter[str]] = defaultdict(Counter)
    for key, where in places(after).items():
        found[key[:10]].update(where)
    domains: Counter[str] = Counter()
    for partition, item, value in part(after, keys.HOST):
        row, there = decode_host(value), found[partition + item]
        assert row.pending == there["pending"] + there["leased"]
        assert (row.waiting, row.dead, row.held) == (there["waiting"], there["dead"], 0)
        assert row.done + row.gone == there["settled"]
        assert row.admitted >= row.done + row.gone + row.dead + row.waiting
        domains[registrable(row.name)] += row.admitted
    assert {
        decode_domain(value).name: decode_domain(value).admitted for *_, value in part(after, keys.DOMAIN)
    } == domains
    assert not [letter for letter in (keys.FIRST, keys.HOLD, keys.HELD) if list(part(after, letter))]
    assert not [group for group, _ in after if group == b"migration"]


async def test_a_frontier_fetches_what_was_left(kept: Rows) -> None:
    rows = kept
    left = {key for key, (where,) in places(rows).items() if where not in ("settled", "dead")}
    table = table_of(rows)
    await migrate(table, CONFIG)
    desk = Desk(CONFIG, table)
    desk.clock = ManualClock(LATER)
    await desk.reopened()
    counts = desk.frontier.counts()
    assert (counts.pending + counts.parked, counts.leased, counts.waiting, counts.dead) == (158, 8, 1, 2)
    asked = [url_key(url, CONFIG.storage.partitions) for url in await desk.crawl()]
    assert Counter(asked) == dict.fromkeys(left, 1)
    counts = desk.frontier.counts()
    assert (counts.pending, counts.leased, counts.waiting, counts.held, counts.parked) == (0, 0, 0, 0, 0)


async def test_a_second_time_changes_nothing(kept: Rows) -> None:
    after = await migrated(kept)
    assert await migrated(after) == after
    assert await migrated(kept) == after


async def operations(kept: Rows) -> int:
    table = TornTable(rows=table_of(kept))
    await migrate(table, CONFIG, PAGE)
    return table.operations


@pytest.mark.parametrize("seed", range(40))
async def test_cut_anywhere_it_ends_the_same(kept: Rows, seed: int) -> None:
    """Each time at some moment, again while it is run again, and now and then by loss of power."""
    chance, last = Random(seed), await operations(kept)
    table = TornTable(seed, chance.randint(1, last), table_of(kept))
    for _ in range(chance.randint(1, 3)):
        try:
            await migrate(table, CONFIG, PAGE)
        except Crashed:
            if chance.random() < 0.3:
                table.crash(power=True)
            table = table.reopened(chance.randint(1, last))
    table = table.reopened()
    await migrate(table, CONFIG, PAGE)
    assert await rows_of(table) == await migrated(kept)


async def test_with_its_state_on_redis(kept: Rows, redis_server: RedisServer) -> None:
    table = await open_redis_table(f"{redis_server.url}#migration")
    await table.write([Put(key, value) for key, value in kept.items()])
    await migrate(table, CONFIG, PAGE)
    after = await rows_of(table)
    await table.close()
    assert after == await migrated(kept)


class Table3:
    """Rows of one host, made by hand as format 3 had them."""

    HOST = url_key("http://a.example/", CONFIG.storage.partitions)[:10]

    def __init__(self) -> None:
        row = HostRow("a.example", pending=9, levels={0x100: 1})
        self.rows: Rows = {keys.host_row(self.HOST): encode(astuple3(row))}

    def key(self, path: str) -> bytes:
        return url_key(f"http://a.example/{path}", CONFIG.storage.partitions)

    def queue(self, path: str, level: int, sequence: int, *, whole: bool = False, named: bool = True) -> bytes:
        url = f"http://a.example/{path}"
        row = OldPending(url, 1, 2, 0, "", 1, visits=(VisitRow(1.0, "timeout", 0, 1, ""),))
        item = keys.queue_item(level, 1_700_000_000_000_000 + sequence, self.key(path))
        value = encode(row) if whole else encode((url, 1, 2, 0, "", 1))
        self.rows[keys.queue_row(self.HOST, item)] = value
        if named:
            self.rows[keys.url_row(self.key(path))] = b"q" + item
        return item

    async def after(self) -> list[tuple[str, int]]:
        """Paths and levels in the order of the queue."""
        self.rows = await migrated(self.rows)
        found = sorted((item, value) for _, item, value in part(self.rows, keys.QUEUE))
        return [(decode_pending(value).url[17:], keys.level_of(item)) for item, value in found]

    def host(self) -> HostRow:
        return decode_host(self.rows[keys.host_row(self.HOST)])


def astuple3(row: HostRow) -> tuple[object, ...]:
    """The fields that a host row had."""
    return tuple(getattr(row, name) for name in HostRow.__struct_fields__[:22])


async def test_bands() -> None:
    table = Table3()
    table.queue("low", 0x302, 1)
    table.queue("unreached", 0x3FF, 2)
    table.queue("deep", 0x205, 3)
    table.queue("high", 0x101, 4, whole=True)
    table.queue("later", 0x003, 5, whole=True)
    table.queue("first", 0x000, 6)
    table.queue("flat", 0x200, 7)
    normal = [(path, NORMAL) for path in ("high", "flat", "deep", "low")]
    assert await table.after() == [("first", 0), ("later", 0), *normal, ("unreached", LAST)]
    row = table.host()
    assert (row.pending, row.levels, row.marks) == (7, {0: 1, NORMAL: 3, LAST: 7}, {NORMAL: 2})
    assert row.admitted == 2  # those with a visit


async def test_what_crashes_had_left() -> None:
    """A row counts if the URL's own row has nothing better to tell."""
    table = Table3()
    table.queue("unnamed", 0x200, 1, named=False)
    table.queue("settled", 0x200, 2)
    done = Settled("http://a.example/settled", "stored", 200, 5.0, 6.0, 1, 2, 0, "", 1, fetches=1)
    table.rows[keys.url_row(table.key("settled"))] = b"u" + encode(done)
    table.queue("twice", 0x200, 3)
    table.queue("twice", 0x201, 4)
    there = table.queue("elsewhere", 0x200, 5)
    table.rows[keys.url_row(table.key("elsewhere"))] = b"q" + keys.queue_item(0x3FF, 77, there)
    item = table.queue("leased", 0x200, 6)
    lease = LEASE.pack(7.0, item) + encode(("http://a.example/leased", 1, 2, 0, "", 1))
    table.rows[keys.lease_row(table.key("leased"))] = lease
    assert [path for path, _ in await table.after()] == ["unnamed", "elsewhere", "twice"]
    where = places(table.rows)
    assert where[table.key("leased")] == ["leased"]
    assert where[table.key("settled")] == ["settled"]
    assert table.host().pending == 4
