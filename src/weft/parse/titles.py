"""A page's title without its site's name.

In: a title and the names the site goes by. Out: the title. Called by `weft.parse.metadata`.
"""

import re

_AFTER = re.compile(r"(?:\s+[|\-–—·•»›:_/]+|\s*[|_｜])\s*$")  # before a name at the end
_BEFORE = re.compile(r"\s*(?:[|_｜:]|[|\-–—·•»›:_/]+\s)\s*")  # behind a name at the beginning
_LEAST = 4  # characters, as an ideograph counts two: less is not what anybody would call the page


def without_sites(title: str, sites: list[str]) -> str:
    """`Title | Site` and `Site: Title` without the site; as it is where next to nothing would be left."""
    for site in sites:
        if site and site.casefold() in title.casefold():
            title = _without_end(_without_beginning(title, site), site)
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
    separator = _BEFORE.match(title, len(site))
    return _unless_tiny(title[separator.end() :], title) if separator else title


def _unless_tiny(rest: str, title: str) -> str:
    size = sum(1 if character < "\u2e80" else 2 for character in rest)
    return rest.strip() if size >= _LEAST else title
