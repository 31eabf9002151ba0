"""The truth against a reference crawler that walks the web over real sockets."""

import pytest
from tests.simweb.reference import ReferenceCrawler

from weft.simweb import Fate, Score, SimWeb, SimWebConfig, expand, score


async def judged(config: SimWebConfig, numeric: bool = False) -> Score:
    """What the reference crawler makes of a web; it does not look for duplicates, so each text is handed in once."""
    async with SimWeb(config) as web:
        crawler = ReferenceCrawler(web)
        await crawler.crawl(web.seeds(numeric))
        first = {text: (url, text) for url, text in reversed(crawler.documents.items())}
        return score(web.truth(numeric), first.values(), web.requests())


@pytest.mark.parametrize("numeric", [False, True])
async def test_a_mild_web_is_found_whole(numeric: bool) -> None:
    result = await judged(SimWebConfig(hosts=12, pages=9), numeric)
    assert result.perfect, result
    assert result.wanted > 12 * 9


@pytest.mark.parametrize(
    "names",
    [
        "none",
        "redirects",
        "errors",
        "encodings",
        "duplicates",
        "robots",
        "discovery",
        "markup",
        "freshness",
        "malformed",
    ],
)
async def test_every_group_is_found_whole(names: str) -> None:
    chosen = expand(names) - {"robots-timeout"}
    result = await judged(
        SimWebConfig(hosts=40 if names == "robots" else 9, pages=4, misbehaviours=chosen, retry_after=0)
    )
    assert (result.missing, result.wrong, result.forbidden, result.duplicates) == ([], [], [], [])
    assert bool(result.near_duplicates) == (names == "duplicates")


async def test_a_crawler_that_ignores_robots_is_caught() -> None:
    async with SimWeb(SimWebConfig(hosts=6, pages=4, misbehaviours=expand("robots-disallow,robots-closed"))) as web:
        crawler = ReferenceCrawler(web, obey=False)
        await crawler.crawl(web.seeds())
        result = score(web.truth(), crawler.documents.items(), web.requests())
    assert any("/members/area" in url for url in result.forbidden)
    assert result.wrong
    assert result.precision < 1.0
    assert not result.missing


async def test_traps_never_end_and_the_rest_is_still_found() -> None:
    config = SimWebConfig(hosts=8, pages=6, misbehaviours=expand("traps"))
    async with SimWeb(config) as web:
        crawler = ReferenceCrawler(web, limit=600)
        await crawler.crawl(web.seeds())
        result = score(web.truth(), crawler.documents.items(), web.requests(), sample=20)
    assert len(crawler.outcomes) == 600
    assert result.trap_beyond_sample > 100
    assert {trap.kind for trap in web.truth().traps} == expand("traps")
    assert result.wrong == []


async def test_fates_cover_what_the_web_does() -> None:
    async with SimWeb(SimWebConfig(hosts=60, pages=3, misbehaviours=expand("all"))) as web:
        truth = web.truth()
        assert {row.fate for row in truth.urls} == set(Fate) - {Fate.TRAP}
        urls = [row.url for row in truth.urls]
        assert len(urls) == len(set(urls))
        denied = {row.kind for row in truth.urls if row.fate is Fate.UNWANTED}
        assert denied >= {"noai-meta", "aipref-header", "rsl-link", "page"}


async def test_changed_pages_have_a_new_truth() -> None:
    async with SimWeb(SimWebConfig(hosts=2, pages=20, misbehaviours=expand("changing"))) as web:
        before = web.truth()
        assert web.advance() == 1
        after = web.truth()
        assert before.texts.keys() - after.texts.keys()
        assert before.texts.keys() & after.texts.keys()
        crawler = ReferenceCrawler(web)
        await crawler.crawl(web.seeds())
        assert score(after, crawler.documents.items(), web.requests()).perfect
        stale = score(before, crawler.documents.items(), web.requests())
        assert len(stale.outdated) == len(after.texts.keys() - before.texts.keys())
