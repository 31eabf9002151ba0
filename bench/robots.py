"""robots.txt: MB parsed and decisions made per second of CPU, beside protego; and what hostile files of 512 KiB cost.

`python -m bench.robots`. "Parsed" includes making the rules ready for the first decision, since ours are made lazily.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from protego import Protego

from weft.fetch.robots import MAX_BYTES, Robots

AGENT = "weft"
ROUNDS = 200
PROBE = "https://www.example.org/some/page.html"


class Sample(NamedTuple):
    """An ordinary file and URLs of its site."""

    name: str
    body: bytes
    urls: Sequence[str]


def _file(rules: Sequence[str], extra: str = "") -> bytes:
    others = "".join(f"User-agent: {name}\nDisallow: /\n\n" for name in ("GPTBot", "CCBot", "Bytespider", "AhrefsBot"))
    lines = "".join(f"Disallow: {rule}\n" for rule in rules)
    return f"# For robots\n{others}User-agent: *\n{lines}Allow: /search/about\n{extra}".encode()


def samples() -> list[Sample]:
    """Shaped like the files of blogs, shops and portals: few rules, some with stars, many prefixes."""
    chance = random.Random(1)
    paths = [f"/{chance.choice('abcdefgh')}/section-{n % 40}/page-{n}.html?id={n}" for n in range(400)]
    urls = [f"https://www.example.org{path}" for path in paths]
    blog = ["/wp-admin/", "/wp-login.php", "/?s=", "/trackback/", "/feed/", "/*/feed/", "/*?replytocom="]
    shop = [f"/*?*{word}=" for word in ("sort", "filter", "color", "size", "price", "page")]
    shop += ["/cart", "/checkout/*", "/account/", "/*.pdf$", "/private/*/edit", *(f"/brand-{n}/" for n in range(40))]
    portal = [f"/{chance.choice('abcdefgh')}/section-{n}/hidden-{n}/" for n in range(400)]
    maps = "".join(f"Sitemap: https://www.example.org/sitemap-{n}.xml\n" for n in range(10))
    return [
        Sample("blog", _file(blog, maps), urls),
        Sample("shop", _file(shop, "Crawl-delay: 1\n" + maps), urls),
        Sample("portal", _file(portal, maps), urls),
    ]


def cpu(step: Callable[[], object]) -> float:
    """Seconds of CPU, the least of many runs: the first tenth of a second of a process is twice as slow."""
    times = []
    for _ in range(25):
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    return min(times)


def compare(sample: Sample) -> None:
    text = sample.body.decode()

    def parse_ours() -> None:
        for _ in range(ROUNDS):
            Robots.parse(sample.body).allows(PROBE, AGENT)

    def parse_protego() -> None:
        for _ in range(ROUNDS):
            Protego.parse(text).can_fetch(PROBE, AGENT)

    ours, theirs = Robots.parse(sample.body), Protego.parse(text)
    parsed = [ROUNDS * len(sample.body) / cpu(step) / 1e6 for step in (parse_ours, parse_protego)]
    matched = [
        len(sample.urls) / cpu(lambda: [ours.allows(url, AGENT) for url in sample.urls]),
        len(sample.urls) / cpu(lambda: [theirs.can_fetch(url, AGENT) for url in sample.urls]),
    ]
    print(
        f"{sample.name:8}{len(sample.body):8,} bytes   parsed: weft {parsed[0]:6.1f} MB/s, protego {parsed[1]:5.1f}"
        f"   decided: weft {matched[0]:9,.0f}/s, protego {matched[1]:9,.0f}/s"
    )


def hostile() -> dict[str, bytes]:
    """The worst that 512 KiB can hold, of several kinds."""
    head = b"User-agent: *\n"
    files = {
        "60,000 distinct rules": b"".join(b"Allow:/%x\n" % n for n in range(60_000)),
        "50,000 star rules": b"".join(b"Allow:*%x\n" % n for n in range(50_000)),
        "chains of stars": b"".join(b"Disallow: /" + b"*a" * (n % 900) + b"*b\n" for n in range(2000)),
        "nearly matching segments": b"".join(b"Disallow: /*" + b"a" * (400 + n) + b"ba\n" for n in range(900)),
        "percent everywhere": b"".join(b"Disallow: /*" + b"%e4" * 60 + b"%d\n" % n for n in range(3000)),
        "40,000 agents": b"".join(b"User-agent:a%d\n" % n for n in range(40_000)),
    }
    return {name: (head + body)[:MAX_BYTES] for name, body in files.items()}


def compare_hostile(name: str, body: bytes) -> None:
    """Reading a file and deciding about a URL of 2,000 octets for the first time, and about it again."""
    url, text = "https://h/" + "a" * 2000, body.decode("latin-1")
    robots, rival = Robots.parse(body), Protego.parse(text)
    first = cpu(lambda: Robots.parse(body).allows(url, AGENT)), cpu(lambda: Protego.parse(text).can_fetch(url, AGENT))
    again = cpu(lambda: robots.allows(url, AGENT)), cpu(lambda: rival.can_fetch(url, AGENT))
    print(
        f"{name:26} read and decided: weft {first[0] * 1e3:5.1f} ms, protego {first[1] * 1e3:5.1f}"
        f"   decided again: weft {again[0] * 1e3:5.2f} ms, protego {again[1] * 1e3:5.2f}"
    )


def main() -> None:
    for sample in samples():
        compare(sample)
    for name, body in hostile().items():
        compare_hostile(name, body)


if __name__ == "__main__":
    main()
