"""The extractors that ours is measured beside: bytes of a page in, main text out. Called by bench/text.py."""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

Extractor = Callable[[bytes], str]


class Run(msgspec.Struct, frozen=True):
    """What one extractor made of one page, and the CPU it took."""

    page: str
    text: str
    cpu_ms: float


def trafilatura_default() -> Extractor:
    """Trafilatura as it comes."""
    import trafilatura

    return lambda html: trafilatura.extract(html) or ""


def trafilatura_fast() -> Extractor:
    """Trafilatura without its fallback algorithms."""
    import trafilatura

    return lambda html: trafilatura.extract(html, fast=True) or ""


def trafilatura_fineweb() -> Extractor:
    """Trafilatura with the settings that made FineWeb."""
    import trafilatura

    return lambda html: trafilatura.extract(html, favor_precision=True, include_comments=False, deduplicate=True) or ""


def resiliparse() -> Extractor:
    """Resiliparse's plain-text extraction, main content only."""
    from resiliparse.extract.html2text import extract_plain_text  # type: ignore[import-untyped]
    from resiliparse.parse.encoding import detect_encoding  # type: ignore[import-untyped]
    from resiliparse.parse.html import HTMLTree  # type: ignore[import-untyped]

    def extract(html: bytes) -> str:
        tree = HTMLTree.parse_from_bytes(html, detect_encoding(html))
        return str(extract_plain_text(tree, main_content=True, alt_texts=False))

    return extract


RIVALS: dict[str, Callable[[], Extractor]] = {
    "trafilatura": trafilatura_default,
    "trafilatura-fast": trafilatura_fast,
    "trafilatura-fineweb": trafilatura_fineweb,
    "resiliparse": resiliparse,
}


def measure(extract: Extractor, pages: Iterable[tuple[str, bytes]]) -> list[Run]:
    """Run an extractor over pages, timing each in CPU time."""
    runs = []
    for page, html in pages:
        begin = time.process_time()
        text = extract(html)
        runs.append(Run(page, text, (time.process_time() - begin) * 1000))
    return runs


def measure_cached(name: str, pages: list[tuple[str, bytes]], cache: Path | None) -> list[Run]:
    """As `measure`, but rivals are slow and do not change: keep what they said in `cache`."""
    path = cache / f"{name}.json" if cache else None
    if path and path.exists():
        known = {run.page: run for run in msgspec.json.decode(path.read_bytes(), type=list[Run])}
        if all(page in known for page, _ in pages):
            return [known[page] for page, _ in pages]
    runs = measure(RIVALS[name](), pages)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}")
        scratch.write_bytes(msgspec.json.encode(runs))
        scratch.replace(path)
    return runs
