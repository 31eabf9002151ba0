"""One command from seeds to corpus, judged by the truth that simweb knows and by its log."""

from pathlib import Path

import pytest

from tests.e2e.crawling import assert_perfect, config_of, documents, report_of, violations, web_of, weft
from weft.simweb.process import running


@pytest.fixture(params=["rocksdb:state", "redis"])
def state(request: pytest.FixtureRequest) -> str:
    if request.param == "redis":
        server = request.getfixturevalue("redis_server")
        return str(server.url)
    return str(request.param)


def test_exactly_the_texts_that_the_truth_says(tmp_path: Path, state: str) -> None:
    with running(web_of(40, 12), tmp_path) as web:
        config = config_of(web, tmp_path, storage={"state": state})
        done = weft("crawl", *web.seeds(), "--out", tmp_path / "crawl", "--config", config, "--json")
        assert done.returncode == 0, done.stderr[-2000:]
        assert_perfect(web, tmp_path / "crawl")
        assert violations(web, 0.05) == []
        report = report_of(done)
        assert report["documents"] == len(documents(tmp_path / "crawl"))
        assert report["ended"] == "exhausted"
        assert report["pending"] == 0


def test_texts_that_only_sitemaps_feeds_and_redirects_lead_to(tmp_path: Path) -> None:
    features = "sitemaps,feeds,redirects,markup,encodings,validators,robots-disallow,robots-redirect,robots-delay"
    with running(web_of(24, 8, features, crawl_delay=0.5), tmp_path) as web:
        config = config_of(web, tmp_path)
        done = weft("crawl", *web.seeds(), "--out", tmp_path / "crawl", "--config", config, "--json")
        assert done.returncode == 0, done.stderr[-2000:]
        assert_perfect(web, tmp_path / "crawl")
        assert violations(web, 0.05) == []
