"""The process side: its limits, its end, and what it makes of bodies of every kind."""

import os
import select
import subprocess
import sys
from pathlib import Path

from weft.clock import SystemClock
from weft.config import Config, override
from weft.parse.pool import ParserPool
from weft.parse.wire import ParseJob
from weft.records import Refusal

HOSTILE = (sys.executable, str(Path(__file__).with_name("hostile_worker.py")))

PARENT = """
import asyncio, sys
from weft.clock import SystemClock
from weft.config import Config, override
from weft.parse.pool import ParserPool
from weft.parse.wire import ParseJob

async def main():
    pool = ParserPool(override(Config(), "parse", workers=2, seconds=60), SystemClock(), sys.argv[1:])
    await pool.start()
    jobs = [ParseJob("1", "http://hostile/spin", b"", ())] * 2
    parsing = asyncio.ensure_future(pool.parse(jobs))
    await asyncio.sleep(0)
    sys.stdout.write(" ".join(map(str, pool.processes())) + "\\n")
    sys.stdout.flush()
    await parsing

asyncio.run(main())
"""


def test_workers_die_with_their_parent_even_while_they_spin() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, *HOSTILE], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(word) for word in parent.stdout.readline().split()]
        handles = [os.pidfd_open(worker) for worker in workers]
        parent.kill()
    assert len(workers) == 2
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], 10)
        assert ended
        os.close(handle)


async def test_a_tree_that_does_not_fit_is_refused_for_its_memory() -> None:
    pool = ParserPool(override(Config(), "parse", workers=1, memory=150 << 20), SystemClock())
    await pool.start()
    body = b"".join(b"<div class=a%d><p>words <a href=/%d>x</a></div>" % (number, number) for number in range(9999)) * 9
    jobs = [
        ParseJob(str(number), "http://site.example/", body, (("Content-Type", "text/html"),)) for number in range(2)
    ]
    pages = await pool.parse(
        [*jobs, ParseJob("2", "http://site.example/", b"words", (("Content-Type", "text/plain"),))]
    )
    await pool.close()
    assert [page.refusal for page in pages] == [Refusal.MEMORY, Refusal.MEMORY, None]
    assert pages[2].text == "words"
