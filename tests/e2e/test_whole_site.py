"""A crawl ends when there is nothing left, not before: every page of honest sites, by the server's log.

`python -m bench.sites` is the long form: real sites, with wget beside us.
"""

import asyncio
from pathlib import Path

from tests.e2e.crawling import OWN, report_of, weft
from tests.e2e.reference_site import numbered_site, reference_site
from tests.fetch.misbehaving import Server, page


async def test_a_reference_of_three_thousand_pages(tmp_path: Path) -> None:
    site = reference_site()
    assert 2_900 < len(site) < 3_100
    await assert_whole(site, tmp_path)


async def test_four_hundred_numbered_pages(tmp_path: Path) -> None:
    await assert_whole(numbered_site(400, words=120), tmp_path)


async def assert_whole(site: dict[str, bytes], folder: Path) -> None:
    """Served, crawled from its home: every page is asked for, and the end is said truly."""
    server = await Server({path: page(body) for path, body in site.items()}).listen("127.4.0.1")
    options = ("--out", folder / "crawl", "--own", OWN, "--delay", "0", "--scope", "host", "--json")
    done = await asyncio.to_thread(weft, "crawl", f"http://127.4.0.1:{server.port}/", *options)
    await server.close()
    missing = sorted(site.keys() - set(server.paths()))
    assert not missing, f"{len(missing)} of {len(site)} pages were never asked for, {missing[:5]} among them"
    report = report_of(done)
    assert (done.returncode, report["ended"], report["pending"]) == (0, "exhausted", 0)
    assert report["fetched"] == len(site)
