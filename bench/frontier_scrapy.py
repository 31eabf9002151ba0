"""Scrapy's scheduler with its disk queue and dupe filter, on the URLs of bench.frontier. Called by it; prints JSON."""

import json
import sys
import tempfile
import time

from bench.frontier_urls import Urls

# The newer default asks a running downloader, which is not here; this one was the default for years, and does less.
QUEUE = "scrapy.pqueues.ScrapyPriorityQueue"


def main(count: int) -> None:
    from scrapy import Request, Spider
    from scrapy.core.scheduler import Scheduler
    from scrapy.utils.test import get_crawler

    with tempfile.TemporaryDirectory() as folder:
        crawler = get_crawler(Spider, {"JOBDIR": folder, "LOG_ENABLED": False, "SCHEDULER_PRIORITY_QUEUE": QUEUE})
        spider = Spider("bench")
        crawler.spider = spider
        scheduler = Scheduler.from_crawler(crawler)
        scheduler.open(spider)
        urls = Urls(100_000)
        enqueueing = taking = 0.0
        for start in range(0, count, 12):
            requests = [Request(link.url) for link in urls.page(start, min(start + 12, count))]
            before = time.process_time()
            for request in requests:
                scheduler.enqueue_request(request)
            enqueueing += time.process_time() - before
        taken = 0
        before = time.process_time()
        while scheduler.next_request() is not None:
            taken += 1
        taking = time.process_time() - before
        assert taken == count, (taken, count)
        scheduler.close("finished")
    print(json.dumps({"urls": count, "enqueue": enqueueing / count * 1e6, "next": taking / count * 1e6}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
