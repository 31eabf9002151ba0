"""What element names and class words mean to the text extractor: actions for the walk, bits for the features.

No language is assumed here beyond the English that authors of templates write in class names everywhere.
"""

import re
from enum import IntEnum
from functools import cache, lru_cache
from string import ascii_lowercase

from selectolax.lexbor import LexborHTMLParser


class Action(IntEnum):
    """What the walk does when it meets an element."""

    BLOCK = 0  # ends the running block
    INLINE = 1
    LINK = 2
    TIME = 3
    PRE = 4
    ROW = 5
    CUSTOM = 6  # made up by the page, <noscript>, <cite>: inline inside a sentence, elsewhere a block; the last entered
    SKIP = 7  # nothing below it is text
    META = 8
    SCRIPT = 9
    RELATION = 10  # <link>
    HEAD = 11  # other metadata: base, title
    IMAGE = 12
    FRAME = 13  # points to another page, holds no text of its own
    BREAK = 14
    RULE = 15
    FURNITURE = 16  # beside the main text: its links are listed, its text is not read
    BUTTON = 17  # its words count only in a heading, its links always
    HEADER = 18  # of the site: furniture; of an article: a block
    FORMULA = 19
    HIDDEN = 20  # nothing below it is text, but links there are links


class Tag(IntEnum):
    """The kind of the block element nearest to a text."""

    OTHER = 0
    PARAGRAPH = 1
    H1 = 2
    H2 = 3
    H3 = 4
    H4 = 5
    H5 = 6
    H6 = 7
    ITEM = 8
    CELL = 9
    PRE = 10
    QUOTE = 11
    DIV = 12
    TERM = 13
    CAPTION = 14
    CONTROL = 15
    SECTION = 16
    ROW = 17


