"""The verb `demo`: a small simulated web on this machine, crawled, and the corpus shown. What a newcomer runs first."""

import argparse
import shutil
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import uvloop

from weft.build import opened
from weft.directory import CrawlDirectory
from weft.errors import UsageError
from weft.limits import NO_LIMITS
from weft.metrics import Report
from weft.records import Document
from weft.simweb import SimWebConfig
from weft.simweb.process import RunningWeb, running
from weft.urls.seeds import seed

from . import show
from .crawl import print_report
from .progress import progress

_SHOWN = 3
_SETTINGS: dict[str, dict[str, Any]] = {
    "scope": {"own": ["127.0.0.0/8"], "reach": "any"},
    "pace": {"delay": 0.2},
    "frontier": {"retry": [0.5, 1.0, 2.0, 4.0]},
}


def demo(options: argparse.Namespace) -> int:
    out = _fresh(Path(options.out))
    config = SimWebConfig(hosts=options.hosts, pages=options.pages)
    with tempfile.TemporaryDirectory() as folder, running(config, Path(folder)) as web:
        if not options.json:
            show.line(f"A web of {config.hosts} sites with {config.pages} pages each now runs on this machine.")
            show.line(f"Crawling it from {web.seeds(numeric=True)[0]} …\n")
        directory = CrawlDirectory.open(out, _SETTINGS)
        try:
            report, documents = uvloop.run(_crawl(directory, web, quiet=options.json))
        finally:
            directory.close()
    if options.json:
        show.json_line(report)
    else:
        _show(report, documents, out)
    return 0


async def _crawl(directory: CrawlDirectory, web: RunningWeb, *, quiet: bool) -> tuple[Report, list[Document]]:
    async with opened(directory) as session:
        await session.add_seeds([seed(url) for url in web.seeds(numeric=True)])
        with progress(NO_LIMITS, quiet=quiet) as watch:
            _, report = await session.crawl(watch)
        return report, [document async for document in session.corpus.documents(_SHOWN)]


def _show(report: Report, documents: list[Document], out: Path) -> None:
    print_report(report, out)
    show.line(f"\n{len(documents)} of the {report.documents} documents:")
    for document in documents:
        show.line(f"\n  {show.printable(document.title)}")
        show.line(f"  {document.url}  ({document.language.code}, {len(document.text):,} characters)")
        show.line(textwrap.indent(textwrap.shorten(document.text, 300, placeholder=" …"), "    "))
    show.line("\nNext, try:")
    show.line(f"  weft inspect {out} {documents[0].url if documents else 'URL'}")
    show.line(f"  weft status {out}")
    show.line("  weft crawl example.org --max-pages 100 --out crawl --contact https://you.example/bot")
    show.line("(`weft` lies in .venv/bin)")


def _fresh(out: Path) -> Path:
    """An earlier demo is replaced; anything else is left alone."""
    if out.exists() and any(out.iterdir()):
        if not (out / "state" / "format").exists():
            raise UsageError(f"{out}: holds something that is not a demo; give another --out")
        shutil.rmtree(out)
    return out
