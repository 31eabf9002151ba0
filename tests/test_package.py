"""The package as a library: what `import weft` offers."""

import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft.config import override
from weft.urls.canonical import canonical

# __main__ is left out: importing it runs the command line. It has a name that nobody can hide behind.
IMPORT_ALL = """
import importlib, pkgutil, weft
offered = {name: getattr(weft, name) for name in weft.__all__}
for module in pkgutil.walk_packages(weft.__path__, "weft."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for name, thing in offered.items():
    if getattr(weft, name) is not thing:
        print(name, "is hidden by", getattr(weft, name))
"""

PAGE = """<html><head><meta charset="iso-8859-1"><title>Größe</title></head><body>
<p>Die Größe der Häuser überraschte alle, die an diesem Morgen über die Brücke kamen, und keiner sprach ein Wort.</p>
</body></html>"""


def test_a_page_may_be_text_or_bytes() -> None:
    text, octets = weft.extract(PAGE), weft.extract(PAGE.encode("latin-1"))
    assert text.text == octets.text
    assert text.title == "Größe"
    assert (text.charset, octets.charset) == ("utf-8", "cp1252")
    assert weft.extract("").text == weft.extract(b"").text == ""


def test_text_that_no_charset_can_hold_is_no_reason_to_fail() -> None:
    assert "Größe" in weft.extract(PAGE.replace("alle", "\ud800")).text


def test_robots_may_be_text_or_bytes() -> None:
    file = "User-agent: *\nDisallow: /größe\n"
    for robots in (weft.Robots.parse(file), weft.Robots.parse(file.encode())):
        assert not robots.allows("https://example.org/gr%C3%B6%C3%9Fe/1", "anybot")
        assert robots.allows("https://example.org/", "anybot")


def test_canonical_is_the_one_of_the_crawl() -> None:
    assert weft.canonical is canonical


def test_no_submodule_hides_what_the_package_offers() -> None:
    """In a process of its own: what other tests imported must not matter here, nor this matter to them."""
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_variable_of_one_crawl_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_PACE_DELAY", "7")
    monkeypatch.setenv("WEFT_SCOPE_REACH", "host")
    chosen = override(weft.Config.load(), "scope", reach="any")  # by the program, whatever the environment says
    weft.crawl([], tmp_path, override(chosen, "pace", latency_factor=3))
    kept = weft.Config.load(tmp_path / "weft.toml", {})
    assert (kept.pace.delay, kept.pace.latency_factor, kept.scope.reach) == (1.0, 3, "any")


def test_a_process_crawls_as_often_as_it_is_asked(tmp_path: Path) -> None:
    config = override(weft.Config(), "fetch", contact="https://bot.example/")
    for name in ("first", "second"):
        assert weft.crawl([], tmp_path / name, config).fetched == 0
        assert (tmp_path / name / "report.json").exists()
