"""`WEFT_SECTION_KEY` variables as tables of settings, by how long they hold. Called by config, which has the sections.

A variable that names no setting is refused with the nearest one: a misspelt `WEFT_FETHC_CONTACT` must not be silent.
"""

import difflib
import typing
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from .errors import ConfigError
from .killpoints import VARIABLE as KILL_AT

Tables: TypeAlias = dict[str, dict[str, Any]]

_PREFIX: Final = "WEFT_"
_LIMITS: Final = {("crawl", "max_pages"), ("crawl", "max_bytes"), ("crawl", "max_seconds")}
_PLACES: Final = {("storage", "state"), ("storage", "blobs"), ("storage", "partitions")}


class Environment(NamedTuple):
    """Settings by how long they hold; names are checked, values are not."""

    places: Tables  # where DIR's data lie: kept in DIR, or the next verb would look elsewhere
    knobs: Tables  # of this run
    limits: Tables  # of this run too, which counts its own pages, bytes and seconds


def sorted_out(variables: Mapping[str, str], sections: Mapping[str, type]) -> Environment:
    """What the variables set, of all that the sections have."""
    known = {
        f"{_PREFIX}{section}_{key}".upper(): (section, key)
        for section, kind in sections.items()
        for key in typing.get_type_hints(kind)
    }
    found = Environment({}, {}, {})
    for name in sorted(variables):
        if not name.startswith(_PREFIX) or name == KILL_AT:
            continue
        if name not in known:
            raise ConfigError(f"environment: unknown variable {name}; did you mean {_nearest(name, known)}?")
        section, key = known[name]
        tables = found.limits if known[name] in _LIMITS else found.places if known[name] in _PLACES else found.knobs
        tables.setdefault(section, {})[key] = _value(variables[name], typing.get_type_hints(sections[section])[key])
    return found


def laid_over(tables: Mapping[str, Mapping[str, Any]], *others: Mapping[str, Mapping[str, Any]]) -> Tables:
    """All of them as one; later ones win."""
    whole = {name: dict(table) for name, table in tables.items()}
    for other in others:
        for name, table in other.items():
            whole.setdefault(name, {}).update(table)
    return whole


def _nearest(name: str, known: Mapping[str, object]) -> str:
    return difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.0)[0]


def _value(text: str, kind: Any) -> Any:
    """Lists are written with commas."""
    return [part.strip() for part in text.split(",") if part.strip()] if typing.get_origin(kind) is tuple else text
