"""`weft refine`: the old corpus stays until the new one is whole, and what could not be read is said."""

import gzip
import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.crawling import config_of, documents, report_of, web_of, weft
from weft.killpoints import REFINING
from weft.simweb.process import running

MOMENTS = ("parse.parsed:2", "corpus.written", "corpus.registered", "frontier.learned", "corpus.compacted", *REFINING)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished crawl, to be copied."""
    folder = tmp_path_factory.mktemp("crawled")
    with running(web_of(8, 12), folder) as web:
        done = weft("crawl", *web.seeds(), "--out", folder / "crawl", "--config", config_of(web, folder), "--json")
        assert report_of(done)["documents"] > 50
    return folder / "crawl"


@pytest.fixture
def out(crawled: Path, tmp_path: Path) -> Iterator[Path]:
    copied = tmp_path / "crawl"
    shutil.copytree(crawled, copied)
    yield copied
    shutil.rmtree(copied)


def garble(out: Path, seed: int) -> tuple[Path, int, bytes]:
    """300 bytes of its WARC file; the file, where, and how it was."""
    (file,) = (out / "raw").glob("*.warc.gz")
    before = file.read_bytes()
    chance = random.Random(seed)
    place = chance.randrange(len(before) // 4, len(before) // 2)
    file.write_bytes(before[:place] + chance.randbytes(300) + before[place + 300 :])
    return file, place, before


def texts(out: Path) -> list[str]:
    """Of two pages that say the same, one or the other is the document."""
    return sorted(text for _, text in documents(out))


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("weft: ")]


@pytest.mark.parametrize("seed", [1, 2])
def test_damage_leaves_the_old_corpus_where_it_is(out: Path, seed: int) -> None:
    old = texts(out)
    file, place, before = garble(out, seed)
    done = weft("refine", out)
    assert done.returncode == 1, done.stderr
    (line,) = lines(done.stderr)
    assert f"raw/{file.name} is damaged at byte" in line
    assert "lost" in line
    assert "the old corpus is kept" in line
    assert f"`weft refine {out} --partial`" in line
    assert texts(out) == old

    told = weft("refine", out, "--json")
    assert told.returncode == 1
    report = json.loads(told.stdout)
    assert report["ended"] == "incomplete"
    assert report["documents"] == len(old)
    (damaged,) = report["refined"]["files"]
    assert damaged["file"] == f"raw/{file.name}"
    assert place - 100_000 < damaged["damaged"][0]["offset"] < place + 300
    assert damaged["damaged"][0]["records"] >= 1
    assert report["parsed"] == json.loads(weft("status", out, "--json").stdout)["parsed"] >= len(old)

    taken = weft("refine", out, "--partial", "--json")
    assert taken.returncode == 0, taken.stderr
    left = texts(out)
    assert set(left) <= set(old)
    assert len(left) >= len(old) - 6, "reading goes on behind the damage"
    assert json.loads(taken.stdout)["documents"] == len(left) == report["refined"]["documents"]

    file.write_bytes(before)
    assert weft("refine", out).returncode == 0
    assert texts(out) == old


def test_an_archive_that_is_gone_takes_nothing_with_it(out: Path) -> None:
    old = texts(out)
    shutil.rmtree(out / "raw")
    done = weft("refine", out)
    assert done.returncode == 1
    assert "the archive lacks" in lines(done.stderr)[0]
    assert texts(out) == old


def test_killed_at_every_moment_it_ends_the_same(out: Path) -> None:
    old = texts(out)
    for moment in MOMENTS:
        done = weft("refine", out, env={**os.environ, "WEFT_KILL_AT": moment})
        assert done.returncode == -signal.SIGKILL, (moment, done.stderr)
        found = documents(out)
        assert len(found) == len(set(found)), moment
        if moment != "corpus.cleared":
            assert texts(out) == old, moment
    assert weft("status", out).returncode == 0
    done = weft("refine", out, "--json")
    assert report_of(done)["ended"] == "exhausted"
    assert texts(out) == old
    assert not [path for path in (out / "corpus").rglob("*") if path.is_file() and path.parent.name == "segments"]
    assert not [path for path in (out / "corpus" / "anew").rglob("*") if path.is_file()]


def test_files_of_others_are_told_one_by_one(out: Path, tmp_path: Path) -> None:
    file, _, _ = garble(out, 3)
    junk, empty = tmp_path / "junk.warc.gz", tmp_path / "empty.warc"
    junk.write_bytes(gzip.compress(b"<html>no WARC</html>"))
    empty.write_bytes(b"")
    done = weft("refine", tmp_path / "all", "--from", junk, file, empty)
    assert done.returncode == 0, done.stderr
    rows = {
        name: line for line in done.stdout.splitlines() for name in (junk, file, empty) if line.startswith(f"{name}: ")
    }
    assert "0 answers read, skipped 1 (1 × no captures in this file)" in rows[junk]
    assert "damaged behind byte" in rows[file]
    assert "no captures" in rows[empty]

    told = weft("refine", tmp_path / "all", "--json", "--from", junk, file)
    files = json.loads(told.stdout)["refined"]["files"]
    assert [one["file"] for one in files] == [str(junk), str(file)]
    assert files[1]["read"] > 50
    assert files[1]["damaged"]

    nothing = weft("refine", tmp_path / "none", "--from", junk)
    assert nothing.returncode == 1
    assert lines(nothing.stderr) == [f"weft: nothing could be read from {junk}"]
