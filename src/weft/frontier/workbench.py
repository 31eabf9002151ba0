"""Who may be asked next: all hosts with work, by the moment they may be asked. Pure; the frontier does the reading.

Two heaps of plain integers (moment in ms, then the host's key; about 60 bytes a host), one for hosts of high authority.
An entry is a hint: whoever takes one checks it against the host, so an outdated entry does no harm.
"""

import heapq
from typing import Final

_KEY_BITS: Final = 80
_KEY_MASK: Final = (1 << _KEY_BITS) - 1
_REST: Final = 0
_HIGH: Final = 1


class Workbench:
    """Fills: whoever gives a host work or a new moment. Empties: `lease`."""

    def __init__(self, authority_share: float) -> None:
        self._heaps: tuple[list[int], list[int]] = ([], [])
        self._share = authority_share
        self._credit = 0.0  # of the hosts of high authority, while both kinds are ready

    def __len__(self) -> int:
        return len(self._heaps[_REST]) + len(self._heaps[_HIGH])

    def load(self, entries: list[tuple[int, bytes, bool]]) -> None:
        """Many at once, when the crawl is opened: heapify is cheaper than pushing."""
        for at_ms, key, high in entries:
            self._heaps[high].append(at_ms << _KEY_BITS | int.from_bytes(key, "big"))
        for heap in self._heaps:
            heapq.heapify(heap)

    def push(self, key: bytes, at_ms: int, high: bool) -> None:
        heapq.heappush(self._heaps[high], at_ms << _KEY_BITS | int.from_bytes(key, "big"))

    def pop(self, now_ms: int) -> bytes | None:
        """The key of a host whose moment has come, by the configured shares; None if there is none."""
        kind = self._draw(now_ms)
        if kind is None:
            return None
        return (heapq.heappop(self._heaps[kind]) & _KEY_MASK).to_bytes(10, "big")

    def next_ms(self) -> int | None:
        """The earliest moment of any host."""
        firsts = [heap[0] for heap in self._heaps if heap]
        return min(firsts) >> _KEY_BITS if firsts else None

    def next_key(self) -> bytes | None:
        """The host whose moment that is."""
        firsts = [heap[0] for heap in self._heaps if heap]
        return (min(firsts) & _KEY_MASK).to_bytes(10, "big") if firsts else None

    def _draw(self, now_ms: int) -> int | None:
        rest, high = (bool(heap) and heap[0] >> _KEY_BITS <= now_ms for heap in self._heaps)
        if not (rest and high):
            # A share is only a share while both have work: nothing is saved up, nobody waits for nothing.
            return _HIGH if high else _REST if rest else None
        self._credit += self._share
        if self._credit >= 1.0:
            self._credit -= 1.0
            return _HIGH
        return _REST
