"""All that stands on one page before it becomes markup: site.py fills a `Sheet`, page.py and templates.py render it."""

from html import escape
from random import Random

import msgspec

from .article import Article
from .language import Writer
from .world import Host


class Link(msgspec.Struct, frozen=True):
    href: str
    text: str
    attributes: str = ""

    def html(self) -> str:
        return f'<a href="{escape(self.href)}"{self.attributes}>{escape(self.text)}</a>'


class Sheet(msgspec.Struct, frozen=True):
    """One page. `head` is extra markup for the head element, `body` extra markup at the end of the article."""

    host: Host
    template: str
    article: Article
    url: str
    dice: int  # decides the page's furniture: comments, prices, advertisements
    nav: tuple[Link, ...] = ()
    crumbs: tuple[Link, ...] = ()
    children: tuple[Link, ...] = ()
    related: tuple[Link, ...] = ()
    popular: tuple[Link, ...] = ()
    partners: tuple[Link, ...] = ()
    odd: tuple[Link, ...] = ()
    head: str = ""
    body: str = ""
    comments: bool = True

    def writer(self) -> Writer:
        """For what is not the article; the same for every version of it."""
        return Writer(self.article.language, Random(self.dice))


def link_list(links: tuple[Link, ...], css: str = "") -> str:
    items = "".join([f"<li>{link.html()}</li>" for link in links])
    return f'<ul class="{css}">{items}</ul>\n' if items else ""
