"""`--again`: what has not changed costs a 304; what has is stored; nothing is asked for before its time."""

from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.e2e.crawling import config_of, documents, judged, report_of, violations, web_of, weft
from weft.simweb.judge import url_of, without_port
from weft.simweb.process import running


def with_validators(out: Path) -> set[str]:
    """URLs whose archived answer has an ETag or Last-Modified."""
    urls = set()
    for file in (out / "raw").glob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                head = record.http_headers
                if head is not None and head.status_code == 200 and ("ETag" in head or "Last-Modified" in head):
                    urls.add(without_port(str(record.headers["WARC-Target-URI"])))
    return urls


def test_an_unchanged_web_transfers_almost_nothing(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with running(web_of(12, 10, "validators,gzip,not-found"), tmp_path) as web:
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config_of(web, tmp_path)), "--json"]
        first = report_of(weft(*command))
        before, stored = len(web.requests()), documents(out)
        validated = with_validators(out)
        assert len(validated) > first["fetched"] / 2
        second = report_of(weft(*command, "--again"))
        asked = [request for request in web.requests()[before:] if url_of(request) in validated]
        assert {url_of(request) for request in asked} == validated
        assert {request.status for request in asked} == {304}
        bodies = second["bytes"] - first["bytes"]
        unvalidated = sum(request.sent for request in web.requests()[before:] if request.status == 200)
        assert bodies - unvalidated <= 0.01 * first["bytes"]
        assert second["unchanged"] == len(validated)
        assert sorted(documents(out)) == sorted(stored)
        assert violations(web, 0.05) == []


def test_pages_that_changed_are_stored_again(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with running(web_of(8, 8, "validators,changing"), tmp_path) as web:
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config_of(web, tmp_path)), "--json"]
        assert weft(*command).returncode == 0
        web.advance()
        assert weft(*command, "--again").returncode == 0
        score = judged(web, out)
        assert score.recall == 1.0, score.missing[:5]
        assert not score.wrong
        assert score.outdated, "the earlier version is a document of its own"


def test_what_its_server_calls_fresh_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with running(web_of(8, 6, "cache-control"), tmp_path) as web:
        command = ["crawl", *web.seeds(), "--out", str(out), "--config", str(config_of(web, tmp_path)), "--json"]
        first = report_of(weft(*command))
        before = len(web.requests())
        fresh = [web.world.host(index).name for index in range(1, 8, 3)]  # every third host has max-age
        second = report_of(weft(*command, "--again"))
        asked = {request.host for request in web.requests()[before:] if request.target != "/robots.txt"}
        assert asked
        assert not asked & set(fresh)
        assert first["documents"] == second["documents"]
