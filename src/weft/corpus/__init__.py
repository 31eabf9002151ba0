"""Documents: pages become rows that are committed once, in segments; segments become shards.

corpus (commit, compact, counts) · schema (rows) · registry (which segments count) · shards (compaction) · card · read
"""
