"""When a URL that failed is tried again, and when it is given up. Pure; jitter comes from the URL itself."""

import xxhash

from weft.config import Frontier
from weft.records import Outcome, Reason

from .rows import HostRow


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


def is_lasting(row: HostRow, outcome: Outcome) -> bool:
    """Is it something that no second attempt within minutes can mend? `row`: of its host."""
    # A name that was there a moment ago is not gone: the resolver is in trouble.
    return outcome.lasting and not (outcome.reason is Reason.DNS_FAILED and row.latency > 0.0)


def is_hopeless(config: Frontier, row: HostRow, outcome: Outcome) -> bool:
    """Is the host given up after this failure, which its row counts already?"""
    if row.closed >= attempts(config) or row.failed >= config.park_after:
        return True
    if not is_lasting(row, outcome):
        return False
    # A name is the whole host's. A certificate is that of one origin: what fails goes behind the host's other URLs,
    # which may be of one that answers. So many failures in a row as it has URLs are those of all of them.
    return outcome.reason is Reason.DNS_FAILED or row.closed >= row.pending


def closure(config: Frontier, times: int) -> float:
    """How long a host stays closed after `times` failures to reach it in a row."""
    return config.retry[min(times, len(config.retry)) - 1] if config.retry else 0.0
