"""Every blobs engine against every promise of `ports.Blobs`: memory, a folder, and an S3 server over its protocol."""

from pathlib import Path

import pytest

from tests.contracts.blobs_checks import CHECKS, Check
from weft.engines.memory import MemoryBlobs
from weft.engines.objects import FolderBlobs, open_objects
from weft.ports import Blobs

ENGINES = ("memory", "folder", "s3")


@pytest.fixture(params=ENGINES)
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    engine: str = request.param
    if engine == "s3":
        request.getfixturevalue("s3_server")
        return open_objects("s3://bucket/crawl")
    return MemoryBlobs() if engine == "memory" else FolderBlobs(tmp_path / "blobs")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_blobs(blobs: Blobs, check: Check) -> None:
    await check(blobs)
