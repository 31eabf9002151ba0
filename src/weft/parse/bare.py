"""A page without what is no markup: comments, and what scripts, styles and text fields hold.

In: the bytes of a page. Out: the bytes that a parser may take for tags, or the names of these tags, for `nesting`.
Called by `prescan` where its quick look would refuse a page, or finds very many tags.

What a parser makes elements of must never be hidden, or a page made to hurt would hide it so. Where elements change
what the ones inside them mean (drawings, formulas, templates …), no start tag after them is left out.
"""

import re
from collections.abc import Iterator

_MOST = 100_000  # scripts and comments that are left out; what comes after so many is kept as it is
SPACE = rb"[ \t\n\f\r]"
_END = rb"(?=[ \t\n\f\r/>])"
VALUE = rb"(?:\"[^\"]*+\"|'[^']*+'|[^ \t\n\f\r>\"'][^ \t\n\f\r>]*+)"
NAME = rb"(?:=[^ \t\n\f\r/>=]*+|[^ \t\n\f\r/>=]++)"
# What stands between the name of a tag and its ">" (WHATWG HTML, sections 13.2.5.32 to 13.2.5.40).
ATTRIBUTES = rb"(?:[ \t\n\f\r/]++|%b(?:%b*+=%b*+%b?+)?+)*+" % (NAME, SPACE, SPACE, VALUE)
_COMMENT = rb"<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"
_TEXTS = rb"script|style|textarea|title|xmp|iframe|noembed|noframes"
_DOUBTFUL = rb"svg|math|select|template|frameset|plaintext"
_ORDINARY = re.compile(
    rb"(?:[^<]++|<(?![a-z/!?])|<[!?](?!--)[^>]*+>|</(?![a-z])[^>]*+>"
    rb"|<(?!(?:%b|%b)%b)/?[a-z][^ \t\n\f\r/>]*+%b>)*+" % (_TEXTS, _DOUBTFUL, _END, ATTRIBUTES),
    re.IGNORECASE,
)
_HIDDEN = re.compile(_COMMENT, re.IGNORECASE)
_TEXT = re.compile(rb"(<(%b)%b%b>)((?:[^<]++|<(?!/\2%b))*+)" % (_TEXTS, _END, ATTRIBUTES, _END), re.IGNORECASE)
# Icons and lists of choices are on most pages; with nothing else inside they change nothing after them.
_DRAWING = (
    rb"g|path|rect|circle|line|polyline|polygon|ellipse|use|defs|stop|(?:linear|radial)gradient|clippath|mask|text|tspan"
    rb"|symbol|image|animate|animatetransform|pattern|filter|fe[a-z]+"
)
_DRAWN_WHOLE = rb"<svg%b%b>(?:[^<]++|%b|</?(?:%b)%b%b>|<(title|desc)%b%b>[^<]*+</\1%b*+>)*+</svg%b*+>" % (
    *(_END, ATTRIBUTES, _COMMENT, _DRAWING, _END, ATTRIBUTES, _END, ATTRIBUTES, SPACE, SPACE),
)
_CHOICES = rb"<select%b%b>(?:[^<]++|%b|</?(?:option|optgroup)%b%b>)*+</select%b*+>" % (
    *(_END, ATTRIBUTES, _COMMENT, _END, ATTRIBUTES, SPACE),
)
_DRAWN = re.compile(_DRAWN_WHOLE, re.IGNORECASE)
_CHOSEN = re.compile(_CHOICES, re.IGNORECASE)
_PLAIN = re.compile(rb"%b|%b" % (_DRAWN_WHOLE, _CHOICES), re.IGNORECASE)
# What begins with "<": the name of a tag, or nothing; and the "/" that closes the tag at once.
_TAG_BEGUN = rb"%b|<[!?][^>]*+>|</(?![a-z])[^>]*+>|<(/?[a-z][^ \t\n\f\r/>]*+)" % _COMMENT
_TAG = re.compile(rb"%b%b(?:>|\Z)" % (_TAG_BEGUN, ATTRIBUTES), re.IGNORECASE)
_TAG_CLOSED = re.compile(
    rb"%b(?:[ \t\n\f\r]++|/(?!>)|%b(?:%b*+=%b*+%b?+)?+)*+(/?+)(?:>|\Z)" % (_TAG_BEGUN, NAME, SPACE, SPACE, VALUE),
    re.IGNORECASE,
)
_START = re.compile(rb"<([a-z][^ \t\n\f\r/><]*+)", re.IGNORECASE)
_NODES = rb"math|m(?:row|space|frac|sqrt|root|style|sub|sup|subsup|under|over|underover|table|tr|td|padded|phantom)"
_LEAVES = rb"mi|mo|mn|ms|mtext"  # what stands in them is HTML
_FORMULA = re.compile(
    rb"<math%b%b>(?:[^<]++|%b|</?(?!math%b)(?:%b)%b%b>|<(%b)%b%b>[^<]*+</\1%b*+>)*+</math%b*+>"
    % (_END, ATTRIBUTES, _COMMENT, _END, _NODES, _END, ATTRIBUTES, _LEAVES, _END, ATTRIBUTES, SPACE, SPACE),
    re.IGNORECASE,
)
_PAIR = re.compile(rb"<([^<>/]++)></\1>")
_UNCLOSED = re.compile(rb"<(svg|math)>(?:<[^<>/]++>){0,500}</\1>")
_PASSES = 20


