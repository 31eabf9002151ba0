"""Links over the limit of a page are named in its story."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.e2e.crawling import weft
from tests.fetch.misbehaving import Server, page

INDEX = page(
    b"<title>Index</title><p>An index of many pages." + b"".join(b"<a href=/%d>x</a>" % one for one in range(25))
)


@pytest.mark.parametrize("deep", [False, True])
async def test_a_page_tells_how_many_of_its_links_were_left_out(tmp_path: Path, deep: bool) -> None:
    """Also one whose text could not be read."""
    body = INDEX if not deep else page(INDEX.octets.partition(b"\r\n\r\n")[2] + b"<div>" * 100_000)
    server = await Server({"/": body}).listen()
    config = tmp_path / "test.toml"
    config.write_text('[scope]\nown = ["127.0.0.1"]\n[pace]\ndelay = 0\n[parse]\nmax_links = 10\nworkers = 1\n')
    seed, out = f"http://127.0.0.1:{server.port}/", tmp_path / "crawl"
    done = await asyncio.to_thread(weft, "crawl", seed, "--out", out, "--config", config, "--json")
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["dropped_links"]["too-many-links"] == 15
    assert {path for path in server.paths() if path[1:].isdigit()} == {f"/{one}" for one in range(10)}
    told = await asyncio.to_thread(weft, "inspect", out, seed)
    assert "15 links over [parse] max_links were left out" in told.stdout, told.stdout + told.stderr
    assert ("could not be read" in told.stdout) is deep
    await server.close()
