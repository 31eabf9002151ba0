"""Weft: a polite, fault-tolerant web crawler that turns seed URLs into a clean text corpus.

The package in the order of the flow: `urls` (what a URL is), `frontier` (which may be asked for now), `fetch` (one
request), `archive` (durable WARC), `parse` (text and links), `dedup` and `corpus` (documents). `loops` holds the two
loops over them, `build` puts them together, `cli` is the command line.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.config import Config
from weft.fetch.robots import Robots
from weft.urls.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weft.metrics import Report
    from weft.parse.text import Extract

__all__ = ["Config", "Robots", "canonical", "crawl", "extract"]

# Each function loads what it needs when it is called: parser processes import this package too, and stay small.


def crawl(seeds: Iterable[str], out: str | Path, config: Config | None = None) -> Report:
    """Crawl from the seeds into the directory `out`, or go on with the crawl it holds; the final counts."""
    from weft.build import crawl_seeds

    return crawl_seeds(seeds, Path(out), config or Config())


def extract(html: bytes | str, url: str | None = None, *, markdown: bool = False) -> Extract:
    """The main text and metadata of an HTML page. Raises `errors.Refused` for a page no parser may have."""
    from weft.parse.text import extract as extract_page

    if isinstance(html, str):  # the mark outweighs whatever charset the page names
        html = b"\xef\xbb\xbf" + html.encode("utf-8", "replace")
    return extract_page(html, url, markdown=markdown)
