"""The truth against a reference crawler that walks the web over real sockets."""

import pytest
from tests.simweb.reference import ReferenceCrawler

from weft.simweb import SimWeb, SimWebConfig, score


async def crawled(config: SimWebConfig, numeric: bool = False) -> None:
    """The reference crawler stores every wanted text, nothing else, and asks for nothing forbidden."""
    async with SimWeb(config) as web:
        crawler = ReferenceCrawler(web)
        await crawler.crawl(web.seeds(numeric))
        # It knows nothing of duplicates; a corpus would keep the first of each text.
        first = {text: (url, text) for url, text in reversed(crawler.documents.items())}
        result = score(web.truth(numeric), first.values(), web.requests())
        assert result.missing == []
        assert result.wrong == []
        assert result.forbidden == []
        assert result.recall == 1.0
        assert result.precision == 1.0
        assert result.duplicates == []


@pytest.mark.parametrize("numeric", [False, True])
async def test_a_mild_web_is_found_whole(numeric: bool) -> None:
    await crawled(SimWebConfig(hosts=12, pages=9), numeric)
