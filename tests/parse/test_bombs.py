"""Pages made to hurt a parser get an outcome in bounded time and memory, and hurt no other page."""

import pytest

from tests.parse.bombs import HTML, bombs
from weft.clock import SystemClock
from weft.config import Config, override
from weft.parse.pool import ParserPool
from weft.parse.wire import ParseJob
from weft.records import Page, Refusal

HARMLESS = ParseJob(
    "harmless", "https://www.site.org/", b"<title>x</title><p>Some words and <a href=/a>a link</a>.", HTML
)


REFUSALS = {
    "divs": Refusal.TOO_DEEP,
    "formatting": Refusal.TOO_DEEP,
    "tables": Refusal.TOO_DEEP,
    "attributes": Refusal.TOO_MANY_ATTRIBUTES,
    "element-names": Refusal.TOO_MANY_NAMES,
    "attribute-names": Refusal.TOO_MANY_NAMES,
    "many-elements": Refusal.TOO_LARGE,
    "reopened": Refusal.MEMORY,
    "gzip": Refusal.BOMB,
    "gzip-of-html": Refusal.BOMB,
    "deflate": Refusal.BOMB,
    "not-gzip": Refusal.BAD_ENCODING,
    "layers": Refusal.BAD_ENCODING,
    "links": None,
    "unknown-coding": None,
}


AMPLE, SHORT = 4.0, 0.5  # seconds of CPU; the slowest page that ends by itself takes 2 where other tests run
ENDLESS = {"html-tags"}  # ends at the limit only, so a short one shows as much


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [AMPLE, SHORT])
async def test_bombs(seconds: float) -> None:
    pool = ParserPool(override(Config(), "parse", workers=2, seconds=seconds), SystemClock())
    await pool.start()
    names, jobs = [], []
    for name, body, headers in bombs():
        if (name in ENDLESS) == (seconds == SHORT):
            names.append(name)
            jobs += [ParseJob(name, f"https://hostile.example/{name}", body, headers), HARMLESS]
    pages = await pool.parse(jobs)
    await pool.close()
    assert [page.id for page in pages] == [job.id for job in jobs]
    for harmless in pages[1::2]:
        check_harmless(harmless)
    for name, bomb in zip(names, pages[::2], strict=True):
        assert bomb.refusal is not Refusal.CRASH, (name, bomb.detail)
        assert bomb.refusal is REFUSALS.get(name, bomb.refusal), name
        assert (bomb.refusal is Refusal.TIMEOUT) or name not in ENDLESS
        assert bomb.cpu < seconds + 0.5, name
    assert "links" not in names or len(pages[2 * names.index("links")].links) == Config().parse.max_links


def check_harmless(page: Page) -> None:
    assert page.refusal is None
    assert page.title == "x"
    assert [link.url for link in page.links] == ["https://www.site.org/a"]
