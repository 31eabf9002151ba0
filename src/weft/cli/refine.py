"""The verb `refine`: the corpus made anew from the archive, or from WARC files of others."""

import argparse
from pathlib import Path

import uvloop

from weft.build import check, opened
from weft.config import settings
from weft.crawl import Ending
from weft.directory import CrawlDirectory
from weft.errors import UsageError
from weft.metrics import Report

from . import show
from .crawl import print_report, stop_on_signals
from .progress import progress


def refine(options: argparse.Namespace) -> int:
    path, warcs = Path(options.dir), [Path(name) for name in options.warcs]
    for warc in warcs:
        if not warc.is_file():
            raise UsageError(f"{warc}: no such file")
    if not warcs:
        CrawlDirectory.read(path)  # a DIR without a crawl has nothing to refine
    directory = CrawlDirectory.open(path, settings(), lambda config: check(config, ()))
    try:
        ending, report = uvloop.run(_run(directory, warcs, quiet=options.json))
    finally:
        directory.close()
    if options.json:
        show.json_line(report)
    else:
        print_report(report, path)
    return 3 if ending is Ending.STOPPED else 0


async def _run(directory: CrawlDirectory, warcs: list[Path], *, quiet: bool) -> tuple[Ending, Report]:
    async with opened(directory) as session:
        stop_on_signals(session)
        with progress(directory.config, quiet=quiet) as watch:
            return await (session.refine_files(warcs, watch) if warcs else session.refine_anew(watch))
