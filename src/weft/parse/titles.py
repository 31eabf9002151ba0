"""A page's title without its site's name.

In: a title, the names the site goes by, the headings of the page. Out: the title. Called by `weft.parse.metadata`.
"""

import re
from collections.abc import Iterable

_AFTER = re.compile(r"(?:\s+[|\-–—·•»›:_/]+|\s*[|_｜\-–—－]+)\s*$")  # before a name at the end
_BEFORE = re.compile(r"\s*(?:[|_｜:]|[|\-–—·•»›:_/]+\s)\s*")  # behind a name at the beginning
_WHOLE = re.compile(r"\s|[\u2e80-\uffdc]")  # shows that a name is no half of a word with a hyphen
_BEHIND_WHOLE = re.compile(rf"{_BEFORE.pattern}|\s*[\-–—－]\s*")
# Between a heading and what is no part of it. Of 1,551 titles `|` mended 93 and spoilt 2, `-` 54 and 4, the others 11
# and none; where a colon, a comma or a bracket follows, the heading is half of the title.
_BEHIND_HEADING = re.compile(r"\s+[|\-–—•]\s+")
_MARKS = " ¶"  # behind a heading: a link to itself
_SECTION = 10  # characters: so short a heading may name a part of the site, as in `Opinion | What nobody dares to say`
_NAME = 30  # characters: more is seldom the name of a site
_LEAST = 4  # characters, as an ideograph counts two: less is not what anybody would call the page


def without_sites(title: str, sites: list[str]) -> str:
    """`Title | Site` and `Site: Title` without the site; as it is where next to nothing would be left."""
    for site in sites:
        if site and site.casefold() in title.casefold():
            title = _without_end(_without_beginning(title, site), site)
    return title


def only_heading(title: str, headings: Iterable[str], url: str = "") -> str:
    """`Heading | Whatever` without what follows the heading; for sites that name themselves nowhere, or otherwise."""
    if not _BEHIND_HEADING.search(title):
        return title
    host = url.partition("://")[2].partition("/")[0]
    for heading in headings:
        heading = heading.rstrip(_MARKS)
        separator = _BEHIND_HEADING.match(title, len(heading))
        if not separator or title[: len(heading)].casefold() != heading.casefold():
            continue
        if "".join(heading.split()).casefold() in host:  # the site's name, set as a heading
            continue
        if _size(heading) >= _SECTION or len(title) - separator.end() <= _NAME:
            return _unless_tiny(title[: len(heading)], title)
    return title


def _without_end(title: str, site: str) -> str:
    if title[-len(site) :].casefold() != site.casefold():
        return title
    rest = title[: -len(site)]
    separator = _AFTER.search(rest[-20:])
    return _unless_tiny(rest[: len(rest) - len(separator[0])], title) if separator else title


def _without_beginning(title: str, site: str) -> str:
    if title[: len(site)].casefold() != site.casefold():
        return title
    separator = (_BEHIND_WHOLE if _WHOLE.search(site) else _BEFORE).match(title, len(site))
    return _unless_tiny(title[separator.end() :], title) if separator else title


def _unless_tiny(rest: str, title: str) -> str:
    return rest.strip() if _size(rest) >= _LEAST else title


def _size(text: str) -> int:
    return sum(1 if character < "\u2e80" else 2 for character in text)
