"""Where a site's pages lie: a path from a page's number, and the number from a path."""

import re
from urllib.parse import quote

NUMBER = re.compile(r"(?:-|id=)(\d{1,9})(?:/|\.html)?$")
TRACKING = re.compile(r"[?&](?:utm_[a-z]+|gclid|fbclid)=[^&]*")


def page_path(template: str, topics: tuple[str, ...], dice: int, page: int) -> str:
    """The path of a page; each kind of site has its own habit, and the number is in all of them."""
    if page == 0:
        return "/"
    first, second = quote(topics[dice % len(topics)]), quote(topics[(dice >> 8) % len(topics)])
    match template:
        case "news":
            return f"/{first}/{second}-{page}"
        case "blog":
            return f"/{2016 + dice % 9}/{1 + (dice >> 16) % 12:02}/{first}-{second}-{page}/"
        case "docs":
            return f"/docs/{first}/{second}-{page}.html"
        case "forum":
            return f"/threads/{first}-{second}-{page}"
        case "shop":
            return f"/products/{first}-{second}-{page}.html"
        case _:
            return f"/list/{first}?id={page}"


def page_number(target: str) -> int | None:
    """The number in a path, if it looks like one of a page."""
    if target == "/":
        return 0
    match = NUMBER.search(target)
    return int(match[1]) if match else None


def without_tracking(target: str) -> str:
    """A target without the parameters that only tell where a visitor came from."""
    return TRACKING.sub("", target)
