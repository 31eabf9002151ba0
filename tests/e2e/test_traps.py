"""Each trap beside an honest site, by the server's log: every honest page, and a bounded price for the trap."""

import http.client
import random
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from tests.e2e.crawling import assert_sound, config_of, documents, report_of, start, web_of, weft
from tests.e2e.scenes import BOUND, SceneCrawl, assert_whole, cap_of, configured, crawl_of, crawled, kill_after
from weft.simweb import TRAPS, scenes_of, score
from weft.simweb.judge import Traps, url_of, without_port
from weft.simweb.process import RunningWeb, running

BESIDE = {name: f"articles:150+{name}" for name in TRAPS if name != "tarpit"}
MIXED = (
    "articles:150+api:80+calendar+facets+session-query+soft-404",
    "articles:150+forum:30+words+echo+next+wiki",
)
LATE = ("articles:150+calendar", "articles:150+same-text", "articles:150+echo")
KILLED = ("articles:150+facets", "articles:150+same-text", "articles:150+session-path")
# The whole of what long runs mix: every trap but the tarpit, which alone would never let a crawl end.
MANY = (
    "articles:1000+calendar+facets+filters+sort+session-path+session-query",
    "articles:1000+words+same-text+soft-404+echo+next+farm",
    "articles:1000+print+wiki+mirrors+subdomains+calendars",
    "articles:500+forum:200+events:300+calendar+next+wiki",
    "api:1000+glossary:1000+words+soft-404+sort",
    "archive:500+releases:200+translations:300+calendars+mirrors+print",
    "+".join(["articles:1000", *BESIDE]),
)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SceneCrawl]:
    """Every trap but the tarpit, each beside a site of its own on a host of its own."""
    scenes = BESIDE.values()
    with crawled(tmp_path_factory.mktemp("traps"), *scenes, cap=cap_of(*scenes)) as crawl:
        yield crawl


def test_the_crawl_is_over_when_only_traps_are_left(together: SceneCrawl) -> None:
    together.assert_over()


def test_what_is_held_is_counted(together: SceneCrawl) -> None:
    assert together.report["held"]


@pytest.mark.parametrize("name", BESIDE)
def test_every_honest_page_beside(together: SceneCrawl, name: str) -> None:
    assert_whole(together.scores[BESIDE[name]])


def test_the_traps_were_there_to_fall_into(together: SceneCrawl) -> None:
    assert all(score.linked for score in together.scores.values())
    assert sum(sum(score.waste.values()) for score in together.scores.values()) > 500


def test_a_tarpit_comes_last(tmp_path: Path) -> None:
    """Its texts are new for ever: what bounds it is its turn, and the pages that the user allows."""
    scene = "articles:1000+tarpit"
    with crawled(tmp_path, scene, cap=1_400) as crawl:
        score = crawl.scores[scene]
        assert (crawl.status, crawl.report["ended"]) == (0, "limit")
        assert score.waste["tarpit"] >= 150
        assert score.late == [], f"{len(score.late)} of {score.honest}: {score.late[:5]}"


def test_several_traps_on_one_host(tmp_path: Path) -> None:
    with crawled(tmp_path, *MIXED, cap=cap_of(*MIXED)) as crawl:
        crawl.assert_over()
        for scene in MIXED:
            assert_whole(crawl.scores[scene])


def test_evidence_that_comes_late_changes_only_the_waste(tmp_path: Path) -> None:
    """What waits a whole second to be made durable is parsed about 200 pages later."""
    with crawled(tmp_path, *LATE, cap=cap_of(*LATE, more=2 * BOUND), crawl={"commit_seconds": 1.0}) as crawl:
        crawl.assert_over()
        for scene in LATE:
            assert_whole(crawl.scores[scene], 2 * BOUND)


def test_killed_three_times(tmp_path: Path) -> None:
    with running(scenes_of(*KILLED), tmp_path) as web:
        assert_survives(web, tmp_path, times=3)


