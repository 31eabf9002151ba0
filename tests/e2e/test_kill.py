"""kill -9 at any moment: the same command again, the same texts, nothing archived is fetched twice."""

import os
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.e2e.crawling import PATIENCE, assert_perfect, assert_sound, config_of, start, violations, web_of, weft
from tests.redis_server import RedisServer
from weft.directory import is_crawl
from weft.killpoints import NAMES
from weft.simweb.process import RunningWeb, running


def archived_twice(out: Path) -> list[str]:
    """URLs with more than one whole answer in the archive."""
    urls: Counter[str] = Counter()
    for file in (out / "raw").glob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                if record.http_headers is not None and record.http_headers.status_code == 200:
                    urls[str(record.headers["WARC-Target-URI"])] += 1
    return [url for url, count in urls.items() if count > 1 and not url.endswith("/robots.txt")]


def kill_after(process: "subprocess.Popen[str]", web: RunningWeb, requests: int) -> bool:
    """SIGKILL when the server has seen so many more requests; False if the crawl ended before."""
    target = len(web.requests()) + requests
    for _ in range(PATIENCE * 50):
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            if len(web.requests()) >= target:
                break
        else:
            return False
    process.kill()
    process.communicate()
    return True


def assert_nothing_lost(web: RunningWeb, out: Path) -> None:
    assert_perfect(web, out)
    assert archived_twice(out) == []
    assert violations(web, 0.1) == []
    assert_sound(out)


def test_killed_five_times(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    chance = random.Random(5)
    with running(web_of(12, 12), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.1})
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config), "--json"]
        killed = [kill_after(start(*command), web, chance.randint(5, 30)) for _ in range(5)]
        assert killed == [True] * 5
        assert_sound(out)
        assert weft(*command).returncode == 0
        assert_nothing_lost(web, out)


def test_killed_with_its_state_on_redis(tmp_path: Path, redis_server: RedisServer) -> None:
    out = tmp_path / "crawl"
    with running(web_of(6, 8), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.1}, storage={"state": redis_server.url})
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config), "--json"]
        assert kill_after(start(*command), web, 25)
        done = weft(*command, env={**os.environ, "WEFT_KILL_AT": "corpus.registered"})
        assert done.returncode == -signal.SIGKILL
        assert weft(*command).returncode == 0
        assert_nothing_lost(web, out)


def test_killed_at_every_moment_that_has_a_name(tmp_path: Path) -> None:
    """One crawl, killed once at each kill point in turn, then finished."""
    out = tmp_path / "crawl"
    with running(web_of(8, 10), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.1}, corpus={"segment_seconds": 0.3})
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config), "--json"]
        for name in NAMES:
            done = weft(*command, env={**os.environ, "WEFT_KILL_AT": name})
            assert done.returncode == -signal.SIGKILL, f"{name} was not reached: {done.stderr[-500:]}"
            if is_crawl(out):
                assert_sound(out)
        done = weft(*command)
        assert done.returncode == 0, done.stderr[-2000:]
        assert_nothing_lost(web, out)


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("name", NAMES)
def test_killed_at(tmp_path: Path, name: str, count: int) -> None:
    out = tmp_path / "crawl"
    with running(web_of(6, 8), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.1}, corpus={"segment_seconds": 0.3})
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config), "--json"]
        weft(*command, env={**os.environ, "WEFT_KILL_AT": f"{name}:{count}"})
        assert weft(*command).returncode == 0
        assert_nothing_lost(web, out)
