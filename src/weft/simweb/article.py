"""The text of a page: title, paragraphs, lists, tables, code, with its marker in the first paragraph.

world.py asks for an article by (host, number); templates.py turns it into markup.
"""

from random import Random

import msgspec

from .language import Language, Writer

CODE = (
    "def {a}(values):\n    total = 0\n    for value in values:\n        total += value * {n}\n    return total",
    "[{a}]\nenabled = true\nlimit = {n}\nname = \"{b}\"",
    "$ {a} --input {b}.csv --limit {n}\nread {n} rows, wrote {b}.json",
    "SELECT {a}, count(*)\nFROM {b}\nWHERE year > {n}\nGROUP BY {a};",
)  # fmt: skip
CODE_WORDS = ("gather", "survey", "ledger", "harvest", "inventory", "archive", "parcel", "signal", "beacon")


class Block(msgspec.Struct, frozen=True):
    """A piece of an article: `p`, `h2`, `quote`, `code`, `figure` have text; `ul`, `ol` items; `table` rows."""

    kind: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


class Article(msgspec.Struct, frozen=True):
    """What a reader comes for."""

    language: Language
    title: str
    description: str
    author: str
    date: str  # ISO, day only
    marker: str
    blocks: tuple[Block, ...]


def compose(writer: Writer, title: str, marker: str, words: int) -> Article:
    """An article of about `words` words; the marker's sentence is the second of the first paragraph."""
    lead = writer.sentence()
    first = writer.language.gap.join([lead, writer.filed_under(marker), writer.sentences(2)])
    blocks = [Block("p", first)]
    left = max(4, words // 12) - 4
    while left > 0:
        if len(blocks) % 4 == 3:
            blocks.append(Block("h2", writer.title()))
        if writer.random.random() < 0.3:
            blocks.append(_ornament(writer))
        count = writer.number(3, 5)
        blocks.append(Block("p", writer.sentences(count)))
        left -= count
    author, month, day = writer.pick(writer.language.people), writer.number(1, 12), writer.number(1, 28)
    date = f"{writer.number(2016, 2025)}-{month:02}-{day:02}"
    return Article(writer.language, title, lead, author, date, marker, tuple(blocks))


def revise(article: Article, marker: str, random: Random) -> Article:
    """Nearly the same text: one sentence is new, and the marker is its own."""
    fresh = Writer(article.language, random).sentence()
    blocks = [
        msgspec.structs.replace(block, text=block.text.replace(article.marker, marker)) for block in article.blocks
    ]
    last = max(position for position, block in enumerate(blocks) if block.kind == "p")
    blocks[last] = Block("p", blocks[last].text + article.language.gap + fresh)
    return msgspec.structs.replace(article, marker=marker, blocks=tuple(blocks))


def _ornament(writer: Writer) -> Block:
    kind = writer.pick(("ul", "ol", "table", "quote", "figure", "code"))
    if kind in ("ul", "ol"):
        return Block(kind, rows=tuple((writer.sentence(),) for _ in range(writer.number(3, 5))))
    if kind == "table":
        head = (writer.language.ui[25], writer.language.ui[26])
        rows = tuple((writer.name(), str(writer.number(10, 9000))) for _ in range(writer.number(3, 6)))
        return Block(kind, rows=(head, *rows))
    if kind == "code":
        names = {"a": writer.pick(CODE_WORDS), "b": writer.pick(CODE_WORDS), "n": writer.number(2, 400)}
        return Block(kind, writer.pick(CODE).format(**names))
    return Block(kind, writer.sentence())
