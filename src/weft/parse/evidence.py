"""What a page brings, for the frontier's trap defence: hashes of some of its lines, and of its whole text.

A line that is nothing but links says where to go, not what is there, and does not count. Lines of the main text come
first; a page with fewer than eight of them is told by all that it shows.
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
_TOLD: Final = 3  # hashes of a line: the first is asked for, all are remembered
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
    clean, others = _cleaned(main, own), _cleaned(rest, own)
    return Evidence(
        xxhash.xxh3_64_intdigest(whole.encode("utf-8", "surrogatepass")) if whole.strip() else 0,
        _packed(_prose(main), _prose(rest)),
        _packed((hashes[0] for hashes in clean), (hashes[0] for hashes in others)),
        _packed((second for hashes in clean for second in hashes[1:]), ()),
    )


def _is_linked(facts: list[int], row: int) -> bool:
    return facts[row + Fact.LINK_CHARS] > _LINKED * facts[row + Fact.LENGTH]


def _hash(line: str) -> int:
    return xxhash.xxh3_64_intdigest(line.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF or 1


def _prose(lines: Sequence[tuple[str, bool]]) -> Iterator[int]:
    return (_hash(line) for line, linked in lines if not linked)


def _cleaned(lines: Sequence[tuple[str, bool]], own: set[str]) -> list[list[int]]:
    """Each line that is prose, by the pairs of neighbouring words in it: the smallest hashes of them.

    What puts the same few words together anew says nothing. Words of the page's own URL are passed over with what they
    stand beside: without them, others would become neighbours that are not.
    """
    prose = [line for line, linked in lines if not linked]
    if len(prose) > _CLEANED:
        prose = sorted(prose, key=_hash)[:_CLEANED]
    found = []
    for line in prose:
        words = _WORD.findall(line[:_BEGINNING].lower())
        pairs = [f"{word} {after}" for word, after in pairwise(words) if word not in own and after not in own]
        said = pairs or [word for word in words if word not in own]
        if said:
            found.append(sorted(map(_hash, said))[:_TOLD])
    return found


def _packed(first: Iterable[int], then: Iterable[int]) -> bytes:
    """The smallest of the first, then of the others."""
    hashes = list(dict.fromkeys([*sorted(set(first))[:_KEPT], *sorted(then)]))[:_KEPT]
    return b"".join(number.to_bytes(4, "little") for number in hashes)
