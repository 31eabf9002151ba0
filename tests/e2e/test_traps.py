"""A web full of traps, crawled to its end: a sample of each, every useful page, and a reason for what was held back."""

import http.client
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from tests.e2e.crawling import config_of, judged, report_of, web_of, weft
from weft.simweb.judge import Traps, url_of, without_port
from weft.simweb.process import RunningWeb, running

RULES = {
    "calendar": "calendar",
    "facets": "query",
    "sessions": "session-id",
    "subdomains": "subdomains",
    "segments": "repeated-segments",
    "fanout": "numbers",
}


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningWeb, Path]]:
    """The web, still running, and the crawl of it, which came to its end by itself."""
    folder = tmp_path_factory.mktemp("traps")
    with running(web_of(8, 20, "traps"), folder) as web:
        config = config_of(web, folder, pace={"delay": 0.0})
        done = weft("crawl", *web.seeds(), "--out", folder / "crawl", "--config", config, "--json")
        assert report_of(done)["ended"] == "exhausted"
        yield web, folder / "crawl"


def test_traps_are_sampled_and_the_useful_pages_are_found(trapped: tuple[RunningWeb, Path]) -> None:
    web, out = trapped
    score = judged(web, out)
    assert score.trap_requests > 500, "there were no traps to fall into"
    assert score.trap_beyond_sample <= 0.01 * score.requests
    assert score.recall >= 0.95, score.missing[:10]


@pytest.mark.parametrize("kind", RULES)
def test_what_is_held_back_says_why(trapped: tuple[RunningWeb, Path], kind: str) -> None:
    web, out = trapped
    told = weft("inspect", out, held_url(web, kind))
    assert told.returncode == 0, told.stderr
    assert re.search(r"^state +held$", told.stdout, re.MULTILINE), told.stdout
    assert f"{RULES[kind]}: " in told.stdout
    assert told.stdout.count("example http://") == 3
    counts = re.search(r"(\d+) taken in, (\d+) held back", told.stdout)
    assert counts is not None
    assert int(counts[1]) <= 100
    assert int(counts[2]) > 0


def held_url(web: RunningWeb, kind: str) -> str:
    """A link on a page of the trap that was fetched, which was not fetched itself."""
    traps = Traps(web.truth())
    asked = {url_of(request) for request in web.requests()}
    for page in sorted(url for url in asked if traps.of(url).startswith(f"{kind} ")):
        for link in links_on(web, page):
            if traps.of(link).startswith(f"{kind} ") and without_port(link) not in asked:
                return link
    raise AssertionError(f"all of {kind} was asked for")


def links_on(web: RunningWeb, page: str) -> list[str]:
    """Asked by hand, once the crawl is over."""
    parts = urlsplit(page)
    name = parts.hostname or ""
    index = web.world.find(name)
    assert index is not None
    connection = http.client.HTTPConnection(web.world.host(index).address, web.port, timeout=10)
    connection.request("GET", page.partition(name)[2] or "/", headers={"Host": f"{name}:{web.port}"})
    body = connection.getresponse().read().decode("utf-8", "replace")
    connection.close()
    base = page.replace(name, f"{name}:{web.port}", 1)
    return [urljoin(base, unescape(href)) for href in re.findall(r'href="([^"]+)"', body)]