_ACTIONS = {
    Action.INLINE: "span b i em strong font u small big sub sup code kbd abbr acronym q mark bdi bdo ins "
    "del tt var samp s strike data ruby rb label nobr output dfn wbr picture slot blink",
    Action.CUSTOM: "noscript cite",
    Action.FORMULA: "math",
    Action.SKIP: "style select datalist textarea input track source param progress meter colgroup col",
    Action.HIDDEN: "template svg canvas audio video object embed applet rp rt rtc noframes",
    Action.LINK: "a area",
    Action.BREAK: "br",
    Action.META: "meta",
    Action.SCRIPT: "script",
    Action.RELATION: "link",
    Action.HEAD: "base title",
    Action.IMAGE: "img",
    Action.FRAME: "iframe frame",
    Action.RULE: "hr",
    Action.FURNITURE: "nav footer dialog",
    Action.HEADER: "header",
    Action.BUTTON: "button",
    Action.TIME: "time",
    Action.PRE: "pre listing xmp plaintext",
    Action.ROW: "tr",
}
_TAGS = {
    Tag.PARAGRAPH: "p",
    Tag.H1: "h1",
    Tag.H2: "h2",
    Tag.H3: "h3",
    Tag.H4: "h4",
    Tag.H5: "h5",
    Tag.H6: "h6",
    Tag.ITEM: "li",
    Tag.CELL: "td th",
    Tag.PRE: "pre listing xmp plaintext",
    Tag.QUOTE: "blockquote",
    Tag.DIV: "div center",
    Tag.TERM: "dt dd",
    Tag.CAPTION: "figcaption caption legend summary",
    Tag.CONTROL: "button option fieldset",
    Tag.SECTION: "section article main body",
    Tag.ROW: "tr",
}
_SENTENCES = "p h1 h2 h3 h4 h5 h6"  # only inline elements stand in these
_PHRASES = "li dt dd th td figcaption caption summary label"  # in these either inline elements or blocks
# One bit each: the block lies somewhere below such an element (or below that ARIA role).
REGIONS = [
    "article",
    "main",
    "section",
    "nav",
    "header",
    "footer",
    "aside",
    "list",
    "item",
    "table",
    "cell",
    "form",
    "figure",
    "details",
    "dialog",
    "button",
    "quote",
    "pre",
    "noscript",
    "hidden",
    "address",
    "heading",
    "link",
    "body-text",
    "description",
    "review",
    "term",
    "frame",
]
_REGION_OF_TAG = {
    "article": "article",
    "main": "main",
    "section": "section",
    "nav": "nav",
    "header": "header",
    "footer": "footer",
    "aside": "aside",
    "ul": "list",
    "ol": "list",
    "menu": "list",
    "li": "item",
    "table": "table",
    "td": "cell",
    "th": "cell",
    "form": "form",
    "figure": "figure",
    "details": "details",
    "dialog": "dialog",
    "button": "button",
    "blockquote": "quote",
    "pre": "pre",
    "listing": "pre",
    "xmp": "pre",
    "plaintext": "pre",
    "noscript": "noscript",
    "address": "address",
    "h1": "heading",
    "h2": "heading",
    "h3": "heading",
    "h4": "heading",
    "h5": "heading",
    "h6": "heading",
    "dl": "term",
    "frameset": "frame",
}
REGION_OF_ROLE = {
    "main": "main",
    "article": "article",
    "navigation": "nav",
    "menu": "nav",
    "menubar": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "dialog": "dialog",
    "alertdialog": "dialog",
    "search": "form",
    "button": "button",
    "list": "list",
    "listitem": "item",
    "heading": "heading",
}
REGION_OF_PROPERTY = {
    "articlebody": "body-text",
    "text": "body-text",
    "description": "description",
    "reviewbody": "review",
}
# One bit each: words in class and id attributes. Found anywhere in them; `=word` only when no letter stands beside it,
# `word$` only when none follows.
CLASS_WORDS = (
    "content conteudo contenido inhalt contenu",
    "article artikel articulo artic",
    "post entry story",
    "body text txt prose markdown rich wysiwyg",
    "main",
    "blog news",
    "comment reply replies discuss disqus respond respons cmt",
    "thread message topic forum question answer",
    "product sku",
    "desc detail summary intro lead abstract excerpt standfirst dek",
    "title headline heading",
    "spec feature attribute benefit",
    "review rating testimonial feedback",
    "card teaser tile grid",
    "list item entries archive",
    "nav menu crumb",
    "header masthead topbar =top",
    "foot copyright bottom colophon",
    "sidebar aside rail widget =side =right =left",
    "relat recommend similar =more =also =next =prev readmore read-?next xg suggest upsell",
    "popular trend latest recent most hot",
    "share sharing social follow facebook twitter whatsapp weibo",
    "=ads? =adv =gg advert sponsor promo banner dfp taboola outbrain",
    "cookie consent gdpr privacy onetrust cmp",
    "popup modal overlay dialog lightbox drawer offcanvas tooltip dropdown",
    "newsletter subscri sign-?up cta call-?to donat paywall",
    "meta byline author date time(?!line) info publish credit source",
    "tags?$ categor keyword label badge",
    "search filter sort facet pagina pager",
    "login account cart basket checkout price buy shipping register",
    "caption image photo gallery media img pic$ figure",
    "video player slider carousel swiper slick embed",
    "tool button btn action control print",
    "hidden hide sr-only screen-reader skip invisible d-none collapse",
    "toc$ table-of outline jump",
    "code highlight snippet syntax terminal",
    "faq accordion =tabs? panel",
    "hero jumbotron cover",
    "section wrapper container layout inner region =row =col",
    "legal disclaim terms policy notice alert warning",
    "user profile avatar signature bio$ member contact",
    "page site global app$ root",
    "quote pull citation reference footnote",
    "job event recipe calendar location hours",
)
_HALF = 1 << len(CLASS_WORDS)  # a run of letters that may be the second half of a word with a hyphen
_COMMENT_NODE = 4
STANDARD = 1 << 12  # Lexbor's numbers of the elements it knows are below
_CACHED = 1 << 16
_LOWER_LETTERS = bytes(
    ord(letter) if (letter := chr(code).lower()) in ascii_lowercase else ord(" ") for code in range(256)
)


class _Runs(dict[bytes, int]):
    """Bits by run of letters, worked out when first asked for; a cached function would take twice as long to ask."""

    def __missing__(self, run: bytes) -> int:
        letters = run.decode("ascii")
        bits = _HALF if letters.startswith(_second_halves()) else 0
        for word in _class_pattern().findall(letters):
            bits |= _word_bit(word)
        if len(self) >= _CACHED:
            self.clear()
        self[run] = bits
        return bits


class _ClassBits(dict[str, int]):
    """The same by attribute. Most of a page's are new, but made of runs that other sites have, too."""

    def __missing__(self, attribute: str) -> int:
        bits = 0
        for run in attribute.encode("ascii", "replace").translate(_LOWER_LETTERS).split():
            bits |= _RUNS[run]
        if bits & _HALF:
            bits ^= _HALF
            lowered = attribute.lower()
            for compound, bit in _compounds():
                if compound in lowered:
                    bits |= bit
        if len(self) >= _CACHED:
            self.clear()
        self[attribute] = bits
        return bits


