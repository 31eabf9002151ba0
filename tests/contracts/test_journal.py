"""Every journal engine against every promise of `ports.Journal`: memory, files, and files sealed to an S3 server."""

from pathlib import Path

import pytest

from tests.contracts.journal_checks import CHECKS, Bench, Check
from weft.engines.files import FileJournals
from weft.engines.memory import MemoryBlobs, MemoryJournals
from weft.engines.objects import FolderBlobs, open_objects

ENGINES = ("memory", "files", "spool")


@pytest.fixture(params=ENGINES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    engine: str = request.param
    if engine == "files":
        folder = FolderBlobs(tmp_path / "crawl")
        return Bench(lambda: FileJournals(folder.root, folder), folder)
    if engine == "spool":
        request.getfixturevalue("s3_server")
        remote = open_objects("s3://bucket/crawl")
        return Bench(lambda: FileJournals(tmp_path / "spool", remote), remote)
    blobs = MemoryBlobs()
    journals = MemoryJournals(blobs)
    return Bench(lambda: journals, blobs)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_journal(bench: Bench, check: Check) -> None:
    await check(bench)
