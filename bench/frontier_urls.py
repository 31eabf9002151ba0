"""URLs for the frontier's benchmark, made from their number: nothing is kept, so that memory is the frontier's own."""

from random import Random

import xxhash

from weft.records import Link
from weft.urls.host import url_key

PARTITIONS = 256


BLOCK = 12  # URLs of a host that are found together
BLOCKS = 100  # hosts being found at a time
EPOCH = BLOCK * BLOCKS


class Urls:
    """Hosts are drawn by a power law: the largest of a million holds a thousandth of all URLs."""

    def __init__(self, hosts: int) -> None:
        self._hosts = hosts

    def url(self, number: int) -> str:
        """Neighbours in threes are of one host, the next three of the next of a hundred, and so on round."""
        epoch, rest = divmod(number, EPOCH)
        block = rest // 3 % BLOCKS
        share = xxhash.xxh3_64_intdigest(b"%d %d" % (epoch, block)) / 2**64
        host = int(self._hosts * share * share)
        return f"https://www.site-{host}.com/articles/2024/about-something-{number}.html"

    def page(self, start: int, stop: int) -> list[Link]:
        """New links of one page, their keys computed as a parser does."""
        source = self.url(start * 7 // 8)
        return [self._link(number, source) for number in range(start, stop)]

    def epoch(self, number: int) -> list[Link]:
        """All links of a hundred hosts being found, by host: the quickest way to fill a frontier."""
        numbers = range(number * EPOCH, (number + 1) * EPOCH)
        source = self.url(numbers[0] * 7 // 8)
        return [self._link(one, source) for one in sorted(numbers, key=lambda one: one // 3 % BLOCKS)]

    def known(self, random: Random, count: int, links: int) -> list[Link]:
        """Links of one page, drawn by Zipf's law over all URLs there are; three of four lead to the page's own site."""
        home = int(count ** random.random()) - 1
        source, first = self.url(home), home - home % EPOCH + home // 3 % BLOCKS * 3
        numbers = [
            first + random.randrange(BLOCK // 3) * 3 * BLOCKS + random.randrange(3) for _ in range(links * 3 // 4)
        ]
        numbers += [int(count ** random.random()) - 1 for _ in range(links - len(numbers))]
        return [self._link(min(number, count - 1), source) for number in numbers]

    def _link(self, number: int, source: str) -> Link:
        url = self.url(number)
        return Link(url, depth=1 + number // 3 % 6, source=source, key=url_key(url, PARTITIONS))
