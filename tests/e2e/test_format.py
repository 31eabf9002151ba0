"""A DIR of the version before: those who only read it say so, the next crawl makes it new and goes on with it."""

from pathlib import Path

from tests.e2e.crawling import documents, report_of, weft
from tests.frontier.format3 import DOCS, unpack

WEB = '[fetch]\nhosts = {"*.example" = "127.0.0.66"}\n'  # where nobody listens: its web is gone


def test_a_crawl_of_format_3_goes_on(tmp_path: Path) -> None:
    out, config = tmp_path / "crawl", tmp_path / "test.toml"
    unpack(out)
    config.write_text(WEB)
    before = documents(out)
    for verb, *more in (("status",), ("inspect", f"{DOCS}/"), ("dead", "list")):
        done = weft(verb, out, *more)
        assert done.returncode != 0
        assert done.stderr == f"weft: {out}: is of format 3; run `weft crawl --out {out}` once, which changes that\n"

    done = weft("crawl", "--out", out, "--config", config, "--json")
    report = report_of(done)
    assert (done.returncode, report["ended"]) == (3, "waiting")  # for hosts that do not answer
    assert f"weft: {out} is of format 3: made into format 4\n" in done.stderr
    assert (report["pending"] + report["parked"], report["dead"], report["hosts"]) == (167, 2, 16)
    assert (out / "state" / "format").read_text() == "4"
    after = documents(out)
    assert set(before) < set(after)  # what was archived and not yet parsed is parsed
    assert len({url for url, _ in after}) == len(after)

    again = weft("crawl", "--out", out, "--json")
    assert again.returncode == 3
    assert "format" not in again.stderr
    assert weft("status", out).returncode == 0
    assert "error" in weft("dead", out, "list").stdout
    waiting = weft("inspect", out, f"{DOCS}/map/4")
    assert waiting.returncode == 0
    assert "attempt 1: server-error 500" in waiting.stdout


def test_refine_makes_it_new_too(tmp_path: Path) -> None:
    unpack(tmp_path)
    done = weft("refine", tmp_path, "--json")
    assert report_of(done)["documents"] == 58
    assert "made into format 4" in done.stderr
    assert weft("status", tmp_path).returncode == 0
