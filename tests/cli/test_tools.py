"""The verbs that need no crawl: by a call, and as a person runs them where streams matter."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calling import Weft


def test_url(called: Weft) -> None:
    done = called("url", "--json", "HTTP://Example.co.uk:80/a/../b?utm_source=x#top")
    assert done.returncode == 0
    row = json.loads(done.stdout)
    assert row["canonical"] == "http://example.co.uk/b"
    assert row["domain"] == "example.co.uk"


def test_a_bad_url_is_one_line_and_status_2(called: Weft) -> None:
    done = called("url", "http://exa mple/")
    assert done.returncode == 2
    assert done.stderr == "weft: http://exa mple/: not a URL\n"


def test_robots(called: Weft, tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_text("User-agent: *\nDisallow: /private\nAllow: /private/open\n")
    done = called("robots", str(file), "--agent", "weft", "--json", "http://a.example/private", "/private/open/x")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["allowed"] for row in rows] == [False, True]
    assert rows[0]["rule"] == "Disallow: /private"


def test_robots_from_standard_input() -> None:
    command = [sys.executable, "-m", "weft", "robots", "-", "/x"]
    done = subprocess.run(
        command, input=b"User-agent: weft\nDisallow: /x", capture_output=True, check=False, timeout=60
    )
    assert b"disallowed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["robots", "/no/such/file", "/"], "/no/such/file: No such file or directory"),
        (["fly"], "invalid choice: 'fly'"),
        (["url"], "required: URL"),
        (["crawl", "example.org"], "required: --out"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(called: Weft, arguments: list[str], message: str) -> None:
    done = called(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_stands_by_itself(called: Weft) -> None:
    done = called("--help")
    for verb in ("crawl", "status", "inspect", "dead", "refine", "check", "extract", "robots", "url", "simweb", "demo"):
        assert f"    {verb} " in done.stdout
        assert called(verb, "--help").returncode == 0
    assert called().returncode == 2
    assert called("--version").stdout.startswith("weft ")


PAGE = "<p>Привет, мир: это текст страницы.</p>"
WRITING = [
    "extract {page}",
    "extract --json {page}",
    "url --json http://a.example/ю",
    "--help",
    "url --help",
    "--version",
]


def shell(command: str, page: Path, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    page.write_text(PAGE, encoding="utf-8")
    line = f"{sys.executable} -m weft {command.format(page=page)}"
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, check=False, timeout=60, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("charset", ["ascii", "latin-1", "utf-16"])
@pytest.mark.parametrize("options", ["", "--json"])
def test_output_is_utf8_whatever_the_locale(charset: str, options: str, tmp_path: Path) -> None:
    done = shell(f"extract {options} {{page}}", tmp_path / "page", PYTHONIOENCODING=charset)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Привет, мир: это текст страницы." in done.stdout.decode()


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize(
    ("stream", "message"),
    [(">/dev/full", b"weft: No space left on device\n"), (">&-", b"weft: standard output: closed\n")],
)
def test_output_that_cannot_be_written_is_one_line(command: str, stream: str, message: bytes, tmp_path: Path) -> None:
    done = shell(f"{command} {stream}", tmp_path / "page")
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.parametrize("command", ["extract -", "robots - /x"])
def test_input_that_is_closed_is_one_line(command: str, tmp_path: Path) -> None:
    done = shell(f"{command} <&-", tmp_path / "page")
    assert (done.returncode, done.stderr, done.stdout) == (1, b"weft: standard input: closed\n", b"")


@pytest.mark.parametrize("stream", ["2>/dev/full", "2>&-", "2>&- >/dev/full", "2>&- >&- <&-"])
def test_errors_that_cannot_be_told_leave_their_status(stream: str, tmp_path: Path) -> None:
    assert shell(f"extract {{page}}.none {stream}", tmp_path / "page").returncode == 2


def test_a_reader_that_left_is_no_error(tmp_path: Path) -> None:
    done = shell("simweb --with help | true", tmp_path / "page")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("file", "status", "message"),
    [
        (sys.executable, 1, f"weft: {sys.executable}: no HTML, but binary data\n"),
        ("", 2, "weft: the name of the file is empty\n"),
    ],
)
def test_what_is_no_file_of_html_is_one_line(called: Weft, file: str, status: int, message: str) -> None:
    done = called("extract", file)
    assert (done.returncode, done.stderr, done.stdout) == (status, message, "")
