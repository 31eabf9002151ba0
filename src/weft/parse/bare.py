"""A page without what is no markup: comments, and what scripts, styles and text fields hold.

In: the bytes of a page. Out: the bytes that a parser may take for tags. Called by `prescan`, before it refuses a page.

What a parser makes elements of must never be hidden, or a page made to hurt would hide it so. Where elements change
what the ones inside them mean (drawings, formulas, templates …), nothing after them is left out.
"""

import re

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
_PLAIN = re.compile(
    rb"<svg%b%b>(?:[^<]++|%b|</?(?:%b)%b%b>|<(title|desc)%b%b>[^<]*+</\1%b*+>)*+</svg%b*+>"
    rb"|<select%b%b>(?:[^<]++|%b|</?(?:option|optgroup)%b%b>)*+</select%b*+>"
    % (
        *(_END, ATTRIBUTES, _COMMENT, _DRAWING, _END, ATTRIBUTES, _END, ATTRIBUTES, SPACE, SPACE),
        *(_END, ATTRIBUTES, _COMMENT, _END, ATTRIBUTES, SPACE),
    ),
    re.IGNORECASE,
)


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
