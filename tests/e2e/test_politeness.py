"""Politeness in real time, by the server's log: the full rate that delays allow, and never a gap too short.

`make test` runs short forms; the long one is 200 hosts at a second's delay for a minute, killed in the middle.
"""

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from tests.e2e.crawling import config_of, start, violations, web_of, weft
from weft.simweb.judge import busiest
from weft.simweb.process import RunningWeb, running


def run_for(process: "subprocess.Popen[str]", seconds: float) -> None:
    """Let the crawl run so long, then kill it as a power cut would."""
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()


def front_pages(web: RunningWeb) -> list[str]:
    return [f"http://{name}:{web.port}/" for name in web.hosts()]


def rate(web: RunningWeb, first: float, last: float) -> float:
    """Requests a second that arrived between two moments of the server's clock."""
    return sum(first <= request.arrived < last for request in web.requests()) / (last - first)


def killed_in_the_middle(folder: Path, hosts: int, seconds: float, share: float) -> None:
    """Two runs with a SIGKILL between them, each at the full rate after five seconds at most."""
    with running(web_of(hosts, 100, "none"), folder) as web:
        config = config_of(web, folder, pace={"delay": 1.0})
        seeds = folder / "seeds.txt"
        seeds.write_text("\n".join(front_pages(web)))
        command = ["crawl", "--seeds", str(seeds), "--out", str(folder / "crawl"), "--config", str(config), "--json"]
        for settled in (8.0, 5.0):  # a new crawl must first find links; a killed one has them
            seen = len(web.requests())
            run_for(start(*command), seconds)
            arrived = sorted(request.arrived for request in web.requests())[seen:]
            full = rate(web, arrived[0] + settled, arrived[-1] - 0.2)
            assert full >= share * hosts, f"{full:.1f} of {hosts} requests a second"
        assert violations(web, 1.0) == []


def test_the_full_rate_and_no_gap_too_short_across_a_kill(tmp_path: Path) -> None:
    killed_in_the_middle(tmp_path, hosts=30, seconds=16.0, share=0.85)


@pytest.mark.long
def test_two_hundred_hosts_for_a_minute(tmp_path: Path) -> None:
    killed_in_the_middle(tmp_path, hosts=200, seconds=36.0, share=0.98)


def test_hosts_on_one_address_share_one_budget(tmp_path: Path) -> None:
    with running(web_of(1000, 1, "none", hosts_per_address=1000), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.5, "own_budgets": True}, crawl={"max_seconds": 8.0})
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("\n".join(front_pages(web)))
        done = weft("crawl", "--seeds", seeds, "--out", tmp_path / "crawl", "--config", config, "--json")
        assert done.returncode == 0, done.stderr[-2000:]
        (most,) = busiest(web.requests(), 5.0).values()
        assert 15 <= most <= 5 * 4 + 1


def test_retry_after_is_honoured_in_both_forms(tmp_path: Path) -> None:
    with running(web_of(12, 4, "unavailable,unavailable-date,busy", retry_after=3), tmp_path) as web:
        config = config_of(web, tmp_path)
        done = weft("crawl", *web.seeds(), "--out", tmp_path / "crawl", "--config", config, "--json")
        assert done.returncode == 0, done.stderr[-2000:]
        asked_to_wait = [request for request in web.requests() if request.retry_after]
        assert asked_to_wait, "nobody asked us to wait"
        assert violations(web, 0.05) == []


def test_a_slow_host_is_asked_less_often(tmp_path: Path) -> None:
    with running(web_of(6, 8, "latency", latency=0.4), tmp_path) as web:
        config = config_of(web, tmp_path, pace={"delay": 0.05, "latency_factor": 3.0})
        done = weft("crawl", *web.seeds(), "--out", tmp_path / "crawl", "--config", config, "--json")
        assert done.returncode == 0, done.stderr[-2000:]
        slow = 0
        for name in web.hosts():
            requests = sorted((one for one in web.requests() if one.host == name), key=lambda one: one.arrived)
            for earlier, later in pairwise(requests):
                took = earlier.finished - earlier.arrived
                slow += took > 0.3
                assert later.arrived - earlier.finished >= 3.0 * took * 0.95 - 0.02
        assert slow, "no host was slow"
