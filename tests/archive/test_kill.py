"""kill -9 at every moment the archive has a name for: nothing is lost, and nothing archived is fetched again."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from tests.archive.crawl_and_die import BATCHES, PAGES
from tests.archive.material import exchange
from weft.archive.announce import unpack
from weft.clock import SystemClock
from weft.engines.choose import open_queue

ROOT = Path(__file__).parents[2]
URLS = {exchange(number).url for number in range(BATCHES * PAGES)}


def run(root: Path, kill_at: str = "") -> int:
    environment = {**os.environ, "WEFT_KILL_AT": kill_at, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    command = [sys.executable, "-W", "ignore", "-m", "tests.archive.crawl_and_die", str(root)]
    return subprocess.run(command, env=environment, cwd=ROOT, timeout=60, check=False).returncode


@pytest.mark.parametrize("moment", ["archive.appended", "archive.synced", "archive.announced", "frontier.settled"])
@pytest.mark.parametrize("time", [1, 4])
async def test_nothing_is_lost_and_nothing_is_fetched_twice(tmp_path: Path, moment: str, time: int) -> None:
    assert run(tmp_path, f"{moment}:{time}") == -signal.SIGKILL
    assert run(tmp_path) == 0

    fetched = Counter((tmp_path / "fetched.log").read_text().split())
    assert fetched == dict.fromkeys(URLS, 1)

    archived = Counter[str]()
    for file in (tmp_path / "raw").iterdir():
        assert file.name.endswith(".warc.gz")
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    archived[record.rec_headers["WARC-Target-URI"]] += 1
    assert archived == dict.fromkeys(URLS, 1)

    pages = await open_queue("rocksdb:state", "pages", 60.0, tmp_path, SystemClock())
    announced = {one.url for message in await pages.receive(1000) for one in unpack(message.body)}
    await pages.close()
    assert announced == URLS
