"""Paths as robots.txt compares them (RFC 9309, 2.2.2): one spelling for every equivalent %-encoding.

URLs and rule values come in, octet strings in normal form go out. Called by robots.py for both sides of a comparison.

Normal form: %-encoded unreserved octets are decoded, so are those reserved ones that delimit nothing (`%3A` is `:`);
everything else outside the URL alphabet is %-encoded, in lower case. Within a query `%2F` and `%3F` are `/` and `?`, as
in the RFC's own example (`?baz=http://foo.bar`); within a path they stay apart from the separators.
"""

import re

import ada_url

from .robots_octets import BulkNormal

_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_DELIMIT_NOTHING = ":@!'(),;[]"
_PLAIN = _UNRESERVED + _DELIMIT_NOTHING + "/?&=+"
_CLASS = re.escape(_PLAIN)


def _spellings() -> dict[str, str]:
    """Every spelling of a %-encoded octet → its normal form."""
    table = {}
    for octet in range(256):
        code = f"%{octet:02x}"
        normal = chr(octet) if chr(octet) in _UNRESERVED + _DELIMIT_NOTHING else code
        for spelling in (code, code.upper(), code[:2].upper() + code[2], code[:2] + code[2].upper()):
            table[spelling] = normal
    return table


_NORMAL = _spellings()
_LONE = "\ue000"  # stands for a `%` that begins no sequence
_ENCODED_ALWAYS = [(chr(octet), f"%{octet:02x}") for octet in range(128) if chr(octet) not in _PLAIN + "%*$\n"]
_ENCODED_ALWAYS.append((_LONE, "%25"))
_ODD = re.compile(rf"[^{_CLASS}]")
_RULE_ODD = re.compile(rf"[^{_CLASS}*$\n]")
_PIECES = re.compile(r"[^%]+|%..", re.DOTALL)
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_INNER_DOLLAR = re.compile(r"\$(?=[^\n])")  # `$` anchors at the end only
# `https://host/path`, a mistake that is often made, means `/path`.
_AUTHORITY = re.compile(r"\n[hH][tT][tT][pP][sS]?://[^/\n]*+/?+")
_LARGE = 20_000  # octets of rules; below, few are odd as a rule
_BULK = BulkNormal(_PLAIN, _UNRESERVED + _DELIMIT_NOTHING)
# A URL whose path needs no parser: no dot segments, nothing that a URL parser would rewrite.
_SIMPLE_URL = re.compile(rf"https?://[A-Za-z0-9.:_-]+(/[{_CLASS}]*)(?:#|$)")


def url_path(url: str) -> str:
    """Path and query of a URL (or of a bare path), in normal form."""
    simple = _SIMPLE_URL.match(url)
    path = simple[1] if simple and "/." not in simple[1] else _parsed_path(url)
    if _ODD.search(path):
        path = _query_decoded(_normal(path).replace("*", "%2a").replace("$", "%24"))
    return path


def rule_paths(values: list[str]) -> list[str]:
    """Values of Allow and Disallow lines (octets as latin-1) in normal form, wildcards kept; order and number kept."""
    # All at once, since a hostile file has one %-sequence in every three bytes and tens of thousands of lines.
    text = "\n".join(values)
    if not _RULE_ODD.search(text) and "$" not in text and "://" not in text:
        return values
    if len(text) > _LARGE:
        text = _BULK.normal(text)
    else:
        text = _normal(text)
        if "%2f" in text or "%3f" in text:
            text = "\n".join(map(_query_decoded, text.split("\n")))
        text = _INNER_DOLLAR.sub("%24", text)
    if "://" in text:
        text = _AUTHORITY.sub("\n/", "\n" + text)[1:]
    return text.split("\n")


def _normal(text: str) -> str:
    """Normal form, but for `*`, `$` and line ends. By whole-text operations: a hostile text is odd in every octet."""
    if "%" in text:
        text = text.replace("%%", _LONE + "%").replace("%" + _LONE, _LONE + _LONE)
        text = _LONE_PERCENT.sub(_LONE, text)
        text = "".join([_NORMAL.get(piece, piece) for piece in _PIECES.findall(text)])
    for char, code in _ENCODED_ALWAYS:
        if char in text:
            text = text.replace(char, code)
    # No backslash is left by now, so that those of the error handler are its own.
    return text if text.isascii() else text.encode("ascii", "backslashreplace").decode().replace("\\x", "%")


def _parsed_path(url: str) -> str:
    """By the parser that the connection goes by; a URL it refuses is taken by its letters."""
    if url.startswith("/"):
        url = "http://host" + url
    try:
        normal = ada_url.normalize_url(url)
    except ValueError:
        normal = url.encode("utf-8", "replace").decode("latin-1")
    rest = normal.partition("#")[0].partition("://")[2]
    path = rest[len(re.split(r"[/?]", rest, maxsplit=1)[0]) :]
    return path if path.startswith("/") else "/" + path


def _query_decoded(path: str) -> str:
    if "?" not in path:
        return path
    head, mark, query = path.partition("?")
    return head + mark + query.replace("%2f", "/").replace("%3f", "?")
