"""Limits of a run and of the whole crawl, over kills, stops and `--again`."""

import os
import signal
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.e2e.crawling import PATIENCE, config_of, interrupt, report_of, start, web_of, weft
from tests.e2e.test_kill import archived_twice, kill_after
from tests.e2e.test_trouble import wait_until
from weft.config import Config
from weft.simweb.process import running

LIMIT = 12


def pages_in(out: Path) -> int:
    """Pages that the archive has."""
    count = 0
    for file in (out / "raw").glob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                head = record.http_headers
                count += head is not None and head.status_code == 200 and "X-Weft-Kind" not in record.headers
    return count


def test_a_limit_on_the_command_line_is_of_one_run_and_not_kept(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with running(web_of(6, 10), tmp_path) as web:
        config = config_of(web, tmp_path)
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config), "--json"]
        first = report_of(weft(*command, "--max-pages", str(LIMIT)))
        assert (first["fetched"], first["ended"]) == (LIMIT, "limit")
        second = report_of(weft(*command, env={**os.environ, "WEFT_CRAWL_MAX_PAGES": str(LIMIT)}))
        assert (second["fetched"], second["ended"]) == (2 * LIMIT, "limit")
        assert Config.load(out / "weft.toml", {}).crawl.max_pages == 0
        again = report_of(weft(*command, "--again", "--max-pages", str(LIMIT)))
        assert again["fetched"] > second["fetched"]
        last = report_of(weft(*command))
        assert last["ended"] == "exhausted"


def test_one_in_a_file_is_of_the_whole_crawl(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with running(web_of(6, 10), tmp_path) as web:
        config = config_of(web, tmp_path, crawl={"max_pages": LIMIT})
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config), "--json"]
        for more in ([], [], ["--max-pages", "5"]):
            report = report_of(weft(*command, *more))
            assert (report["fetched"], report["ended"]) == (LIMIT, "limit")
        assert Config.load(out / "weft.toml", {}).crawl.max_pages == LIMIT


MOMENTS = (
    "archive.synced:3",
    "archive.announced:2",
    "frontier.settled:3",
    "frontier.counted:4",
    "corpus.registered",
    "corpus.compacted",
)


@pytest.mark.parametrize("moment", [*MOMENTS, "frontier.leased:9", ""])
def test_killed_and_run_again_it_comes_to_the_limit_and_no_further(tmp_path: Path, moment: str) -> None:
    out = tmp_path / "crawl"
    with running(web_of(8, 12), tmp_path) as web:
        config = config_of(web, tmp_path, crawl={"commit_seconds": 0.1}, pace={"delay": 0.1})
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config), "--json", "--max-pages", "40"]
        if moment:
            done = weft(*command, env={**os.environ, "WEFT_KILL_AT": moment})
            assert done.returncode == -signal.SIGKILL, done.stderr
        else:
            assert kill_after(start(*command), web, 25)
        report = report_of(weft(*command))
        assert (report["fetched"], report["ended"]) == (40, "limit")
        assert archived_twice(out) == []
        assert pages_in(out) == 40, "as the archive has it, whatever was counted"
        assert report_of(weft(*command))["fetched"] > 40, "behind a limit the next run begins at 0"


def test_stopped_and_run_again_it_goes_on_counting(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with running(web_of(8, 12), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.3})
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config), "--json", "--max-pages", "30"]
        process = start(*command)
        wait_until(process, lambda: len(web.requests()) >= 20)
        interrupt(process)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 3
        report = report_of(weft(*command))
        assert (report["fetched"], report["ended"]) == (30, "limit")
