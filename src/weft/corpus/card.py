"""corpus/README.md: tells a person what lies there, and HF `datasets` which files are the corpus. Called by shards."""

from typing import Final

NAME: Final = "corpus/README.md"


def card(*, removed: bool) -> str:
    """Without the list of files `datasets` would take `_removed/` for a part of the corpus."""
    configs = [("default", "data/*.parquet"), *([("removed", "_removed/*.parquet")] if removed else [])]
    lines = ["---", "configs:"]
    for name, pattern in configs:
        lines += [f"- config_name: {name}", f"  data_files: {pattern}"]
    lines += [
        "---",
        "",
        "# A web corpus, made by Weft",
        "",
        "`data/*.parquet` holds the documents, one row each, all files with one schema; `_removed/*.parquet` the pages",
        "that did not become documents, with `filter_reason`. While a crawl runs, `segments/` holds what is committed",
        "but not yet in a shard.",
        "",
        "    datasets.load_dataset('corpus', split='train')",
        "    duckdb.sql(\"select url, title from 'corpus/data/*.parquet' limit 10\")",
        "",
    ]
    return "\n".join(lines)
