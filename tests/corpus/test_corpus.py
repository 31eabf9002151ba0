"""What becomes a document, what is removed and why; and that each is stored once, whatever is delivered again."""

import io
import json

import pyarrow.parquet as pq

from tests.corpus.material import Disk, refined, unparsable
from weft.corpus.shards import MOST_SEGMENTS
from weft.records import Kind, Refusal, Removal


async def test_pages_become_rows_with_every_column() -> None:
    disk = Disk()
    corpus = await disk.corpus()
    findings = await corpus.commit([refined(1), refined(2)])
    await corpus.compact(final=True)
    first, second = await disk.data()
    assert list(first)[:13] == [
        "text",
        "id",
        "source",
        "added",
        "created",
        "dump",
        "url",
        "date",
        "file_path",
        "language",
        "language_script",
        "language_score",
        "minhash_cluster_size",
    ]
    assert list(first)[13] == "title"
    assert list(first)[-1] == "metadata"
    assert first["text"] == "Page 1 tells of cloth, and of wool."
    assert (first["id"], first["url"]) == ("<urn:uuid:00000000-0000-4000-8000-000000000001>", "https://site.example/1")
    assert (first["date"], first["dump"]) == ("2023-11-14T22:13:21.250000Z", "weft-2023-46")
    assert (first["language"], first["language_script"], first["consent_train"]) == ("eng", "Latn", "unknown")
    assert json.loads(first["metadata"]) == {
        "warc_record_offset": 100,
        "warc_record_length": 99,
        "extractor": "weft-1",
        "words": 8,
        "charset": "",
        "canonical": "",
        "author": "Ada",
        "published": "2020-01-02",
    }
    assert (first["created"], second["created"]) == ("2020-01-02", "2020-01-02")
    assert second["title"] == "Title 2"
    assert [finding.removal for finding in findings] == [None, None]
    assert findings[0].url == "https://site.example/1"


async def test_every_removal_has_its_reason_and_leaves_no_text_behind() -> None:
    disk = Disk()
    corpus = await disk.corpus()
    pages = [
        refined(1),
        refined(2, body=b"body 1", text="other words"),
        refined(3, text="PAGE 1  tells of cloth,\nand of wool. "),
        refined(4, text=" \n"),
        refined(5, noindex=True),
        unparsable(6),
        refined(7, kind=Kind.SITEMAP),
    ]
    findings = await corpus.commit(pages)
    reasons = [None, "duplicate-body", "duplicate-text", "empty", "noindex", "unparsable", None]
    assert [finding.removal and finding.removal.value for finding in findings] == reasons
    assert findings[5].refusal is Refusal.TIMEOUT
    await corpus.compact(final=True)
    assert [row["url"][-1] for row in await disk.data()] == ["1"]
    removed = await disk.removed()
    assert [row["filter_reason"] for row in removed] == reasons[1:6]
    assert removed[0]["filter_detail"] == pages[0][1].id
    assert removed[4]["filter_detail"] == "parse-timeout: 2.1 s"
    assert {row["text"] for row in removed} == {""}
    counts = corpus.counts()
    assert (counts.documents, counts.duplicates, counts.near_duplicates) == (1, 2, 0)
    assert counts.removed == dict.fromkeys(reasons[1:6], 1)


async def test_a_page_delivered_again_is_recognised_whatever_became_of_it() -> None:
    disk = Disk()
    corpus = await disk.corpus()
    pages = [refined(1), refined(2, body=b"body 1"), unparsable(3)]
    first = await corpus.commit(pages)
    again = await corpus.commit([*pages, refined(4), refined(4)])
    assert again[:3] == first
    corpus = await disk.corpus()  # and after a restart
    assert (await corpus.commit(pages)) == first
    await corpus.compact(final=True)
    assert [row["url"][-1] for row in await disk.data()] == ["1", "4"]
    assert [row["url"][-1] for row in await disk.removed()] == ["2", "3"]
    assert corpus.counts().documents == 2


async def test_a_page_that_is_no_document_has_no_duplicates() -> None:
    disk = Disk()
    corpus = await disk.corpus()
    findings = await corpus.commit([refined(1, noindex=True), refined(2, body=b"body 1")])
    assert [finding.removal for finding in findings] == [Removal.NOINDEX, None]


async def test_shards_hold_each_row_once_and_counts_survive() -> None:
    disk = Disk(shard_bytes=20_000)
    corpus = await disk.corpus()
    for batch in range(12):
        await corpus.commit([refined(batch * 10 + number) for number in range(10)])
        await corpus.compact()
    assert len(await disk.data()) % 10 == 0
    assert [document.url async for document in corpus.documents(3)] == [f"https://site.example/{n}" for n in range(3)]
    seen = [document.url async for document in corpus.documents()]
    assert sorted(seen) == sorted({f"https://site.example/{n}" for n in range(120)})
    corpus = await disk.corpus()
    await corpus.commit([refined(7), refined(500)])
    await corpus.compact(final=True)
    rows = await disk.data()
    assert len(rows) == len({row["id"] for row in rows}) == 121
    assert await disk.blobs.list("corpus/segments/") == []
    assert len(await disk.blobs.list("corpus/data/")) > 2
    assert corpus.counts().documents == 121
    assert len([document async for document in corpus.documents()]) == 121


async def test_what_was_written_but_not_registered_is_deleted_and_blocks_nothing() -> None:
    disk = Disk()
    await disk.blobs.put("corpus/segments/main-00000001-abcdef00.parquet", b"half a commit")
    corpus = await disk.corpus()
    assert await disk.blobs.list("corpus/segments/") == []
    assert [finding.removal for finding in await corpus.commit([refined(1)])] == [None]


async def test_an_empty_commit_writes_nothing() -> None:
    disk = Disk()
    corpus = await disk.corpus()
    assert await corpus.commit([]) == []
    await corpus.compact(final=True)
    assert await disk.blobs.list() == []


async def test_half_a_surrogate_pair_does_not_hold_up_its_segment() -> None:
    disk = Disk()
    corpus = await disk.corpus()
    await corpus.commit([refined(1, text="before \ud83d after"), refined(2)])
    await corpus.compact(final=True)
    assert [row["text"][:7] for row in await disk.data()] == ["before ", "Page 2 "]


async def test_many_small_segments_are_put_together_before_they_fill_a_shard() -> None:
    disk = Disk()
    corpus = await disk.corpus()
    for number in range(MOST_SEGMENTS):
        await corpus.commit([unparsable(number)])
        await corpus.compact()
    assert await disk.blobs.list("corpus/segments/") == []
    assert len(await disk.removed()) == MOST_SEGMENTS
    (name,) = [name for name, _ in await disk.blobs.list("corpus/_removed/")]
    assert pq.ParquetFile(io.BytesIO(await disk.blobs.get(name))).num_row_groups == 1
    assert await disk.data() == []
