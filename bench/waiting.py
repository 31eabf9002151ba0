"""What a crawl of one's own host waits for: a chain of pages, pictures among the links; and pages of very many links.

`python -m bench.waiting [PAGES]`: a chain in which each page is linked only from the one before, and a page with 300
links to pictures, crawled without a delay, beside `wget -r` where there is one. Then index pages of 50,000 and 100,000
links, each read by a parser process: CPU, of the 2 s that a page may take.
"""

import asyncio
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

from weft.clock import SystemClock
from weft.config import Config, override
from weft.parse.pool import ParserPool
from weft.parse.wire import ParseJob

PICTURES = 300
PICTURE = b"\x89PNG" + bytes(200_000)
DEEP = "[scope]\nmax_depth = 100000\nmax_depth_in_domain = 100000\n[frontier]\ntrap_sample = 100000\n"
INDEXES = {
    "a list": "<li><a href='/part-{0}/page-{1}.html'>Page {1}</a></li>\n",
    "with long texts": "<li><a class=reference href='page-{1}.html'>{1} " + "that says at length " * 7 + "</a></li>\n",
    "a table": "<tr><td class=cap></td><td><a href='class{1}.html#name' title=name><code><span class=pre>name{1}</span>"
    "</code></a></td><td><em>what it does</em></td></tr>\n",
}


class Site(BaseHTTPRequestHandler):
    """The chain below /chain/, the pictures below /pictures/."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    pages: ClassVar[int] = 600

    def do_GET(self) -> None:
        _, kind, name, *_ = [*self.path.split("/"), "", ""]
        if kind == "chain":
            self._answer(_link_of_chain(int(name or 0), self.pages))
        elif kind == "pictures" and name:
            self._answer(PICTURE, "image/png")
        elif kind == "pictures":
            links = "".join(f"<a href='/pictures/{one}.png'>x</a>" for one in range(PICTURES))
            self._answer(f"<title>Pictures</title><p>A page of many pictures.</p>{links}".encode())
        else:
            self._answer(b"nothing", status=404)

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # the client hung up
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def _answer(self, body: bytes, kind: str = "text/html", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _link_of_chain(number: int, pages: int) -> bytes:
    chance = random.Random(number)
    words = " ".join(chance.choice("abcdefghij") * 2 + str(chance.randrange(10**6)) for _ in range(120))
    onward = f"<a href='/chain/{number + 1}'>next</a>" if number + 1 < pages else ""
    return f"<title>Page {number}</title><p>{words}.</p>{onward}".encode()


@contextmanager
def served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def ours(url: str, folder: Path) -> tuple[int, float]:
    """Requests with an answer, and the seconds from the start of the process to its end."""
    config = folder / "deep.toml"
    config.write_text(DEEP)
    out = folder / f"crawl-{url.rstrip('/').rpartition('/')[2]}"
    command = [sys.executable, "-m", "weft", "crawl", url, "--own", "127.0.0.1", "--delay", "0", "--json"]
    began = time.monotonic()
    done = subprocess.run([*command, "--out", out, "--config", config], capture_output=True, check=True)
    return json.loads(done.stdout)["archived"], time.monotonic() - began


def wget(url: str, folder: Path) -> float:
    began = time.monotonic()
    command = ["wget", "-q", "-r", "-l", "inf", "-e", "robots=off", "-P", str(folder / "wget"), url]
    subprocess.run(command, check=False)  # status 8: some answer was an error
    return time.monotonic() - began


async def index(name: str, many: int) -> None:
    pool = ParserPool(override(Config(), "parse", workers=1), SystemClock())
    await pool.start()
    body = "<title>Index</title>" + "".join(INDEXES[name].format(one // 100, one) for one in range(many))
    headers = (("Content-Type", "text/html"),)
    (page,) = await pool.parse([ParseJob("id", "https://www.site.example/", body.encode(), headers)])
    await pool.close()
    said = page.refusal.value if page.refusal else "read"
    print(f"  {name:<16} {len(body) / 1e6:5.1f} MB {len(page.links):>8,} links {page.cpu:5.2f} s CPU, {said}")


def main() -> None:
    Site.pages = int((*sys.argv[1:2], "600")[0])
    with tempfile.TemporaryDirectory() as name, served() as site:
        for what in ("chain", "pictures"):
            requests, seconds = ours(f"{site}/{what}/", Path(name))
            rival = f", wget {wget(f'{site}/{what}/', Path(name)):.1f} s" if shutil.which("wget") else ""
            print(f"{what}: {requests} answers, weft {seconds:.1f} s with start and end{rival}")
    print("index pages")
    for kind in INDEXES:
        for many in (50_000, 100_000):
            asyncio.run(index(kind, many))


if __name__ == "__main__":
    main()
