"""Honest sites that look like traps, crawled to their end: every page of each, exit 0, nothing pending."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.scenes import DEEP, SceneCrawl, assert_whole, crawled
from weft.simweb import LOOK_ALIKES

SMALL = {
    "articles": "articles:200",
    "archive": "archive:200",
    "translations": "translations:150",
    "events": "events:240",
    "manual": "manual:200",
    "source": "source:150",
    "releases": "releases:150",
    "law": "law:250",
    # Above the 5,000 links that once were taken from a page, but with few pages behind them.
    "anchors": "anchors:30000",
    "products": "products:200",
    "forum": "forum:80",
    "gallery": "gallery:200",
    "numbered": "numbered:400",
    "api": "api:400",
    "glossary": "glossary:400",
    "index": "index:300",
    "chain": "chain:60",
}
LARGE = (
    *("articles:1000", "numbered:3000", "archive:2000", "translations:1500", "events:720", "api:4000"),
    *("manual:3000", "source:1500", "glossary:5000", "releases:1000", "law:3000", "index:50000", "anchors:50000"),
    *("products:3000", "forum:1000", "gallery:2000"),
)
REACHED = 15  # pages of a chain, with the default limits of depth


# Crawled one by one as well: a crawl that ends too early is held up by any other host that still has work.
ALONE = ("numbered", "index", "events", "releases")


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SceneCrawl]:
    """Every look-alike on a host of its own, with the default limits of depth."""
    with crawled(tmp_path_factory.mktemp("look-alikes"), *SMALL.values()) as crawl:
        yield crawl


def test_every_look_alike_has_its_small_form() -> None:
    assert set(SMALL) == set(LOOK_ALIKES)


def test_the_crawl_is_over_when_nothing_is_left(together: SceneCrawl) -> None:
    together.assert_over()


@pytest.mark.parametrize("name", [name for name in SMALL if name != "chain"])
def test_whole(together: SceneCrawl, name: str) -> None:
    assert_whole(together.scores[SMALL[name]])


def test_a_chain_ends_at_the_limit_of_depth_and_the_rest_is_named(together: SceneCrawl) -> None:
    score = together.scores["chain:60"]
    assert sorted(score.missing) == sorted(f"/story/{number}" for number in range(REACHED + 1, 61))
    assert [kind for kind in together.report["dropped_links"] if "deep" in kind or "depth" in kind]


def test_a_chain_without_limits_of_depth(tmp_path: Path) -> None:
    with crawled(tmp_path, "chain:90", scope=DEEP) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores["chain:90"])


@pytest.mark.parametrize("name", ALONE)
def test_whole_with_nothing_beside_it(tmp_path: Path, name: str) -> None:
    with crawled(tmp_path, SMALL[name]) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores[SMALL[name]])


def test_look_alikes_on_one_host(tmp_path: Path) -> None:
    scene = "api:100+forum:30+law:60+archive:100+events:60+products:90+gallery:80+source:60"
    with crawled(tmp_path, scene) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores[scene])


@pytest.mark.long
@pytest.mark.parametrize("scene", LARGE)
def test_whole_alone(tmp_path: Path, scene: str) -> None:
    with crawled(tmp_path, scene) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores[scene])


@pytest.mark.long
@pytest.mark.parametrize("scene", ["chain:600", "chain:2000"])
def test_a_long_chain(tmp_path: Path, scene: str) -> None:
    with crawled(tmp_path, scene, scope=DEEP) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores[scene])


@pytest.mark.long
def test_all_look_alikes_on_one_host(tmp_path: Path) -> None:
    scene = "+".join(text for name, text in SMALL.items() if name != "chain")
    with crawled(tmp_path, scene) as crawl:
        crawl.assert_over()
        assert_whole(crawl.scores[scene])
