"""The verb `refine`: the corpus made anew from the archive, or from WARC files of others."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import uvloop

from weft.build import check, opened
from weft.config import from_environment
from weft.directory import CrawlDirectory, is_crawl
from weft.errors import CrawlDirError, UsageError
from weft.limits import NO_LIMITS
from weft.loops import Ending
from weft.metrics import ReadFile, Refined, Report

from . import show, streams
from .crawl import print_report, stop_on_signals
from .progress import progress

_NAMED = 3  # damaged places that one line names


def refine(options: argparse.Namespace) -> int:
    path, warcs = Path(options.dir), [Path(name) for name in options.warcs]
    for warc in warcs:
        if not warc.is_file():
            raise UsageError(f"{warc}: no such file")
    if not (warcs or is_crawl(path)):
        raise CrawlDirError(f"{path}: holds no crawl")  # there is nothing to refine
    places, knobs, _ = from_environment()
    directory = CrawlDirectory.open(path, places, lambda config: check(config, ()), knobs)
    try:
        ending, report = uvloop.run(_run(directory, warcs, options))
    finally:
        directory.close()
    if options.json:
        show.json_line(report)
    else:
        print_report(report, path)
    refined = report.refined or Refined()
    return _conclude_files(refined, ending, options) if warcs else _conclude(refined, ending, report, path)


async def _run(directory: CrawlDirectory, warcs: list[Path], options: argparse.Namespace) -> tuple[Ending, Report]:
    async with opened(directory) as session:
        stop_on_signals(session)
        with progress(NO_LIMITS, quiet=options.json) as watch:
            if warcs:
                return await session.refine_files(warcs, watch)
            return await session.refine_anew(watch, partial=options.partial)


def _conclude_files(refined: Refined, ending: Ending, options: argparse.Namespace) -> int:
    """A line for each file of others. Status 1 when none of them gave anything."""
    if not options.json:
        show.line()
        for file in refined.files:
            show.line(f"{show.printable(file.file)}: {_file_line(file)}")
    if ending is Ending.STOPPED:
        return 3
    if any(file.read for file in refined.files):
        return 0
    streams.complain("nothing could be read from " + (options.warcs[0] if len(options.warcs) == 1 else "any file"))
    return 1


def _file_line(file: ReadFile) -> str:
    parts = [f"{file.read:,} answers read"]
    if file.skipped:
        reasons = "; ".join(f"{count:,} × {reason}" for reason, count in file.skipped.items())
        parts.append(f"skipped {sum(file.skipped.values()):,} ({show.printable(reasons)})")
    if file.damaged:
        places = ", ".join(str(damage.offset) for damage in file.damaged[:_NAMED])
        more = len(file.damaged) - _NAMED
        parts.append(f"damaged behind byte {places}" + (f" and at {more:,} more places" if more > 0 else ""))
    return ", ".join(parts)


def _conclude(refined: Refined, ending: Ending, report: Report, path: Path) -> int:
    """One line about what could not be read. Status 1 when the corpus of before was kept for it."""
    if ending is Ending.STOPPED:
        return 3
    if not refined.files and not refined.missing:
        return 0
    what = "; ".join(_losses(refined))
    if ending is Ending.EXHAUSTED:
        streams.complain(f"{what}; the corpus has what could be read")
        return 0
    streams.complain(
        f"{what}; the old corpus is kept ({report.documents:,} documents; the new one has {refined.documents:,}): "
        f"`weft refine {path} --partial` takes the new one"
    )
    return 1


def _losses(refined: Refined) -> Iterator[str]:
    places = [(file.file, damage) for file in refined.files for damage in file.damaged]
    for name, damage in places[:_NAMED]:
        lost = "1 record is lost" if damage.records == 1 else f"{damage.records:,} records are lost"
        yield f"{name} is damaged at byte {damage.offset}, {lost}"
    if len(places) > _NAMED:
        yield f"there are {len(places) - _NAMED:,} more such places"
    if refined.missing:
        pages = "1 page" if refined.missing == 1 else f"{refined.missing:,} pages"
        yield f"the archive lacks {pages} of the corpus"
