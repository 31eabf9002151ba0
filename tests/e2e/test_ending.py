"""How a crawl ends and what it says then: what it waits for, what is missing and why, which seeds failed."""

import asyncio
import json
import shlex
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.crawling import PATIENCE, interrupt, start, weft
from tests.fetch.misbehaving import Server, page
from tests.fetch.test_dns import TinyNameServer
from weft.directory import CrawlDirectory
from weft.metrics import Report

CERTIFICATE = Path(__file__).parent.parent / "fetch" / "tls.pem"  # for tls.test; nobody vouches for it
HOME = b"<html><body><h1>Home</h1><p>A few words of its own.</p>%s</body></html>"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = await Server({"/": page(HOME % b"<a href=/limited>a</a>"), "/fine": page(HOME % b"")}).listen()
    yield server
    await server.close()


def written(folder: Path, **tables: dict[str, Any]) -> Path:
    """A configuration whose second attempt would be 100 s away."""
    whole: dict[str, dict[str, Any]] = {
        "scope": {"own": ["127.0.0.0/8", "*.test"], "reach": "host"},
        "frontier": {"retry": [0.1, 100.0], "jitter": 0.0},
        "pace": {"delay": 0.05},
        "fetch": {"sitemaps": False},
        "parse": {"workers": 1},
    }
    for name, table in tables.items():
        whole.setdefault(name, {}).update(table)
    path = folder / "test.toml"
    lines = [
        f"[{name}]\n" + "".join(f"{key} = {value_of(value)}\n" for key, value in t.items()) for name, t in whole.items()
    ]
    path.write_text("".join(lines))
    return path


