"""Copies of robots.txt: durable in the table, bounded in memory."""

from weft.engines.memory import MemoryTable
from weft.fetch.robots_store import Copy, RobotsStore


async def test_memory_is_bounded_and_the_table_keeps_all() -> None:
    table = MemoryTable()
    store = RobotsStore(table, 256, memory=1_000_000)
    body = b"User-agent: *\nDisallow: /" + b"a" * 2000
    for number in range(100):
        await store.save(Copy(f"http://h{number}.test", fetched=1.0, body=body))
    recent = [number for number in range(100) if store.recent(f"http://h{number}.test")]
    assert 5 < len(recent) < 50
    assert recent == list(range(100 - len(recent), 100))  # the oldest went first
    entry = await store.load("http://h0.test")
    assert entry is not None
    assert entry.copy.body == body
    assert store.recent("http://h0.test") is entry


async def test_what_is_used_stays() -> None:
    store = RobotsStore(MemoryTable(), 256, memory=100_000)
    for number in range(200):
        await store.save(Copy(f"http://h{number}.test", fetched=1.0))
        assert store.recent("http://h0.test")


async def test_a_new_copy_replaces_the_old_one_and_its_weight() -> None:
    store = RobotsStore(MemoryTable(), 256, memory=200_000)
    for _ in range(100):
        await store.save(Copy("http://h.test", fetched=1.0, body=b"#" * 4000))
    await store.save(Copy("http://other.test", fetched=1.0))
    assert store.recent("http://h.test")  # not weighed a hundred times


async def test_origins_are_apart_and_restarts_remember() -> None:
    table = MemoryTable()
    await RobotsStore(table, 256).save(Copy("http://h.test", fetched=1.0, body=b"one"))
    await RobotsStore(table, 256).save(Copy("https://h.test", fetched=2.0, body=b"two"))
    await RobotsStore(table, 256).save(Copy("http://h.test:8080", fetched=3.0, body=b"three", failures=2))
    store = RobotsStore(table, 256)
    loaded = [await store.load(origin) for origin in ("http://h.test", "https://h.test", "http://h.test:8080")]
    assert [entry.copy.body for entry in loaded if entry] == [b"one", b"two", b"three"]
    assert await store.load("http://unknown.test") is None
