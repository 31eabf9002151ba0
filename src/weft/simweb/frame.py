"""What stands around a leaf on every page of a scene, as on real sites: head, menu, breadcrumb, sidebar, footer."""

from collections.abc import Sequence
from html import escape

import msgspec

from .page import COLOURS, STYLE
from .part import Leaf, items
from .sheet import Link, link_list

FOOT = (Link("/about", "About us"), Link("/contact", "Contact"), Link("/terms", "Terms of use"))


class Frame(msgspec.Struct, frozen=True):
    """The furniture of one host, made once."""

    brand: str
    menu: str
    style: str

    def draw(self, leaf: Leaf, beside: Sequence[Link] = ()) -> bytes:
        title = escape(leaf.title)
        trail = " › ".join([link.html() for link in (Link("/", "Home"), *leaf.crumbs)])
        tools = f'<div class="tools">{items(beside)}</div>\n' if beside else ""
        html = f"""<!DOCTYPE html>
<html lang="{leaf.language}">
<head><meta charset="utf-8">
<title>{title} | {self.brand}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/static/icon.png">
<style>{self.style}</style>
</head>
<body>
<header><div class="brand"><a href="/">{self.brand}</a></div>
<nav>{self.menu}</nav></header>
<div class="crumbs">{trail} › {title}</div>
<main><h1>{title}</h1>
{leaf.body}</main>
{tools}<aside class="side"><h3>Newsletter</h3><p>Once a month, no more. You can leave at any time.</p></aside>
<footer>{link_list(FOOT, "foot")}<p>© {self.brand}. We use cookies to keep you logged in.</p></footer>
</body>
</html>
"""
        return (html.replace('href="/', f'href="{leaf.below}/') if leaf.below else html).encode()


def frame_of(name: str, number: int, menu: Sequence[Link]) -> Frame:
    """The frame of a host by its name and number."""
    brand = name.split(".", 1)[0].replace("-", " ").title()
    style = STYLE.replace("COLOUR", COLOURS[number % len(COLOURS)])
    return Frame(brand, link_list((Link("/", "Home"), *menu), "menu"), style)
