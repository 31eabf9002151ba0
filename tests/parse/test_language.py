"""Languages and scripts, as detected and as declared."""

import pytest

from weft.parse.codes import CODES
from weft.parse.language import _writing, declared, detect


@pytest.mark.parametrize(
    ("text", "code", "script"),
    [
        ("The harbour authority voted on Tuesday to rebuild the old pier.", "eng", "Latn"),
        ("Der Zug nach Oberkirch fährt wieder an jedem Wochenende.", "deu", "Latn"),
        ("В посёлке заработала первая за сорок лет пекарня.", "rus", "Cyrl"),
        ("افتتحت بلدية المدينة القديمة مكتبة عامة جديدة.", "arb", "Arab"),
        ("本报讯昨日下午，城西老街的修缮工程正式启动。", "cmn", "Hani"),
        ("商店街の小さな本屋が、来月で創業五十年を迎える。", "jpn", "Jpan"),
        ("남쪽 바닷가의 작은 마을에 있는 등대가 문을 열었다.", "kor", "Hang"),
        ("पहाड़ी गाँव में इस साल फिर से पुराना मेला लगा।", "hin", "Deva"),
        ("THE HARBOUR AUTHORITY VOTED ON TUESDAY TO REBUILD THE PIER", "eng", "Latn"),
    ],
)
def test_languages_are_told_apart(text: str, code: str, script: str) -> None:
    found = detect(text)
    assert (found.code, found.script) == (code, script)
    assert 0.5 < found.score <= 1


@pytest.mark.parametrize("text", ["", "12345 678", "a b c", "!!! ---"])
def test_too_few_letters_are_undetermined(text: str) -> None:
    assert (detect(text).code, detect(text).score) == ("und", 0.0)


def test_long_texts_are_judged_by_their_middle() -> None:
    text = "Home News Sport Login Menu " * 10 + "Der Zug fährt wieder an jedem Wochenende nach Oberkirch. " * 200
    assert detect(text).code == "deu"


def test_figures_in_the_middle_are_passed_over() -> None:
    for figures in ("1,204 | 33.5 % | 17 | ", "12:40 A 13:05 B 14:11 "):
        text = "Der Zug fährt wieder an jedem Wochenende nach Oberkirch. " * 5 + figures * 200
        assert detect(text).code == "deu"
    assert detect("1,204 | 33.5 % | 17 | " * 500).code == "und"


def test_no_language_is_found_in_a_script_that_it_is_not_written_in() -> None:
    found = detect("VALEO Kupplungssatz KIT3P 827163 IVECO DAILY 10 4 3 5 Bus 6 Kit 2 JTD HPI 8140 F1CE" * 9)
    assert found.code not in ("cmn", "jpn", "kor")
    assert detect("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᏂᏴᏫᏯ ᎤᏂᏬᏂᎯᏍᏗ").code == "und"
    assert detect("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᏂᏴᏫᏯ ᎤᏂᏬᏂᎯᏍᏗ").script == "Cher"


def test_words_between_names_in_latin_letters_tell_the_script() -> None:
    text = "Съавтори Terrence Sejnowski, Salk Institute for Biological Studies. Потвърден имейл адрес в salk.edu. "
    assert (detect(text * 3).code, detect(text * 3).script) == ("bul", "Cyrl")


def test_every_language_has_a_script() -> None:
    assert set(_writing()) <= set(CODES.values())


@pytest.mark.parametrize(
    ("written", "tag"),
    [
        ("en", "en"),
        ("pt_BR", "pt-BR"),
        ("zh-Hant-tw", "zh-Hant-TW"),
        ("EN-us", "en-US"),
        ("<b>", ""),
        ("x" * 50, ""),
        ("utf-8", ""),
        ("UTF8", ""),
        ("iso-8859-1", ""),
        ("gb2312", ""),
        ("en-1", ""),
        ("es-419", "es-419"),
        ("de-1996", "de-1996"),
        ("en-x-pirate", "en-x-pirate"),
    ],
)
def test_declared_tags_are_tidied(written: str, tag: str) -> None:
    assert declared(written) == tag
