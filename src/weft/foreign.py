"""WARC files of others (Common Crawl's, say) become documents: read, parsed, committed, without frontier or archive."""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from .archive.replay import Replayed, Skipped, records
from .corpus.corpus import Corpus
from .errors import Missing
from .loops import Shared
from .metrics import Damage, ReadFile
from .parse.pool import ParserPool
from .parse.wire import ParseJob
from .records import Announcement, Capture, Kind, Position

log = logging.getLogger(__name__)
_AT_ONCE: Final = 64  # records
_FIGURES: Final = re.compile(r"\d+")


class _Seen:
    """What was found in a file so far."""

    def __init__(self) -> None:
        self.read = 0
        self.skipped: Counter[str] = Counter()
        self.damaged: list[Damage] = []

    def take(self, batch: Sequence[Replayed]) -> None:
        for item in batch:
            if not isinstance(item, Skipped):
                self.read += 1
            elif item.damaged is not None:
                self.damaged.append(Damage(item.damaged, 1))
            else:
                self.skipped[_kind(item.reason)] += 1


async def refine_file(path: Path, pool: ParserPool, corpus: Corpus, shared: Shared) -> ReadFile:
    """All pages of one file, a batch at a time; stops between batches when asked to."""
    seen = _Seen()
    try:
        source = path.open("rb")
    except OSError as error:
        raise Missing(f"{path}: {error.strerror}") from None
    with source:
        found = records(source, path.name, shared.config.parse.max_decoded)
        while not shared.pulse.stopping and (batch := await asyncio.to_thread(_next, found)):
            seen.take(batch)
            await _refine(batch, pool, corpus, shared)
    return ReadFile(str(path), seen.read, dict(seen.skipped.most_common()), tuple(seen.damaged))


def _kind(reason: str) -> str:
    """A reason without the figures of one record, so that it can be counted."""
    return _FIGURES.sub("N", reason)


def _next(found: Iterator[Replayed]) -> list[Replayed]:
    return list(islice(found, _AT_ONCE))


async def _refine(batch: list[Replayed], pool: ParserPool, corpus: Corpus, shared: Shared) -> None:
    announced: list[tuple[Announcement, Capture]] = []
    for item in batch:
        if isinstance(item, Skipped):
            shared.tally.counts[f"skipped.{_kind(item.reason)[:60]}"] += 1
            log.info("skipped %s: %s", item.url, item.reason)
        elif item[0].exchange.status == 200 and item[0].kind is Kind.PAGE:
            announced.append((_announcement(*item), item[0]))
    jobs = [ParseJob.of(one, capture.exchange.headers, capture.exchange.body) for one, capture in announced]
    pages = await pool.parse(jobs)
    await corpus.commit([(one, page) for (one, _), page in zip(announced, pages, strict=True)])
    for page in pages:
        shared.tally.page(page)


def _announcement(capture: Capture, position: Position) -> Announcement:
    exchange = capture.exchange
    return Announcement(capture.id, exchange.url, position, exchange.started, exchange.status)
