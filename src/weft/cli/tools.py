"""Verbs that need no crawl: `url`, `robots`, `extract`, `simweb`."""

import argparse
import sys
from pathlib import Path

import msgspec

from weft.config import Storage
from weft.errors import UsageError
from weft.fetch.robots import Robots
from weft.urls.canonical import BadURLError, canonical
from weft.urls.host import host_of, partition_of, registrable

from . import show


class UrlRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `weft url` tells of one URL."""

    given: str
    canonical: str = ""
    host: str = ""
    domain: str = ""
    partition: int = 0
    error: str = ""


def url(options: argparse.Namespace) -> int:
    rows = [_url_row(given, options.base) for given in options.urls]
    for row in rows:
        if options.json:
            show.json_line(row)
        elif row.error:
            sys.stderr.write(f"weft: {show.printable(row.given)}: {row.error}\n")
        else:
            show.line(row.canonical)
            if row.host:
                show.line(f"    host {row.host}, domain {row.domain}, partition {row.partition}")
    return 2 if any(row.error for row in rows) else 0


def _url_row(given: str, base: str | None) -> UrlRow:
    try:
        form = canonical(given, base)
    except BadURLError as error:
        return UrlRow(given, error=str(error))
    if not form.startswith(("http://", "https://")):
        return UrlRow(given, form)
    host = host_of(form)
    return UrlRow(given, form, host, registrable(host), partition_of(host, Storage().partitions))


class RobotsRow(msgspec.Struct, frozen=True):
    """What `weft robots` tells of one URL."""

    url: str
    allowed: bool
    rule: str


def robots(options: argparse.Namespace) -> int:
    rules = Robots.parse(read_input(options.file))
    for given in options.urls:
        decision = rules.matched(given, options.agent)
        row = RobotsRow(given, decision.allowed, decision.line)
        if options.json:
            show.json_line(row)
        else:
            verdict = "allowed" if row.allowed else "disallowed"
            show.line(f"{verdict:<10}  {show.printable(given)}  ({show.printable(row.rule) or 'no rule matches'})")
    delay = rules.crawl_delay(options.agent)
    if delay is not None and not options.json:
        show.line(f"Crawl-delay: {delay:g} s")
    return 0


def read_input(name: str) -> bytes:
    """A file's bytes; `-` is standard input."""
    if name == "-":
        return sys.stdin.buffer.read()
    if not name:
        raise UsageError("the name of the file is empty")
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
