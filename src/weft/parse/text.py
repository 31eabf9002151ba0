"""Main text and metadata of an HTML page: the extractor.

In: a body as bytes, or a `Reading` that links were taken from as well. Out: `Extract`. Called by `weft.extract` and by
the parser processes.
"""

from datetime import datetime

import msgspec
import numpy as np
import numpy.typing as npt

from weft.parse.features import Features, Floats, features
from weft.parse.language import detect
from weft.parse.metadata import declared_language, first_heading, metadata
from weft.parse.model import Weights, chances, choose, struck, tempered, weights
from weft.parse.reading import Reading, read
from weft.parse.render import paragraphs, render
from weft.parse.schema import SchemaItem, article_body
from weft.parse.tidy import composed
from weft.parse.together import keep_together
from weft.parse.vocabulary import Tag
from weft.parse.walk import Fact, Trait, Walk, Wanted

VERSION = "weft-text/5"

_MOST_BLOCKS = 40_000  # of one page; the features of more would not fit in a parser's memory
_TINY = 20  # words: a main text this short is doubted
_GENEROUS = 0.15  # chance above which a block is kept when the main text is doubted
_SHELL = 60  # words on the whole page: fewer, with scripts, and it wants rendering
_LINKED = 0.5  # share of links from which a block is no text
_MOST_ALTS = 100

Indexes = npt.NDArray[np.intp]


class Extract(msgspec.Struct, frozen=True):
    """What a page says, and what it says about itself."""

    text: str
    title: str = ""
    description: str = ""
    site_name: str = ""
    author: str = ""
    published: datetime | None = None
    modified: datetime | None = None
    headings: tuple[str, ...] = ()
    image_alts: tuple[str, ...] = ()
    canonical: str = ""
    schema: tuple[SchemaItem, ...] = ()
    open_graph: tuple[tuple[str, str], ...] = ()
    language: str = "und"  # detected: ISO 639-3
    language_script: str = "Zyyy"  # ISO 15924
    language_score: float = 0.0
    declared_language: str = ""
    charset: str = ""
    needs_rendering: bool = False
    fallback: bool = False  # the main text was too short, and something more generous was taken
    extractor: str = VERSION


class Selection(msgspec.Struct, frozen=True):
    """The blocks that are main text, in order."""

    kept: list[int]
    fallback: bool
    words: float  # about how many words the whole page has
    declared: str = ""  # the text that a page without one gives in its scripts; taken instead of the blocks


def extract(html: bytes, url: str | None = None, *, charset: str | None = None, markdown: bool = False) -> Extract:
    """The main text and metadata of a page. Raises `Refused` for a page that no parser may have."""
    return compose(read(html, charset, Wanted.METADATA), url, markdown=markdown)


def main_text(html: bytes, url: str | None = None, *, charset: str | None = None) -> str:
    """Only the text: what `extract` does without metadata and language."""
    walk = read(html, charset, Wanted.TEXT).walk
    return _written(walk, select(walk, url))


def compose(
    reading: Reading, url: str | None = None, *, markdown: bool = False, selection: "Selection | None" = None
) -> Extract:
    """The same from a page already read, and perhaps its main text already selected."""
    walk = reading.walk
    selection = selection or select(walk, url)
    text = _written(walk, selection, markdown)
    about = metadata(walk, url)
    headings = _headings(walk, selection.kept)
    detected = detect(text)
    return Extract(
        text=text,
        title=about.title or first_heading(walk) or (headings[0] if headings else ""),
        description=about.description,
        site_name=about.site_name,
        author=about.author,
        published=about.published,
        modified=about.modified,
        headings=headings,
        image_alts=_alts(walk, selection.kept),
        canonical=about.canonical,
        schema=about.schema,
        open_graph=about.open_graph,
        language=detected.code,
        language_script=detected.script,
        language_score=detected.score,
        declared_language=declared_language(walk),
        charset=reading.charset,
        needs_rendering=_is_shell(walk, selection),
        fallback=selection.fallback,
    )


def _written(walk: Walk, selection: Selection, markdown: bool = False) -> str:
    if selection.declared:
        return paragraphs(selection.declared, markdown)
    return render(walk, selection.kept, markdown)


def select(walk: Walk, url: str | None = None) -> Selection:
    """Ask the model; where it finds next to nothing, take what it least objects to, or what the page's scripts say."""
    chosen = _chosen(walk, url) if walk.texts else Selection([], False, 0.0)
    if chosen.words < _SHELL and walk.scripts:
        body = article_body(walk.scripts)
        if len(body) > 2 * sum(len(walk.texts[block]) for block in chosen.kept):
            return Selection([], True, chosen.words, body)
    return chosen


def _chosen(walk: Walk, url: str | None) -> Selection:
    if len(walk.texts) > _MOST_BLOCKS:
        walk = _shortened(walk)
    page = features(walk, url)
    chance, kept = judge(walk, page, weights())
    total = float(page.words.sum())
    found = float(page.words[kept].sum())
    fallback = found < _TINY and total > found
    if fallback:  # of a page that says next to nothing, all that is no link; of others, what the model did not rule out
        kept |= ~struck(page) & (page.link_share < _LINKED if total < _SHELL else chance > _GENEROUS)
    return Selection(np.flatnonzero(kept).tolist(), fallback, total)


def judge(walk: Walk, page: Features, model: Weights) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The chance of each block to be main text, and whether it is kept."""
    chance = tempered(chances(page, model), page)
    kept = choose(chance, page)
    keep_together(walk, page, chance, kept)
    return chance, kept


def _shortened(walk: Walk) -> Walk:
    """The first blocks of a page that has far too many."""
    ends = [min(end, _MOST_BLOCKS) for end in walk.box_ends]
    starts = [min(start, _MOST_BLOCKS) for start in walk.box_starts]
    facts = walk.facts[: _MOST_BLOCKS * len(Fact)]
    return msgspec.structs.replace(walk, texts=walk.texts[:_MOST_BLOCKS], facts=facts, box_starts=starts, box_ends=ends)


def _headings(walk: Walk, kept: list[int]) -> tuple[str, ...]:
    places, numbers = walk.places, walk.facts[Fact.PLACE :: len(Fact)]
    return tuple(composed(walk.texts[i]) for i in kept if Tag.H1 <= places[numbers[i]][Trait.TAG] <= Tag.H6)


def _alts(walk: Walk, kept: list[int]) -> tuple[str, ...]:
    """Alternative texts of images between the first and the last kept block."""
    if not kept:
        return ()
    low, high = kept[0], kept[-1] + 1
    inside = (
        composed(" ".join(image.alt.split())) for image in walk.images if image.alt and low <= image.block <= high
    )
    return tuple(dict.fromkeys(filter(None, inside)))[:_MOST_ALTS]


def _is_shell(walk: Walk, selection: Selection) -> bool:
    """Next to no text, but scripts that may write some."""
    return selection.words < _SHELL and walk.script_count > 0 and not selection.declared
