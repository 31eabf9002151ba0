"""`weft check`: clean after a crawl, a stop and a kill; whatever is broken by hand is found and named."""

import asyncio
import os
import shutil
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash

from tests.e2e.crawling import checked, config_of, web_of, weft
from weft.archive import announce
from weft.archive.member import compress, first
from weft.archive.store import INDEX, index_key
from weft.clock import SystemClock
from weft.directory import CrawlDirectory
from weft.engines.choose import open_queue, open_table
from weft.frontier import keys
from weft.ports import Delete, Key, Put, Range, Rows, Table
from weft.records import Announcement, Position
from weft.simweb.process import running
from weft.urls.host import url_key

Break: TypeAlias = Callable[[Path], object]
STATE, PARTITIONS = "rocksdb:state", 256


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of a web with all its usual troubles, that came to its end."""
    folder = tmp_path_factory.mktemp("whole")
    with running(web_of(6, 8), folder) as web:
        done = weft("crawl", *web.seeds(), "--out", folder / "crawl", "--config", config_of(web, folder))
        assert done.returncode == 0, done.stderr[-2000:]
    return folder / "crawl"


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that was killed midway: segments, an open WARC file, URLs in their queues."""
    folder = tmp_path_factory.mktemp("killed")
    with running(web_of(6, 8), folder) as web:
        config = config_of(web, folder, corpus={"segment_seconds": 0.2})
        environment = {**os.environ, "WEFT_KILL_AT": "corpus.registered:3"}
        done = weft("crawl", *web.seeds(), "--out", folder / "crawl", "--config", config, env=environment)
        assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    return folder / "crawl"


def kinds(path: Path) -> set[str]:
    return {fault["kind"] for fault in checked(path)["faults"]}


def broken(path: Path, folder: Path, how: Break) -> Path:
    """A copy that is broken so."""
    copy = folder / "copy"
    shutil.copytree(path, copy)
    how(copy)
    return copy


def on_table(change: Callable[[Table], Awaitable[object]]) -> Break:
    async def work(path: Path) -> None:
        table = await open_table(STATE, path)
        try:
            await change(table)
        finally:
            await table.close()

    return lambda path: asyncio.run(work(path))


def only(path: Path, pattern: str) -> Path:
    """The first file that looks so."""
    return min(path.glob(pattern))


def rows_of(path: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = pq.read_table(only(path, "corpus/data/*.parquet")).to_pylist()
    return found


def test_a_crawl_that_ended_is_clean(whole: Path) -> None:
    result = checked(whole)
    assert (result["faults"], result["leftovers"], result["drift"]) == ([], [], [])
    assert result["checked"]["documents"] == len(rows_of(whole))
    assert result["checked"]["captures"] == result["checked"]["index rows"] > 50
    assert result["checked"]["urls"] > 50


def test_a_crawl_that_was_killed_has_leftovers_at_most(killed: Path) -> None:
    result = checked(killed)
    assert result["faults"] == []
    assert result["checked"]["queued"] + result["checked"]["leased"] > 0


def test_nothing_is_changed(killed: Path) -> None:
    def state() -> dict[str, bytes]:
        files = [file for folder in ("raw", "corpus") for file in (killed / folder).rglob("*") if file.is_file()]
        return {str(file): file.read_bytes() for file in [*files, killed / "weft.toml"]}

    before = state()
    assert checked(killed) == checked(killed)
    assert state() == before


def test_a_running_crawl_is_refused_in_one_line(whole: Path) -> None:
    held = CrawlDirectory.read(whole, hold=True)
    try:
        done = weft("check", whole)
    finally:
        held.close()
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "another weft process works here" in done.stderr
    assert weft("check", whole).returncode == 0


def test_what_is_no_crawl_is_wrong_usage(tmp_path: Path) -> None:
    assert weft("check", tmp_path).returncode == 2
    assert not list(tmp_path.iterdir())


def test_a_start_that_was_killed_before_there_was_a_table(tmp_path: Path) -> None:
    environment = {**os.environ, "WEFT_KILL_AT": "directory.made"}
    arguments = ("crawl", "http://127.0.0.1:9/", "--own", "127.0.0.0/8", "--out", tmp_path / "crawl")
    assert weft(*arguments, env=environment).returncode == -signal.SIGKILL
    assert checked(tmp_path / "crawl")["clean"]
    assert weft("status", tmp_path / "crawl").returncode == 0


def garble(path: Path) -> None:
    file = only(path, "raw/*.warc.gz")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)


