"""Seeds as people write them: URLs and bare domains, one a line, with comments. Links for the frontier come out."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from weft.records import Link, Via

from .canonical import BadURLError, canonical


class BadSeed(NamedTuple):
    """A line that is no seed; `line` counts from 1."""

    line: int
    text: str
    why: str


def seed(text: str) -> Link:
    """One seed. A bare domain gets `http://`: servers that prefer https redirect, and a seed's redirect is followed."""
    text = text.strip()
    url = canonical(text if "://" in text else f"http://{text}")
    if not url.startswith(("http://", "https://")):
        raise BadURLError("only http and https can be crawled")
    return Link(url, via=Via.SEED, seed=True)


def read_seeds(lines: Iterable[str]) -> Iterator[Link | BadSeed]:
    """A seed or a complaint for each line that is neither empty nor a comment."""
    for number, line in enumerate(lines, start=1):
        text = line.strip().removeprefix("\ufeff")
        if text and not text.startswith("#"):
            try:
                yield seed(text)
            except BadURLError as error:
                yield BadSeed(number, text, str(error))
