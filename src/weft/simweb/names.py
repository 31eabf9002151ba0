"""Host names and loopback addresses from an index, and small numbers as letters for markers and paths."""

from random import Random

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

FIRST = """
    alder amber anchor apple ash autumn barley basalt birch blue bramble bright bronze cedar clover coral copper crane
    crystal drift eagle early east ember falcon fern field flint forest garnet golden granite green grey harbour hazel
    heron hill island ivory juniper lantern larch lemon linden marble meadow mill mistral north oak ocean olive otter
    pine poplar quarry raven river
"""

# The second word of a name tells what kind of site it is.
SECOND = {
    "news": "gazette herald times courier tribune post chronicle observer dispatch monitor",
    "blog": "journal notes diary letters thoughts weblog pages musings notebook logbook",
    "docs": "docs manual handbook guide reference wiki library toolkit labs project",
    "forum": "forum board talk circle commons club community exchange roundtable lounge",
    "shop": "shop store market outlet supplies trading goods bazaar depot traders",
    "listing": "directory index almanac catalogue register atlas listings finder archive survey",
}
TEMPLATES = tuple(SECOND)


def base36(number: int) -> str:
    """A number as lower-case letters and digits."""
    digits = ""
    while True:
        number, rest = divmod(number, 36)
        digits = DIGITS[rest] + digits
        if not number:
            return digits


def address_of(position: int) -> str:
    """127.1.0.1 for the first, then upwards: never 127.0.0.1, where other services live."""
    number = (1 << 16) + 1 + position
    if number >= 127 << 16:
        raise ValueError(f"no loopback address left for position {position}")
    return f"127.{number >> 16}.{number >> 8 & 255}.{number & 255}"


class Names:
    """Names for hosts: `word-kind.suffix`, all different, in an order the seed decides."""

    def __init__(self, seed: int, suffix: str) -> None:
        random = Random(seed)
        self._first = FIRST.split()
        random.shuffle(self._first)
        columns = [[(kind, word) for word in words.split()] for kind, words in SECOND.items()]
        self._second = [pair for row in zip(*columns, strict=True) for pair in row]
        self._suffix = suffix

    def host(self, index: int) -> tuple[str, str]:
        """(name, template) of a host; the pair of words repeats only after len(first) × len(second) hosts."""
        turn, first = divmod(index, len(self._first))
        round_, turn = divmod(turn, len(self._second))
        kind, second = self._second[(turn + 13 * first) % len(self._second)]
        number = f"-{round_ + 1}" if round_ else ""
        return f"{self._first[first]}-{second}{number}.{self._suffix}", kind