def rewrite(path: Path) -> None:
    """The status of an answer in the archive is another, in a record that can be read."""
    file = only(path, "raw/*.warc.gz")
    data, place = file.read_bytes(), 0
    while whole := first(data[place:], 1 << 30):
        changed = whole.content.replace(b"\nHTTP/1.1 200 ", b"\nHTTP/1.1 203 ")
        if changed != whole.content:
            file.write_bytes(data[:place] + compress([changed]) + data[place + whole.length :])
            return
        place += whole.length


def test_a_garbled_byte_of_the_archive(whole: Path, tmp_path: Path) -> None:
    assert "damaged" in kinds(broken(whole, tmp_path, garble))


def test_a_record_that_says_something_else(whole: Path, tmp_path: Path) -> None:
    assert "digest-wrong" in kinds(broken(whole, tmp_path, rewrite))


def test_a_warc_file_that_is_gone(whole: Path, tmp_path: Path) -> None:
    found = kinds(broken(whole, tmp_path, lambda path: only(path, "raw/*.warc.gz").unlink()))
    assert {"warc-missing", "capture-missing"} <= found


async def forget_first(table: Table, url: str) -> None:
    group, item = index_key(url, 0.0)
    (rows,) = await table.scan([Range(group, item, item[:-8] + b"\xff" * 8)])
    await table.write([Delete((group, item)) for item, _ in rows])


def test_a_capture_that_is_not_in_the_index(whole: Path, tmp_path: Path) -> None:
    url = rows_of(whole)[0]["url"]
    found = kinds(broken(whole, tmp_path, on_table(lambda table: forget_first(table, url))))
    assert found == {"not-indexed", "not-archived"}


async def copy_index_row(table: Table) -> None:
    """A row that names the middle of a record."""
    for number in range(1 << 16):
        group = INDEX + number.to_bytes(2, "big")
        (rows,) = await table.scan([Range(group)])
        if rows:
            item, value = rows[0]
            await table.write([Put((group, b"\0" * len(item)), value[:-1] + bytes((value[-1] ^ 1,)))])
            return


def test_an_index_row_that_names_nothing(whole: Path, tmp_path: Path) -> None:
    assert kinds(broken(whole, tmp_path, on_table(copy_index_row))) == {"not-there"}


def tear(path: Path) -> None:
    with only(path, "raw/*.warc.gz+open").open("ab") as file:
        file.write(compress([b"WARC/1.1\r\n", os.urandom(500)])[:-20])


def test_a_torn_tail_is_no_fault(killed: Path, tmp_path: Path) -> None:
    result = checked(broken(killed, tmp_path, tear))
    assert (result["faults"], "torn-tail" in result["counts"]) == ([], True)


async def announce_nothing(path: Path) -> None:
    queue = await open_queue(STATE, "pages", 60.0, path, SystemClock())
    nowhere = Announcement("<urn:uuid:0>", "https://site.example/", Position("raw/none.warc.gz", 0, 9), 1.0, 200)
    await queue.send(announce.pack([nowhere]))
    await queue.close()


def test_an_announcement_of_nothing(whole: Path, tmp_path: Path) -> None:
    found = kinds(broken(whole, tmp_path, lambda path: asyncio.run(announce_nothing(path))))
    assert found == {"announced-nowhere"}


