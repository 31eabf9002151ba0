"""A sheet as a whole HTML document: metadata, cookie banner, header, navigation, article, comments, footer."""

import json

from .language import Writer
from .sheet import Sheet, link_list
from .templates import TEMPLATES

STYLE = """body{font:16px/1.6 Georgia,serif;margin:0;color:#222;background:#fff}a{color:COLOUR}
header,footer{background:COLOUR;color:#fff;padding:12px 5%}header a,footer a{color:#fff;text-decoration:none}
header .brand{font-size:1.6em;font-weight:bold}nav ul{list-style:none;margin:6px 0 0;padding:0}
nav li{display:inline-block;margin-right:18px}
.cookie{background:#fff8d8;padding:8px 5%;font-size:.85em}.crumbs{padding:6px 5%;font-size:.85em}
.page{display:flex;gap:40px;padding:0 5%}.column{flex:3;min-width:0}.side{flex:1;font-size:.9em}
.ad{border:1px solid #ddd;background:#fafafa;padding:10px;margin:14px 0;text-align:center;font-size:.85em}
table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:3px 9px}
pre{background:#f4f4f4;padding:10px;overflow:auto}
.byline,.meta{color:#777;font-size:.9em}.comment,.post{border-top:1px solid #eee;padding:8px 0}
blockquote{border-left:3px solid #ccc;margin-left:0;padding-left:16px}
img{max-width:100%;background:#ddd}.user{font-weight:bold}"""
COLOURS = ("#1f3a5f", "#5b2333", "#274029", "#3d2b56", "#6b4a1b", "#0f4c5c", "#7a1f2b", "#2f2f2f")


def render(sheet: Sheet) -> bytes:
    """The page as bytes in UTF-8."""
    return page_text(sheet).encode()


def page_text(sheet: Sheet) -> str:
    """The page as text, for those who encode it otherwise."""
    language, ui = sheet.article.language, sheet.article.language.ui
    return f"""<!DOCTYPE html>
<html lang="{language.code}" dir="{language.direction}">
<head>
{_head(sheet)}</head>
<body class="{sheet.template}">
<div class="cookie" role="dialog">{ui[6]} <button>{ui[7]}</button> <button>{ui[8]}</button></div>
{_header(sheet)}<div class="page"><div class="column">
{TEMPLATES[sheet.template](sheet)}{_comments(sheet) if sheet.comments else ""}</div>
{_side(sheet)}</div>
{_footer(sheet)}</body>
</html>
"""


def brand(sheet: Sheet) -> str:
    return sheet.host.name.split(".", 1)[0].replace("-", " ").title()


def _head(sheet: Sheet) -> str:
    article = sheet.article
    data = {
        "@context": "https://schema.org",
        "@type": {"news": "NewsArticle", "blog": "BlogPosting", "shop": "Product"}.get(sheet.template, "WebPage"),
        "headline": article.title,
        "datePublished": article.date,
        "author": {"@type": "Person", "name": article.author},
        "inLanguage": article.language.code,
    }
    style = STYLE.replace("COLOUR", COLOURS[sheet.host.index % len(COLOURS)])
    return f"""<meta charset="utf-8">
<title>{article.title} | {brand(sheet)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{article.description}">
<meta name="author" content="{article.author}">
<meta property="og:title" content="{article.title}">
<meta property="og:type" content="article">
<meta property="og:url" content="{sheet.url}">
<meta property="og:site_name" content="{brand(sheet)}">
<meta property="article:published_time" content="{article.date}">
<link rel="icon" href="/static/icon.png">
{sheet.head}<script type="application/ld+json">{json.dumps(data, ensure_ascii=False)}</script>
<style>{style}</style>
"""


def _header(sheet: Sheet) -> str:
    ui = sheet.article.language.ui
    crumbs = " › ".join([link.html() for link in sheet.crumbs])
    return f"""<header><nav><div class="brand"><a href="/">{brand(sheet)}</a></div>
{link_list(sheet.nav, "menu")}
<form action="/" class="search"><input name="q" placeholder="{ui[9]}"></form></nav></header>
<div class="crumbs">{crumbs}</div>
"""


def _comments(sheet: Sheet) -> str:
    writer = sheet.writer()
    shown = "".join([_comment(writer) for _ in range(writer.number(1, 4))])
    return f'<section id="comments" class="comments"><h3>{sheet.article.language.ui[3]}</h3>\n{shown}</section>\n'


def _comment(writer: Writer) -> str:
    time = f"{writer.number(1, 23)}:{writer.number(10, 59)}"
    text = writer.sentences(writer.number(1, 2))
    return (
        f'<div class="comment"><b>{writer.pick(writer.language.people)}</b> <small>{time}</small><p>{text}</p></div>\n'
    )


def _side(sheet: Sheet) -> str:
    ui, writer = sheet.article.language.ui, sheet.writer()
    advert = sheet.partners[0].html() if sheet.partners else ""
    return f"""<aside class="side">
<div class="ad"><small>{ui[17]}</small><br><img src="/static/banner.png" alt=""><br>{writer.title()} {advert}</div>
<h3>{ui[4]}</h3>{link_list(sheet.related, "related")}<h3>{ui[21]}</h3>{link_list(sheet.popular, "popular")}
<div class="newsletter">{ui[11]} <input type="email"> <button>OK</button></div>
</aside>
"""


def _footer(sheet: Sheet) -> str:
    ui = sheet.article.language.ui
    partners, odd = link_list(sheet.partners, "partners"), link_list(sheet.odd, "extra")
    return f"""<footer>{partners}{odd}<p>{ui[12]} · {ui[13]} · <a href="mailto:hello@{sheet.host.name}">{ui[2]}</a></p>
<p>© {brand(sheet)}. {ui[14]}.</p></footer>
"""
