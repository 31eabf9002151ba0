"""kill -9 at every moment the corpus has a name for: each page is in it once, and a reader never sees a row twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.corpus.refine_and_die import BATCHES, PAGES, delivered

ROOT = Path(__file__).parents[2]
MOMENTS = [
    "corpus.written:2",
    "corpus.fingerprinted:2",
    "corpus.registered:1",
    "corpus.compacted:1",
    "corpus.compacted:2",
]


def run(root: Path, kill_at: str = "") -> int:
    environment = {**os.environ, "WEFT_KILL_AT": kill_at, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    command = [sys.executable, "-m", "tests.corpus.refine_and_die", str(root)]
    return subprocess.run(command, env=environment, cwd=ROOT, timeout=60, check=False).returncode


def rows(folder: Path) -> list[dict[str, Any]]:
    return [row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


@pytest.mark.parametrize("moment", MOMENTS)
def test_every_page_is_stored_once(tmp_path: Path, moment: str) -> None:
    assert run(tmp_path, moment) == -signal.SIGKILL
    seen = [row["id"] for row in rows(tmp_path / "corpus" / "data")]
    assert len(seen) == len(set(seen))  # also while the crawl lies dead

    assert run(tmp_path) == 0
    pages = [pair for batch in range(BATCHES) for pair in delivered(batch)]
    documents = rows(tmp_path / "corpus" / "data")
    removed = rows(tmp_path / "corpus" / "_removed")
    assert sorted(row["id"] for row in documents + removed) == sorted(page.id for _, page in pages)
    assert {row["text"] for row in documents} == {page.text for _, page in pages if page.text}
    assert len(documents) == BATCHES * (PAGES - 2)
    assert len(list((tmp_path / "corpus" / "data").iterdir())) > 1
    assert list((tmp_path / "corpus" / "segments").iterdir()) == []
