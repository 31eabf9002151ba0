"""What the pages of a host have said so far, in bounded memory: hashes of lines and texts, and how patterns fare.

Judges a page by it. Pure but for what it remembers; `sites` keeps it in the table and in memory.
"""

from array import array
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec
import xxhash

from weft.records import Evidence

from . import traps
from .trail import Trail
from .traps import Verdict, Window

_ASKED: Final = 8  # hashes of a page that are asked for; all that it has are kept
# A generation of hashes. Swept for the host: 500 to 8,000 (fewer fruitless requests with more), 16,000 gained nothing.
_HOST_LINES: Final = 8_000
_HOST_TEXTS: Final = 8_000
_CLEARED: Final = 8_000
_PATTERN_LINES: Final = 1_000
_PATTERNS: Final = 256  # of a host; later ones share one per branch
_SHARED: Final = 64  # patterns of a host that those share
_OTHERS: Final = "/… others"
_OVERHEAD: Final = 600  # bytes that a site or a pattern takes besides its hashes, about


class Hashes:
    """A set of 32-bit numbers above 0, at four to twelve bytes each."""

    __slots__ = ("count", "slots")

    def __init__(self, stored: bytes = b"") -> None:
        self.slots = array("I", stored or bytes(64))
        self.count = len(self.slots) - self.slots.count(0)

    def __contains__(self, number: int) -> bool:
        slots, mask = self.slots, len(self.slots) - 1
        place = number & mask
        while found := slots[place]:
            if found == number:
                return True
            place = (place + 1) & mask
        return False

    def add(self, number: int) -> None:
        slots, mask = self.slots, len(self.slots) - 1
        place = number & mask
        while found := slots[place]:
            if found == number:
                return
            place = (place + 1) & mask
        slots[place] = number
        self.count += 1
        if self.count * 3 > len(slots) * 2:
            self._grow()

    def _grow(self) -> None:
        before, self.slots, self.count = self.slots, array("I", bytes(8 * len(self.slots))), 0
        for number in before:
            if number:
                self.add(number)


