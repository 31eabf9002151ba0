"""Foreign errors leave the engines as `weft.errors`: every class their libraries know, and the real thing."""

import inspect
from pathlib import Path

import pytest
from obstore import exceptions as obstore_exceptions
from redis import exceptions as redis_exceptions

from tests.redis_server import RedisServer, free_port
from tests.s3_server import S3Server
from weft.engines import objects, redis, rocksdb
from weft.engines.files import FileJournals, mapping
from weft.engines.objects import FolderBlobs, open_objects
from weft.engines.redis import open_redis_queue, open_redis_table
from weft.errors import ConfigError, Corrupt, EngineError, Missing, Unavailable, WeftError
from weft.ports import Put, Range

REDIS_ERRORS = [
    found
    for _, found in inspect.getmembers(redis_exceptions, inspect.isclass)
    # Those of clusters (which need constructor arguments of their own) and of client-side locks are never met here.
    if issubclass(found, redis_exceptions.RedisError)
    and not found.__name__.startswith(("Ask", "Moved", "Lock", "Slot"))
]
OBSTORE_ERRORS = [
    found
    for _, found in inspect.getmembers(obstore_exceptions, inspect.isclass)
    if issubclass(found, obstore_exceptions.BaseError)
]


@pytest.mark.parametrize("foreign", [*REDIS_ERRORS, OSError, ConnectionResetError, TimeoutError])
async def test_every_redis_error_is_mapped(foreign: type[Exception]) -> None:
    with pytest.raises(WeftError) as caught:
        async with redis._mapping():
            raise foreign("word")
    assert isinstance(caught.value, EngineError | ConfigError)


@pytest.mark.parametrize("foreign", [*OBSTORE_ERRORS, OSError, PermissionError, FileNotFoundError, ValueError])
async def test_every_obstore_error_is_mapped(foreign: type[Exception]) -> None:
    with pytest.raises(WeftError) as caught:
        async with objects._mapping("name"):
            raise foreign("word\n\nDebug source: …")
    assert isinstance(caught.value, EngineError | ConfigError)
    assert "\n" not in str(caught.value)


def test_there_are_errors_to_map() -> None:
    assert len(REDIS_ERRORS) > 15
    assert len(OBSTORE_ERRORS) > 8


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("IO error: While lock file: /x/LOCK: Resource temporarily unavailable", Unavailable),
        ("IO error: lock hold by current process, acquire time 1: /x/LOCK: No locks available", Unavailable),
        ("IO error: No space left on device: While appending to file: /x/1.log", Unavailable),
        ("Corruption: block checksum mismatch", Corrupt),
        ("Invalid argument: Column families not opened: other", Corrupt),
        ("Shutdown in progress: ", Unavailable),
        ("anything else", EngineError),
    ],
)
def test_every_rocksdb_status_is_mapped(said: str, expected: type[EngineError]) -> None:
    assert isinstance(rocksdb._mapped(Exception(said), Path("x")), expected)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(2, Missing), (13, EngineError), (20, EngineError), (28, Unavailable), (5, Unavailable), (24, Unavailable)],
)
def test_every_system_error_is_mapped(number: int, expected: type[EngineError]) -> None:
    with pytest.raises(expected):
        with mapping("name"):
            raise OSError(number, "word")


async def test_a_redis_that_is_down_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        await open_redis_table(f"redis://127.0.0.1:{free_port()}/0")
    server = RedisServer(tmp_path)
    server.start()
    try:
        table = await open_redis_table(server.url)
        queue = await open_redis_queue(server.url, "q", 1.0)
        server.kill()
        for use in (table.get([(b"g", b"i")]), table.scan([Range(b"g")]), table.write([Put((b"g", b"i"), b"")])):
            with pytest.raises(Unavailable):
                await use
        for other in (table.put_if((b"g", b"i"), None, b""), queue.send([b"x"]), queue.receive(1, 1.0), queue.size()):
            with pytest.raises(Unavailable):
                await other
        server.start()
        await table.write([Put((b"g", b"i"), b"back")])
        assert await table.get([(b"g", b"i")]) == [b"back"]
        await table.close()
        await queue.close()
    finally:
        server.kill()


