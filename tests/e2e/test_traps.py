"""A web full of traps, crawled to its end: a sample of each, nearly nothing beyond, and every useful page."""

import json
from pathlib import Path

from tests.e2e.crawling import config_of, judged, web_of, weft
from weft.simweb.process import running


def test_traps_are_sampled_and_the_useful_pages_are_found(tmp_path: Path) -> None:
    with running(web_of(12, 20, "traps"), tmp_path) as web:
        hosts = web.hosts()
        hosts |= {f"*.{name}": address for name, address in hosts.items()}
        config = config_of(web, tmp_path, pace={"delay": 0.0}, fetch={"hosts": hosts})
        done = weft("crawl", *web.seeds(), "--out", tmp_path / "crawl", "--config", config, "--json")
        assert done.returncode == 0, done.stderr[-2000:]
        score = judged(web, tmp_path / "crawl")
        assert score.trap_requests > 500, "there were no traps to fall into"
        assert score.trap_beyond_sample <= 0.01 * score.requests
        assert score.recall >= 0.95, score.missing[:10]
        assert json.loads(done.stdout)["ended"] == "exhausted"
