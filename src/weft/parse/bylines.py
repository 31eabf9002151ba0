"""Who wrote a page, out of all that is said of it.

In: candidates, the surest first. Out: a name. Called by `weft.parse.metadata`.
"""

import re
from collections.abc import Iterable
from itertools import accumulate

_LONGEST = 200  # characters
_FEWEST_LETTERS = 2
_ADDRESS = re.compile(r"://|^www\.|^[^\s@]++@[^\s@]+\.[^\s@]++$|^/\S*$", re.IGNORECASE)
# Before a capital or a letter that has none: `by chance` is no name either way.
_BY = re.compile(r"(?i:(?:written )?by:? |(?:author|autor|autore|auteur|作者) ?[:：] ?)(?=[^\W\d_a-z])")
_SEPARATOR = re.compile(r"\s*[,;]\s*")
_QUOTED = re.compile(r"""["“”„«']([^"“”„«»]+)["“”»']""")
_DATE_BEHIND = re.compile(r" [|•·–—-] .*\b(?:19|20)\d\d\b.*")
# What templates leave where they know no author: only what was to follow the name, as in `, USA TODAY`, or the name of
# what they should have filled in.
_UNFILLED = re.compile(r"[,;|–—-]|[\[{<%$]|(?:[a-z_]+\.)+(?:author|name|byline)$")
_NUMBER = re.compile(r"(?=.*\d)[0-9a-f-]{12,}")  # an account's
_WORD = re.compile(r"\w+")
_ACCOUNT = re.compile(r"(?:\w+_|wp|web|site|super)?admin(?:n|istrat\w+|[_\d]+)?")
# A name of nothing but such words is none.
_NOBODY = frozenset(
    _WORD.findall(
        "undefined null none nil nan na no author authors byline by unknown anonymous webmaster team staff user users "
        "guest the site 作者 佚名 匿名 未知 管理员",
    )
)


def author(candidates: Iterable[str]) -> str:
    """The first that is a name, or several of them: no profile's address, no paragraph, nobody."""
    return next(filter(None, map(_name, candidates)), "")


def joined(names: list[str]) -> str:
    """As many of these names, in order, as one value may hold."""
    names = list(filter(None, (" ".join(name[:_LONGEST].split()) for name in names[:_LONGEST])))
    ends = accumulate(len(name) + 2 for name in names)
    return ", ".join(name for name, end in zip(names, ends, strict=True) if end <= _LONGEST + 2)


def _name(said: str) -> str:
    said = " ".join(said[: 4 * _LONGEST].split())
    if not said or len(said) > _LONGEST or _ADDRESS.search(said):
        return ""
    said = said[match.end() :] if (match := _BY.match(said)) else said
    said = _DATE_BEHIND.sub("", said)
    said = quoted[1].strip() if (quoted := _QUOTED.fullmatch(said)) else said
    if _is_nobody(said):
        return ""
    parts = _SEPARATOR.split(said)
    # `Ann Lee, Ann Lee`: only where all are the same, for `Lee, Ann` has commas of its own.
    return parts[0] if len(parts) > 1 and len({part.casefold() for part in parts}) == 1 else said


def _is_nobody(said: str) -> bool:
    if _UNFILLED.match(said) or _NUMBER.fullmatch(said) or sum(map(str.isalpha, said)) < _FEWEST_LETTERS:
        return True
    return all(word in _NOBODY or _ACCOUNT.fullmatch(word) for word in _WORD.findall(said.lower().replace("n/a", "")))
