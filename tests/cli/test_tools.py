"""The verbs that need no crawl, run as a person runs them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def weft(*arguments: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "weft", *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=60)


def test_url() -> None:
    done = weft("url", "--json", "HTTP://Example.co.uk:80/a/../b?utm_source=x#top")
    assert done.returncode == 0
    row = json.loads(done.stdout)
    assert row["canonical"] == "http://example.co.uk/b"
    assert row["domain"] == "example.co.uk"


def test_a_bad_url_is_one_line_and_status_2() -> None:
    done = weft("url", "http://exa mple/")
    assert done.returncode == 2
    assert done.stderr == "weft: http://exa mple/: not a URL\n"


def test_robots(tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_text("User-agent: *\nDisallow: /private\nAllow: /private/open\n")
    done = weft("robots", str(file), "--agent", "weft", "--json", "http://a.example/private", "/private/open/x")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["allowed"] for row in rows] == [False, True]
    assert rows[0]["rule"] == "Disallow: /private"


def test_robots_from_standard_input() -> None:
    done = weft("robots", "-", "/x", given="User-agent: weft\nDisallow: /x")
    assert "disallowed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["robots", "/no/such/file", "/"], "/no/such/file: No such file or directory"),
        (["fly"], "invalid choice: 'fly'"),
        (["url"], "required: URL"),
        (["crawl", "example.org"], "required: --out"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(arguments: list[str], message: str) -> None:
    done = weft(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_stands_by_itself() -> None:
    done = weft("--help")
    for verb in ("crawl", "status", "inspect", "dead", "refine", "extract", "robots", "url", "simweb", "demo"):
        assert f"    {verb} " in done.stdout
        assert weft(verb, "--help").returncode == 0
    assert weft().returncode == 2
    assert weft("--version").stdout.startswith("weft ")
