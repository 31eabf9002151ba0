"""Main text: ours beside trafilatura and resiliparse, by word F1 and CPU time per page.

    python -m bench.text PAGES.parquet [--cache DIR] [--only NAME …] [--sample N]

PAGES has the columns id, source, url, page_type, text (the reference) and html (bytes). The weights that come with weft
were learned from the development pages; for pages not seen in training: `python -m bench.train_text --validate`.
"""

import argparse
import os
from collections import defaultdict
from itertools import accumulate, count
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads would hide CPU time and gain nothing

import msgspec
import pyarrow.parquet as pq

from bench.text_rivals import RIVALS, Run, measure, measure_cached
from bench.text_score import Score, score

OURS = "weft"
TREE = "Lexbor's tree alone"
AVERAGE = 174_000  # bytes of HTML of the pages whose CPU has a limit of its own
NEAR = range(116_000, 244_001)  # pages of about that size


class Page(msgspec.Struct, frozen=True):
    """A row of the evaluation file."""

    id: str
    source: str
    page_type: str
    url: str
    text: str
    html: bytes


class Line(msgspec.Struct, frozen=True):
    """One extractor on one group of pages."""

    group: str
    extractor: str
    pages: int
    f1: float
    precision: float
    recall: float
    cpu_ms: float


def load(path: Path, sample: int = 0) -> list[Page]:
    """The pages with a reference text; every n-th of them when a sample is asked for."""
    columns = list(Page.__struct_fields__)
    rows = pq.read_table(path, columns=columns).to_pylist()
    pages = [msgspec.convert(row, Page) for row in rows if row["text"].strip()]
    return pages[:: max(1, len(pages) // sample)] if sample else pages


def ours(pages: list[Page]) -> tuple[list[Run], list[Run]]:
    """Our extractor over all pages, warmed up so that loading weights is not counted, and the tree alone.

    Building the tree is the library's work, so it shows how fast the machine is in these minutes: each page's comes
    right after it was read, when it lies in the processor's cache.
    """
    from weft.errors import Refused
    from weft.parse.reading import tree_of
    from weft.parse.text import main_text

    def tree(html: bytes) -> str:
        tree_of(html)
        return ""

    urls = {page.id: page.url or None for page in pages}
    main_text(b"<p>warm up</p>")
    runs, trees = [], []
    for page in pages:

        def text(html: bytes, url: str | None = urls[page.id]) -> str:
            try:
                return main_text(html, url)
            except Refused:
                return ""

        runs += measure(text, [(page.id, page.html)])
        trees += measure(tree, [(page.id, page.html)])
    return runs, trees


def table(pages: list[Page], runs: dict[str, list[Run]]) -> list[Line]:
    """Means per group: all pages, each source, each page type."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place, page in enumerate(pages):
        for group in ("all", f"source {page.source}", f"type {page.page_type}"):
            groups[group].append(place)
    lines = []
    for name, results in runs.items():
        scores = [score(run.text, page.text) for run, page in zip(results, pages, strict=True)]
        lines += [_line(group, name, places, scores, results) for group, places in groups.items()]
    order = list(groups)
    return sorted(lines, key=lambda line: order.index(line.group))


def _line(group: str, name: str, places: list[int], scores: list[Score], runs: list[Run]) -> Line:
    many = len(places)
    return Line(
        group,
        name,
        many,
        sum(scores[place].f1 for place in places) / many,
        sum(scores[place].precision for place in places) / many,
        sum(scores[place].recall for place in places) / many,
        sum(runs[place].cpu_ms for place in places) / many,
    )


def show(lines: list[Line]) -> None:
    """Print the table, with the CPU of each as a share of trafilatura's."""
    base = {line.group: line.cpu_ms for line in lines if line.extractor == "trafilatura"}
    print(
        f"{'group':22s} {'extractor':20s} {'pages':>5s} {'F1':>7s} {'prec':>6s} {'rec':>6s} {'ms':>7s}  of trafilatura"
    )
    for line in lines:
        share = f"1/{base[line.group] / line.cpu_ms:.1f}" if line.group in base and line.cpu_ms else ""
        print(
            f"{line.group:22s} {line.extractor:20s} {line.pages:5d} {line.f1:7.4f} {line.precision:6.3f} "
            f"{line.recall:6.3f} {line.cpu_ms:7.2f}  {share}"
        )


def show_average(pages: list[Page], runs: dict[str, list[Run]]) -> None:
    """Print the CPU that pages of 174 KB take: those of about that size, and all but the largest, which average it."""
    sizes = [len(page.html) for page in pages]
    for places in ([place for place, size in enumerate(sizes) if size in NEAR], _averaging(sizes)):
        if not places:
            continue
        kilobytes, many = [sizes[place] / 1000 for place in places], len(places)
        least, most, mean = min(kilobytes), max(kilobytes), sum(kilobytes) / many
        print(f"{many} pages of {least:.0f} to {most:.0f} KB, {mean:.0f} on average, in ms:", end="")
        print(*(f" {name} {sum(ran[place].cpu_ms for place in places) / many:.2f}" for name, ran in runs.items()))


def _averaging(sizes: list[int]) -> list[int]:
    """Places of the smallest, as many as have the average size."""
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    totals = accumulate(sizes[place] for place in order)
    return [place for place, total, many in zip(order, totals, count(1), strict=False) if total <= AVERAGE * many]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("--cache", type=Path, help="keep what the rivals say here; their CPU time too")
    parser.add_argument("--only", nargs="*", choices=[OURS, *RIVALS], help="measure these extractors")
    parser.add_argument("--sample", type=int, default=0, help="about this many pages")
    arguments = parser.parse_args()
    pages = load(arguments.pages, arguments.sample)
    chosen = arguments.only or [OURS, *RIVALS]
    inputs = [(page.id, page.html) for page in pages]
    try:
        runs = {name: measure_cached(name, inputs, arguments.cache) for name in chosen if name != OURS}
    except ModuleNotFoundError as missing:
        parser.error(f"{missing.name} is not installed: pip install -e '.[bench]', or use --only weft")
    trees: dict[str, list[Run]] = {}
    if OURS in chosen:
        mine, trees[TREE] = ours(pages)
        runs = {OURS: mine, **runs}
    show(table(pages, runs))
    show_average(pages, trees | runs)


if __name__ == "__main__":
    main()