async def queued(table: Table) -> list[tuple[Key, Rows]]:
    """The rows of all queues."""
    found = []
    for number in range(PARTITIONS):
        partition = number.to_bytes(2, "big")
        (hosts,) = await table.scan([Range(partition + keys.HOST)])
        for item, _ in hosts:
            group = keys.group(partition + item, keys.QUEUE)
            (rows,) = await table.scan([Range(group)])
            found += [((group, row), rows) for row, _ in rows]
    return found


async def delete_queue_row(table: Table) -> None:
    (key, _), *_ = await queued(table)
    await table.write([Delete(key)])


def test_a_url_whose_queue_row_is_gone(killed: Path, tmp_path: Path) -> None:
    assert kinds(broken(killed, tmp_path, on_table(delete_queue_row))) == {"url-lost"}


def test_a_page_whose_host_is_gone(whole: Path, tmp_path: Path) -> None:
    host = keys.host_row(url_key(rows_of(whole)[0]["url"], PARTITIONS)[: keys.HOST_KEY])
    assert kinds(broken(whole, tmp_path, on_table(lambda table: table.write([Delete(host)])))) == {"unknown-url"}


def test_a_segment_that_is_gone(killed: Path, tmp_path: Path) -> None:
    found = kinds(broken(killed, tmp_path, lambda path: only(path, "corpus/segments/main-*.parquet").unlink()))
    assert found == {"segment-missing"}


def test_a_segment_that_never_counted_is_no_fault(killed: Path, tmp_path: Path) -> None:
    def add(path: Path) -> None:
        file = only(path, "corpus/segments/main-*.parquet")
        shutil.copy(file, file.with_name("main-99999999-00000000.parquet"))

    result = checked(broken(killed, tmp_path, add))
    assert (result["faults"], "unregistered" in result["counts"]) == ([], True)


def repeat_row(path: Path) -> None:
    file = only(path, "corpus/data/*.parquet")
    table = pq.read_table(file)
    pq.write_table(pa.concat_tables([table, table.slice(3, 1)]), file)


def test_a_row_that_is_there_twice(whole: Path, tmp_path: Path) -> None:
    copy = broken(whole, tmp_path, repeat_row)
    assert kinds(copy) == {"row-twice", "text-twice", "rows-wrong"}
    lines = weft("check", copy).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("fault row-twice: ")]
    assert rows_of(copy)[3]["url"] in line
    assert line.endswith(f"`weft refine {copy}` makes the corpus anew from the archive")
    assert lines[-1] == "3 faults"


def test_a_shard_that_lost_a_row(whole: Path, tmp_path: Path) -> None:
    def lose(path: Path) -> None:
        file = only(path, "corpus/_removed/*.parquet")
        pq.write_table(pq.read_table(file).slice(1), file)

    assert kinds(broken(whole, tmp_path, lose)) == {"rows-wrong"}


def test_a_shard_that_is_gone(whole: Path, tmp_path: Path) -> None:
    assert kinds(broken(whole, tmp_path, lambda path: only(path, "corpus/data/*.parquet").unlink())) == {"rows-wrong"}


def test_a_shard_that_cannot_be_read(whole: Path, tmp_path: Path) -> None:
    def cut(path: Path) -> None:
        file = only(path, "corpus/data/*.parquet")
        file.write_bytes(file.read_bytes()[:-100])

    assert kinds(broken(whole, tmp_path, cut)) == {"unreadable"}


def test_a_fingerprint_that_is_gone(whole: Path, tmp_path: Path) -> None:
    digest = xxhash.xxh3_128_digest(rows_of(whole)[0]["id"].encode())
    key = (b"dedup" + digest[:2], b"c" + digest[2:])
    found = kinds(broken(whole, tmp_path, on_table(lambda table: table.write([Delete(key)]))))
    assert found == {"no-fingerprint"}


def test_a_total_that_is_off_is_drift(whole: Path, tmp_path: Path) -> None:
    forget = on_table(lambda table: table.write([Delete((b"tally", b"counts"))]))
    result = checked(broken(whole, tmp_path, forget))
    assert (result["clean"], {one["kind"] for one in result["drift"]}) == (True, {"total-off"})
