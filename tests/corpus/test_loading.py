"""The corpus as its users load it: pyarrow, DuckDB and HF datasets, no option needed, nothing seen twice."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.corpus.material import Disk, refined, unparsable
from weft.corpus import schema

COUNT = 2500


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    asyncio.run(fill(folder))
    return folder


async def fill(folder: Path) -> None:
    """Two shards, and what was removed beside them."""
    disk = Disk()
    corpus = await disk.corpus()
    for first in range(0, COUNT, 500):
        await corpus.commit(
            [refined(number, text=f"Dokument Nr. {number} über Wolle — 羊毛") for number in range(first, first + 500)]
        )
        if first == 1000:
            await corpus.compact(final=True)
    await corpus.commit([unparsable(COUNT), refined(COUNT + 1, body=b"body 3")])
    await corpus.compact(final=True)
    for name, _ in await disk.blobs.list("corpus/"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(await disk.blobs.get(name))


def test_pyarrow_reads_it_as_one_table_of_one_schema(crawl: Path) -> None:
    files = sorted((crawl / "corpus" / "data").iterdir())
    assert len(files) == 2
    assert {pq.read_schema(file).equals(schema.DOCUMENTS) for file in files} == {True}
    table = ds.dataset(crawl / "corpus" / "data").to_table()
    assert table.num_rows == len(set(table["id"].to_pylist())) == COUNT
    assert table["text"][7].as_py() == "Dokument Nr. 7 über Wolle — 羊毛"


def test_files_are_zstd_with_small_row_groups_and_a_page_index(crawl: Path) -> None:
    for file in (crawl / "corpus" / "data").iterdir():
        details = pq.ParquetFile(file).metadata
        for group in range(details.num_row_groups):
            assert details.row_group(group).num_rows <= 1000
            for column in range(details.num_columns):
                chunk = details.row_group(group).column(column)
                assert chunk.compression == "ZSTD"
                assert chunk.has_offset_index
        assert details.num_row_groups == -(-details.num_rows // 1000)


def query(text: str) -> list[Any]:
    with duckdb.connect() as connection:
        return connection.execute(text).fetchall()


def test_duckdb_queries_it(crawl: Path) -> None:
    data, removed = f"'{crawl}/corpus/data/*.parquet'", f"'{crawl}/corpus/_removed/*.parquet'"
    found = query(f"select count(*), count(distinct id), min(date) from {data}")
    assert found == [(COUNT, COUNT, "2023-11-14T22:13:20.250000Z")]
    reasons = query(f"select filter_reason, count(*) from {removed} group by 1 order by 1")
    assert reasons == [("duplicate-body", 1), ("unparsable", 1)]
    assert query(f"select distinct metadata->>'author' from {data}") == [("Ada",)]


DATASETS = """
import sys, datasets
datasets.disable_progress_bars()
for rows in (
    datasets.load_dataset("parquet", data_files=sys.argv[1] + "/data/*.parquet", split="train"),
    datasets.load_dataset(sys.argv[1], split="train"),
):
    print(len(rows), len(set(rows["id"])), rows[7]["text"], "filter_reason" in rows.column_names)
streamed = datasets.load_dataset("parquet", data_files=sys.argv[1] + "/data/*.parquet", split="train", streaming=True)
print(next(iter(streamed))["language"])
"""


def test_hf_datasets_loads_it_by_pattern_and_by_folder(crawl: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path),
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-c", DATASETS, str(crawl / "corpus")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    line = f"{COUNT} {COUNT} Dokument Nr. 7 über Wolle — 羊毛 False"
    assert done.stdout.splitlines() == [line, line, "eng"]


def test_a_row_group_keeps_below_its_bytes() -> None:
    sink = pa.BufferOutputStream()
    rows = [{"text": "x" * 1_000_000} for _ in range(80)]
    with schema.writer(sink, schema.DOCUMENTS) as writer:
        schema.write(writer, schema.to_table(rows, schema.DOCUMENTS))
    details = pq.ParquetFile(pa.BufferReader(sink.getvalue())).metadata
    sizes = [details.row_group(group).total_byte_size for group in range(details.num_row_groups)]
    assert max(sizes) <= 100_000_000
    assert details.num_rows == 80
