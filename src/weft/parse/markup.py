"""Mark-up inside values: tags and entities that a value of JSON-LD or of a <meta> was not meant to show.

In: a string. Out: its text. Called by `weft.parse.schema` and `weft.parse.metadata`.
"""

import html
import re

from weft.parse.tidy import tidy

# No way back into any part. `a < b` is no tag.
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,2000}+>")
_BREAK = re.compile(r"<br\b[^<>]{0,200}+>|</?(?:p|div|li|h[1-6]|tr|blockquote|section)\b[^<>]{0,2000}+>", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*+>|\Z)", re.IGNORECASE | re.DOTALL)
# With its semicolon only: `?a=1&copy=2` is an address.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def unescaped(text: str) -> str:
    """Entities undone."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def words(text: str) -> str:
    """On one line, without tags; entities stay."""
    return " ".join(_TAG.sub(" ", text).split() if "<" in text else text.split())


def lines(text: str) -> str:
    """A line for each paragraph, without tags and entities; also of mark-up that was escaped once more."""
    if "<" not in text and "&lt;" in text:
        text = unescaped(text)
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", _UNSEEN.sub(" ", text)))
    return "\n".join(filter(None, (tidy(line, pre=0) for line in unescaped(text).splitlines())))


def _character(match: re.Match[str]) -> str:
    return html.unescape(match[0])
