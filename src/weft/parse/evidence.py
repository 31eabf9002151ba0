"""What a page brings, for the frontier's trap defence: hashes of some of its lines, and of its whole text.

A line that is nothing but links says where to go, not what is there: it counts among the lines as they stand, not among
the clean ones. Lines of the main text come first; a page with fewer than eight of them is told by all that it shows.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

import xxhash

from weft.records import Evidence

from .raw import Fact, Walk

_KEPT: Final = 16  # hashes of each sort
_ENOUGH: Final = 8  # lines of main text from which on the rest of the page is not looked at
_MOST: Final = 256  # lines that are looked at
_CLEANED: Final = 48  # lines; more are sampled by their hash: words are dear to tell apart
_LINKED: Final = 0.7  # share of linked characters from which a line only says where to go
_BEGINNING: Final = 80  # characters of a line whose words are looked at
_WORD: Final = re.compile(r"[^\W\d_]+")


def evidence(url: str, walk: Walk, kept: Sequence[int]) -> Evidence:
    """Of a page at `url`; `kept` are the blocks of its main text."""
    texts, facts, columns = walk.texts, walk.facts, len(Fact)
    main = [(texts[block], _is_linked(facts, block * columns)) for block in kept[:_MOST]]
    rest: list[tuple[str, bool]] = []
    if len(main) < _ENOUGH:
        chosen = set(kept)
        others = [block for block in range(min(len(texts), _MOST)) if block not in chosen]
        rest = [(walk.title, False), *((texts[block], _is_linked(facts, block * columns)) for block in others)]
    return told(url, main, rest, "\n".join([walk.title, *texts]))


def told(url: str, main: Sequence[tuple[str, bool]], rest: Sequence[tuple[str, bool]], whole: str) -> Evidence:
    """From lines, each with the word whether it is nothing but links."""
    own = {word.lower() for word in _WORD.findall(unquote(url))}
    return Evidence(
        xxhash.xxh3_64_intdigest(whole.encode("utf-8", "surrogatepass")) if whole.strip() else 0,
        _packed((_hash(line) for line, _ in main), (_hash(line) for line, _ in rest)),
        _packed(_cleaned(main, own), _cleaned(rest, own)),
    )


def _is_linked(facts: list[int], row: int) -> bool:
    return facts[row + Fact.LINK_CHARS] > _LINKED * facts[row + Fact.LENGTH]


def _hash(line: str) -> int:
    return xxhash.xxh3_64_intdigest(line.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF or 1


def _cleaned(lines: Sequence[tuple[str, bool]], own: set[str]) -> Iterator[int]:
    """A hash of each line that is prose, without digits and the words of the page's own URL.

    It is the smallest among the pairs of neighbouring words: what puts the same few words together anew says nothing.
    """
    prose = [line for line, linked in lines if not linked]
    if len(prose) > _CLEANED:
        prose = sorted(prose, key=_hash)[:_CLEANED]
    for line in prose:
        words = [word for word in _WORD.findall(line[:_BEGINNING].lower()) if word not in own]
        if words:
            yield min(map(_hash, map(" ".join, pairwise(words))), default=_hash(words[0]))


def _packed(first: Iterable[int], then: Iterable[int]) -> bytes:
    """The smallest of the first, then of the others."""
    hashes = list(dict.fromkeys([*sorted(set(first))[:_KEPT], *sorted(then)]))[:_KEPT]
    return b"".join(number.to_bytes(4, "little") for number in hashes)