def value_of(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {json.dumps(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


async def crawled(out: Path, config: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return await asyncio.to_thread(weft, "crawl", *arguments, "--out", out, "--config", config)


async def test_a_host_that_wants_an_hour_ends_the_crawl_and_what_waits_is_named(server: Server, tmp_path: Path) -> None:
    server.answers["/limited"] = page(b"later", "429 Slow Down", "Retry-After: 3600")
    out, config = tmp_path / "crawl", written(tmp_path)
    seed = f"http://127.0.0.1:{server.port}/"
    done = await crawled(out, config, seed)
    assert done.returncode == 3, done.stderr
    assert "run it again" in done.stdout
    assert "127.0.0.1  Retry-After, until " in done.stdout
    assert "in all 1 URL on 1 host;" in done.stdout
    asked = len(server.seen)
    again = await crawled(out, config, "--json")  # the hour is not over
    report = json.loads(again.stdout)
    assert (again.returncode, report["ended"], report["pending"], report["waiting"]) == (3, "waiting", 1, 1)
    assert (report["wait_urls"], report["wait_hosts"]) == (1, 1)
    assert {wait["why"] for wait in report["waits"]} == {"Retry-After"}
    assert len(server.seen) == asked
    status = await asyncio.to_thread(weft, "status", out)
    assert "Retry-After, until " in status.stdout
    server.answers["/limited"] = page(HOME % b"at last")


async def test_what_waits_is_tried_at_once_if_a_person_wants_it(server: Server, tmp_path: Path) -> None:
    server.answers["/limited"] = page(b"oh", "500 Broken")
    out, config = tmp_path / "crawl", written(tmp_path)
    done = await crawled(out, config, f"http://127.0.0.1:{server.port}/")
    assert done.returncode == 3, done.stdout
    server.answers["/limited"] = page(HOME % b"mended")
    for given, count in ((["--reason", "timeout"], 0), (["--host", "127.0.0.1"], 1), ([], 0)):
        revived = await asyncio.to_thread(weft, "dead", out, "retry", *given, "--json")
        assert json.loads(revived.stdout) == {"revived": count}, given
    again = await crawled(out, config, "--json")
    report = json.loads(again.stdout)
    assert (again.returncode, report["ended"], report["fetched"], report["waiting"]) == (0, "exhausted", 2, 0)


@pytest.mark.parametrize("finish", ["patient", "prompt"])
async def test_a_patient_crawl_waits_and_says_for_what(server: Server, tmp_path: Path, finish: str) -> None:
    """A prompt one, too, waits for the gap that a host asks for."""
    if finish == "patient":
        server.answers["/limited"] = page(b"later", "429 Slow Down", "Retry-After: 3600")
        expected = "Retry-After"
    else:
        server.answers["/robots.txt"] = page(b"User-agent: *\nCrawl-delay: 200", kind="text/plain")
        expected = "Crawl-delay in robots.txt"
    config = written(tmp_path, frontier={"finish": finish})
    out = tmp_path / "crawl"
    process = start("crawl", f"http://127.0.0.1:{server.port}/", "--out", str(out), "--config", str(config), "--json")
    report = Report()
    for _ in range(PATIENCE * 10):
        await asyncio.sleep(0.1)
        if (out / "weft.toml").exists() and (report := CrawlDirectory.read(out).progress()).waits:
            break
    assert process.poll() is None
    interrupt(process)
    printed, errors = await asyncio.to_thread(process.communicate)
    assert process.returncode == 3, errors
    assert json.loads(printed)["ended"] == "stopped"
    assert (report.waits[0].host, report.waits[0].why) == ("127.0.0.1", expected)


@pytest.mark.parametrize("trouble", ["closed", "failing", "robots"])
async def test_a_seed_that_cannot_be_had_ends_the_crawl_soon_with_the_reason(
    server: Server, tmp_path: Path, trouble: str
) -> None:
    seed = f"http://127.0.0.1:{server.port}/"
    bad = page(b"oh", "500 Oops")
    server.answers["/"] = bad
    if trouble == "robots":
        server.answers["/robots.txt"] = bad
    if trouble == "closed":
        await server.close()
    done = await crawled(tmp_path / "crawl", written(tmp_path), seed)
    assert done.returncode == 1, done.stderr
    reason = {"closed": "connect-failed", "failing": "server-error", "robots": "robots-unreachable"}[trouble]
    assert f"no seed brought a page\n  {seed}  {reason}: " in done.stdout
    assert "run it again" in done.stdout  # it is kept
    assert "corpus" not in done.stdout
    assert "*.parquet" not in done.stdout


async def test_an_untrusted_certificate_is_said_at_once_and_not_tried_again(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    server = await Server({"/": page(HOME % b"")}).listen(tls=context)
    config = written(tmp_path, fetch={"hosts": {"tls.test": "127.0.0.1"}}, frontier={"retry": [30.0, 100.0]})
    seed = f"https://tls.test:{server.port}/"
    done = await crawled(tmp_path / "crawl", config, seed, "--json")
    await server.close()
    report = json.loads(done.stdout)
    assert (done.returncode, report["ended"], report["parked"]) == (1, "exhausted", 1)
    assert report["outcomes"] == {"tls-failed": 1}
    assert done.stderr.startswith(f"weft: {seed}: tls-failed: ")
    assert "certificate verify failed" in done.stderr
    assert done.stderr.count("\n") == 1
    (end,) = report["seeds"]
    assert (end["seed"], end["word"]) == (seed, "tls-failed")


async def test_a_name_that_does_not_exist_is_said_at_once_and_not_tried_again(tmp_path: Path) -> None:
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        TinyNameServer, local_addr=("127.0.0.1", 0)
    )
    host, port = transport.get_extra_info("sockname")
    config = written(tmp_path, fetch={"resolvers": [f"{host}:{port}"]}, frontier={"retry": [30.0, 100.0]})
    done = await crawled(tmp_path / "crawl", config, "http://none.test/", "--json")
    transport.close()
    report = json.loads(done.stdout)
    assert (done.returncode, report["ended"], report["outcomes"]) == (1, "exhausted", {"dns-failed": 1})
    assert done.stderr.startswith("weft: http://none.test/: dns-failed: ")
    assert done.stderr.count("\n") == 1


async def test_what_is_missing_is_told_with_an_example_and_the_line_to_type(server: Server, tmp_path: Path) -> None:
    links = (
        b"<a href=/gone>a</a><a href='/gone?a=1&b=2'>a</a><a rel=nofollow href=/secret>b</a>"
        b"<a href=http://other.test/>c</a><a href=mailto:me@other.test>d</a><a href=/fine>e</a><a href=/image>f</a>"
    )
    server.answers["/"] = page(HOME % links)
    server.answers["/image"] = page(b"\x89PNG", kind="image/png")
    server.answers["/robots.txt"] = page(b"User-agent: *\nDisallow: /gone?", kind="text/plain")
    out = tmp_path / "a crawl"
    root = f"http://127.0.0.1:{server.port}"
    done = await crawled(out, written(tmp_path), f"{root}/")
    assert done.returncode == 0, done.stderr
    report = json.loads((out / "report.json").read_text())
    missing = {(row["kind"], row["word"]): (row["count"], row["example"]) for row in report["missing"]}
    assert missing == {
        ("answer", "not-found"): (1, f"{root}/gone"),
        ("answer", "wrong-type"): (1, f"{root}/image"),
        ("link", "nofollow"): (1, f"{root}/secret"),
        ("link", "scheme"): (1, "mailto:me@other.test"),
        ("link", "out-of-scope"): (1, "http://other.test/"),
        ("link", "robots-denied"): (1, f"{root}/gone?a=1&b=2"),
    }
    lines = [row["inspect"] for row in report["missing"]]
    for line in lines:
        assert line in done.stdout
        told = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-m", *shlex.split(line)], capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, (line, told.stderr)
    status = await asyncio.to_thread(weft, "status", out, "--json")
    assert json.loads(status.stdout)["missing"] == report["missing"]  # kept over the end of the process
    text = await asyncio.to_thread(weft, "status", out)
    assert all(line in text.stdout for line in lines)


async def test_a_seed_that_is_not_taken_in_is_named(server: Server, tmp_path: Path) -> None:
    seed, blocked = f"http://127.0.0.1:{server.port}/fine", f"http://127.0.0.2:{server.port}/"
    server.answers["/robots.txt"] = page(b"User-agent: *\nDisallow: /private", kind="text/plain")
    denied = f"http://127.0.0.1:{server.port}/private"
    config = written(tmp_path, scope={"block": ["127.0.0.2"]})
    done = await crawled(tmp_path / "one", config, seed, blocked, denied)
    assert done.returncode == 0
    assert f"weft: seed {blocked}: not taken in: on [scope] block\n" in done.stderr
    assert f"  {blocked}  " in done.stdout
    assert f"  {denied}  robots-denied: robots.txt disallows it (" in done.stdout
    assert "one/corpus/data/*.parquet" in done.stdout
    done = await crawled(tmp_path / "two", config, blocked, denied, "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ended"], report["seeds_failed"]) == (1, "exhausted", True)
    assert [(end["seed"], end["word"]) for end in report["seeds"]] == [(blocked, "blocked"), (denied, "robots-denied")]


async def test_a_seed_that_brought_a_page_once_is_none_that_failed(server: Server, tmp_path: Path) -> None:
    server.answers["/old"] = page(b"", "301 Moved", "Location: /fine")
    out, config = tmp_path / "crawl", written(tmp_path)
    seed = f"http://127.0.0.1:{server.port}/old"  # by what it redirects to
    for ending, status, arguments in (("exhausted", 0, []), ("exhausted", 0, []), ("waiting", 3, ["--again"])):
        done = await crawled(out, config, seed, *arguments, "--json")
        report = json.loads(done.stdout)
        assert (done.returncode, report["ended"], report["seeds"]) == (status, ending, []), done.stderr
        await server.close()


async def test_a_seed_whose_turn_had_not_come_at_the_limit_has_not_failed(server: Server, tmp_path: Path) -> None:
    """The first request is for robots.txt, the second would come 200 s later."""
    server.answers["/robots.txt"] = page(b"User-agent: *\nCrawl-delay: 200", kind="text/plain")
    config = written(tmp_path, crawl={"max_seconds": 1.0})
    done = await crawled(tmp_path / "crawl", config, f"http://127.0.0.1:{server.port}/", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ended"], report["seeds_failed"]) == (0, "limit", False)
    assert [end["word"] for end in report["seeds"]] == ["pending"]
