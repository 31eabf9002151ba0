"""Scrapy's scheduler with its disk queue and dupe filter, on the URLs of bench.frontier. Called by it; prints JSON.

`python -m bench.frontier_scrapy URLS`: once with its default, a queue per host, and once with the one queue for all
hosts that was the default before. The default keeps a file open per host and looks at every host for each request it
gives out, so it gets a few thousand hosts, and its requests are a sample.
"""

import json
import sys
import tempfile
import time
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from bench.frontier_urls import Urls

FEW_HOSTS, MANY_HOSTS = 3000, 100_000
TAKEN = 5000  # requests taken from the default queue
DEFAULT = "scrapy.pqueues.DownloaderAwarePriorityQueue"
PLAIN = "scrapy.pqueues.ScrapyPriorityQueue"


def measure(queue: str, count: int, hosts: int) -> dict[str, Any]:
    """CPU µs per request put in and taken out."""
    from scrapy import Request, Spider
    from scrapy.core.scheduler import Scheduler
    from scrapy.utils.test import get_crawler

    with tempfile.TemporaryDirectory() as folder:
        crawler = get_crawler(Spider, {"JOBDIR": folder, "LOG_ENABLED": False, "SCHEDULER_PRIORITY_QUEUE": queue})
        spider = crawler.spider = Spider("bench")
        # The default queue asks the downloader what each host is busy with: nothing, here.
        downloader = SimpleNamespace(slots={}, get_slot_key=lambda request: urlsplit(request.url).hostname)
        crawler.engine = SimpleNamespace(downloader=downloader)
        scheduler = Scheduler.from_crawler(crawler)
        scheduler.open(spider)
        urls, spent = Urls(hosts), 0.0
        for start in range(0, count, 12):
            requests = [Request(link.url) for link in urls.page(start, min(start + 12, count))]
            before = time.process_time()
            for request in requests:
                scheduler.enqueue_request(request)
            spent += time.process_time() - before
        wanted = count if queue == PLAIN else min(count, TAKEN)
        before = time.process_time()
        taken = sum(scheduler.next_request() is not None for _ in range(wanted))
        taking = time.process_time() - before
        assert taken == wanted, (taken, wanted)
        scheduler.close("finished")
    costs = {"enqueue": spent / count * 1e6, "next": taking / wanted * 1e6}
    return {"queue": queue.rpartition(".")[2], "urls": count, "hosts": hosts, **costs}


def main(count: int) -> None:
    print(json.dumps([measure(DEFAULT, count, FEW_HOSTS), measure(PLAIN, count, MANY_HOSTS)]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
