"""URLs as values: `canonical`, `host` (domain, partition, key), `scope` (static rules), `own` (our own hosts)."""
