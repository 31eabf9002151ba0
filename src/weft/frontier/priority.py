"""How important a URL is: one pure function, and the band of its host's queue that it goes to.

Inside a band the branches of a host take turns, and inside a branch the first found goes first. Bands are drawn by
weight, so that none starves.
"""

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from weft.records import Kind, Via


class Band(IntEnum):
    """FRONT goes before all else: what an earlier request has already led to."""

    FRONT = 0
    HIGH = 1  # what its site has pointed out, by a sitemap or feed
    NORMAL = 2
    LAST = 3  # of an origin that could not be reached: behind what may be of another origin of the host
    HELD = 4  # what the trap defence holds, to be tried


class Features(NamedTuple):
    """All that priority depends on."""

    depth: int
    via: Via = Via.ANCHOR
    kind: Kind = Kind.PAGE
    authority: int = 0  # domains that link to the host
    sitemap: float | None = None  # its priority there, None when it is in none
    age: float | None = None  # seconds since it is said to have changed


_WEEK: Final = 7 * 86_400.0
_FAMOUS: Final = math.log1p(1000)
_POINTED_OUT: Final = 0.2  # from a sitemap's priority of 0.75 on, or a change of the last days


class Priority(NamedTuple):
    band: Band
    score: float
    why: str


def priority(features: Features) -> Priority:
    """The score of a URL between 0 and 1, its band, and why."""
    if features.kind is not Kind.PAGE:
        return Priority(Band.FRONT, 1.0, "a file that speaks for the whole site")
    if features.via is Via.REDIRECT:
        return Priority(Band.FRONT, 1.0, "where a redirect led")
    parts = _parts(features)
    score = min(1.0, sum(value for _, value in parts))
    why = ", ".join(f"{name} {value:+.2f}" for name, value in parts if value)
    pointed_out = features.via is Via.SEED or sum(value for _, value in parts[-2:]) >= _POINTED_OUT
    return Priority(Band.HIGH if pointed_out else Band.NORMAL, score, why)


def _parts(features: Features) -> list[tuple[str, float]]:
    authority = min(1.0, math.log1p(features.authority) / _FAMOUS)
    fresh = 0.0 if features.age is None else 0.15 * 0.5 ** (max(0.0, features.age) / _WEEK)
    return [
        (f"depth {features.depth}", 0.65 * 0.85**features.depth),
        (f"linked from {features.authority} domains", 0.35 * authority),
        ("in a sitemap", 0.0 if features.sitemap is None else 0.05 + 0.20 * features.sitemap),
        ("changed lately", fresh),
    ]


def drawing_order(weights: Sequence[int]) -> tuple[tuple[Band, ...], ...]:
    """For each turn of a host, the bands in the order in which they are looked at.

    A smooth weighted round: with weights 6, 3, 1 HIGH leads 6 of 10 turns, NORMAL 3 and HELD one, evenly spread.
    """
    bands = (Band.HIGH, Band.NORMAL, Band.HELD)
    credit = dict.fromkeys(bands, 0)
    turns = []
    for _ in range(sum(weights)):
        for band, weight in zip(bands, weights, strict=True):
            credit[band] += weight
        first = max(bands, key=lambda band: credit[band])
        credit[first] -= sum(weights)
        rest = (band for band in (Band.HIGH, Band.NORMAL, Band.LAST, Band.HELD) if band is not first)
        turns.append((Band.FRONT, first, *rest))
    return tuple(turns)
