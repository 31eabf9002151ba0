"""Sentences that a language detector and a reader take for real: phrases from languages.toml, put together by chance.

`load_languages` reads the phrases; a `Writer` is one random source and one language. Called by article.py and page.py.
"""

import tomllib
from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import cycle
from random import Random
from typing import TypeVar

import msgspec

Choice = TypeVar("Choice")

# Syllables and endings for invented proper names, so that every page has words no other page has.
SYLLABLES = {
    "latin": "al ber cor dan el far gol hem ist jor kel lun mar nor ost pel quin ros sten tor ul ven wis yar zel",
    "cyrillic": "бел вер гор дуб зар каз лес мор нов озер пол род сос тав урж хол чер юр яс ков",
    "han": "安 北 长 东 丰 广 海 河 江 金 兰 林 龙 明 南 宁 平 青 泉 山 石 天 西 阳 永 云",
    "arabic": "با دار را زي سا شم طا عر فا قص كر لا مر نو هل وا يم",
}
ENDINGS = {
    "latin": "stadt ford ia ville berg mere",
    "cyrillic": "ск ово ино град",
    "han": "城 镇 州 县",
    "arabic": "ان ية ون",
}
STEPS = (1, 11, 13)  # share no divisor with the length of any list that is gone round


class Language(msgspec.Struct, frozen=True):
    """The phrases of one language, in the lists that languages.toml describes."""

    code: str
    script: str
    patterns: tuple[str, ...]
    marker: tuple[str, ...]
    subjects: tuple[str, ...]
    verbs: tuple[str, ...]
    objects: tuple[str, ...]
    places: tuple[str, ...]
    times: tuple[str, ...]
    clauses: tuple[str, ...]
    topics: tuple[str, ...]
    titles: tuple[str, ...]
    ui: tuple[str, ...]
    sections: tuple[str, ...]
    people: tuple[str, ...]

    @property
    def direction(self) -> str:
        return "rtl" if self.script == "arabic" else "ltr"

    @property
    def gap(self) -> str:
        """What stands between two sentences."""
        return "" if self.script == "han" else " "


def load_languages() -> tuple[Language, ...]:
    """All languages, in the order of the file."""
    text = resources.files(__package__).joinpath("languages.toml").read_text(encoding="utf-8")
    return tuple(_language(code, table) for code, table in tomllib.loads(text).items())


def _language(code: str, table: dict[str, str]) -> Language:
    lists = {key: tuple(value.split("|")) for key, value in table.items() if key != "script"}
    return Language(code=code, script=table["script"], **lists)


class Writer:
    """Writes in one language; a handful of phrases per page gives every page a subject of its own."""

    def __init__(self, language: Language, random: Random) -> None:
        self.language = language
        self.random = random
        self._syllables = SYLLABLES[language.script].split()
        self._endings = ENDINGS[language.script].split()
        self._subjects = self._some(language.subjects, 16)
        self._verbs = self._some(language.verbs, 16)
        self._objects = self._round(language.objects)
        self._places = self._round(language.places)
        self._times = self._round(language.times)
        self._clauses = self._round(language.clauses)

    def pick(self, choices: Sequence[Choice]) -> Choice:
        return choices[int(self.random.random() * len(choices))]

    def number(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self.random.random() * (high - low + 1))

    def sentence(self) -> str:
        return self._fill(self.pick(self.language.patterns))

    def sentences(self, count: int) -> str:
        return self.language.gap.join([self.sentence() for _ in range(count)])

    def title(self) -> str:
        return self._fill(self.pick(self.language.titles))

    def filed_under(self, marker: str) -> str:
        """A sentence that bears a page's marker through any extractor."""
        return self.pick(self.language.marker).format(M=marker)

    def name(self) -> str:
        """An invented place or person."""
        word = "".join([self.pick(self._syllables) for _ in range(self.number(2, 3))]) + self.pick(self._endings)
        return word[0].upper() + word[1:]

    def _fill(self, pattern: str) -> str:
        clause = next(self._clauses) if "{C}" in pattern else ""
        place = next(self._places) if "{P}" in pattern else ""
        time = next(self._times) if "{T}" in pattern else ""
        subject, verb, thing = self.pick(self._subjects), self.pick(self._verbs), next(self._objects)
        name = self.name() if "{N}" in pattern else ""
        number = self.number(3, 980) if "{K}" in pattern else 0
        text = pattern.format(S=subject, V=verb, O=thing, P=place, T=time, C=clause, N=name, K=number)
        return text[0].upper() + text[1:]

    def _some(self, phrases: tuple[str, ...], count: int) -> tuple[str, ...]:
        """A run of the ring of phrases: cheaper than a sample, and different from page to page."""
        start = self.number(0, len(phrases) - 1)
        return (phrases + phrases)[start : start + count]

    def _round(self, phrases: tuple[str, ...]) -> Iterator[str]:
        """All phrases in turn, in an order of the page's own: long ones that come again look like spam to filters."""
        start, step = self.number(0, len(phrases) - 1), self.pick(STEPS)
        return cycle([phrases[(start + step * turn) % len(phrases)] for turn in range(len(phrases))])
