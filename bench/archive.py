"""CPU per capture of writing and reading WARC, and of a corpus commit; warcio and fastwarc write the same beside us.

`python -m bench.archive [PAGES.parquet]` (columns url and html; looked for in ../shared/data, else pages are made up).
Bodies come plain, and gzipped as most servers send them. All figures are CPU time of this process, threads included.
"""

import asyncio
import gzip
import io
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from weft.archive import replay, warc
from weft.archive.store import Answer, Archive, Stores
from weft.clock import ManualClock
from weft.config import Config
from weft.corpus.corpus import Corpus, Refined
from weft.corpus.corpus import Stores as CorpusStores
from weft.corpus.registry import Registry
from weft.dedup.exact import Exact
from weft.engines.memory import MemoryBlobs, MemoryJournals, MemoryQueue, MemoryTable
from weft.killpoints import KillPoints
from weft.parse.fingerprint import body_digest, fingerprints
from weft.records import Announcement, Asked, Capture, Exchange, Headers, Lease, Outcome, Page, Position, Reason

SAMPLE = 300
LARGEST = 700_000  # bytes; leaves out the few that would weigh more than all others
HEADERS: Headers = (
    ("Date", "Sun, 15 Nov 2026 10:00:00 GMT"),
    ("Content-Type", "text/html; charset=utf-8"),
    ("Transfer-Encoding", "chunked"),
    ("Server", "nginx"),
    ("Cache-Control", "max-age=600"),
    ("Vary", "Accept-Encoding"),
    ("ETag", 'W/"65f1c2a4-2b1f0"'),
    ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
)
SENT: Headers = (
    ("Host", "site.example"),
    ("User-Agent", "weft/0.1 (+https://crawler.example)"),
    ("Accept", "text/html"),
)