_RUNS = _Runs()
CLASS_BITS = _ClassBits()  # bits of CLASS_WORDS found in a class or id attribute


@lru_cache(maxsize=_CACHED)
def _word_bit(found: str) -> int:
    """The bit of a word that the pattern found."""
    return next((1 << bit for bit, words in enumerate(_word_patterns()) if words.fullmatch(found)), 0)


@cache
def _word_patterns() -> tuple[re.Pattern[str], ...]:
    """Per bit, its words."""
    return tuple(re.compile("|".join(word.strip("=$") for word in words.split())) for words in CLASS_WORDS)


@cache
def _compounds() -> tuple[tuple[str, int], ...]:
    """Words with a hyphen, which no run of letters shows."""
    return tuple(
        (word.replace("-?", "-"), 1 << bit)
        for bit, words in enumerate(CLASS_WORDS)
        for word in words.split()
        if "-" in word
    )


@cache
def _second_halves() -> tuple[str, ...]:
    return tuple(compound.partition("-")[2] for compound, _ in _compounds())


@cache
def _class_pattern() -> re.Pattern[str]:
    """All words as one expression, grouped by first letter: far faster than trying them in turn."""
    branches: dict[str, list[str]] = {}
    for words in CLASS_WORDS:
        for word in words.split():
            letter, rest = _branch(word)
            branches.setdefault(letter, []).append(rest)
    return re.compile("|".join(f"{letter}(?:{'|'.join(rests)})" for letter, rests in branches.items()))


def _branch(word: str) -> tuple[str, str]:
    """The first letter of a word, and the expression for the rest of it."""
    if word.startswith("="):
        return word[1], f"(?<![a-z]{word[1]}){word[2:]}(?![a-z])"
    if word.endswith("$"):
        return word[0], f"{word[1:-1]}(?![a-z])"
    return word[0], word[1:]


def region_bit(region: str) -> int:
    """The bit of a region's name; 0 for a name that is none."""
    return 1 << REGIONS.index(region) if region in REGIONS else 0


class Vocabulary:
    """Tables by Lexbor's tag number; built once, since the numbers are the library's own."""

    def __init__(self) -> None:
        self.actions: dict[int, int] = {}
        self.elements: dict[int, tuple[int, int]] = {}  # its tag and the bit of its region
        for action, names in _ACTIONS.items():
            for name in names.split():
                self.actions[_number(name)] = int(action)
        self.actions[_COMMENT_NODE] = int(Action.SKIP)
        within = (Action.INLINE, Action.LINK, Action.TIME)
        self.inline = frozenset(number for number, action in self.actions.items() if action in within)
        self.sentences = frozenset(_number(name) for name in _SENTENCES.split())
        self.phrases = self.inline | {_number(name) for name in _PHRASES.split()}
        tags = {name: int(tag) for tag, names in _TAGS.items() for name in names.split()}
        for name in tags.keys() | _REGION_OF_TAG.keys():
            tag, region = tags.get(name, int(Tag.OTHER)), region_bit(_REGION_OF_TAG.get(name, ""))
            self.elements[_number(name)] = (tag, region)


class _Actions(dict[int, int]):
    """By element of one page. Those not listed are blocks; those that the page made up have numbers of its own."""

    def __missing__(self, number: int) -> int:
        self[number] = action = int(Action.BLOCK if number < STANDARD else Action.CUSTOM)
        return action


def actions_of(bare: bool, whole: bool) -> dict[int, int]:
    """By element: for the `bare` text, what tells nothing of it is skipped; on the `whole` page furniture is blocks."""
    return _Actions(_known_actions(bare, whole))


@cache
def _known_actions(bare: bool, whole: bool) -> dict[int, int]:
    silent = (
        (Action.RELATION, Action.HEAD, Action.FRAME, Action.HIDDEN) if bare else ()
    )  # <meta> and scripts tell of its kind
    read = (Action.FURNITURE, Action.HEADER) if whole else ()
    actions = vocabulary().actions.items()
    return {
        number: int(Action.SKIP) if action in silent else action for number, action in actions if action not in read
    }


@cache
def vocabulary() -> Vocabulary:
    """The tables; the same for every page."""
    return Vocabulary()


def _number(name: str) -> int:
    """Lexbor's number for a standard name; for others it is an address, different in every document."""
    number = int(LexborHTMLParser("").create_node(name).tag_id)
    return number if number < STANDARD else -1
