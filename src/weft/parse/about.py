"""The `metadata` column: what a page says about itself, as JSON; the rest is left out. Called by `reader`."""

from datetime import datetime

import msgspec

from .schema import SchemaItem
from .text import Extract


class About(msgspec.Struct, frozen=True, omit_defaults=True):
    """Names and shapes of the JSON object."""

    description: str = ""
    site_name: str = ""
    author: str = ""
    published: datetime | None = None
    modified: datetime | None = None
    declared_language: str = ""
    headings: tuple[str, ...] = ()
    image_alts: tuple[str, ...] = ()
    open_graph: tuple[tuple[str, str], ...] = ()  # pairs: names repeat
    schema: tuple[SchemaItem, ...] = ()
    fallback: bool = False


def to_json(extract: Extract) -> str:
    """Of a page's extract."""
    return msgspec.json.encode(About(*[getattr(extract, field) for field in About.__struct_fields__])).decode()
