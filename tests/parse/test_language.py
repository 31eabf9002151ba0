"""Languages and scripts, as detected and as declared."""

import pytest

from weft.parse.language import declared, detect


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


@pytest.mark.parametrize(
    ("written", "tag"),
    [("en", "en"), ("pt_BR", "pt-BR"), ("zh-Hant-tw", "zh-Hant-TW"), ("EN-us", "en-US"), ("<b>", ""), ("x" * 50, "")],
)
def test_declared_tags_are_tidied(written: str, tag: str) -> None:
    assert declared(written) == tag
