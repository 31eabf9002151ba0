"""A miniature internet on real sockets, for the demo, the tests and the benchmarks.

    async with SimWeb(SimWebConfig(hosts=20, pages=25)) as web:
        …crawl web.seeds() with web.hosts() as the table of names…
        score(web.truth(), documents, web.requests())

config (what there is) → world (the map) → site, page, planting (pages and misbehaviours) → server (sockets) → log;
truth says what a perfect polite crawler would store, judge compares.
"""

from .answer import Fate
from .config import GROUPS, MILD, MISBEHAVIOURS, Misbehaviour, SimWebConfig, expand, scenes_of
from .judge import Score, Violation, politeness, score
from .log import Request, read_log
from .scene import Scene
from .scene_judge import SceneScore, score_scene
from .scenery import KINDS, LOOK_ALIKES, TRAPS
from .truth import Truth
from .web import SimWeb

__all__ = [
    "GROUPS",
    "KINDS",
    "LOOK_ALIKES",
    "MILD",
    "MISBEHAVIOURS",
    "TRAPS",
    "Fate",
    "Misbehaviour",
    "Request",
    "Scene",
    "SceneScore",
    "Score",
    "SimWeb",
    "SimWebConfig",
    "Truth",
    "Violation",
    "expand",
    "politeness",
    "read_log",
    "scenes_of",
    "score",
    "score_scene",
]
