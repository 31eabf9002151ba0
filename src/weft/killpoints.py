"""Named moments at which a test can end the process, as `kill -9` would.

`WEFT_KILL_AT=name` (or `name:3`, the third time) arms one. Unarmed, `reach` is a dictionary look-up in an empty dict.
Names are `stage.moment`, listed in NAMES so that a test can try every one.
"""

import os
import signal
from typing import Final

NAMES: Final = (
    "directory.configured",  # weft.toml is durable, DIR is not yet a crawl
    "directory.made",  # DIR is a crawl, no engine was opened
    "frontier.leased",  # leases are durable, no request was made
    "fetch.answered",  # an answer is in memory, nowhere else
    "archive.appended",  # captures are in the journal, not synced
    "archive.synced",  # captures are durable, not announced
    "archive.announced",  # captures are on the pages queue, leases not settled
    "frontier.settled",  # leases are settled
    "frontier.counted",  # how leases ended is counted, the checkpoint does not know
    "parse.parsed",  # pages came back from the parsers
    "corpus.written",  # a segment's file is durable, its fingerprints are not
    "corpus.fingerprinted",  # fingerprints are durable, the segment is not registered
    "corpus.registered",  # the segment is registered, the queue is not acked
    "frontier.learned",  # findings reached the frontier, the queue is not acked
    "corpus.compacted",  # a shard is durable, its segments are still registered
)

REFINING: Final = (  # moments of `weft refine DIR`
    "corpus.made",  # the corpus made anew is whole and durable, the old one counts
    "corpus.taken",  # the new one counts, the old one's files lie where it should
    "corpus.cleared",  # a folder of the old one is empty
    "corpus.moved",  # the new one lies in place, rows of the old one are left
)

VARIABLE: Final = "WEFT_KILL_AT"


class KillPoints:
    """Counts down to the armed moment. The composition root makes one from the environment."""

    def __init__(self, armed: str | None = None) -> None:
        self._left: dict[str, int] = {}
        if armed:
            name, _, count = armed.partition(":")
            if name not in NAMES + REFINING:
                raise ValueError(f"no kill point {name!r}; there are {', '.join(NAMES + REFINING)}")
            self._left[name] = int(count or 1)

    @classmethod
    def from_environment(cls) -> "KillPoints":
        return cls(os.environ.get(VARIABLE))

    def reach(self, name: str) -> None:
        """Die here if armed for it."""
        left = self._left.get(name)
        if left is None:
            return
        if left > 1:
            self._left[name] = left - 1
            return
        os.kill(os.getpid(), signal.SIGKILL)