@pytest.mark.parametrize("option", [("--appendonly", "no"), ("--appendfsync", "everysec")])
async def test_a_redis_that_forgets_is_warned_of(
    option: tuple[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = RedisServer(tmp_path)
    server.start(*option)
    try:
        table = await open_redis_table(server.url)
        await table.close()
        assert "may lose what it acknowledged" in caplog.text
    finally:
        server.kill()


async def test_a_redis_that_wants_a_password_says_so(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    server.start("--requirepass", "secret")
    try:
        with pytest.raises(ConfigError):
            await open_redis_table(server.url)
        table = await open_redis_table(server.url.replace("redis://", "redis://:secret@"))
        await table.close()
    finally:
        server.kill()


async def test_a_full_redis_is_unavailable_and_a_foreign_key_corrupt(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    server.start("--maxmemory", "3mb", "--maxmemory-policy", "noeviction")
    try:
        table = await open_redis_table(server.url)
        await table._client.set(table._hash(b"foreign"), b"string")
        for use in (table.get([(b"foreign", b"i")]), table.write([Put((b"foreign", b"i"), b"")])):
            with pytest.raises(Corrupt):
                await use
        with pytest.raises(Unavailable):
            await table.write(*([Put((b"g", b"%d" % row), b"x" * 100_000)] for row in range(100)))
        await table.close()
    finally:
        server.kill()


async def test_an_object_store_that_refuses(s3_server: S3Server) -> None:
    blobs = open_objects("s3://bucket/crawl")
    s3_server.refuse = 401
    with pytest.raises(ConfigError):
        await blobs.get("a")
    s3_server.refuse = 403
    with pytest.raises(EngineError):
        await blobs.put("a", b"")
    s3_server.refuse = 400
    with pytest.raises(Unavailable):
        await blobs.list()


async def test_a_journal_is_sealed_when_the_store_is_back(s3_server: S3Server, tmp_path: Path) -> None:
    journals = FileJournals(tmp_path, open_objects("s3://bucket/crawl"))
    journal = await journals.open("raw/1")
    await journal.append(b"record")
    s3_server.refuse = 400
    with pytest.raises(Unavailable):
        await journal.seal()
    assert await journals.unsealed() == ["raw/1"]
    s3_server.refuse = None
    assert await journal.append(b", another") == 6
    await journal.seal()
    assert s3_server.objects == {"crawl/raw/1": b"record, another"}
    assert await journals.unsealed() == []
    await journals.close()


async def test_an_upload_cut_off_before_its_file_was_removed_is_done_again(s3_server: S3Server, tmp_path: Path) -> None:
    s3_server.objects["crawl/raw/1"] = b"record"
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "1+open").write_bytes(b"record")
    journals = FileJournals(tmp_path, open_objects("s3://bucket/crawl"))
    for name in await journals.unsealed():
        await (await journals.open(name)).seal()
    assert s3_server.objects == {"crawl/raw/1": b"record"}
    assert await journals.unsealed() == []
    await journals.close()


async def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(EngineError):
        FolderBlobs(tmp_path / "file")
    blobs = FolderBlobs(tmp_path)
    with pytest.raises(EngineError):
        await blobs.put("file/below", b"x")
    journals = FileJournals(tmp_path, blobs)
    with pytest.raises(EngineError):
        await journals.open("file/below")
    await journals.close()


async def test_a_journal_has_one_owner(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    mine, other = FileJournals(tmp_path, blobs), FileJournals(tmp_path, blobs)
    await mine.open("j")
    with pytest.raises(Unavailable, match="in use by another process"):
        await other.open("j")
    await mine.close()
    await other.open("j")
    await other.close()
