"""`WEFT_…` variables at the command line: for one run, and refused when they are misspelt."""

import os
from pathlib import Path

import pytest

from tests.e2e.crawling import weft
from weft.config import Config
from weft.directory import CrawlDirectory


@pytest.mark.parametrize("verb", [("crawl", "--out"), ("refine",)])
def test_a_variable_holds_for_the_run(tmp_path: Path, verb: tuple[str, ...]) -> None:
    out = tmp_path / "crawl"
    CrawlDirectory.open(
        out, {"parse": {"workers": 1}, "pace": {"delay": 2}, "fetch": {"contact": "a@b.example"}}
    ).close()
    before = (out / "weft.toml").read_bytes()
    done = weft(*verb, out, env={**os.environ, "WEFT_PACE_DELAY": "soon"})
    assert (done.returncode, "environment: Expected `float`" in done.stderr) == (2, True)
    done = weft(*verb, out, env={**os.environ, "WEFT_PACE_DELAY": "5", "WEFT_PARSE_WORKERS": "2"})
    assert done.returncode == 0, done.stderr
    assert (out / "weft.toml").read_bytes() == before
    done = weft(*verb, out, env={**os.environ, "WEFT_FETHC_CONTACT": "me@me.example"})
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "WEFT_FETHC_CONTACT; did you mean WEFT_FETCH_CONTACT?" in done.stderr


def test_the_command_line_wins_and_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    CrawlDirectory.open(out, {"parse": {"workers": 1}, "fetch": {"contact": "a@b.example"}}).close()
    done = weft("crawl", "--out", out, "--delay", "3", env={**os.environ, "WEFT_PACE_DELAY": "soon"})
    assert done.returncode == 0, done.stderr
    assert Config.load(out / "weft.toml", {}).pace.delay == 3
