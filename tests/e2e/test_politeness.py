"""Politeness in real time, by the server's log: the full rate that delays allow, and never a gap too short.

The long form is the full rate: 200 hosts at a second's delay for a minute, killed in the middle.
"""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.e2e.crawling import PATIENCE, config_of, judged, start, violations, web_of, weft
from weft.clock import SystemClock
from weft.simweb.judge import busiest
from weft.simweb.log import Request
from weft.simweb.process import RunningWeb, running

pytestmark = pytest.mark.clock
FACTOR = 3.0  # of the response time, to the next request
READY = 5.0  # seconds after which a crawl, new or killed before, is at its full rate


def seeds_of(web: RunningWeb, folder: Path) -> str:
    """A file with the front page of every host."""
    path = folder / "seeds.txt"
    path.write_text("\n".join(f"http://{name}:{web.port}/" for name in web.hosts()))
    return str(path)


def killed_after(command: list[str], seconds: float) -> tuple[float, float]:
    """Let a crawl run so long, then kill it as a power cut would: when it was started, and when killed."""
    began = SystemClock().monotonic()
    process = start(*command)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    ended = SystemClock().monotonic()
    _, errors = process.communicate()
    assert process.returncode == -9, f"it ended before it was killed: {errors[-2000:]}"
    return began, ended


def steps(web: RunningWeb, host: str) -> Iterator[tuple[Request, Request]]:
    """Each request to a host with the next one."""
    return pairwise(sorted((one for one in web.requests() if one.host == host), key=lambda one: one.arrived))


def killed_in_the_middle(folder: Path, hosts: int, seconds: float, share: float) -> None:
    """Two runs with a SIGKILL between them; in each the share of what the delays allow, once it is ready."""
    with running(web_of(hosts, 100, "none"), folder) as web:
        config = config_of(web, folder, pace={"delay": 1.0})
        seeds = seeds_of(web, folder)
        command = ["crawl", "--seeds", seeds, "--out", str(folder / "crawl"), "--config", str(config), "--json"]
        runs = [killed_after(command, seconds) for _ in range(2)]
        assert violations(web, 1.0) == []
        for began, ended in runs:
            window = ended - began - READY
            requests = sum(began + READY <= request.arrived < ended for request in web.requests())
            assert requests >= share * hosts * window, f"{requests / window:.1f} of {hosts} requests a second"


@pytest.mark.long  # and only where nothing else runs: tests/frontier/test_virtual_time.py needs no such luck
def test_two_hundred_hosts_for_a_minute(tmp_path: Path) -> None:
    killed_in_the_middle(tmp_path, hosts=200, seconds=35.0, share=0.98)


@pytest.mark.parametrize(("budget", "seconds"), [(4, 6.0), (100, 9.0)])
def test_a_thousand_hosts_on_one_address_share_one_budget(tmp_path: Path, budget: int, seconds: float) -> None:
    with running(web_of(1000, 1, "none", hosts_per_address=1000), tmp_path) as web:
        pace = {"delay": 0.5, "own_budgets": True, "requests_per_address": budget}
        config = config_of(web, tmp_path, pace=pace, crawl={"max_seconds": seconds})
        seeds = seeds_of(web, tmp_path)
        done = weft("crawl", "--seeds", seeds, "--out", tmp_path / "crawl", "--config", config, "--json")
        assert done.returncode == 0, done.stderr[-2000:]
        log = web.requests()
        (most,) = busiest(log, 0.9).values()  # a little less than a second: requests may be late, but none is early
        assert most <= budget
        assert len(log) >= 0.5 * seconds * budget
        turns = Counter(request.host for request in log)
        assert max(turns.values()) - (min(turns.values()) if len(turns) == 1000 else 0) <= 1, "some wait for others"
        assert violations(web, 0.5) == []


@pytest.fixture(scope="module")
def moody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningWeb, Path]]:
    """A web whose hosts ask for distance in every way there is, crawled to its end."""
    folder = tmp_path_factory.mktemp("moody")
    habits = "unavailable,unavailable-date,busy,robots-delay,robots-disallow,latency"
    with running(web_of(12, 6, habits, retry_after=3, crawl_delay=0.7, latency=0.2), folder) as web:
        config = config_of(web, folder, pace={"delay": 0.05, "latency_factor": FACTOR})
        done = weft("crawl", *web.seeds(), "--out", folder / "crawl", "--config", config, "--json")
        assert done.returncode == 0, done.stderr[-2000:]
        yield web, folder / "crawl"


