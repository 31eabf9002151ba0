"""JSON-LD as pages write it: with comments, CDATA marks, trailing commas, several values in one script.

In: the texts of scripts. Out: the values they hold. Called by `weft.parse.schema`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

_LARGEST = 200_000  # characters of a script; larger ones are product catalogues
_MOST = 500_000  # characters of all scripts of a page
_STRING = r'("[^"\\]*+(?:\\.?[^"\\]*+)*+(?:"|\Z))'  # one that is cut off reaches to the end: nothing is read twice
_MARKS = re.compile(r"[\s\ufeff]*+(?:<!--)?+\s*+(?:(?://|/\*)?+\s*+<!\[CDATA\[(?:\s*+\*/)?+)?+")
_NOISE = re.compile(rf"{_STRING}|//[^\n\r]*+|/\*.*?(?:\*/|\Z)|<!--|-->|\]\]>", re.DOTALL)
_SPARE_COMMA = re.compile(rf"{_STRING}|,(?=\s*+[,}}\]])", re.DOTALL)
# An escape as it is to be, half of a surrogate pair, or a character that needs none.
_ESCAPE = re.compile(
    r"\\(?:([\"\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(u[dD][0-9a-fA-F]{3})|(.?))",
    re.DOTALL,
)
_OPENING = re.compile(r"[{\[]")


def values(scripts: list[str], largest: int = _LARGEST, most: int = _MOST) -> Iterator[Any]:
    """What the scripts hold, as far as it can be read, in order; what is too large is passed over."""
    read = 0
    for script in scripts:
        if len(script) > largest or read + len(script) > most:
            continue
        read += len(script)
        try:
            yield msgspec.json.decode(script)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            yield from _mended(script)


def _mended(script: str) -> Iterator[Any]:
    """The same without what is no JSON, value after value until one cannot be read. Linear in the length."""
    script = script[_MARKS.match(script).end() :]  # type: ignore[union-attr]  # it matches nothing at the least
    script = _SPARE_COMMA.sub(_only_string, _NOISE.sub(_sound, script))
    decoder = json.JSONDecoder(strict=False)  # NaN and line breaks in strings are well with it
    place = 0
    while opening := _OPENING.search(script, place):
        try:
            value, place = decoder.raw_decode(script, opening.start())
        except (ValueError, RecursionError):
            return
        yield value


def _sound(match: re.Match[str]) -> str:
    """A string with escapes that JSON knows; a blank for what stands between strings and is no value."""
    string = match[1]
    if string is None:
        return " "
    if "\\" in string:
        string = _ESCAPE.sub(_known_escape, string)
    return string


def _known_escape(match: re.Match[str]) -> str:
    if match[1]:
        return match[0]
    return "\ufffd" if match[2] else match[3]


def _only_string(match: re.Match[str]) -> str:
    return match[1] or ""
