"""The verb `extract`: the main text of one HTML file."""

import argparse

from weft.errors import Refused, UsageError
from weft.parse.reader import is_binary
from weft.parse.text import extract as extract_page
from weft.urls.canonical import BadURLError, canonical

from . import show
from .tools import read_input


def extract(options: argparse.Namespace) -> int:
    body = read_input(options.file)
    if is_binary(body):
        raise Refused(f"{options.file}: no HTML, but binary data")
    try:
        page = extract_page(body, _url(options.url), markdown=options.markdown)
    except Refused as refusal:
        raise Refused(f"{options.file}: no parser may have this page: {refusal}") from None
    if options.json:
        show.json_line(page)
    else:
        show.line(page.text)
    return 0


def _url(given: str | None) -> str | None:
    try:
        return canonical(given) if given else None
    except BadURLError as error:
        raise UsageError(f"--url {show.printable(given or '')!r}: {error}") from None