def test_retry_after_holds_for_the_whole_host_in_both_forms(moody: tuple[RunningWeb, Path]) -> None:
    web, out = moody
    told = [request for request in web.requests() if request.retry_after]
    assert {request.status for request in told} == {429, 503}
    assert {request.target.split("/")[2] for request in told} == {"unavailable", "unavailable-date", "busy"}
    assert violations(web, 0.05) == []
    assert judged(web, out).perfect


def test_crawl_delay_holds_for_its_host_alone(moody: tuple[RunningWeb, Path]) -> None:
    web, _ = moody
    slow = [host.name for host in web.truth().hosts if host.crawl_delay]
    gaps = [later.arrived - earlier.finished for name in slow for earlier, later in steps(web, name)]
    assert len(gaps) >= 5 * len(slow) > 0
    assert min(gaps) >= 0.699
    assert min(later.arrived - earlier.finished for earlier, later in steps(web, web.world.host(0).name)) < 0.7


def test_a_slow_host_is_asked_less_often(moody: tuple[RunningWeb, Path]) -> None:
    web, _ = moody
    slow = 0
    for name in web.hosts():
        for earlier, later in steps(web, name):
            took = earlier.finished - earlier.arrived
            slow += took >= 0.2
            assert later.arrived - earlier.finished >= FACTOR * took - 0.005
    assert slow > 8, "no host was slow"


def test_no_gap_is_too_short_however_often_it_is_killed(tmp_path: Path) -> None:
    """With delays that last longer than a restart: what is forgotten shows."""
    with running(web_of(12, 1, "robots-delay,robots-disallow", crawl_delay=6.0), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 4.0}, fetch={"hosts": web.hosts(), "sitemaps": False})
        command = ["crawl", "--seeds", seeds_of(web, tmp_path), "--out", str(tmp_path / "crawl")]
        command += ["--config", str(config), "--json"]
        for seconds in (2.6, 2.2, 3.1, 2.4):
            killed_after(command, seconds)
        done = weft(*command)
        assert done.returncode == 0, done.stderr[-2000:]
        assert violations(web, 4.0) == []
        assert judged(web, tmp_path / "crawl").perfect


def test_retry_after_survives_a_kill(tmp_path: Path) -> None:
    with running(web_of(8, 30, "unavailable", retry_after=3600), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.5}, crawl={"commit_seconds": 0.05})
        command = ["crawl", *web.seeds(), "--out", str(tmp_path / "crawl"), "--config", str(config), "--json"]
        kill_when(start(*command), lambda: any(_is_old(one) for one in web.requests() if one.retry_after))
        told = {request.host: request for request in web.requests() if request.retry_after and _is_old(request)}
        before = len(web.requests())
        kill_when(start(*command), lambda: len(web.requests()) > before + 30)
        assert [one for one in web.requests() if one.host in told and one.arrived > told[one.host].finished] == []


def test_retry_after_survives_a_kill_while_every_connection_is_in_use(tmp_path: Path) -> None:
    """The answer waits for the group commit, and no lease is asked for meanwhile."""
    with running(web_of(1, 5, "unavailable", retry_after=3600), tmp_path) as web:
        seed = web.seeds()[0].rstrip("/") + "/odd/unavailable/1"
        command = ["crawl", seed, "--out", str(tmp_path / "crawl"), "--json", "--config"]
        patient = {"finish": "patient"}  # a prompt crawl is over before its answer is old
        busy = config_of(web, tmp_path, frontier=patient, crawl={"connections": 1, "commit_seconds": 6.0})
        kill_when(start(*command, str(busy)), lambda: any(_is_old(one) for one in web.requests() if one.retry_after))
        before = web.requests()
        weft(*command, config_of(web, tmp_path, crawl={"max_seconds": 2.0}))
        assert web.requests() == before


def _is_old(request: Request) -> bool:
    """Answered so long ago that it is settled for certain."""
    return SystemClock().monotonic() > request.finished + 3.0


def kill_when(process: "subprocess.Popen[str]", enough: Callable[[], bool]) -> None:
    for _ in range(PATIENCE * 5):
        try:
            process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            if enough():
                process.kill()
                process.communicate()
                return
        else:
            break
    raise AssertionError("the moment to kill it never came")
