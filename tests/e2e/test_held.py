"""What is held at the end: counted, named, told by every verb, and fetched once a person has released it."""

import json
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.crawling import PATIENCE, interrupt, report_of, start, weft
from tests.e2e.scenes import configured, crawl_of
from weft.simweb import scenes_of
from weft.simweb.process import RunningWeb, running


def asked(web: RunningWeb) -> Counter[str]:
    return Counter(f"{row.host}{row.target}" for row in web.requests())


def test_what_is_held_is_named_released_and_fetched(tmp_path: Path) -> None:
    with running(scenes_of("articles:60+facets"), tmp_path) as web:
        config = configured(web, tmp_path, frontier={"trials": 10, "trial_share": 0.0})
        crawl = crawl_of(web, tmp_path / "crawl", config)
        crawl.assert_over()
        out, report, held = crawl.out, crawl.report, crawl.report["held"]
        assert held > 20
        assert sum(group["held"] for group in report["holds"]) == held
        group = report["holds"][0]
        assert set(group) == {"looks", "why", "meaning", "held", "tried", "fruitful", "examples", "release"}
        assert json.loads((out / "report.json").read_text())["holds"] == report["holds"]

        told = json.loads(weft("status", out, "--json").stdout)
        assert (told["held"], told["holds"]) == (held, report["holds"])
        line = f"{group['held']:,} URLs like {group['looks']} are held: {group['fruitful']} of {group['tried']} trials"
        shown = weft("status", out).stdout
        assert line in shown
        assert f"`{group['release']}` takes them up again" in shown
        assert f"but {held:,} URLs that are held" in shown
        assert line in weft("dead", out).stdout
        rows = [json.loads(row) for row in weft("dead", out, "list", "--json").stdout.splitlines()]
        assert sum(row["held"] for row in rows if row["kind"] == "held") == held
        assert json.loads(weft("inspect", out, group["examples"][0], "--json").stdout)["story"]["state"] == "held"

        assert "looks like" in weft("dead", out, "release", "other.example/*").stdout
        freed = json.loads(weft("dead", out, "release", group["looks"], "--json").stdout)
        assert freed == {"released": group["held"]}
        rest = json.loads(weft("dead", out, "release", "*", "--json").stdout)
        assert rest == {"released": held - group["held"]}
        assert json.loads(weft("dead", out, "release", "*", "--json").stdout) == {"released": 0}

        before = asked(web)
        again = report_of(weft("crawl", "--out", out, "--json"))
        new = asked(web) - before
        assert (again["ended"], again["pending"]) == ("exhausted", 0)
        assert len([url for url in new if not url.endswith("/robots.txt")]) >= held
        for url in group["examples"]:
            assert urlsplit(url).path in "".join(new)
            assert json.loads(weft("inspect", out, url, "--json").stdout)["story"]["state"] == "done"


def test_a_cap_that_is_reached_is_named(tmp_path: Path) -> None:
    with running(scenes_of("articles:60"), tmp_path) as web:
        config = configured(web, tmp_path)
        done = weft("crawl", *web.seeds(), "--out", tmp_path / "crawl", "--config", config, "--pages-per-host", "10")
        assert done.returncode == 0
        told = json.loads(weft("status", tmp_path / "crawl", "--json").stdout)
        (cap,) = told["caps"]
        assert (cap["word"], cap["hosts"]) == ("pages-per-host", 1)
        assert told["capped"] == cap["urls"] > 0
        assert f"{cap['urls']} URLs on 1 host, such as {cap['example']}: beyond [scope] pages_per_host" in done.stdout
        again = report_of(weft("crawl", "--out", tmp_path / "crawl", "--pages-per-host", "1000", "--json"))
        assert (again["capped"], again["caps"], again["fetched"]) == (0, [], 61)


def test_what_is_held_is_named_while_the_crawl_runs(tmp_path: Path) -> None:
    with running(scenes_of("articles:60+facets"), tmp_path) as web:
        config, out = configured(web, tmp_path), tmp_path / "crawl"
        process = start("crawl", *web.seeds(), "--out", out, "--config", config, "--delay", "0.1", "--json")
        while True:
            assert process.poll() is None, "over before anything was named"
            told = weft("status", out, "--json")
            report = json.loads(told.stdout) if told.returncode == 0 else {}
            if report.get("holds"):
                break
        assert report["running"]
        assert report["held"] >= report["holds"][0]["held"] > 0
        assert "URLs like" in weft("status", out).stdout
        interrupt(process)
        assert process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["release"], "give a PATTERN"),
        (["release", "a.example", "--host", "a.example"], "takes a PATTERN, not --host"),
        (["retry", "a.example"], "retry takes no PATTERN"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, given: list[str], message: str) -> None:
    done = weft("dead", tmp_path, *given)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
