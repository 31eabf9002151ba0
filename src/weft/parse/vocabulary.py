"""What element names and class words mean to the text extractor: actions for the walk, bits for the features.

No language is assumed here beyond the English that authors of templates write in class names everywhere.
"""

import re
from enum import IntEnum
from functools import cache, lru_cache

from selectolax.lexbor import LexborHTMLParser


class Action(IntEnum):
    """What the walk does when it meets an element."""

    BLOCK = 0  # ends the running block; the default, so custom elements are blocks
    INLINE = 1
    LINK = 2
    PRE = 3
    TIME = 4  # the last that is entered
    SKIP = 5  # nothing below it is text
    HEAD = 6  # meta, link, base, title, script: metadata, no text
    IMAGE = 7
    FRAME = 8  # points to another page, holds no text of its own
    BREAK = 9
    RULE = 10
    COMMENT = 11


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
    Action.INLINE: "span b i em strong font u small big sub sup code kbd abbr acronym cite q mark bdi bdo ins "
    "del tt var samp s strike data ruby rb rt label nobr output dfn wbr math mi mo mn mrow msup msub mfrac "
    "mtext semantics picture slot",
    Action.SKIP: "style template svg canvas audio video select datalist textarea object embed applet rp "
    "input track source param progress meter colgroup col annotation",
    Action.LINK: "a area",
    Action.BREAK: "br",
    Action.HEAD: "meta link base title script",
    Action.IMAGE: "img",
    Action.FRAME: "iframe frame",
    Action.RULE: "hr",
    Action.TIME: "time",
    Action.PRE: "pre listing xmp plaintext",
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
# One bit each, matched anywhere in class and id unless bounded by (?<![a-z]) … (?![a-z]).
CLASS_WORDS = (
    r"content|conteudo|contenido|inhalt|contenu",
    r"article|artikel|articulo|artic",
    r"post|entry|story",
    r"body|text|txt|prose|markdown|rich|wysiwyg",
    r"main",
    r"blog|news",
    r"comment|reply|replies|discuss|disqus|respon[ds]|cmt",
    r"thread|message|topic|forum|question|answer",
    r"product|sku",
    r"desc|detail|summary|intro|lead|abstract|excerpt|standfirst|dek",
    r"title|headline|heading",
    r"spec|feature|attribute|benefit",
    r"review|rating|testimonial|feedback",
    r"card|teaser|tile|grid",
    r"list|item|entries|archive",
    r"nav|menu|crumb",
    r"header|masthead|topbar|(?<![a-z])top(?![a-z])",
    r"foot|copyright|bottom|colophon",
    r"sidebar|aside|rail|widget|(?<![a-z])(?:side|right|left)(?![a-z])",
    r"relat|recommend|similar|(?<![a-z])(?:more|also|next|prev)(?![a-z])|readmore|read-?next|xg|suggest|upsell",
    r"popular|trend|latest|recent|most|hot",
    r"shar(?:e|ing)|social|follow|facebook|twitter|whatsapp|weibo",
    r"(?<![a-z])(?:ads?|adv|gg)(?![a-z])|advert|sponsor|promo|banner|dfp|taboola|outbrain",
    r"cookie|consent|gdpr|privacy|onetrust|cmp",
    r"popup|modal|overlay|dialog|lightbox|drawer|offcanvas|tooltip|dropdown",
    r"newsletter|subscri|sign-?up|cta|call-?to|donat|paywall",
    r"meta|byline|author|date|time(?!line)|info|publish|credit|source",
    r"tags?(?![a-z])|categor|keyword|label|badge",
    r"search|filter|sort|facet|pagina|pager",
    r"login|account|cart|basket|checkout|price|buy|shipping|register",
    r"caption|image|photo|gallery|media|img|pic(?![a-z])|figure",
    r"video|player|slider|carousel|swiper|slick|embed",
    r"tool|button|btn|action|control|print",
    r"hidden|hide|sr-only|screen-reader|skip|invisible|d-none|collapse",
    r"toc(?![a-z])|table-of|outline|jump",
    r"code|highlight|snippet|syntax|terminal",
    r"faq|accordion|(?<![a-z])tabs?(?![a-z])|panel",
    r"hero|jumbotron|cover",
    r"section|wrapper|container|layout|inner|region|(?<![a-z])(?:row|col)(?![a-z])",
    r"legal|disclaim|terms|policy|notice|alert|warning",
    r"user|profile|avatar|signature|bio(?![a-z])|member|contact",
    r"page|site|global|app(?![a-z])|root",
    r"quote|pull|citation|reference|footnote",
    r"job|event|recipe|calendar|location|hours",
)
_COMMENT_NODE = 4
_STANDARD = 1 << 12
_CLASS_PATTERN = re.compile("|".join(f"({words})" for words in CLASS_WORDS))


@lru_cache(maxsize=1 << 16)
def class_bits(words: str) -> int:
    """Bits of CLASS_WORDS found in a class or id attribute. Cached: templates repeat the same few words."""
    bits = 0
    for match in _CLASS_PATTERN.finditer(words.lower()):
        bits |= 1 << (match.lastindex or 1) - 1
    return bits


def region_bit(region: str) -> int:
    """The bit of a region's name; 0 for a name that is none."""
    return 1 << REGIONS.index(region) if region in REGIONS else 0


class Vocabulary:
    """Tables by Lexbor's tag number; built once, since the numbers are the library's own."""

    def __init__(self) -> None:
        self.actions: dict[int, int] = {}
        self.tags: dict[int, int] = {}
        self.regions: dict[int, int] = {}
        for action, names in _ACTIONS.items():
            for name in names.split():
                self.actions[_number(name)] = int(action)
        self.actions[_COMMENT_NODE] = int(Action.COMMENT)
        for tag, names in _TAGS.items():
            for name in names.split():
                self.tags[_number(name)] = int(tag)
        for name, region in _REGION_OF_TAG.items():
            self.regions[_number(name)] = region_bit(region)


@cache
def vocabulary() -> Vocabulary:
    """The tables; the same for every page."""
    return Vocabulary()


def _number(name: str) -> int:
    """Lexbor's number for a standard name; for others it is an address, different in every document."""
    number = int(LexborHTMLParser("").create_node(name).tag_id)
    return number if number < _STANDARD else -1
