"""A miniature internet on real sockets, for the demo, the tests and the benchmarks.

    async with SimWeb(SimWebConfig(hosts=20, pages=25)) as web:
        …crawl web.seeds() with web.hosts() as the table of names…
        score(web.truth(), documents, web.requests())

config (what there is) → world (the map) → site, page, planting (pages and misbehaviours) → server (sockets) → log;
truth says what a perfect polite crawler would store, judge compares.
"""

from .answer import Fate
from .config import GROUPS, MILD, MISBEHAVIOURS, Misbehaviour, SimWebConfig, expand
from .judge import Score, Violation, politeness, score
from .log import Request, read_log
from .truth import Truth
from .web import SimWeb

__all__ = [
    "GROUPS",
    "MILD",
    "MISBEHAVIOURS",
    "Fate",
    "Misbehaviour",
    "Request",
    "Score",
    "SimWeb",
    "SimWebConfig",
    "Truth",
    "Violation",
    "expand",
    "politeness",
    "read_log",
    "score",
]
