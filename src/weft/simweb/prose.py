"""Words for scenes: slugs that stand for numbers, and writers whose texts depend on the seed and a key alone."""

from random import Random

import xxhash

from .article import CODE_WORDS
from .language import Language, Writer, load_languages
from .names import FIRST, SECOND

MORE = """
    almond arrow bamboo barrel basket bottle butter button candle carpet cherry cotton dragon feather finger guitar
    hammer honey island jacket kettle ladder lemonade magnet mirror mountain needle orchard paper pebble pepper pillow
    pocket puzzle rabbit ribbon saddle shadow silver spider sugar tunnel turtle velvet violin wagon walnut window
"""
WORDS = tuple(dict.fromkeys([*FIRST.split(), *" ".join(SECOND.values()).split(), *CODE_WORDS, *MORE.split()]))[:128]
SPACE = 1 << 14  # slugs: two words of 128
STEP = 9_973  # odd, so that every number has a slug of its own
BACK = pow(STEP, -1, SPACE)


def slug(number: int) -> str:
    """Two dictionary words for a number below 16,384; `number_of` reads them back."""
    mixed = (number * STEP + 4_321) % SPACE
    return f"{WORDS[mixed >> 7]}-{WORDS[mixed & 127]}"


def number_of(text: str) -> int | None:
    first, _, second = text.partition("-")
    if first not in PLACES or second not in PLACES:
        return None
    return ((PLACES[first] << 7 | PLACES[second]) - 4_321) * BACK % SPACE


PLACES = {word: place for place, word in enumerate(WORDS)}


class Prose:
    """All chance and all texts of one scene."""

    def __init__(self, seed: int, host: int) -> None:
        self._key = f"{seed}/{host}"
        self._languages = {language.code: language for language in load_languages()}

    def language(self, code: str) -> Language:
        return self._languages[code]

    def dice(self, *key: object) -> int:
        """64 random bits."""
        return xxhash.xxh3_64_intdigest(f"{self._key}/{key}".encode())

    def writer(self, *key: object, language: str = "en") -> Writer:
        return Writer(self._languages[language], Random(self.dice(*key)))

    def words(self, count: int, *key: object) -> list[str]:
        """Dictionary words; one dice for up to nine of them."""
        dice = self.dice(*key)
        return [WORDS[dice >> 7 * turn & 127] for turn in range(count)]


def title_of(text: str) -> str:
    """`amber-harbour` as people write it above a page."""
    return text.replace("-", " ").replace("_", " ").capitalize()
