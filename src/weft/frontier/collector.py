"""Python's garbage collector in a process that has a frontier: many objects, no cycles."""

import gc


def calm() -> None:
    """Look seldom: it took a sixth of the frontier's time."""
    gc.collect()
    gc.freeze()  # modules and tables live as long as the process: a full collection over them took 80 ms
    gc.set_threshold(50_000, 20, 100)
