"""What can be wrong from outside: one clear line each, the right exit status, nothing lost."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli.calling import Weft
from tests.e2e.crawling import PATIENCE, config_of, interrupt, judged, report_of, start, web_of, weft
from weft.simweb.process import running

QUICK = (
    "[frontier]\nretry = [0.1, 0.1]\njitter = 0\n[pace]\ndelay = 0.05\n[scope]\nown = ['127.0.0.0/8', '*.invalid']\n"
)


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[pace\n", "not valid TOML"),
        ("[pace]\ndely = 1\n", "unknown key pace.dely; did you mean delay?"),
        ("[pace]\ndelay = 'soon'\n", "Expected `float`"),
        ("[storage]\nstate = 'mongodb://x'\n", "no storage for 'mongodb://x'"),
        ("[storage]\nstate = 'redis://127.0.0.1:1/0'\n", "127.0.0.1:1"),
        ("[fetch]\nproduct = 'We ft'\n", "letters"),
        ("[scope]\ninclude = ['(']\n", "not a regular expression"),
        ("[storage]\nstate = 'redis://127.0.0.1:port/0'\n", "Port could not be cast"),
        ("[storage]\nblobs = 'ftp://x'\n", "no storage for 'ftp://x'"),
        ("[storage]\nblobs = 's3:nowhere'\n", "s3:nowhere"),
        ("[pace]\nquiet = ['always']\n", "pace.quiet"),
        ("[pace]\nwide_addresses = ['x=1']\n", "pace.wide_addresses"),
        ("[fetch]\nresolvers = ['my-router']\n", "fetch.resolvers: 'my-router'"),
        ("[fetch]\nhosts = {a = 'b'}\n", "fetch.hosts: 'b'"),
        ("[fetch]\nca_file = 'no-such.pem'\n", "no-such.pem: No such file"),
        ("[fetch]\nca_file = 'bad.toml'\n", "bad.toml: holds no certificates"),
    ],
)
def test_configuration(called: Weft, tmp_path: Path, toml: str, message: str) -> None:
    config = written(tmp_path, "bad.toml", toml)
    toml = toml.replace("bad.toml", config)
    (tmp_path / "bad.toml").write_text(toml)
    done = called("crawl", "127.0.0.1:1", "--own", "127.0.0.0/8", "--out", tmp_path / "crawl", "--config", config)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "redis" in toml or done.returncode == 2
    assert not (tmp_path / "crawl").exists(), "what is refused is kept nowhere"


def test_seeds(called: Weft, tmp_path: Path) -> None:
    for arguments, message in [
        ([], "nothing to crawl"),
        (["--seeds", written(tmp_path, "empty.txt", "# nothing\n\n")], "no seeds in it"),
        (["--seeds", str(tmp_path / "missing.txt")], "No such file"),
        (["http://exa mple/"], "not a URL"),
        (["ftp://example.org/"], "only http and https"),
        (["example.org"], "give --contact"),
    ]:
        done = called("crawl", *arguments, "--out", tmp_path / "crawl")
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr


def test_directories(called: Weft, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    other = tmp_path / "other"
    (other / "state").mkdir(parents=True)
    (other / "state" / "format").write_text("99")
    for out, message in [(tmp_path / "file", "file"), (other, "another version"), (Path("/proc/nowhere"), "/proc")]:
        done = called("crawl", "127.0.0.1:1", "--own", "127.0.0.0/8", "--out", out)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    for verb in (["status"], ["dead"], ["refine"], ["inspect", "http://a.example/"]):
        done = called(verb[0], tmp_path / "nothing", *verb[1:])
        assert done.returncode == 2, done.stderr
        assert "holds no crawl" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_rights(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    done = weft("crawl", "127.0.0.1:1", "--own", "127.0.0.0/8", "--out", tmp_path / "locked" / "crawl")
    assert done.returncode == 2
    assert "Permission denied" in done.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("seed", "reason"), [("http://no-such-host.invalid/", "dns-failed"), ("http://127.0.0.1:{port}/", "connect-failed")]
)
def test_what_cannot_be_reached_is_parked_and_counted(tmp_path: Path, seed: str, reason: str) -> None:
    config = written(tmp_path, "quick.toml", QUICK)
    url = seed.format(port=free_port())
    done = weft("crawl", url, "--out", tmp_path / "crawl", "--config", config, "--json")
    assert done.returncode == 1, done.stderr  # no seed brought a page
    report = report_of(done)
    assert [(end["seed"], end["word"]) for end in report["seeds"]] == [(url, reason)]
    assert report["fetched"] == 0
    assert report["parked"] + report["dead"] == 1
    assert report["ended"] == "exhausted"
    listed = weft("dead", tmp_path / "crawl", "list")
    assert listed.returncode == 0
    assert url.rstrip("/") in listed.stdout or "parked" in listed.stdout
    assert reason in listed.stdout


def test_interrupted_once_it_settles_and_goes_on_later(tmp_path: Path) -> None:
    with running(web_of(6, 8, "none"), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.2})
        command = ["crawl", *web.seeds(), "--out", str(tmp_path / "crawl"), "--config", str(config), "--json"]
        process = start(*command)
        wait_until(process, lambda: len(web.requests()) >= 15)
        interrupt(process)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 3, err
        assert '"ended":"stopped"' in out
        assert weft(*command).returncode == 0
        assert judged(web, tmp_path / "crawl").perfect


def test_interrupted_twice_it_leaves_at_once(tmp_path: Path) -> None:
    with running(web_of(4, 6, "none,timeouts"), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.3}, fetch={"hosts": web.hosts(), "first_byte_seconds": 60.0})
        command = ["crawl", *web.seeds(), "--out", str(tmp_path / "crawl"), "--config", str(config), "--json"]
        process = start(*command)
        wait_until(process, lambda: len(web.requests()) >= 15)
        interrupt(process)
        wait_until(process, lambda: False, seconds=0.5)
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)
        assert process.returncode == 3


def test_interrupted_while_it_leaves_it_says_the_same(tmp_path: Path) -> None:
    with running(web_of(2, 3), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.3})
        process = start("crawl", *web.seeds(), "--out", str(tmp_path / "crawl"), "--config", str(config), "--json")
        wait_until(process, lambda: len(web.requests()) >= 3)
        interrupt(process)
        wait_until(process, lambda: not catches(process, signal.SIGTERM))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 3


def catches(process: "subprocess.Popen[str]", number: signal.Signals) -> bool:
    """Whether the process has a handler for the signal."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(status.partition("SigCgt:")[2].split()[0], 16) >> number - 1 & 1 == 1


def wait_until(process: "subprocess.Popen[str]", enough: object, seconds: float = PATIENCE) -> None:
    """Until `enough()`, the process's end or the time is up."""
    assert callable(enough)
    for _ in range(int(seconds * 50)):
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            if enough():
                return
        else:
            return
