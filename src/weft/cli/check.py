"""The verb `check`: proves that what is stored is whole, and names what is not."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import uvloop

from weft.build import checked
from weft.check import Result, Told
from weft.directory import CrawlDirectory

from . import show


def check(options: argparse.Namespace) -> int:
    directory = CrawlDirectory.read(Path(options.dir), hold=True)
    try:
        result = uvloop.run(_checked(directory))
    finally:
        directory.close()
    if options.json:
        show.json_line(result)
    else:
        _print(result, options.dir)
    return 0 if result.clean else 1


async def _checked(directory: CrawlDirectory) -> Result:
    async with checked(directory) as check:
        return await check.run(_progress)


def _progress(counts: Mapping[str, int]) -> None:
    sys.stderr.write(f"checked so far: {_amounts(counts)}\n")


def _amounts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _print(result: Result, path: str) -> None:
    for title, told in (("fault", result.faults), ("leftover", result.leftovers), ("drift", result.drift)):
        _print_all(title, told, result.counts, path)
    show.line(f"checked {_amounts(result.checked) or 'nothing'}")
    faults = sum(result.counts[kind] for kind in {told.kind for told in result.faults})
    show.line("no fault" if result.clean else show.many(faults, "fault"))


def _print_all(title: str, told: Sequence[Told], counts: Mapping[str, int], path: str) -> None:
    """A line each, and one for those of a kind that are too many."""
    for one in told:
        remedy = f"; {one.remedy.replace('DIR', path)}" if one.remedy else ""
        show.line(show.printable(f"{title} {one.kind}: {one.what}: {one.meaning} ({one.where}){remedy}"))
    for kind, named in Counter(one.kind for one in told).items():
        if counts[kind] > named:
            show.line(f"{title} {kind}: {counts[kind] - named:,} more")
