"""Is a site fetched whole? Real documentation sites from Debian's packages, crawled by Weft and fetched by `wget -r`.

`python -m bench.sites [SITE …] [--limit SECONDS] [--json]`. SITE is a name of `sites_served.SITES` (all by default), or
the path of an HTML file: its folder is served, and it is where both begin. nginx serves and its log is the judge: URLs
as they were asked for, HTML pages that went out whole. Exit status 1 if Weft has less than 99.9 % of wget's pages of a
site (less what robots.txt or nofollow forbid), or ended otherwise than by itself. Missing packages are installed if we
may; sites whose package is not to be had are left out.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from bench.sites_missing import Missing, explained
from bench.sites_served import PROGRAMS, Served, Site, chosen, provide, served

WHOLE = 0.999  # the share of wget's pages
LIMIT = 900.0  # seconds for each client and site
GRACE = 60.0  # seconds for Weft to stop in when its time is over
HEAD = f"{'':<14}{'wget':>8}{'weft':>8}{'missing':>9}{'more':>7}{'share':>9}{'wget s':>9}{'weft s':>9}  exit, ended"


class Run(NamedTuple):
    """How a client ended."""

    seconds: float
    status: int | None  # None: its time was over
    printed: str = ""


class Result(msgspec.Struct, frozen=True):
    """One site."""

    site: str
    start: str
    wget: int  # HTML pages
    weft: int
    share: float  # of wget's pages, less what is forbidden, that Weft has
    wget_seconds: float
    weft_seconds: float
    wget_status: int | None
    weft_status: int | None
    ended: str
    missing: tuple[Missing, ...]
    more: int  # HTML pages that Weft has and wget has not
    more_example: str

    @property
    def is_whole(self) -> bool:
        return self.share >= WHOLE and self.weft_status == 0

    @property
    def lacking(self) -> int:
        return sum(group.pages for group in self.missing if not group.is_forbidden)


def wget(start: str, folder: Path, limit: float) -> Run:
    """Files are deleted once their links are read, so that a site does not lie on the disk twice."""
    options = ["--no-config", "--no-proxy", "--delete-after", "-r", "-l", "inf", "-e", "robots=off", "-nv", "-o", "log"]
    return _timed(["wget", *options, start], folder, limit)


def weft(start: str, folder: Path, limit: float) -> Run:
    options = ["--out", str(folder / "crawl"), "--own", "127.0.0.0/8", "--delay", "0", "--scope", "host", "--json"]
    return _timed([sys.executable, "-m", "weft", "crawl", start, *options], folder, limit)


def _timed(command: Sequence[str], folder: Path, limit: float) -> Run:
    begun = time.monotonic()
    with (folder / "printed").open("w+") as printed, (folder / "errors").open("w") as errors:
        child = subprocess.Popen(command, stdout=printed, stderr=errors, cwd=folder)
        try:
            status: int | None = child.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
            _stop(child)
        seconds = time.monotonic() - begun
        printed.seek(0)
        return Run(seconds, status, printed.read())


def _stop(child: "subprocess.Popen[bytes]") -> None:
    child.send_signal(signal.SIGINT)
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def compare(site: Site, limit: float) -> Result:
    """One client after the other, each with the machine for itself."""
    with TemporaryDirectory(prefix="sites-") as name, served(site, Path(name)) as web:
        theirs = wget(web.start, Path(name), limit)
        ours = weft(web.start, Path(name), limit)
        return _result(web, theirs, ours, Path(name) / "crawl")


def _result(web: Served, theirs: Run, ours: Run, out: Path) -> Result:
    wanted = {web.url(hit.uri): hit.referer for hit in reversed(web.hits(of_wget=True)) if hit.is_page}
    pages = {web.url(hit.uri) for hit in web.hits(of_wget=False) if hit.is_page}
    missing = explained(out, {url: wanted[url] for url in sorted(wanted.keys() - pages)}, pages)
    more = sorted(pages - wanted.keys())
    due = len(wanted) - sum(group.pages for group in missing if group.is_forbidden)
    return Result(
        site=web.site.name,
        start=web.start,
        wget=len(wanted),
        weft=len(pages),
        share=len(wanted.keys() & pages) / due if due else 0.0,
        wget_seconds=round(theirs.seconds, 1),
        weft_seconds=round(ours.seconds, 1),
        wget_status=theirs.status,
        weft_status=ours.status,
        ended=msgspec.json.decode(ours.printed)["ended"] if ours.printed else "",
        missing=tuple(missing),
        more=len(more),
        more_example=more[0] if more else "",
    )


def show(result: Result) -> None:
    """A line of the table, and what is missing under it."""
    status = "time over" if result.weft_status is None else result.weft_status
    print(
        f"{result.site:<14}{result.wget:>8,}{result.weft:>8,}{result.lacking:>9,}{result.more:>7,}{result.share:>9.2%}"
        f"{result.wget_seconds:>9.1f}{result.weft_seconds:>9.1f}  {status}, {result.ended or '-'}"
    )
    for group in result.missing:
        found = f", found on {group.found_on}" if group.found_on else ""
        print(f"{group.pages:>8,}  {group.reason}: {group.example}{found}")
    if result.more:
        print(f"{result.more:>8,}  more than wget: {result.more_example}")
    if result.wget_status is None:
        print("          the time of wget was over: there may be more pages")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.sites", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="SITE", help="a name, or the path of an HTML file to start from")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each client and site (%(default)g)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def main() -> int:
    options = _options()
    sites = chosen(options.sites)
    lacking = provide(sites)
    for name, why in lacking.items():
        print(f"left out: {name} ({why})", file=sys.stderr)
    if lacking.keys() & PROGRAMS:
        return 1
    if not options.json:
        print(f"HTML pages by nginx's log; up to {options.limit:g} s for each client\n{HEAD}", flush=True)
    results = []
    for site in sites:
        if site.name not in lacking:
            results.append(compare(site, options.limit))
            if not options.json:
                show(results[-1])
    if options.json:
        print(msgspec.json.encode({"sites": results, "left_out": lacking}).decode())
    return 0 if results and all(result.is_whole for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
