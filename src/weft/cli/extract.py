"""The verb `extract`: the main text of one HTML file."""

import argparse

import msgspec

from weft.config import Config
from weft.errors import Refused, UsageError
from weft.parse.bounded import bounded
from weft.parse.reader import is_binary
from weft.parse.text import extract as extract_page
from weft.urls.canonical import BadURLError, canonical

from . import show
from .tools import read_input


def extract(options: argparse.Namespace) -> int:
    body, url = read_input(options.file), _url(options.url)
    if is_binary(body):
        raise Refused(f"{options.file}: no HTML, but binary data")

    def work() -> bytes:
        page = extract_page(body, url, markdown=options.markdown)
        return msgspec.json.encode(page) if options.json else page.text.encode("utf-8", "replace")

    try:
        found = bounded(work, Config().parse).decode()
    except Refused as refusal:
        raise Refused(f"{options.file}: no parser may have this page: {refusal}") from None
    show.line(found)
    return 0


def _url(given: str | None) -> str | None:
    try:
        return canonical(given) if given else None
    except BadURLError as error:
        raise UsageError(f"--url {show.printable(given or '')!r}: {error}") from None
