"""Links, images and metadata of a page, as the walk meets them. Nothing is resolved or judged here.

In: elements, one by one. Out: the lists of a `Walk`. Called by `weft.parse.walk`.
"""

from selectolax.lexbor import LexborNode

from weft.parse.brief import brief_text, is_plain
from weft.parse.inline import is_not_displayed
from weft.parse.microdata import known_property, microdata
from weft.parse.raw import RawImage, RawItem, RawLink, RawMeta, Wanted
from weft.parse.scan import is_page, scan
from weft.parse.schema import speaks
from weft.parse.vocabulary import CLASS_BITS, REGION_OF_PROPERTY, REGION_OF_ROLE, region_bit

_HIDDEN = region_bit("hidden")
_MOST_PROFILES = 10
_MOST_TYPES = 100
_LOOKED_AT = 50_000  # characters of each script
_LEADING = "a,area,iframe,frame,object,embed"
_FRAMES = frozenset({"iframe", "frame"})
_EMBEDDED = {"object": "data", "embed": "src"}
_TEXTS = frozenset({"template", "noframes"})  # no elements to the tree
_OPEN_SEARCH = "opensearch"
_SIGNED = ('"author"', '"datePublished"')
MOST_LOOKS = (
    1000  # menus, footers and headers that are searched for more than links: no page may make it half a million
)
_TELLING = frozenset({"role", "hidden", "aria-hidden", "itemtype", "itemprop", "itemscope"})  # attributes that say more
Attributes = dict[str, str | None]


