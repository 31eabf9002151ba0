"""Engines by URL: the right one for each scheme, one line for a wrong one, and paths under the crawl's folder."""

from pathlib import Path

import pytest

from tests.redis_server import RedisServer
from tests.s3_server import S3Server
from weft.clock import ManualClock
from weft.engines.choose import open_blobs, open_journals, open_queue, open_table
from weft.engines.files import FileJournals
from weft.engines.memory import MemoryBlobs, MemoryJournals, MemoryQueue, MemoryTable
from weft.engines.objects import FolderBlobs, ObjectBlobs
from weft.engines.redis import RedisQueue, RedisTable
from weft.engines.rocksdb import RocksTable
from weft.engines.rocksqueue import RocksQueue
from weft.errors import ConfigError
from weft.ports import Put


async def test_state_urls(tmp_path: Path, redis_server: RedisServer) -> None:
    kinds = {
        "rocksdb:state": (RocksTable, RocksQueue),
        redis_server.url + "#choose": (RedisTable, RedisQueue),
        "memory:": (MemoryTable, MemoryQueue),
    }
    for url, (table_kind, queue_kind) in kinds.items():
        table = await open_table(url, tmp_path)
        queue = await open_queue(url, "pages", 30.0, tmp_path, ManualClock())
        other = await open_queue(url, "dead", 30.0, tmp_path, ManualClock())
        assert (type(table), type(queue), type(other)) == (table_kind, queue_kind, queue_kind)
        await table.write([Put((b"g", b"i"), b"v")])
        await queue.send([b"page"])
        assert await other.receive(1) == [], "queues of different names are apart"
        assert len(await queue.receive(2)) == 1
        for engine in (table, queue, other):
            await engine.close()
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == [
        "consumer",
        "queue-dead",
        "queue-pages",
        "table",
    ]


async def test_a_dir_is_one_consumer_and_another_dir_another(tmp_path: Path, redis_server: RedisServer) -> None:
    """What a killed process held comes at once to the next one of its DIR, and to no other while its term runs."""
    url, clock = redis_server.url + "#consumers", ManualClock()
    roots = [tmp_path / name for name in ("one", "two")]
    for root in roots:
        (root / "state").mkdir(parents=True)
    killed = await open_queue(url, "pages", 3600.0, roots[0], clock)
    await killed.send([b"page"])
    assert len(await killed.receive(2)) == 1
    other = await open_queue(url, "pages", 3600.0, roots[1], clock)
    assert await other.receive(2) == []
    heir = await open_queue(url, "pages", 3600.0, roots[0], clock)
    assert [message.body for message in await heir.receive(2)] == [b"page"]
    for queue in (killed, other, heir):
        await queue.close()


async def test_blob_urls(tmp_path: Path, s3_server: S3Server) -> None:
    folder = await open_blobs("file:.", tmp_path)
    await folder.put("a/b", b"x")
    assert (tmp_path / "a" / "b").read_bytes() == b"x"
    for url in (f"file:{tmp_path}", f"file://{tmp_path}"):
        assert await (await open_blobs(url, Path("/nowhere"))).get("a/b") == b"x"
    assert isinstance(folder, FolderBlobs)
    assert isinstance(await open_journals(folder, tmp_path), FileJournals)
    memory = await open_blobs("memory:", tmp_path)
    assert isinstance(memory, MemoryBlobs)
    assert isinstance(await open_journals(memory, tmp_path), MemoryJournals)
    remote = await open_blobs("s3://bucket/crawl/x", tmp_path)
    assert type(remote) is ObjectBlobs
    journals = await open_journals(remote, tmp_path)
    journal = await journals.open("raw/1")
    assert (tmp_path / "spool" / "raw").is_dir()
    await journal.append(b"record")
    await journal.seal()
    assert s3_server.objects == {"crawl/x/raw/1": b"record"}


@pytest.mark.parametrize("url", ["rocksdbb:state", "postgres://x", "state", "", "file:x"])
async def test_unknown_state_is_one_line(url: str, tmp_path: Path) -> None:
    for opening in (open_table(url, tmp_path), open_queue(url, "q", 1.0, tmp_path, ManualClock())):
        with pytest.raises(ConfigError, match=r"use rocksdb:PATH, redis://HOST:PORT/DB, memory:") as caught:
            await opening
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://x", "/tmp/x", "redis://x", ""])
async def test_unknown_blobs_are_one_line(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="use file:PATH, s3://BUCKET/PREFIX"):
        await open_blobs(url, tmp_path)


async def test_a_bad_redis_url_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        await open_table("redis://127.0.0.1:notaport/0", tmp_path)
    assert "\n" not in str(caught.value)
