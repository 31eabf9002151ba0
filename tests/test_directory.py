"""A crawl's DIR: one writer, one format, one configuration."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from weft.config import Config
from weft.directory import FORMAT, CrawlDirectory
from weft.errors import ConfigError, CrawlDirError
from weft.metrics import Report


def test_settings_are_kept_and_laid_over(tmp_path: Path) -> None:
    CrawlDirectory.open(tmp_path / "crawl", {"pace": {"delay": 2}, "scope": {"own": ["127.0.0.0/8"]}}).close()
    again = CrawlDirectory.open(tmp_path / "crawl", {"pace": {"delay": "3"}})
    assert again.config.pace.delay == 3
    assert again.config.scope.own == ("127.0.0.0/8",)
    again.close()
    assert CrawlDirectory.read(tmp_path / "crawl").config == again.config


def test_settings_of_a_run_hold_and_are_not_kept(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    of_run = {"pace": {"delay": "9"}, "fetch": {"ca_file": "mine.pem"}}
    with pytest.raises(ConfigError, match="nine"):  # it is checked like what is kept
        CrawlDirectory.open(out, {}, refuse, of_run)
    assert not out.exists()
    directory = CrawlDirectory.open(out, {"pace": {"delay": 2}}, of_run=of_run)
    directory.close()
    assert (directory.config.pace.delay, directory.config.fetch.ca_file) == (9, str(Path("mine.pem").absolute()))
    kept = CrawlDirectory.read(out).config
    assert (kept.pace.delay, kept.fetch.ca_file) == (2, "")
    with pytest.raises(ConfigError, match="environment: Expected `float`"):
        CrawlDirectory.open(out, {}, of_run={"pace": {"delay": "soon"}})


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


def refuse(config: Config) -> None:
    if config.pace.delay == 9:
        raise ConfigError("nine is refused")


def test_what_is_refused_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nine"):
        CrawlDirectory.open(tmp_path / "new", {"pace": {"delay": 9}}, refuse)
    assert not (tmp_path / "new").exists()
    CrawlDirectory.open(tmp_path / "old", {"pace": {"delay": 2}}, refuse).close()
    before = (tmp_path / "old" / "weft.toml").read_bytes()
    for settings in ({"pace": {"delay": 9}}, {"pace": {"delay": "soon"}}):
        with pytest.raises(ConfigError):
            CrawlDirectory.open(tmp_path / "old", settings, refuse)
    assert (tmp_path / "old" / "weft.toml").read_bytes() == before
    CrawlDirectory.open(tmp_path / "old", {}, refuse).close()  # and the lock was let go


OPEN = (
    "import pathlib, sys, weft.directory as d; d.CrawlDirectory.open(pathlib.Path(sys.argv[1]), {'pace': {'delay': 7}})"
)
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0})); "


@pytest.mark.parametrize("moment", ["directory.configured", "directory.made"])
def test_killed_while_it_is_made_it_is_completed_by_the_next_start(tmp_path: Path, moment: str) -> None:
    out = tmp_path / "crawl"
    killed = subprocess.run([sys.executable, "-c", OPEN, out], env={**os.environ, "WEFT_KILL_AT": moment}, check=False)
    assert killed.returncode == -signal.SIGKILL
    CrawlDirectory.open(out, {"pace": {"delay": 7}}).close()
    assert CrawlDirectory.read(out).config.pace.delay == 7


@pytest.mark.parametrize("room", [0, 1, 1000])
def test_a_disk_that_is_full_at_that_moment_spoils_nothing(tmp_path: Path, room: int) -> None:
    out = tmp_path / "crawl"
    done = subprocess.run(
        [sys.executable, "-c", FULL.format(room) + OPEN, out], capture_output=True, text=True, check=False
    )
    assert "CrawlDirError" in done.stderr
    with pytest.raises(CrawlDirError, match="holds no crawl"):
        CrawlDirectory.read(out)
    assert [path.name for path in out.rglob("*") if path.is_file() and path.name != "lock"] == []
    CrawlDirectory.open(out, {"pace": {"delay": 7}}).close()
    assert CrawlDirectory.read(out).config.pace.delay == 7


def test_what_an_older_weft_left_half_made_is_completed(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "format").write_text(FORMAT)
    (tmp_path / "state" / "lock").write_text("")
    with pytest.raises(CrawlDirError, match="holds no crawl"):
        CrawlDirectory.read(tmp_path)
    CrawlDirectory.open(tmp_path, {"pace": {"delay": 7}}).close()
    assert CrawlDirectory.read(tmp_path).config.pace.delay == 7


def test_a_crawl_that_lost_its_configuration_is_not_given_another(tmp_path: Path) -> None:
    CrawlDirectory.open(tmp_path, {"storage": {"partitions": 16}}).close()
    (tmp_path / "state" / "table").mkdir()
    (tmp_path / "weft.toml").unlink()
    with pytest.raises(ConfigError, match=r"weft\.toml: no such file"):
        CrawlDirectory.open(tmp_path, {})


def test_the_configuration_is_written_when_it_changes_and_only_then(tmp_path: Path) -> None:
    CrawlDirectory.open(tmp_path, {"pace": {"delay": 7}}).close()
    file = tmp_path / "weft.toml"
    file.write_text("# mine\n" + file.read_text())
    before = file.stat().st_ino
    CrawlDirectory.open(tmp_path, {"pace": {"delay": "7"}}).close()
    assert file.stat().st_ino == before
    assert file.read_text().startswith("# mine")
    CrawlDirectory.open(tmp_path, {"pace": {"delay": 8}}).close()
    assert CrawlDirectory.read(tmp_path).config.pace.delay == 8


def test_the_format_before_is_opened_for_work_only(tmp_path: Path) -> None:
    CrawlDirectory.open(tmp_path, {"parse": {"workers": 1}}).close()
    (tmp_path / "state" / "format").write_text("3")
    with pytest.raises(CrawlDirError, match="is of format 3; run `weft crawl"):
        CrawlDirectory.read(tmp_path)
    for _ in range(2):  # it stays what it is until its rows are new
        directory = CrawlDirectory.open(tmp_path, {})
        directory.close()
        assert directory.is_of_before
    directory.renew()
    assert not directory.is_of_before
    assert CrawlDirectory.read(tmp_path).config.parse.workers == 1


def test_what_nobody_chose_is_not_kept_of_the_format_before(tmp_path: Path) -> None:
    CrawlDirectory.open(tmp_path, {}).close()
    (tmp_path / "state" / "format").write_text("3")
    old = "[frontier]\ntrap_sample = 100\nretry = [5.0]\n[parse]\nmax_links = 5000\n[fetch]\nmax_body = 77\n"
    (tmp_path / "weft.toml").write_text(old)
    directory = CrawlDirectory.open(tmp_path, {})
    directory.close()
    assert directory.config.frontier.retry == (5.0,)
    assert directory.config.parse.max_links == Config().parse.max_links
    assert directory.config.fetch.max_body == 77
    directory.renew()
    assert CrawlDirectory.read(tmp_path).config == directory.config
