"""Six kinds of page around the same article: news, blog, documentation, forum, shop, listing.

page.py puts header, sidebar and footer around what these return.
"""

from collections.abc import Callable, Iterable
from html import escape

from .article import Block
from .language import Writer
from .sheet import Sheet, link_list


def blocks_html(blocks: Iterable[Block]) -> str:
    return "\n".join([_block(block) for block in blocks])


def _block(block: Block) -> str:
    text = escape(block.text, quote=False)
    match block.kind:
        case "p" | "h2":
            return f"<{block.kind}>{text}</{block.kind}>"
        case "ul" | "ol":
            items = "".join([f"<li>{escape(row[0], quote=False)}</li>" for row in block.rows])
            return f"<{block.kind}>{items}</{block.kind}>"
        case "table":
            head, *rows = ["".join([f"<td>{cell}</td>" for cell in row]) for row in block.rows]
            cells = "".join([f"<tr>{row}</tr>" for row in rows])
            return f"<table><thead><tr>{head.replace('td>', 'th>')}</tr></thead><tbody>{cells}</tbody></table>"
        case "code":
            return f"<pre><code>{text}</code></pre>"
        case "quote":
            return f"<blockquote><p>{text}</p></blockquote>"
        case _:
            photo = f"/static/photo-{len(text) % 12}.png"
            image = f'<img src="{photo}" alt="{text}" width="640" height="400">'
            return f"<figure>{image}<figcaption>{text}</figcaption></figure>"


def news(sheet: Sheet) -> str:
    article, ui = sheet.article, sheet.article.language.ui
    return f"""<article class="story" itemscope itemtype="https://schema.org/NewsArticle">
<h1 itemprop="headline">{article.title}</h1>
<p class="byline">{ui[15]} <span rel="author">{article.author}</span> ·
{ui[16]} <time datetime="{article.date}">{article.date}</time></p>
<div class="body" itemprop="articleBody">
{blocks_html(article.blocks)}
{sheet.body}</div>
</article>
<aside class="more">{link_list(sheet.children, "teasers")}</aside>
"""


def blog(sheet: Sheet) -> str:
    article, ui = sheet.article, sheet.article.language.ui
    return f"""<div id="content"><div class="post hentry">
<h1 class="entry-title">{article.title}</h1>
<div class="meta">{article.date} · {article.author}</div>
<div class="entry-content">
{blocks_html(article.blocks)}
{sheet.body}</div>
<div class="share"><span>{ui[10]}:</span> <a href="mailto:?subject=hello">E-mail</a>
<a href="javascript:void(0)">Link</a></div>
</div>{link_list(sheet.children, "archive")}</div>
"""


def docs(sheet: Sheet) -> str:
    article, ui = sheet.article, sheet.article.language.ui
    headings = [block.text for block in article.blocks if block.kind == "h2"]
    contents = "".join([f'<li><a href="#part-{n}">{text}</a></li>' for n, text in enumerate(headings)])
    text = blocks_html(article.blocks)
    for number in range(len(headings)):
        text = text.replace("<h2>", f'<h2 id="part-{number}">', 1)
    return f"""<div class="toc"><b>{ui[23]}</b><ol>{contents}</ol>{link_list(sheet.children, "chapters")}</div>
<div role="main" class="document">
<h1>{article.title}</h1>
{text}
{sheet.body}</div>
"""


def forum(sheet: Sheet) -> str:
    """The article's paragraphs are the posts of a thread."""
    article, writer = sheet.article, sheet.writer()
    size = max(2, len(article.blocks) // 3)
    posts = []
    for start in range(0, len(article.blocks), size):
        author = article.author if start == 0 else writer.pick(article.language.people)
        text = blocks_html(article.blocks[start : start + size])
        posts.append(
            f'<div class="post" id="post-{start}"><div class="user">{author} #{writer.number(2, 99)}</div>'
            f'<div class="message">\n{text}\n</div><a href="#post-{start}">{article.language.ui[20]}</a></div>'
        )
    joined = "\n".join(posts)
    return f"""<div class="thread"><h1>{article.title}</h1>
{joined}
{sheet.body}</div>
<div class="threads">{link_list(sheet.children, "threads")}</div>
"""


def shop(sheet: Sheet) -> str:
    article, ui, writer = sheet.article, sheet.article.language.ui, sheet.writer()
    price = f"{writer.number(3, 240)}.{writer.number(0, 99):02}"
    reviews = "".join([f"<li><b>{'★' * writer.number(2, 5)}</b> {writer.sentence()}</li>" for _ in range(3)])
    return f"""<div class="product" itemscope itemtype="https://schema.org/Product">
<h1 itemprop="name">{article.title}</h1>
<div class="gallery"><img src="/static/photo-{writer.number(0, 11)}.png" alt="{article.title}" width="320"></div>
<div class="offer"><span class="price">{ui[18]}: € {price}</span> <button>{ui[19]}</button></div>
<div class="description" itemprop="description">
{blocks_html(article.blocks)}
{sheet.body}</div>
</div>
<section class="reviews"><h3>{ui[27]}</h3><ul>{reviews}</ul></section>
<section class="also"><h3>{ui[28]}</h3>{link_list(sheet.children, "grid")}</section>
"""


def listing(sheet: Sheet) -> str:
    article, writer = sheet.article, sheet.writer()
    items = "".join([_teaser(link.html(), writer) for link in sheet.children])
    return f"""<main><h1>{article.title}</h1>
<div class="intro">
{blocks_html(article.blocks)}
{sheet.body}</div>
<div class="entries">{items}</div></main>
"""


def _teaser(anchor: str, writer: Writer) -> str:
    return f'<div class="entry"><h3>{anchor}</h3><p>{writer.sentence()}</p></div>\n'


TEMPLATES: dict[str, Callable[[Sheet], str]] = {
    "news": news, "blog": blog, "docs": docs, "forum": forum, "shop": shop, "listing": listing,
}  # fmt: skip
