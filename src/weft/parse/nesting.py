"""How deep elements are nested, told from their tags alone, before a tree is built.

In: the tags of a page, as `bare.tags` tells them. Out: whether they are nested too deep. Called by `prescan`.

The stack here holds at least what a parser's does: an end tag counts only where any parser closes something by it.
"""

from collections import Counter
from collections.abc import Iterable

import numpy as np

NESTING = 400_000_000  # open elements summed over all tags; Lexbor looks at about that many in a second
_DEEPEST = 10_000
_SLASH = ord("/")
_PIECE = 1 << 18  # bytes looked at at a time
_FAR = 32  # open elements that an end tag may close with its own

# Names that end a drawing or a formula stay what they are inside one; other names of HTML nest there.
_EMPTY = frozenset(b"br hr img embed meta head body".split())
_EMPTY_IN_HTML = _EMPTY | frozenset(
    b"html area base basefont bgsound col frame input link param source track wbr".split()
)
_ITEMS = {
    b"p": frozenset([b"p"]),
    b"li": frozenset(b"p li".split()),
    b"dt": frozenset(b"p dt dd".split()),
    b"dd": frozenset(b"p dt dd".split()),
}
_CELLS = frozenset(b"p td th".split())
_ROWS = _CELLS | {b"tr"}
_GROUPS = _ROWS | frozenset(b"tbody thead tfoot caption colgroup".split())
_ENDED_BY = {
    **_ITEMS,
    b"option": frozenset([b"option"]),
    b"optgroup": frozenset([b"option"]),
    **dict.fromkeys((b"td", b"th"), _CELLS),
    b"tr": _ROWS,
    **dict.fromkeys((b"tbody", b"thead", b"tfoot"), _GROUPS),
}
_FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
# What stops the search for the element that an end tag closes (WHATWG HTML, section 13.2.4.2).
_WALLS = frozenset(
    b"applet caption table td th marquee object template select svg math foreignobject desc title mi mo mn ms mtext"
    b" annotation-xml".split()
)
_WALLS_OF_TABLES = _WALLS - frozenset(b"caption td th".split())
_TABLES = frozenset(b"table tbody thead tfoot tr td th caption".split())
_BLOCKS = frozenset(
    b"address article aside blockquote button center details dialog dir div dl fieldset figcaption figure footer header"
    b" hgroup listing main menu nav ol pre search section summary ul dd dt form h1 h2 h3 h4 h5 h6 li p object template"
    b" marquee applet select".split()
)
_WALLS_OF_ITEMS = _WALLS | frozenset(b"ol ul".split())
_SPECIAL = _WALLS | _BLOCKS | _TABLES | frozenset(b"colgroup frameset noscript optgroup option".split())
# Outside a table its parts are no elements, nor is a form in a form: their end tags close only what nests nowhere, or
# what is opened again.
_ENDED_WITH_PARTS = _FORMATTING | _GROUPS | {b"li", b"option"}
_ENDED_WITH_FORMS = frozenset(b"p li option".split())
_OPEN_P_ENDS = frozenset([b"p"])


def count_tags(html: bytes) -> tuple[int, int]:
    """How many start tags and end tags there are, those in scripts and comments among them."""
    starts = ends = 0
    for start in range(0, len(html), _PIECE):
        piece = np.frombuffer(html[start : start + _PIECE + 1], np.uint8)
        after = piece[np.flatnonzero(piece[:-1] == ord("<")) + 1]
        ends += int(np.count_nonzero(after == ord("/")))
        starts += int(np.count_nonzero((after | 32) - ord("a") < 26))
    return starts, ends


def is_too_deep(tags: Iterable[bytes]) -> bool:
    opened: list[bytes] = []
    lost: Counter[bytes] = Counter()  # formatting that ended with what it stood in: a parser opens it again
    ended_by, empty = _ENDED_BY, _EMPTY_IN_HTML
    summed = again = 0
    for name in tags:
        depth = len(opened) + again
        summed += depth
        if depth > _DEEPEST or summed > NESTING:
            return True
        if name[0] == _SLASH:
            if opened and opened[-1] == name[1:]:  # the usual case, without a call
                opened.pop()
            else:
                again += _close(opened, name[1:], lost, foreign=empty is _EMPTY)
        elif name not in empty:
            over = ended_by.get(name, _OPEN_P_ENDS if name in _BLOCKS else ())
            while opened and opened[-1] in over:
                opened.pop()
            opened.append(name)
            if name == b"svg" or name == b"math":
                ended_by, empty = _ITEMS, _EMPTY
    return False


def _close(opened: list[bytes], name: bytes, lost: Counter[bytes], *, foreign: bool) -> int:
    """Close an element with all in it, when a parser does so surely; how many more are opened again later."""
    walls = _walls(name)
    for place in range(len(opened) - 1, max(-1, len(opened) - _FAR), -1):
        inner = opened[place]
        if inner == name:
            ended = [inner for inner in opened[place + 1 :] if inner in _FORMATTING]
            lost.update(ended)
            del opened[place:]
            return len(ended)
        if inner in walls or _stays(inner, name, foreign=foreign):
            break
    if not lost[name]:
        return 0
    lost[name] -= 1
    return -1


def _walls(name: bytes) -> frozenset[bytes]:
    if name in _TABLES:
        return _WALLS_OF_TABLES
    if name == b"p":
        return _SPECIAL
    if name == b"li":
        return _WALLS_OF_ITEMS
    return _WALLS if name in _BLOCKS else _SPECIAL


def _stays(inner: bytes, name: bytes, *, foreign: bool) -> bool:
    """Whether an element may stay open though one around it seems to end."""
    if name == b"form":
        return inner not in _ENDED_WITH_FORMS
    if name == b"select":
        return inner != b"option"
    if name in _TABLES:
        return inner not in _ENDED_WITH_PARTS
    # Elements of HTML have ended the drawings around them, whose end tags then end nothing.
    return foreign and name not in _BLOCKS and inner not in _FORMATTING
