"""Bounds what all bodies under way hold together: hundreds of hosts may send endless ones at the same moment.

http.py tells it how bodies grow. When they are too much together, the largest is given up: it is the likeliest to be
endless, and the others need not wait for it.
"""

from typing import Final

from .connector import Asking

SMALL: Final = 64 * 1024
"""Bytes that every body may have without being counted: an ordinary page."""

_BESIDE: Final = 8 * 1024 * 1024  # bytes of others that have room beside one body of the largest size


class Crowd:
    """The large bodies under way among requests with the same cap."""

    def __init__(self, cap: int) -> None:
        self._room = cap + _BESIDE
        self._sizes: dict[Asking, int] = {}
        self._total = 0

    def grown(self, asking: Asking, size: int) -> None:
        """One has this size now; perhaps another must go."""
        if asking.crowded_out:
            return
        counted = size - SMALL
        self._total += counted - self._sizes.get(asking, 0)
        self._sizes[asking] = counted
        while self._total > self._room:
            largest = max(self._sizes, key=self._sizes.__getitem__)
            self.left(largest)
            largest.chunks.clear()
            largest.crowded_out = True

    def left(self, asking: Asking) -> None:
        """Its body is whole, or given up."""
        self._total -= self._sizes.pop(asking, 0)
