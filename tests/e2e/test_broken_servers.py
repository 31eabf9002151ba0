"""Servers that break: connections reset after every single byte, refused, closed, silent. The crawl goes on beside."""

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.e2e.crawling import OWN, config_of, web_of, weft
from tests.e2e.watched import NO_DNS, Watched, reason_of, stories, watched_crawl
from tests.fetch.misbehaving import Answer, Say, Server, page
from weft.simweb.answer import Answer as Honest
from weft.simweb.prepare import prepare
from weft.simweb.process import running
from weft.simweb.wire import CLOSE, SMALL

QUICK: dict[str, Any] = {"first_byte_seconds": 1.0, "total_seconds": 3.0, "connect_seconds": 1.0, "resolvers": NO_DNS}
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
TEXT = b"<html><body><p>A plain page with a few words of its own, so that there is something to keep.</p></body></html>"

# Behind a robots.txt that is absent: what the server says to a request for a page, and the reason it gets.
ANSWERS: dict[str, tuple[Answer, str]] = {
    "/closed": (Say(b""), "reset"),
    "/reset": (Say(b"", "reset"), "reset"),
    "/silent": (Say(b"", "hold"), "timeout"),
    "/stalled": (Say(OK + b"Content-Length: 9\r\n\r\n1234", "hold"), "too-slow"),
    "/another-protocol": (Say(b"SSH-2.0-OpenSSH_9.6\r\n"), "malformed"),
    "/no-status": (Say(b"HTTP/1.1 hello\r\n\r\n"), "malformed"),
    "/negative": (Say(OK + b"Content-Length: -1\r\n\r\n"), "malformed"),
    "/both-lengths": (Say(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "malformed"),
    "/status-99": (Say(b"HTTP/1.1 099 Odd\r\n\r\n"), "odd-status"),
    "/status-999": (page(b"go away", "999 Denied"), "odd-status"),
    "/nowhere": (page(b"", "302 Found"), "bad-redirect"),
    "/not-a-url": (page(b"", "302 Found", "Location: http://[broken"), "bad-redirect"),
    "/wall": (page(b"who are you", "403 Forbidden"), "forbidden"),
    "/fine": (page(TEXT), "stored"),
}
# Servers that cannot even be asked for robots.txt: the host is given up.
HOSTS = {"refused": "connect-failed", "plain": "tls-failed", "slammed": "robots-unreachable", "unknown": "dns-failed"}


def test_resets_at_every_byte_of_a_small_answer(tmp_path: Path) -> None:
    """A host for each position, and an ordinary page behind it on the same host."""
    honest = prepare(Honest(200, SMALL))
    head, whole = len(honest.head + CLOSE), len(honest.head + CLOSE + honest.body)
    # Of a large web every 4th host can be told to reset.
    with running(web_of(4 * whole, 1, "resets", words=60), tmp_path) as web:
        names = [name for index, name in enumerate(web.hosts()) if web.world.carries(index, "resets")]
        places = {f"http://{name}:{web.port}/odd/reset/{count}": count for count, name in enumerate(names)}
        behind = [f"http://{name}:{web.port}/" for name in names]
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("\n".join([*places, *behind]))
        config = config_of(web, tmp_path, frontier={"retry": []}, fetch=QUICK, scope={"max_depth": 0})
        crawl = watched_crawl([], tmp_path / "crawl", config, "--seeds", str(seeds))
    assert_ended(crawl)
    assert len(places) == whole
    told = stories(crawl.out, [*places, *behind])
    wrong = {
        count: reason_of(told[url])
        for url, count in places.items()
        if reason_of(told[url]) != ("reset" if count < head else "truncated")
    }
    assert wrong == {}
    assert {reason_of(told[url]) for url in behind} == {"stored"}


def test_many_endless_bodies_at_once(tmp_path: Path) -> None:
    """Sixteen hosts flood us together: they cost no more memory than one body and 32 MB."""
    cap = 6 << 20
    with running(web_of(64, 1, "endless-body", words=60), tmp_path) as web:
        names = [name for index, name in enumerate(web.hosts()) if web.world.carries(index, "endless-body")]
        config = config_of(
            web, tmp_path, frontier={"retry": [0.2] * 4}, fetch={**QUICK, "max_body": cap}, scope={"max_depth": 0}
        )
        crawls: dict[str, Watched] = {}
        for path in ("/nothing-here", "/odd/endless-body/1"):  # neither gives a document, which would need more
            seeds = [f"http://{name}:{web.port}{path}" for name in names]
            crawls[path] = watched_crawl(seeds, tmp_path / f"crawl{len(crawls)}", config)
            assert_ended(crawls[path], status=1)  # no seed brings a page
    plain, flooded = crawls.values()
    assert plain.report["outcomes"]["not-found"] == len(names) == 16
    assert flooded.report["outcomes"]["too-large"] > 0
    assert flooded.peak.loop - plain.peak.loop <= cap + (32 << 20)


async def test_servers_that_are_none(tmp_path: Path) -> None:
    """Each on an address of its own, so that none waits for another."""
    server = Server({path: answer for path, (answer, _) in ANSWERS.items()})
    addresses = {path: f"127.3.0.{number}" for number, path in enumerate(ANSWERS, 1)}
    for address in addresses.values():
        await server.listen(address)
    slamming = await asyncio.start_server(_slam, "127.3.1.1", server.port)
    plain = await asyncio.start_server(_answer_unasked, "127.3.1.3", server.port)
    urls = {path: f"http://{address}:{server.port}{path}" for path, address in addresses.items()}
    hosts = {
        "refused": f"http://127.3.1.2:{server.port}/",
        "plain": f"https://127.3.1.3:{server.port}/",
        "slammed": f"http://127.3.1.1:{server.port}/",
        "unknown": "http://no-such-host.invalid/",
    }
    config = tmp_path / "test.toml"
    own = {"reach": "host", "own": [OWN, "*.invalid"]}
    tables = {"fetch": QUICK, "frontier": {"retry": [0.2]}, "pace": {"delay": 0.05}, "scope": own}
    config.write_text("".join(f"[{name}]\n{_toml(table)}" for name, table in tables.items()))
    seeds = [*urls.values(), *hosts.values()]
    crawl = await asyncio.to_thread(watched_crawl, seeds, tmp_path / "crawl", config)
    slamming.close()
    plain.close()
    await server.close()
    assert_ended(crawl)
    told = await asyncio.to_thread(stories, crawl.out, seeds)
    assert {path: reason_of(told[url]) for path, url in urls.items()} == {
        path: reason for path, (_, reason) in ANSWERS.items()
    }
    assert {name: reason_of(told[url]) for name, url in hosts.items()} == HOSTS
    listed = await asyncio.to_thread(weft, "dead", crawl.out)
    assert all(reason in listed.stdout for reason in HOSTS.values()), listed.stdout


async def _slam(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def _answer_unasked(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """No TLS, whatever the client hopes for."""
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


def assert_ended(crawl: Watched, status: int = 0) -> None:
    """By itself, without a word of complaint."""
    assert crawl.status == status, crawl.errors[-2000:]
    assert crawl.errors == ""
    assert (crawl.report["ended"], crawl.report["pending"]) == ("exhausted", 0)


def _toml(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
