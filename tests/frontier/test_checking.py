"""Each state of a URL, sound and broken by hand: what the check of the frontier says of it."""

from collections import Counter
from collections.abc import Sequence

import pytest

from weft.checked import Word
from weft.engines.memory import MemoryTable
from weft.frontier import keys
from weft.frontier.checking import Checking
from weft.frontier.leasing import _LEASED
from weft.frontier.rows import IN_HOLD, IN_QUEUE, IN_WAIT, IS_DEAD, GroupRow, HostRow, Pending, encode
from weft.ports import Delete, Key, Put
from weft.urls.host import host_key, url_key

PARTITIONS = 4
NAME = "site.example"
HOST = host_key(NAME, PARTITIONS)
LEVEL = keys.level(2)
DUE = 1_700_000_000_000
GROUP = b"patterns"
QUEUED, LEASED, WAITS, HELD, GIVEN_UP = (f"https://{NAME}/{name}" for name in ("q", "l", "w", "y", "d"))


def key_of(url: str) -> bytes:
    return url_key(url, PARTITIONS)


def pending(url: str) -> bytes:
    return encode(Pending(url, 0, 0, 0, ""))


def item_of(url: str, number: int = 7) -> bytes:
    return keys.queue_item(LEVEL, number, key_of(url))


HELD_ITEM = keys.held_item(GROUP, 2, 5, key_of(HELD))
QUEUE_ROW: Key = keys.queue_row(key_of(QUEUED), item_of(QUEUED))
LEASE_ROW: Key = keys.lease_row(key_of(LEASED))
WAITING_ROW: Key = keys.waiting_row(key_of(WAITS), DUE)
DEAD_ROW: Key = keys.dead_row(key_of(GIVEN_UP))
HELD_ROW: Key = keys.held_row(HOST, HELD_ITEM)
LEASE = _LEASED.pack(1.0, item_of(LEASED)) + pending(LEASED)
URL_ROWS = {
    QUEUED: IN_QUEUE + item_of(QUEUED),
    LEASED: IN_QUEUE + item_of(LEASED),
    WAITS: IN_WAIT + DUE.to_bytes(8, "big"),
    HELD: IN_HOLD + HOST + HELD_ITEM,
    GIVEN_UP: IS_DEAD,
}


def host(held: int = 1, first: int = 7, queued: int = 2) -> Put:
    row = HostRow(NAME, levels={LEVEL: first}, pending=queued, waiting=1, held=held, dead=1)
    return Put(keys.host_row(HOST), encode(row))


def group(held: int = 1, first: bytes = b"") -> Put:
    return Put(keys.hold_row(HOST, GROUP), encode(GroupRow("/p*", "pattern", held=held, first=first)))


async def sound() -> MemoryTable:
    """One URL in each state, and all that belongs to it."""
    table = MemoryTable()
    await table.write(
        [
            host(),
            group(),
            Put(QUEUE_ROW, pending(QUEUED)),
            Put(LEASE_ROW, LEASE),
            Put(WAITING_ROW, pending(WAITS)),
            Put(DEAD_ROW, pending(GIVEN_UP)),
            Put(HELD_ROW, pending(HELD)),
            *(Put(keys.url_row(key_of(url)), value) for url, value in URL_ROWS.items()),
        ]
    )
    return table


async def nothing_archived(urls: Sequence[str]) -> list[bool]:
    return [False] * len(urls)


async def said_of(table: MemoryTable) -> list[Word]:
    checked: Counter[str] = Counter()
    found = [remark.word async for remark in Checking(table, PARTITIONS, nothing_archived, checked).remarks()]
    assert checked["urls"] == len(URL_ROWS) or not checked["hosts"]
    return found


async def test_all_states_are_sound() -> None:
    assert await said_of(await sound()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Delete(QUEUE_ROW), {Word.URL_LOST, Word.COUNT_OFF}),
        (Delete(LEASE_ROW), {Word.URL_LOST, Word.COUNT_OFF}),
        (Delete(WAITING_ROW), {Word.URL_LOST, Word.COUNT_OFF}),
        (Delete(DEAD_ROW), {Word.URL_LOST, Word.COUNT_OFF}),
        (Delete(HELD_ROW), {Word.URL_LOST, Word.COUNT_OFF}),
        (Delete(keys.host_row(HOST)), {Word.HOST_MISSING}),
        (Put(QUEUE_ROW, b"\xc1"), {Word.ROW_GARBLED}),
        (Put(QUEUE_ROW, pending(WAITS)), {Word.URL_MISPLACED}),
        (Put(LEASE_ROW, b"short"), {Word.ROW_GARBLED}),
        (Put(keys.url_row(key_of(QUEUED)), b"?"), {Word.ROW_GARBLED, Word.SPARE_ROW, Word.COUNT_OFF}),
        (host(first=8), {Word.UNREACHABLE}),
        (host(queued=3), {Word.COUNT_OFF}),
        (host(held=0), {Word.HELD_LOW}),
        (host(held=2), {Word.COUNT_OFF}),
        (group(held=0), {Word.HELD_LOW}),
        (group(held=2), {Word.COUNT_OFF}),
        (group(first=HELD_ITEM + b"\0"), {Word.UNREACHABLE}),
        (Delete(keys.hold_row(HOST, GROUP)), {Word.HELD_LOW}),
        (Put(keys.queue_row(key_of(QUEUED), item_of(QUEUED, 9)), pending(QUEUED)), {Word.SPARE_ROW}),
        (Put(keys.queue_row(key_of(LEASED), item_of(LEASED)), pending(LEASED)), {Word.SPARE_ROW}),
        (Put(keys.waiting_row(key_of(WAITS), DUE + 1), pending(WAITS)), {Word.SPARE_ROW}),
        (Put(keys.dead_row(key_of(QUEUED)), pending(QUEUED)), {Word.SPARE_ROW}),
    ],
)
async def test_what_is_broken_is_named(change: Put | Delete, words: set[Word]) -> None:
    table = await sound()
    await table.write([change])
    assert set(await said_of(table)) == words