def tags(html: bytes) -> Iterator[bytes]:
    """Names of all start tags that a parser may see, and with "/" before it those of end tags that it surely sees."""
    place, doubtful = 0, False
    for _ in range(_MOST):
        ordinary = _ORDINARY.match(html, place)
        end = ordinary.end() if ordinary else place
        if doubtful and html.find(b"<![", place, end) >= 0:
            break
        yield from _named(html[place:end])
        place = end
        if hidden := _HIDDEN.match(html, place):
            place = hidden.end()
        elif text := _TEXT.match(html, place):
            if _is_tangled(text) or (doubtful and not _reads_alike(html, text)):
                break
            yield from _starts(text[0] if doubtful else text[1])
            place = text.end()
        elif closed := _closed(html, place):
            yield from (b"g", b"/g") * closed[0]
            place = closed[1]
        elif not doubtful and (choices := _CHOSEN.match(html, place)):
            yield from _named(choices[0])
            place = choices.end()
        elif tag := _TAG.match(html, place):
            doubtful = True
            yield from _named(tag[0])
            place = tag.end()
        else:
            break
    yield from _starts(html[place:])


def _named(html: bytes) -> Iterator[bytes]:
    yield from filter(None, _TAG.findall(html.lower()))


def _starts(html: bytes) -> list[bytes]:
    return _START.findall(html.lower())


def _closed(html: bytes, place: int) -> tuple[int, int] | None:
    """How many elements a drawing or formula has that leaves nothing open, and where it ends."""
    found = _DRAWN.match(html, place) or _FORMULA.match(html, place)
    if not found:
        return None
    names = [name for name, closed in _TAG_CLOSED.findall(found[0].lower()) if name and not closed]
    rest = b"".join(b"<%b>" % name for name in names)
    for _ in range(_PASSES):
        rest, changed = _PAIR.subn(b"", rest)
        if not changed:
            break
    if rest and not _UNCLOSED.fullmatch(rest):
        return None
    return len(names), found.end()


def _reads_alike(html: bytes, text: re.Match[bytes]) -> bool:
    """Whether it makes no difference to what comes after, if these are tags or text."""
    end = _TAG.match(html, text.end())
    return end is not None and b"<![" not in text[3] and _ORDINARY.fullmatch(html, text.start(3), end.end()) is not None


def bare(html: bytes) -> bytes:
    """Only what may be markup. Linear: every byte is looked at by few expressions, none of which goes back."""
    kept: list[bytes] = []
    place = 0
    for _ in range(_MOST):
        place = _keep(kept, html, place, _ORDINARY.match(html, place))
        if hidden := _HIDDEN.match(html, place):
            place = hidden.end()
        elif text := _TEXT.match(html, place):
            if _is_tangled(text):
                break
            kept.append(text[1])
            place = text.end()
        elif plain := _PLAIN.match(html, place):
            place = _keep(kept, html, place, plain)
        else:
            break
    kept.append(html[place:])
    return b"".join(kept)


def _keep(kept: list[bytes], html: bytes, place: int, match: re.Match[bytes] | None) -> int:
    end = match.end() if match else place
    kept.append(html[place:end])
    return end


def _is_tangled(text: re.Match[bytes]) -> bool:
    """A script that begins another one inside a comment does not end where the first end tag stands."""
    content = text[3]
    return text[2].lower() == b"script" and b"<!--" in content and b"<script" in content.lower()
