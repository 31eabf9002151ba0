"""The whole crawl on one machine, beside Scrapy with trafilatura: the pieces people glue together today.

`python -m bench.crawl [HOSTS] [PAGES]`: a simweb in a process of its own, no delays, robots.txt obeyed by both:
pages a second by the wall clock, CPU per page of the loop and of the parsers, peak memory of all processes together.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from weft.simweb import SimWebConfig, expand
from weft.simweb.process import running


class Run(NamedTuple):
    """What one crawler needed."""

    pages: int
    documents: int
    seconds: float
    cpu: float
    memory: int
    report: dict[str, Any]


class Memory(threading.Thread):
    """The largest sum of resident memory of a process and its children, looked at ten times a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.peak = pid, 0

    def run(self) -> None:
        while total := sum(_resident(pid) for pid in _family(self.pid)):
            self.peak = max(self.peak, total)
            time.sleep(0.1)


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *(int(child) for child in children)]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def measured(command: list[str], folder: Path) -> tuple[float, float, int, str]:
    """Wall seconds, CPU seconds with all children, peak memory, output."""
    output = folder / "output"
    before = time.monotonic()
    with output.open("w") as sink:
        child = subprocess.Popen(command, stdout=sink, cwd=folder)
        memory = Memory(child.pid)
        memory.start()
        _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - before
    memory.join(1)
    if status:
        raise SystemExit(f"{command[:4]} failed")
    return seconds, usage.ru_utime + usage.ru_stime, memory.peak, output.read_text()


def ours(seed: str, folder: Path) -> Run:
    options = ["--scope", "any", "--own", "127.0.0.0/8", "--delay", "0", "--out", str(folder / "crawl"), "--json"]
    seconds, _, memory, output = measured([sys.executable, "-m", "weft", "crawl", seed, *options], folder)
    report = json.loads(output)
    return Run(report["fetched"], report["documents"], seconds, report["cpu_seconds"], memory, report)


def scrapy(seed: str, folder: Path) -> Run:
    command = [sys.executable, "-m", "bench.crawl_scrapy", seed, str(folder / "items.jsonl")]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    seconds, cpu, memory, output = measured(command, folder)
    documents = sum(1 for _ in (folder / "items.jsonl").open())
    return Run(json.loads(output)["pages"], documents, seconds, cpu, memory, {})


def show(name: str, run: Run) -> None:
    print(
        f"{name:<22} {run.pages:>7,} pages {run.documents:>7,} texts {run.pages / run.seconds:>7.0f} pages/s "
        f"{1000 * run.cpu / run.pages:>6.2f} ms CPU/page {run.memory / 1e6:>6.0f} MB"
    )


def main() -> None:
    hosts, pages = (int(word) for word in (*sys.argv[1:3], "200", "25")[:2])
    web_config = SimWebConfig(hosts=hosts, pages=pages, misbehaviours=expand("not-found,robots-disallow,gzip,mirrors"))
    with tempfile.TemporaryDirectory() as name, running(web_config, Path(name)) as web:
        seed = web.seeds(numeric=True)[0]
        print(f"a web of {hosts} hosts with {pages} pages each, {os.cpu_count()} cores, the web's own process included")
        folder = Path(name)
        mine, rival = ours(seed, folder), scrapy(seed, folder)
    show("weft", mine)
    show("scrapy + trafilatura", rival)
    parsers = mine.report["parser_cpu_seconds"]
    loop = mine.cpu - parsers
    print(
        f"weft: {1000 * loop / mine.pages:.2f} ms per page in the loop, {1000 * parsers / mine.pages:.2f} ms in parsers"
    )
    print(
        f"ratio weft : scrapy   CPU per page {mine.cpu / mine.pages / (rival.cpu / rival.pages):.2f}, "
        f"pages/s {mine.pages / mine.seconds / (rival.pages / rival.seconds):.1f}"
    )


if __name__ == "__main__":
    main()
