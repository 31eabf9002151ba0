"""A crawl's DIR: one writer, one format, one configuration."""

import subprocess
import sys
from pathlib import Path

import pytest

from weft.directory import CrawlDirectory
from weft.errors import ConfigError, CrawlDirError
from weft.metrics import Report


def test_settings_are_kept_and_laid_over(tmp_path: Path) -> None:
    CrawlDirectory.open(tmp_path / "crawl", {"pace": {"delay": 2}, "scope": {"own": ["127.0.0.0/8"]}}).close()
    again = CrawlDirectory.open(tmp_path / "crawl", {"pace": {"delay": "3"}})
    assert again.config.pace.delay == 3
    assert again.config.scope.own == ("127.0.0.0/8",)
    again.close()
    assert CrawlDirectory.read(tmp_path / "crawl").config == again.config


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    directory = CrawlDirectory.open(tmp_path, {})
    script = "import pathlib, sys, weft.directory as d; d.CrawlDirectory.open(pathlib.Path(sys.argv[1]), {})"
    other = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=False)
    assert "another weft process works here" in other.stderr
    assert CrawlDirectory.read(tmp_path).in_use()
    directory.close()
    assert not CrawlDirectory.read(tmp_path).in_use()


def test_another_format_is_refused(tmp_path: Path) -> None:
    CrawlDirectory.open(tmp_path, {}).close()
    (tmp_path / "state" / "format").write_text("99")
    with pytest.raises(CrawlDirError, match=r"another version of weft \(format 99"):
        CrawlDirectory.open(tmp_path, {})


def test_partitions_are_fixed(tmp_path: Path) -> None:
    CrawlDirectory.open(tmp_path, {"storage": {"partitions": 16}}).close()
    with pytest.raises(ConfigError, match="has 16 partitions"):
        CrawlDirectory.open(tmp_path, {"storage": {"partitions": 32}})


def test_crawls_on_one_server_get_names_of_their_own(tmp_path: Path) -> None:
    server = {"storage": {"state": "redis://127.0.0.1:6379/0"}}
    states = []
    for name in ("one", "one", "two"):
        directory = CrawlDirectory.open(tmp_path / name, server)
        directory.close()
        states.append(directory.config.storage.state)
    assert states[0] == states[1] != states[2]
    assert states[0].startswith("redis://127.0.0.1:6379/0#weft-")
    named = {"storage": {"state": "redis://127.0.0.1:6379/0#mine"}}
    assert CrawlDirectory.open(tmp_path / "three", named).config.storage.state.endswith("#mine")


def test_what_is_no_crawl_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CrawlDirError, match="holds no crawl"):
        CrawlDirectory.read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(CrawlDirError, match="file"):
        CrawlDirectory.open(tmp_path / "file", {})


def test_progress_and_report(tmp_path: Path) -> None:
    directory = CrawlDirectory.open(tmp_path, {})
    assert directory.progress() == Report()
    directory.write_progress(Report(fetched=3))
    assert directory.progress().fetched == 3
    directory.write_report(Report(documents=2))
    assert '"documents": 2' in (tmp_path / "report.json").read_text()
    directory.close()