def assert_survives(web: RunningWeb, folder: Path, times: int) -> None:
    """Killed at random moments, then left alone: whole, and no trap costs more than without."""
    chance, out, config = random.Random(7), folder / "crawl", configured(web, folder)
    usual = sum(len(set(web.scene(index).honest())) for index in range(web.config.hosts))
    command: list[str | Path] = ["crawl", *web.seeds(), "--out", out, "--config", config, "--json"]
    killed = [kill_after(start(*command), web, chance.randint(1, usual // times)) for _ in range(times)]
    assert killed == [True] * times
    assert_sound(out)
    crawl = crawl_of(web, out, config, "--max-pages", str(cap_of(*web.config.scenes)))
    crawl.assert_over()
    assert_sound(out)
    for scene in crawl.scenes:
        assert_whole(crawl.scores[scene])


@pytest.mark.long
@pytest.mark.parametrize("name", BESIDE)
def test_each_trap_alone_beside_a_thousand_pages(tmp_path: Path, name: str) -> None:
    scene = f"articles:1000+{name}"
    with crawled(tmp_path, scene, cap=cap_of(scene, more=10 * BOUND)) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores[scene])


@pytest.mark.long
@pytest.mark.parametrize("scene", MANY)
def test_many_traps_on_one_host(tmp_path: Path, scene: str) -> None:
    with crawled(tmp_path, scene, cap=cap_of(scene, more=2 * BOUND)) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores[scene])


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["calendar", "facets", "words", "same-text", "session-path", "soft-404", "echo", "next"]
)
def test_late_evidence_alone(tmp_path: Path, name: str) -> None:
    scene = f"articles:1000+{name}"
    with crawled(tmp_path, scene, cap=cap_of(scene, more=10 * BOUND), crawl={"commit_seconds": 1.0}) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores[scene], 2 * BOUND)


@pytest.mark.long
@pytest.mark.parametrize("scene", ["articles:1000+tarpit+calendar", "articles:1000+tarpit+soft-404+facets"])
def test_a_tarpit_beside_other_traps(tmp_path: Path, scene: str) -> None:
    with crawled(tmp_path, scene, cap=3_000) as crawl:
        assert crawl.status == 0
        assert crawl.scores[scene].late == []
        assert_whole(crawl.scores[scene])


@pytest.mark.long
@pytest.mark.parametrize("scene", ["articles:1000+facets", "articles:1000+same-text+calendar", MIXED[0]])
def test_killed_twenty_times(tmp_path: Path, scene: str) -> None:
    with running(scenes_of(scene), tmp_path) as web:
        assert_survives(web, tmp_path, times=20)


# The traps of the ordinary web (`--with traps`), among hosts that link to each other.


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningWeb, Path]]:
    """The web, still running, and the crawl of it, which came to its end by itself."""
    folder = tmp_path_factory.mktemp("ordinary")
    with running(web_of(2, 12, "traps"), folder) as web:
        config = config_of(web, folder, pace={"delay": 0.0})
        done = weft("crawl", *web.seeds(), "--out", folder / "crawl", "--config", config, "--json")
        assert report_of(done)["ended"] == "exhausted"
        yield web, folder / "crawl"


def test_traps_on_hosts_that_link_to_each_other(ordinary: tuple[RunningWeb, Path]) -> None:
    web, out = ordinary
    result = score(web.truth(), documents(out), web.requests(), sample=BOUND)
    assert result.recall == 1.0, result.missing[:10]
    assert result.trap_requests > 100, "there were no traps to fall into"
    assert result.trap_beyond_sample == 0


@pytest.mark.parametrize("kind", ["calendar", "facets", "segments", "fanout"])
def test_inspect_says_that_a_url_is_held(ordinary: tuple[RunningWeb, Path], kind: str) -> None:
    web, out = ordinary
    told = weft("inspect", out, held_url(web, kind))
    assert told.returncode == 0, told.stderr
    assert re.search(r"^state +held$", told.stdout, re.MULTILINE), told.stdout


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
