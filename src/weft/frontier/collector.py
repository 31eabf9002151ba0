"""Python's garbage collector in a process that has a frontier: many objects, no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def calm() -> Iterator[None]:
    """Look seldom: it took a sixth of the frontier's time. Afterwards as before, for whoever called us from Python."""
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.collect()
    gc.freeze()  # modules and tables live as long as the crawl: a full collection over them took 80 ms
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if not frozen:
            gc.unfreeze()
