"""`canonical(url, base)`: the one spelling of a URL. Parsers and the command line call it; all else trusts its result.

Only equivalences that hold on every server are used (WHATWG parsing by ada, RFC 3986 §6.2.2) and a short list of
tracking parameters is dropped; two different pages are never merged. canonical(canonical(u)) == canonical(u).
"""

import re
from typing import Final

import ada_url

MAX_INPUT: Final = 16_384
"""Characters; far above any URL that is fetched, and low enough that IDNA takes no noticeable time on hostile hosts."""

TRACKING: Final = frozenset(
    {"gclid", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "igshid", "mc_cid", "mc_eid"}
    | {"_ga", "_gl"}
)
"""Query parameters that only tell where a visitor came from; with them, all that begin with `utm_`."""

_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# An escape behind a stray `%` or `%4` is left alone: decoding it could form a new escape.
_ESCAPE: Final = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%[0-9A-Fa-f]{2}")
_MAYBE_TRACKING: Final = re.compile(r"[?&](?:utm_|[gd]clid|[gw]braid|(?:fb|y|tw)clid|msclkid|igshid|mc_[ce]id|_g[al])")
_MAX_HOST = 253
_MAX_LABEL = 63


class BadURLError(ValueError):
    """Not a URL; the message says why."""


def canonical(url: str, base: str | None = None) -> str:
    """The canonical form of `url`, resolved against `base`. Raises BadURLError when there is none."""
    if len(url) > MAX_INPUT or (base is not None and len(base) > MAX_INPUT):
        raise BadURLError("longer than any URL may be")
    try:
        href = ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)
    except ValueError:
        raise BadURLError("not a URL") from None
    href = href.partition("#")[0]
    if href.startswith(("http://", "https://")):
        href = _checked_authority(href)
    if "%" in href:
        href = _ESCAPE.sub(_unescape, href)
    if "?" in href and _MAYBE_TRACKING.search(href):
        href = _without_tracking(href)
    return href


def _checked_authority(href: str) -> str:
    """Drop user and password; refuse host names that no DNS can hold."""
    start = href.index("//") + 2
    end = href.find("/", start)
    authority = href[start:end]
    if "@" in authority:
        authority = authority.rpartition("@")[2]
        href = href[:start] + authority + href[end:]
    if len(authority) > _MAX_LABEL:
        host = authority.partition(":")[0]
        if len(host.rstrip(".")) > _MAX_HOST or any(len(label) > _MAX_LABEL for label in host.split(".")):
            raise BadURLError("the host name is longer than DNS allows")
    return href


def _unescape(escape: re.Match[str]) -> str:
    text = escape.group()
    octet = int(text[1:], 16)
    return chr(octet) if octet in _UNRESERVED else text.upper()


def _without_tracking(href: str) -> str:
    path, _, query = href.partition("?")
    kept = [part for part in query.split("&") if not _is_tracking(part.partition("=")[0])]
    return f"{path}?{'&'.join(kept)}" if kept else path


def _is_tracking(name: str) -> bool:
    return name in TRACKING or name.startswith("utm_")
