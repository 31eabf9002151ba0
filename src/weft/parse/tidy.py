"""The text of a block as it is meant to be read: white space evened out, what is no text left out or mended.

In: the text nodes of a block, joined. Out: its text, empty if nothing can be seen; in NFC, when it is kept. Called by
`weft.parse.walk`, `weft.parse.render` and `weft.parse.metadata`.
"""

import re
from unicodedata import combining, is_normalized, normalize

BREAK = "\x00"  # stands for <br> inside a block; the parser lets no NUL through
_CONTROLS = dict.fromkeys([*range(1, 9), *range(0x0E, 0x1C), 0x7F])  # the others are white space
# Beside these, hints where a line may break or must not, marks of byte order, invisible operators, and the pictures of
# icon fonts.
_SILENT = re.compile("[\x01-\x08\x0e-\x1b\x7f\u00ad\u2060-\u2064\ufeff\ue000-\uf8ff]+")
# Spaces without width, joiners, and marks of direction, which may say something of their neighbours.
_UNSEEN = re.compile("[\u200b-\u200f]+")
_SPACE = "\u200b"
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # Thai, Lao, Burmese, Khmer: no other space
# Control characters beyond ASCII show that a charset was mistaken for Latin-1 on the way into the page.
_MISTAKEN = re.compile("[\u0080-\u009f]")
_NEXT_LINE = "\u0085"
_TOWER = 120  # marks on one letter: no script needs 30 (UAX 15, section 13), and ordering them takes quadratic time
_OCTETS = re.compile("[\u0080-\u00ff]+")
# UTF-8 taken for Windows-1252 on the way into the page: signs that no text has in a row. After a capital letter with
# til or circumflex quotes, dashes and dots may well stand, so that these are left alone.
_TWICE_SIGNS = ("Ã", "Â", "€", "Ÿ")  # one stands in all that is common; looking for a single sign is quickest
_HIGH = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_TWICE = re.compile(f"[ÂÃ][¡-¿€ƒ†‡ˆ‰ŠŒŽ•˜™šœžŸ]|[âã][{_HIGH}\u0080-¿]{{2}}|ðŸ[{_HIGH}\u0080-¿]{{2}}")


def tidy(raw: str, pre: int) -> str:
    """White space as it stands in a <pre>, elsewhere lines where a <br> is and single spaces."""
    if pre:
        return mended(raw.replace(BREAK, "\n")).strip("\n").rstrip()
    if BREAK in raw:
        return "\n".join(filter(None, map(_evened, raw.split(BREAK))))
    text = raw.strip()
    # Printable text has no white space but the plain one, and nothing to mend; most is tidy already.
    return text if text.isprintable() and "  " not in text else _evened(text)


def _evened(text: str) -> str:
    """One line with single spaces. One of the mistaken characters counts as white space, and is mended before."""
    line = " ".join((mended(text) if _NEXT_LINE in text else text).split())
    return line if line.isprintable() else " ".join(mended(text).split())


def mended(text: str) -> str:
    """The text without what nobody sees, and with what its control characters were meant to be."""
    if text.isascii():
        return text.translate(_CONTROLS)
    text = once(text)
    if _MISTAKEN.search(text):
        text = _OCTETS.sub(_meant, text)
    return _UNSEEN.sub(_telling, _SILENT.sub("", text))


def _telling(unseen: re.Match[str]) -> str:
    """Those of a run of unseen characters that say something of what they stand beside."""
    text, start, end = unseen.string, unseen.start(), unseen.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if not before.strip() and not after.strip():
        return ""
    return unseen[0] if _UNSPACED.match(before) else unseen[0].replace(_SPACE, "")


def _meant(stretch: re.Match[str]) -> str:
    """What these octets say in UTF-8, or else in Windows-1252."""
    octets = stretch[0].encode("latin-1")
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return octets.decode("cp1252", "ignore")


def once(text: str) -> str:
    """What was written in UTF-8, read as Windows-1252, and written in UTF-8 again."""
    for sign in _TWICE_SIGNS:
        if sign in text:
            return _TWICE.sub(_read_once, text)
    return text


def _read_once(stretch: re.Match[str]) -> str:
    octets = b"".join(sign.encode("latin-1" if sign <= "\u00ff" else "cp1252") for sign in stretch[0])
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return stretch[0]


def composed(text: str) -> str:
    """In NFC, and encoded once. Of a run of marks too long to be put in order only the beginning stays."""
    text = once(text)
    if len(text) > _TOWER and any(map(combining, text[:: _TOWER // 2])):
        text = _without_towers(text)
    return text if is_normalized("NFC", text) else normalize("NFC", text)


def _without_towers(text: str) -> str:
    sampled = bytes(map(bool, map(combining, text[:: _TOWER // 2])))
    if b"\1\1" not in sampled:  # of these, such a run covers two
        return text
    kept: list[str] = []
    height = 0
    for character in text:
        height = height + 1 if combining(character) else 0
        if height <= _TOWER:
            kept.append(character)
    return "".join(kept)
