"""When a URL that failed is tried again, and when it is given up. Pure; jitter comes from the URL itself."""

import xxhash

from weft.config import Frontier


def attempts(config: Frontier) -> int:
    """How often a URL is tried in all."""
    return len(config.retry) + 1


def backoff(config: Frontier, attempt: int, key: bytes) -> float:
    """Seconds from failed attempt number `attempt` (1 for the first) to the next one."""
    if not config.retry:
        return 0.0
    base = config.retry[min(attempt, len(config.retry)) - 1]
    # From a hash, not a random number: the same crawl gives the same schedule, and URLs still spread out.
    share = xxhash.xxh3_64_intdigest(key + attempt.to_bytes(2, "big")) / 2**64
    return base * (1.0 + config.jitter * (2.0 * share - 1.0))


def closure(config: Frontier, times: int) -> float:
    """How long a host stays closed after `times` failures to reach it in a row."""
    return config.retry[min(times, len(config.retry)) - 1] if config.retry else 0.0
