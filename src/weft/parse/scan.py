"""Links told from the tags of a page alone, without a tree: every byte is looked at a few times, whatever it holds.

In: a page in UTF-8. Out: a `Scan`. Called by `reader` for pages too large, too deep or too dear to be read whole, and
by `collect` for what HTML takes for text.
"""

import html
import re
from typing import Final

import msgspec

from .bare import ATTRIBUTES, NAME, SPACE, VALUE
from .raw import RawLink, RawMeta

MOST: Final = 400_000  # tags that are read, those of links among them: more take 512 MB, and seconds
_LONGEST: Final = 1 << 16  # bytes of a tag's attributes
_TEXTS: Final = rb"script|style|textarea|title|xmp|noembed"  # hold text, whatever it looks like
_TOKEN: Final = re.compile(
    rb"<(?:(!--)|(?:(%b)|(area|a|base|link|meta|iframe|frame|object|embed))(?=[ \t\n\f\r/>]))" % _TEXTS, re.IGNORECASE
)
_ATTRIBUTES: Final = re.compile(rb"(%b)>" % ATTRIBUTES)
_PAIR: Final = re.compile(rb"(%b)(?:%b*+=%b*+(%b)?+)?+" % (NAME, SPACE, SPACE, VALUE))
_COMMENT_END: Final = re.compile(rb"--!?>")
_TEXT_ENDS: Final = {name: re.compile(rb"</%b(?=[ \t\n\f\r/>])" % name, re.IGNORECASE) for name in _TEXTS.split(b"|")}
# In an attribute a reference without ";" is none before "=", a letter or a digit: addresses have such parameters.
_REFERENCE: Final = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*(?:;|(?![A-Za-z0-9=])))")
_TARGETS: Final = {b"iframe": b"src", b"frame": b"src", b"embed": b"src", b"object": b"data"}


class Scan(msgspec.Struct):
    """What was found, in the order of the page."""

    links: list[RawLink] = []
    metas: list[RawMeta] = []
    base: str = ""
    beyond: int = 0  # tags that were counted only


def scan(page: bytes) -> Scan:
    """One pass. What follows a comment, a script or a tag that does not end is part of it."""
    found = Scan()
    taken = 0
    token = _TOKEN.search(page)
    while token is not None:
        end = token.end()
        if token[1]:
            ended = _COMMENT_END.search(page, end - 2)  # `<!-->` is a whole one
        else:
            attributes = _ATTRIBUTES.match(page, end)
            if attributes is None:
                break
            ended = attributes
            if token[2]:
                ended = _TEXT_ENDS[token[2].lower()].search(page, attributes.end())
            elif taken < MOST:
                taken += 1
                _take(found, token[3].lower(), attributes[1][:_LONGEST])
            else:
                found.beyond += 1
        if ended is None:
            break
        token = _TOKEN.search(page, ended.end())
    return found


def _take(found: Scan, tag: bytes, written: bytes) -> None:
    """One tag that may hold a link, or say something of the page."""
    pairs = {
        name.lower(): value for name, value in reversed(_PAIR.findall(written))
    }  # of repeated ones the first counts
    if tag == b"meta":
        _take_meta(found, pairs)
        return
    href = _value(pairs.get(_TARGETS.get(tag, b"href")))
    if href is None:
        return
    if tag == b"base":
        found.base = found.base or href
    elif tag in _TARGETS and not (href and is_page(_value(pairs.get(b"type")))):
        pass
    else:
        found.links.append(RawLink(href, "", _value(pairs.get(b"rel")) or "", tag.decode()))


def _take_meta(found: Scan, pairs: dict[bytes, bytes]) -> None:
    name = _value(pairs.get(b"property")) or _value(pairs.get(b"name")) or _value(pairs.get(b"http-equiv"))
    content = _value(pairs.get(b"content"))
    if name and content:
        found.metas.append(RawMeta(name.strip().lower(), content.strip()))


def is_page(kind: str | None) -> bool:
    """Whether what is embedded may be a page, by the type it is said to have."""
    return not kind or "html" in kind.lower()


def _value(written: bytes | None) -> str | None:
    if written is None:
        return None
    if written[:1] in (b'"', b"'"):
        written = written[1:-1]
    text = written.decode("utf-8", "replace")
    return _REFERENCE.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text