def pages(path: Path) -> list[tuple[str, bytes, str]]:
    """URL, HTML and text of real pages, or made-up ones."""
    if path.exists():
        table = pq.read_table(path, columns=["url", "html", "text"])
        rows = table.take(list(range(0, table.num_rows, max(1, table.num_rows // SAMPLE)))).to_pylist()
        usual = [row for row in rows if 0 < len(row["html"]) < LARGEST]
        return [
            (row["url"] or f"https://site.example/{number}", row["html"], row["text"])
            for number, row in enumerate(usual)
        ]
    line = "<p class='c{0}'>Paragraph {0} of page {1} tells of the price of {2} bales of wool in the year {3}.</p>\n"
    texts = ["".join(line.format(n, page, n * 7919 % 997, n * page % 2000) for n in range(1700)) for page in range(100)]
    return [(f"https://site.example/{number}", text.encode(), text[:5000]) for number, text in enumerate(texts)]


def answer(url: str, body: bytes, headers: Headers) -> Answer:
    exchange = Exchange(
        url, 1.5e9, 1.5e9 + 1, status=200, reply="OK", headers=headers, body=body, address="192.0.2.1", sent=SENT
    )
    lease = Lease(url, "site.example", 1, 3, 1.5e9, 1.5e9 + 300, source="https://site.example/", place=b"q" * 40)
    asked = Asked("site.example", url, 1.5e9, 1.5e9 + 1, 200, "192.0.2.1")
    return Outcome(lease, Reason.STORED, 1.5e9 + 1, 200, (asked,)), (
        Capture(f"<{uuid.uuid4().urn}>", exchange, lease=lease),
    )


def cpu_ms(count: int, work: Callable[[], object]) -> float:
    """Milliseconds for each of `count`; the best of five, which is the one least disturbed."""
    spent = []
    for _ in range(5):
        start = time.process_time()
        work()
        spent.append((time.process_time() - start) / count * 1000)
    return min(spent)


def by_us(answers: Sequence[Answer]) -> bytes:
    return b"".join([warc.encode(outcome, captures, "<urn:uuid:0>").data for outcome, captures in answers])


def by_warcio(answers: Sequence[Answer]) -> bytes:
    from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
    from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

    sink = io.BytesIO()
    writer = WARCWriter(sink, gzip=True)
    for _, (capture,) in answers:
        told = capture.exchange
        head = StatusAndHeaders("200 OK", list(told.headers), protocol="HTTP/1.1")
        asked = StatusAndHeaders("GET / HTTP/1.1", list(told.sent), is_http_request=True)
        response = writer.create_warc_record(told.url, "response", payload=io.BytesIO(told.body), http_headers=head)
        request = writer.create_warc_record(told.url, "request", http_headers=asked)
        metadata = writer.create_warc_record(told.url, "metadata", payload=io.BytesIO(b"outcome: stored\r\n" * 20))
        for record in (request, response, metadata):
            writer.write_record(record)
    return sink.getvalue()


def by_fastwarc(answers: Sequence[Answer]) -> bytes:
    from fastwarc.stream_io import GzipWriter
    from fastwarc.warc import WarcRecord, WarcRecordType

    sink = io.BytesIO()
    writer = GzipWriter(sink, compression_level=1)
    for _, (capture,) in answers:
        told = capture.exchange
        head = "".join(f"{name}: {value}\r\n" for name, value in told.headers)
        blocks = (
            (WarcRecordType.request, b"GET / HTTP/1.1\r\n\r\n"),
            (WarcRecordType.response, f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + told.body),
            (WarcRecordType.metadata, b"outcome: stored\r\n" * 20),
        )
        for kind, block in blocks:
            record = WarcRecord()
            record.init_headers(kind)
            record.headers["WARC-Target-URI"] = told.url
            record.set_bytes_content(block)
            record.is_http = kind is not WarcRecordType.metadata
            record.write(writer, checksum_data=True)
    writer.close()
    return sink.getvalue()


def show(name: str, milliseconds: float, size: float, rival: float) -> None:
    print(f"  {name:34} {milliseconds:7.3f} ms {size / 1000:8.1f} KB {rival / milliseconds:6.1f}×")


def write_and_read(name: str, answers: Sequence[Answer]) -> None:
    count = len(answers)
    average = sum(len(captures[0].exchange.body) for _, captures in answers) / count
    print(f"{name}: {count} captures, {average / 1000:.0f} KB each; CPU per capture, file per capture, against warcio")
    rival = cpu_ms(count, lambda: by_warcio(answers))
    show("warcio", rival, len(by_warcio(answers)) / count, rival)
    show(
        "fastwarc (gzip level 1)", cpu_ms(count, lambda: by_fastwarc(answers)), len(by_fastwarc(answers)) / count, rival
    )
    show("weft, records", cpu_ms(count, lambda: by_us(answers)), len(by_us(answers)) / count, rival)
    show(
        "weft, stored and announced",
        cpu_ms(count, lambda: asyncio.run(store(answers))),
        len(by_us(answers)) / count,
        rival,
    )
    entries = [warc.encode(outcome, captures, "<urn:uuid:0>") for outcome, captures in answers]
    members = [entry.data[entry.parts[0].start :][: entry.parts[0].length] for entry in entries]
    show("weft, read back", cpu_ms(count, lambda: [replay.decode(member) for member in members]), 0, rival)


async def store(answers: Sequence[Answer]) -> None:
    blobs, clock = MemoryBlobs(), ManualClock()
    stores = Stores(MemoryJournals(blobs), blobs, MemoryTable(), MemoryQueue(clock, 60.0))
    archive = Archive(stores, clock, Config().archive, KillPoints())
    for first in range(0, len(answers), 100):
        await archive.checkpoint(await archive.store(answers[first : first + 100]))


async def commit(refined: Sequence[Refined], then: Callable[[Corpus], Awaitable[None]] | None = None) -> None:
    blobs, table = MemoryBlobs(), MemoryTable()
    registry = Registry(table)
    stores = CorpusStores(MemoryJournals(blobs), blobs, table, registry)
    corpus = Corpus(stores, Exact(table, registry.registered), ManualClock(), Config().corpus, KillPoints())
    await corpus.commit(refined)
    if then:
        await then(corpus)


def documents(found: Sequence[tuple[str, bytes, str]]) -> None:
    refined = []
    for number, (url, html, text) in enumerate(found):
        of_text = fingerprints(text)
        identity = f"<urn:uuid:{number}>"
        page = Page(
            identity,
            url,
            text=text,
            title="T",
            text_digest=of_text.digest,
            simhash=of_text.simhash,
            body_digest=body_digest(html),
        )
        refined.append((Announcement(identity, url, Position("raw/a.warc.gz", 0, 1), 1.5e9, 200), page))
    count = len(refined)
    average = sum(len(text) for _, _, text in found) / count
    print(f"corpus: {count} documents of {average:.0f} characters; CPU per document")
    alone = cpu_ms(count, lambda: asyncio.run(commit(refined)))
    print(f"  commit (judge, Parquet, register)  {alone:7.3f} ms")
    both = cpu_ms(count, lambda: asyncio.run(commit(refined, lambda corpus: corpus.compact(final=True))))
    print(f"  compaction into a shard            {both - alone:7.3f} ms")
    prints = cpu_ms(count, lambda: [fingerprints(text) for _, _, text in found])
    print(f"  fingerprints (in the parsers)      {prints:7.3f} ms")


def main() -> None:
    default = Path(__file__).parents[2] / "shared" / "data" / "extraction-dev.parquet"
    found = pages(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    write_and_read("plain", [answer(url, html, HEADERS) for url, html, _ in found])
    encoded = (*HEADERS, ("Content-Encoding", "gzip"))
    write_and_read("gzip", [answer(url, gzip.compress(html, 6), encoded) for url, html, _ in found])
    documents(found)


if __name__ == "__main__":
    main()
