"""Who wrote a page, out of all that is said of it.

In: candidates, the surest first. Out: a name. Called by `weft.parse.metadata`.
"""

import re
from collections.abc import Iterable

_LONGEST = 200  # characters
_ADDRESS = re.compile(r"://|^www\.|^\S+@\S+\.\S+$|^/\S*$", re.IGNORECASE)
# Before a capital or a letter that has none: `by chance` is no name either way.
_BY = re.compile(r"(?i:(?:written )?by:? |(?:author|autor|autore|auteur|作者) ?[:：] ?)(?=[^\W\d_a-z])")
_SEPARATOR = re.compile(r"\s*[,;]\s*")


def author(candidates: Iterable[str]) -> str:
    """The first that is a name, or several of them: no profile's address, no paragraph."""
    return next(filter(None, map(_name, candidates)), "")


def _name(said: str) -> str:
    said = " ".join(said[: 4 * _LONGEST].split())
    if not said or len(said) > _LONGEST or _ADDRESS.search(said):
        return ""
    said = said[match.end() :] if (match := _BY.match(said)) else said
    parts = _SEPARATOR.split(said)
    # `Ann Lee, Ann Lee`: only where all are the same, for `Lee, Ann` has commas of its own.
    return parts[0] if len(parts) > 1 and len({part.casefold() for part in parts}) == 1 else said
