"""The rival of bench/crawl.py: a Scrapy spider that follows every link and takes the text with trafilatura.

`python -m bench.crawl_scrapy SEED ITEMS.jsonl` prints the number of pages as JSON.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
import trafilatura
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 512,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "USER_AGENT": "weft-bench",
    "COOKIES_ENABLED": False,
}


class Spider(scrapy.Spider):
    """Every page once, its text, its links."""

    name = "everything"

    def __init__(self, seed: str, **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = [seed]
        self.links = LinkExtractor()

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        if not hasattr(response, "text"):
            return
        text = trafilatura.extract(response.text, url=response.url)
        if text:
            yield {"url": response.url, "text": text}
        for link in self.links.extract_links(response):
            yield response.follow(link)


def main() -> None:
    seed, items = sys.argv[1:3]
    process = CrawlerProcess({**SETTINGS, "FEEDS": {items: {"format": "jsonlines", "overwrite": True}}})
    crawler = process.create_crawler(Spider)
    process.crawl(crawler, seed=seed)
    process.start()
    statistics = crawler.stats.get_stats() if crawler.stats else {}
    sys.stdout.write(json.dumps({"pages": statistics.get("downloader/response_status_count/200", 0)}))


if __name__ == "__main__":
    main()