class Collection:
    """Everything but text, as far as it is wanted: no anchors that nobody will follow. One link is open at a time."""

    def __init__(self, wanted: Wanted) -> None:
        self.anchors = wanted >= Wanted.LINKS
        self.metadata = wanted >= Wanted.METADATA
        self.link: LexborNode | None = None
        self.link_parts: list[str] = []
        self.links: list[RawLink] = []
        self.metas: list[RawMeta] = []
        self.images: list[RawImage] = []
        self.scripts: list[str] = []
        self.item_types: list[str] = []
        self.items: list[RawItem] = []
        self.profiles: list[str] = []
        self.is_marked = False  # microdata was met
        self.title = self.base = ""
        self.script_count = 0
        self.furniture_count = 0

    def open_link(self, node: LexborNode, *, empty: bool) -> None:
        """An <a> or <area> begins, and ends if it is empty. Links do not nest: an open one ends here."""
        if self.link is not None:
            self.close_link()
        self.link = node
        if empty:
            self.close_link()

    def close_link(self) -> None:
        """The open link ends."""
        node = self.link
        self.link = None
        if node is not None and self.metadata:
            attributes = node.attributes
            href, rel = attributes.get("href"), attributes.get("rel") or ""
            if self.anchors and href is not None:
                text = " ".join("".join(self.link_parts).split()) or attributes.get("alt") or ""
                self.links.append(RawLink(href, text, rel, node.tag or "a"))
            if rel and "author" in rel.lower().split():
                self.profile(node)
        self.link_parts.clear()

    def leads_inside(self) -> bool:
        """Whether the open link leads to a part of the page."""
        return self.link is not None and (self.link.attributes.get("href") or "").startswith("#")

    def profile(self, node: LexborNode) -> None:
        """A link to whoever wrote the page names them."""
        if len(self.profiles) < _MOST_PROFILES:
            self.profiles.append(brief_text(node) or "")

    def finish(self, root: LexborNode) -> None:
        """The walk is over. Microdata is dear, and asked last: it is looked for where it may tell something new."""
        if self.metadata and (
            self.is_marked
            or any(map(speaks, self.item_types[:_MOST_TYPES]))
            or not self.script_count  # such a page is small
            or "itemscope" in root.attributes
        ):
            said = any(all(text.find(name, 0, _LOOKED_AT) >= 0 for name in _SIGNED) for text in self.scripts)
            self.items = [] if said else microdata(root)

    def script(self, node: LexborNode) -> None:
        """A script: one of JSON-LD is kept."""
        self.script_count += 1
        kind = node.attributes.get("type")
        if kind and "ld+json" in kind.lower():
            self.scripts.append(node.text())

    def meta(self, node: LexborNode) -> None:
        """A <meta> with a name and content. Pages put them in the body, too."""
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("http-equiv")
        marked = attributes.get("itemprop")
        if marked:
            self.is_marked = self.is_marked or known_property(marked) is not None
            name = name or f"itemprop:{marked}"
        content = attributes.get("content")
        if name and content:
            self.metas.append(RawMeta(name.strip().lower(), content.strip()))

    def relation(self, node: LexborNode) -> None:
        """A <link> to something that it names."""
        attributes = node.attributes
        href, rel = attributes.get("href"), attributes.get("rel")
        if href is not None and rel and _OPEN_SEARCH not in (attributes.get("type") or ""):
            self.links.append(RawLink(href, "", rel, "link"))

    def head(self, node: LexborNode) -> None:
        """The first <base> and the first <title>."""
        if node.tag == "base":
            self.base = self.base or node.attributes.get("href") or ""
        else:
            self.title = self.title or " ".join(node.text().split())

    def image(self, node: LexborNode, block: int) -> None:
        """An image that is described: its alternative text stands for a link's text when there is none."""
        if not self.metadata:
            return
        alt = node.attrs.get("alt")  # not all attributes: lists of sources are long
        if alt:
            self.images.append(RawImage(alt, block))
            if self.link is not None and not self.link_parts:
                self.link_parts.append(f"{alt} ")

    def time(self, node: LexborNode) -> None:
        """A <time> with a date a program can read."""
        attributes = node.attributes
        value = attributes.get("datetime")
        if value:
            self.metas.append(RawMeta("time", value))
        if "itemprop" in attributes:
            self.is_marked = True

    def frame(self, node: LexborNode) -> None:
        """A frame is a link to the page it shows."""
        source = node.attributes.get("src")
        if source:
            self.links.append(RawLink(source, "", "", node.tag or "iframe"))

    def hidden(self, node: LexborNode) -> None:
        """What is not read may lead on: an object to the page it shows, a drawing by the links in it."""
        if not self.anchors:
            return
        tag = node.tag
        if tag in _TEXTS:
            self.links += scan((node.html or "").encode("utf-8", "replace")).links
            return
        if tag in _EMBEDDED:
            self.embedded(node)
        if not is_plain(node):
            self.followed(node)

    def embedded(self, node: LexborNode) -> None:
        """An <object> or <embed>, where it may be a page."""
        attributes = node.attributes
        source = attributes.get(_EMBEDDED[node.tag or ""])
        if source and is_page(attributes.get("type")):
            self.links.append(RawLink(source, "", "", node.tag or "object"))

    def followed(self, node: LexborNode) -> None:
        """Everything inside an element that leads elsewhere."""
        for found in node.css(_LEADING) if self.anchors else ():
            if found.tag in _FRAMES:
                self.frame(found)
            elif found.tag in _EMBEDDED:
                self.embedded(found)
            else:
                self.whole_link(found)

    def furniture(self, node: LexborNode) -> None:
        """A menu, footer, dialog or header: its links and its metadata, not its text."""
        self.furniture_count += 1
        wanted = "a,area,iframe" if self.anchors else ""
        # Metadata is rare here: a page that has said what it is does not say it again.
        if not self.scripts and self.furniture_count <= MOST_LOOKS:
            wanted += ",script" if wanted else "script"
        for found in node.css(wanted) if wanted and not is_plain(node) else ():
            if found.tag == "script":
                self.script(found)
            elif found.tag == "iframe":
                self.frame(found)
            else:
                self.whole_link(found)

    def passed_over(self, node: LexborNode) -> None:
        """What is not read: inside a link it says something of that; around links it has them like anything else."""
        if not self.anchors:
            return
        if self.link is not None:
            self.link_parts.append(node.text())
        self.followed(node)

    def whole_link(self, node: LexborNode) -> None:
        """A link that is not walked through."""
        attributes = node.attributes
        href = attributes.get("href", attributes.get("xlink:href"))
        if href is not None:
            text = " ".join(node.text().split()) or attributes.get("alt") or _alternative(node)
            self.links.append(RawLink(href, text, attributes.get("rel") or "", node.tag or "a"))

    def marks(self, attributes: Attributes) -> tuple[int, int] | None:
        """Class bits of the id, and regions by what other attributes say; None if they say nothing."""
        name, style = attributes.get("id"), attributes.get("style")
        bits = CLASS_BITS[name] if name else 0
        regions = 0
        if style and is_not_displayed(style):
            regions = _HIDDEN
        if not _TELLING.isdisjoint(attributes):
            regions |= self.regions(attributes)
        return (bits, regions) if bits or regions else None

    def regions(self, attributes: Attributes) -> int:
        """ARIA roles, hiding, microdata, which is collected on the way."""
        role = attributes.get("role")
        regions = region_bit(REGION_OF_ROLE.get(role.lower(), "")) if role else 0
        if "hidden" in attributes or attributes.get("aria-hidden") == "true":
            regions |= _HIDDEN
        if "itemtype" in attributes:
            self.item_types.extend((attributes["itemtype"] or "").split())
        elif "itemscope" in attributes:  # a thing of no type
            self.is_marked = True
        if "itemprop" in attributes:
            regions |= self.item_property(attributes)
        return regions

    def item_property(self, attributes: Attributes) -> int:
        """Regions by what microdata says of an element."""
        properties = (attributes["itemprop"] or "").lower().split()
        self.is_marked = self.is_marked or any(map(known_property, properties))
        if "datepublished" in properties:
            date = attributes.get("content") or attributes.get("datetime") or ""
            self.metas.append(RawMeta("itemprop:datepublished", date))
        regions = 0
        for name in properties:
            regions |= region_bit(REGION_OF_PROPERTY.get(name, ""))
        return regions


def _alternative(link: LexborNode) -> str:
    image = link.css_first("img[alt]")
    return " ".join((image.attributes.get("alt") or "").split()) if image is not None else ""
