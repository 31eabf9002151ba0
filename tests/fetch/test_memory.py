"""Endless and exploding answers: a process that fetches them all stays under its caps plus 32 MB, and goes on."""

import asyncio
import gzip
import json
import sys
from functools import partial

from tests.fetch.misbehaving import Answer, Say, Server, drip, flood, page
from weft.records import Reason

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CAP = 10 << 20
MEGABYTES_100 = 100 << 20

# path: (answer, reason); fetched in this order by one process
ANSWERS: dict[str, tuple[Answer, Reason]] = {
    "/first": (page(), Reason.STORED),
    "/body": (partial(flood, piece=OK + b"\r\n" + b"a" * 65536, octets=MEGABYTES_100), Reason.TOO_LARGE),
    "/chunks": (
        partial(flood, piece=OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 9000, octets=MEGABYTES_100),
        Reason.MALFORMED,
    ),
    "/fields": (partial(flood, piece=OK + b"X: aaaa\r\n" * 5000, octets=MEGABYTES_100), Reason.HEADERS_TOO_LARGE),
    "/field": (partial(flood, piece=OK + b"X: " + b"a" * 65536, octets=MEGABYTES_100), Reason.HEADERS_TOO_LARGE),
    "/status": (partial(flood, piece=b"HTTP/1.1 200 " + b"a" * 65536, octets=MEGABYTES_100), Reason.HEADERS_TOO_LARGE),
    "/interim": (
        partial(flood, piece=b"HTTP/1.1 100 Continue\r\n\r\n" * 2000, octets=MEGABYTES_100),
        Reason.HEADERS_TOO_LARGE,
    ),
    "/announced": (Say(OK + b"Content-Length: 99999999999\r\n\r\n", "hold"), Reason.TOO_LARGE),
    "/error": (
        partial(flood, piece=b"HTTP/1.1 500 Broken\r\n\r\n" + b"a" * 65536, octets=MEGABYTES_100),
        Reason.SERVER_ERROR,
    ),
    "/bomb": (page(gzip.compress(bytes(MEGABYTES_100)), "200 OK", "Content-Encoding: gzip"), Reason.STORED),
    "/redirect": (
        page(gzip.compress(bytes(MEGABYTES_100)), "301 Moved", "Content-Encoding: gzip", "Location: /"),
        Reason.REDIRECTED,
    ),
    "/drip": (partial(drip, octets=OK + b"\r\n" + b"a" * 9000, pause=0.01), Reason.TOO_SLOW),
    "/last": (page(), Reason.STORED),
}
# Fetches every path, and prints the reasons and by how much the process grew since the first page.
CLIENT = """
import asyncio, json, sys
from tests.fetch.crew import Crew, lease
from tests.peak_memory import peak
from weft.config import Fetch

async def main(port, paths):
    crew = Crew(config=Fetch(contact="https://bot.example/", first_byte_seconds=5, total_seconds=20))
    crew.transport.grace = 2.0
    origin = f"http://h.test:{port}"
    reasons = [(await crew.fetcher.fetch(lease(origin + "/"))).outcome.reason.value]
    await crew.fetcher.fetch(lease(origin + paths[0]))
    before = peak()
    for path in paths:
        reasons.append((await crew.fetcher.fetch(lease(origin + path))).outcome.reason.value)
    await crew.close()
    print(json.dumps([reasons, peak() - before]))

asyncio.run(main(sys.argv[1], sys.argv[2:]))
"""


async def test_memory_stays_under_the_cap_and_32_mb() -> None:
    endless = partial(
        flood, piece=b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n" + b"Allow: /\n" * 7000, octets=MEGABYTES_100
    )
    server = Server({path: answer for path, (answer, _) in ANSWERS.items()} | {"/robots.txt": endless})
    await server.listen()
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, str(server.port), *ANSWERS, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(client.communicate(), 60)
    reasons, grown = json.loads(output)
    assert reasons == ["robots-fetched", *(reason.value for _, reason in ANSWERS.values())]
    assert grown <= CAP + (32 << 20)
    await server.close()
