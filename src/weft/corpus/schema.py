"""Rows: what a page becomes in Parquet. The schema is one for all files, so that any set of them loads as one table.

FineWeb's flat columns and Dolma's keys, then ours. Columns that no stage fills yet are there already.
"""

import io
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from weft.records import Announcement, Page, Removal, Verdict

_COLUMNS: Final = (
    ("text", pa.string()),
    ("id", pa.string()),
    ("source", pa.string()),
    ("added", pa.string()),
    ("created", pa.string()),
    ("dump", pa.string()),
    ("url", pa.string()),
    ("date", pa.string()),
    ("file_path", pa.string()),
    ("language", pa.string()),
    ("language_script", pa.string()),
    ("language_score", pa.float64()),
    ("minhash_cluster_size", pa.int64()),
    ("title", pa.string()),
    ("consent_train", pa.string()),
    ("consent_source", pa.string()),
    ("consent_evidence", pa.string()),
    ("license_abbr", pa.string()),
    ("license_version", pa.string()),
    ("license_location", pa.string()),
    ("license_in_head", pa.bool_()),
    ("license_in_footer", pa.bool_()),
    ("license_disagreement", pa.bool_()),
    ("metadata", pa.string()),
)
DOCUMENTS: Final = pa.schema(_COLUMNS)
REMOVED: Final = pa.schema((*_COLUMNS, ("filter_reason", pa.string()), ("filter_detail", pa.string())))
ROWS_PER_GROUP: Final = 1000
BYTES_PER_GROUP: Final = 64 << 20  # uncompressed; the promise is 100 MB
_REPEATED: Final = ["source", "dump", "file_path", "language", "language_script", "consent_train", "consent_source"]
_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "compression": "zstd",
        "compression_level": 3,
        "use_dictionary": _REPEATED,  # for the others a dictionary is built, found useless and thrown away
        "write_page_index": True,
        "write_statistics": ["id", "url", "date", "language", "language_score"],
    }
)

Row: TypeAlias = dict[str, Any]


class Dating(NamedTuple):
    """What all rows of a segment share."""

    source: str
    added: float


def document(announced: Announcement, page: Page, dating: Dating) -> Row:
    """A row; columns that are not given are null."""
    fetched = datetime.fromtimestamp(announced.fetched, UTC)
    year, week, _ = fetched.isocalendar()
    metadata = _metadata(announced, page)
    return {
        "text": page.text,
        "id": page.id,
        "source": dating.source,
        "added": _iso(datetime.fromtimestamp(dating.added, UTC)),
        "created": metadata.get("published") or "",
        "dump": f"{dating.source}-{year}-{week:02d}",  # as Common Crawl names its dumps
        "url": page.url,
        "date": _iso(fetched),
        "file_path": announced.position.file,
        "language": page.language.code,
        "language_script": page.language.script,
        "language_score": page.language.score,
        "title": page.title,
        "consent_train": "unknown",
        "consent_source": "",
        "consent_evidence": "",
        "metadata": msgspec.json.encode(metadata).decode(),
    }


def removed(announced: Announcement, page: Page, dating: Dating, verdict: Verdict) -> Row:
    """A row of `_removed/`. The text is kept only where a filter judged it: else it is there already, or unwanted."""
    row = document(announced, page, dating)
    if verdict.removal is not Removal.FILTERED:
        row["text"] = ""
    detail = f"{page.refusal.value}: {page.detail}" if page.refusal else verdict.original
    return row | {"filter_reason": verdict.removal.value if verdict.removal else "", "filter_detail": detail}


def _metadata(announced: Announcement, page: Page) -> Row:
    """What the parser found, and where the capture lies."""
    found = msgspec.json.decode(page.metadata, type=dict[str, Any])
    ours: Row = {
        "warc_record_offset": announced.position.offset,
        "warc_record_length": announced.position.length,
        "words": page.words,
        "extractor": page.extractor,
        "charset": page.charset,
        "canonical": page.canonical,
    }
    return ours | found


def _iso(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def encode(rows: Sequence[Row], schema: pa.Schema) -> bytes:
    """A whole Parquet file."""
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, schema, **_OPTIONS) as writer:
        write(writer, to_table(rows, schema))
    return sink.getvalue()


def warm_up() -> None:
    """Have pyarrow load now what it loads at its first use, pandas where there is one: a crawl would stand still."""
    encode([], DOCUMENTS)


def writer(sink: Any, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(sink, schema, **_OPTIONS)


def to_table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays(
        [_column([row.get(one.name) for row in rows], one.type) for one in schema], schema=schema
    )


def _column(values: list[Any], kind: pa.DataType) -> "pa.Array[Any]":
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:  # half a surrogate pair: one bad character must not hold up a segment for ever
        sound = [value.encode("utf-8", "replace").decode() if isinstance(value, str) else value for value in values]
        return pa.array(sound, kind)


def write(into: pq.ParquetWriter, table: pa.Table) -> None:
    """In row groups that keep both limits."""
    rows = table.num_rows
    fit = max(1, min(ROWS_PER_GROUP, rows * BYTES_PER_GROUP // max(1, table.nbytes)))
    into.write_table(table, row_group_size=fit)
