"""Keys met lately, in memory: the first answer to "is this URL known?", for most links the only one needed.

Two generations of a fixed size; when the younger is full it becomes the older. What is in neither is looked up in the
table, so forgetting costs a read and never a URL.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet


class Recent:
    """About the last `size` keys.

    Dictionaries without values, not sets: the garbage collector never looks into a dictionary of bytes, and took 0.2 s
    each time for sets of a million; and `set.difference` of a dictionary runs in C all the same, 0.1 µs a key.
    """

    def __init__(self, size: int) -> None:
        self._half = max(1, size // 2)
        self._young: dict[bytes, None] = {}
        self._old: dict[bytes, None] = {}

    def unknown(self, keys: AbstractSet[bytes]) -> set[bytes]:
        """Those of the keys that are not remembered."""
        missing = set(keys).difference(self._young)
        return missing.difference(self._old) if self._old else missing

    def remember(self, keys: Iterable[bytes]) -> None:
        self._young.update(dict.fromkeys(keys))
        if len(self._young) > self._half:
            self._old, self._young = self._young, {}

    def forget(self) -> None:
        self._young, self._old = {}, {}
