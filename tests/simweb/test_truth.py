"""The truth against a reference crawler that walks the web over real sockets."""

import pytest

from tests.simweb.raw import ask
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


async def test_every_url_answers_as_its_fate_says() -> None:
    """All of the truth of a web with everything, asked for one by one until it gives its last word."""
    never_ending = expand("slow,bombs,resets,unresolvable,refused")
    config = SimWebConfig(hosts=30, pages=2, misbehaviours=expand("all") - {"latency", "robots-timeout"}, retry_after=0)
    expected = {
        Fate.STORED: {200},
        Fate.UNWANTED: {200},
        Fate.OPTIONAL: {200},
        Fate.SKIPPED: {200},
        Fate.GONE: {404, 410},
    }
    expected |= {
        Fate.REDIRECT: {301, 302, 303, 307, 308},
        Fate.DEAD: {500},
        Fate.FORBIDDEN: {200, 301, 302, 303, 307, 308},
    }
    async with SimWeb(config) as web:
        names = {web.world.host(index).name: index for index in range(config.hosts)}
        open_hosts = {host.name for host in web.truth().hosts if not host.closed}
        for row in web.truth().urls:
            name, _, target = row.url.removeprefix("http://").partition(f":{web.port}")
            if row.kind in never_ending or row.fate is Fate.POLICY or name not in open_hosts:
                continue
            answers = [
                await ask(web, target, host=names[name]) for _ in range(4 if row.kind in expand("errors") else 1)
            ]
            assert answers[-1].status in expected[row.fate], row
            if row.fate is Fate.STORED and row.kind != "charsets":
                assert row.marker.encode() in answers[-1].body, row
