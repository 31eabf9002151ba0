"""Doubtful URLs that are out: so many of a host at a time, as a trap would run far ahead of what its pages bring.

Filled when a URL is leased that anything speaks against, or as a trial; emptied when its page is judged, or when it is
known that it brings none.
"""

from typing import Final

from . import keys
from .rows import Pending
from .timekeeper import Timekeeper
from .trail import is_clean

_MOST: Final = 20
_PATIENCE: Final = 60_000  # ms after which one counts no longer, whatever became of it


class Awaited:
    def __init__(self, time: Timekeeper) -> None:
        self._time = time
        self._out: dict[bytes, dict[bytes, int]] = {}  # by holder, URLs and since when
        self._holders: dict[bytes, bytes] = {}  # URL → who waits for it: its host, or its family

    def leased(self, key: bytes, pending: Pending) -> None:
        """The URL is asked for."""
        if pending.trial or not is_clean(pending.trail):
            holder = pending.trial[: keys.HOST_KEY] or key[: keys.HOST_KEY]
            self._out.setdefault(holder, {})[key] = self._time.now_ms()
            self._holders[key] = holder

    def arrived(self, key: bytes) -> bytes | None:
        """What the URL brought is known. Whose next one need wait no more for it, if one had to."""
        holder = self._holders.pop(key, None)
        if holder is None:
            return None
        out = self._out[holder]
        del out[key]
        if not out:
            del self._out[holder]
        return holder if len(out) == _MOST - 1 else None

    def is_ahead(self, holder: bytes) -> bool:
        """Should a doubtful URL wait for what those before it bring?"""
        out = self._out.get(holder)
        if out is None or len(out) < _MOST:
            return False
        oldest = next(iter(out))
        if out[oldest] < self._time.now_ms() - _PATIENCE:
            self.arrived(oldest)
            return False
        return True