class Memory:
    """Hashes met lately: when the young generation is full, the old one is forgotten. What is met again stays young."""

    __slots__ = ("limit", "old", "young")

    def __init__(self, limit: int, young: bytes = b"", old: bytes = b"") -> None:
        self.limit = limit
        self.young = Hashes(young)
        self.old = Hashes(old)

    def __contains__(self, number: int) -> bool:
        return number in self.young or number in self.old

    def add(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.young.add(number)
        if self.young.count >= self.limit:
            self.old, self.young = self.young, Hashes()

    def stored(self) -> tuple[bytes, bytes]:
        return self.young.slots.tobytes(), self.old.slots.tobytes()

    @property
    def size(self) -> int:
        return 4 * (len(self.young.slots) + len(self.old.slots))


class PatternRow(msgspec.Struct, array_like=True, gc=False):
    """A pattern as it lies in the table."""

    text: str
    windows: tuple[Window, Window] = msgspec.field(default_factory=lambda: (Window(), Window()))
    lines: tuple[bytes, bytes] = (b"", b"")


class Pattern:
    """One pattern of a host: its lines, and a window for pages found outside it and one for those found inside."""

    __slots__ = ("lines", "text", "windows")

    def __init__(self, row: PatternRow) -> None:
        self.text = row.text
        self.windows = row.windows
        self.lines = Memory(_PATTERN_LINES, *row.lines)

    def row(self) -> PatternRow:
        return PatternRow(self.text, self.windows, self.lines.stored())


class SiteRow(msgspec.Struct, array_like=True, gc=False):
    """The host's own part."""

    judged: int = 0
    lines: tuple[bytes, bytes] = (b"", b"")
    texts: tuple[bytes, bytes] = (b"", b"")


class Shown(NamedTuple):
    """One page, unpacked."""

    text: int  # 32 bits of its digest; 0: it says nothing
    raw: array  # type: ignore[type-arg]
    clean: array  # type: ignore[type-arg]
    near: array  # type: ignore[type-arg]

    @classmethod
    def of(cls, evidence: Evidence) -> "Shown":
        text = (evidence.digest & 0xFFFFFFFF or 1) if evidence.digest else 0
        return cls(text, array("I", evidence.raw), array("I", evidence.clean), array("I", evidence.near))


class Site:
    """What is known of the pages of one host."""

    def __init__(self, row: SiteRow | None = None) -> None:
        row = row or SiteRow()
        self.judged = row.judged  # pages that are in here
        self.lines = Memory(_HOST_LINES, *row.lines)
        self.texts = Memory(_HOST_TEXTS, *row.texts)
        self.patterns: dict[bytes, Pattern] = {}
        self.changed: dict[bytes, None] = {}  # patterns newer than their rows; no name: the host's own part
        self.doubted = Hashes()  # URLs held, or queued behind a fruitless page: a better link to one must be looked at
        self.unsure = False  # some were doubted before this was read from its rows, which do not tell
        self._cleared = Memory(_CLEARED)  # of those, some that were looked at
        self.barren = 0  # patterns, each in one of its two forms, that have stopped bringing new pages
        self.saved_ms = 0

    def key_of(self, text: str, branch: int) -> bytes:
        """Under which key the host keeps the pattern."""
        key = xxhash.xxh3_64_digest(text.encode())
        if key in self.patterns or len(self.patterns) < _PATTERNS:
            return key
        return xxhash.xxh3_64_digest(b"branch %d" % (branch % _SHARED))

    def patterns_of(self, url: str, view: str, trail: Trail) -> dict[bytes, str]:
        """Key and text of the patterns of a URL; `view`: what it shows in another way, if it was found inside one."""
        texts = filter(None, (traps.pattern_of(url), view if trail.ingrown else "", traps.copy_of(url)))
        named = {xxhash.xxh3_64_digest(text.encode()): text for text in texts}
        if len(self.patterns) < _PATTERNS or named.keys() <= self.patterns.keys():
            return named
        return {
            self.key_of(text, trail.branch): text if key in self.patterns else _OTHERS for key, text in named.items()
        }

    def window(self, pattern: bytes, trail: Trail) -> Window | None:
        """How the last pages of the pattern fared that were come by like this."""
        found = self.patterns.get(pattern)
        return found.windows[trail.ingrown] if found else None

    def barren_pattern(self, patterns: Iterable[bytes], trail: Trail) -> bytes:
        """The first of these that has stopped bringing new pages; empty if none has."""
        for key in patterns:
            window = self.window(key, trail)
            if window is not None and window.is_barren:
                return key
        return b""

    def judge(self, shown: Shown, trail: Trail, patterns: Iterable[bytes]) -> Verdict:
        """Does the page bring something? A line new to the host; for a while, one new to its pattern will do."""
        if shown.text and shown.text in self.texts:
            return Verdict.DUPLICATE
        if any(line not in self.lines for line in shown.clean[:_ASKED]):
            return Verdict.FRUITFUL
        known = self.patterns.get(next(iter(patterns), b""))
        if known is not None and traps.is_lent(trail) and any(line not in known.lines for line in shown.raw[:_ASKED]):
            return Verdict.LENT
        return Verdict.FRUITLESS

    def remember(self, shown: Shown, trail: Trail, patterns: Mapping[bytes, str], verdict: Verdict) -> None:
        """The page is judged; its patterns by key."""
        self.learn(shown)
        self.judged += 1
        for key, text in patterns.items():
            pattern = self._pattern(key, text)
            pattern.lines.add(shown.raw)
            window, original = pattern.windows[trail.ingrown], verdict is not Verdict.DUPLICATE
            self.barren -= window.is_barren
            window.push(original if text.endswith(traps.COPIES) else verdict.is_fruitful)
            self.barren += window.is_barren

    def learn(self, shown: Shown) -> None:
        """What the page says is known from now on."""
        if shown.text:
            self.texts.add((shown.text,))
        self.lines.add(shown.clean)
        self.lines.add(shown.near)
        self.changed[b""] = None

    def _pattern(self, key: bytes, text: str) -> Pattern:
        self.changed[key] = None
        return self.patterns.get(key) or self.patterns.setdefault(key, Pattern(PatternRow(text)))

    def doubt(self, key: bytes) -> None:
        """The URL with this key is held, or queued behind a fruitless page."""
        self.doubted.add(int.from_bytes(key[-4:], "big") or 1)

    def doubts(self, key: bytes) -> bool:
        """Perhaps; a few others are taken for doubted, and after a restart each once."""
        number = int.from_bytes(key[-4:], "big") or 1
        if number in self.doubted:
            return True
        if not self.unsure or number in self._cleared:
            return False
        self._cleared.add((number,))
        return True

    def adopt(self, key: bytes, row: PatternRow) -> None:
        """A pattern that was read."""
        self.patterns[key] = pattern = Pattern(row)
        self.barren += sum(window.is_barren for window in pattern.windows)

    def row(self) -> SiteRow:
        return SiteRow(self.judged, self.lines.stored(), self.texts.stored())

    @property
    def size(self) -> int:
        """Bytes, about."""
        patterns = sum(_OVERHEAD + pattern.lines.size for pattern in self.patterns.values())
        return _OVERHEAD + self.lines.size + self.texts.size + 4 * len(self.doubted.slots) + patterns
