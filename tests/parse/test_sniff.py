"""Charsets: what the bytes are beats what anybody says they are."""

import pytest

from weft.parse.sniff import decode, known

TEXT = "Straße und Café – naïve Grüße, wie man sie früher schrieb. "


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("utf-8", TEXT),
        ("gb18030", "城西老街的修缮工程正式启动，预计将在明年五月底前完工。"),
        ("cp932", "商店街の小さな本屋が、来月で創業五十年を迎える。"),
        ("euc_kr", "남쪽 바닷가의 작은 마을에 있는 등대가 다시 문을 열었다."),
        ("cp1251", "В посёлке заработала первая за сорок лет пекарня."),
        ("big5hkscs", "這條建於清末的老街全長四百二十米。"),
        ("iso-8859-1", "Der Förderverein rechnet fest damit, dass sie fährt."),
        ("iso2022_jp", "町の本屋、五十年"),
    ],
)
@pytest.mark.parametrize("where", ["header", "meta"])
def test_declared_charsets_are_read(charset: str, text: str, where: str) -> None:
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">' if where == "meta" else ""
    body = f"<html><head>{meta}</head><p>{text * 3}</p>".encode(charset)
    found = decode(body, charset if where == "header" else None)
    assert text in found.html.decode("utf-8")


def test_utf8_is_believed_over_a_wrong_label() -> None:
    found = decode(TEXT.encode(), "iso-8859-1")
    assert (found.html.decode(), found.charset) == (TEXT, "utf-8")


def test_a_label_that_does_not_fit_is_not_believed() -> None:
    text = "В посёлке Верхняя Слобода заработала первая за сорок лет пекарня, её открыли сёстры. " * 20
    assert decode(text.encode("cp1251"), "utf-8").html.decode() == text


def test_bytes_without_any_label_are_guessed() -> None:
    text = "На ремонт ушло пять месяцев и почти все накопления, теперь каждое утро увозят хлеб. " * 20
    assert decode(text.encode("cp1251")).html.decode() == text


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_decide(charset: str) -> None:
    assert decode(TEXT.encode(charset), "iso-8859-1").html.decode() == TEXT


def test_utf16_without_a_mark_shows_by_its_zeros() -> None:
    assert decode(f"<html><p>{TEXT}".encode("utf-16-le")).html.decode() == f"<html><p>{TEXT}"


def test_a_body_cut_inside_a_character_stays_utf8() -> None:
    body = (TEXT * 3).encode()[:-1] + "é".encode()[:1]
    assert decode(body).charset == "utf-8"


@pytest.mark.parametrize(
    "label", ["base64", "rot13", "zlib", "utf-7", "idna", "nonsense", "", "x" * 100, "unicode_escape"]
)
def test_labels_that_are_no_charsets_are_ignored(label: str) -> None:
    assert known(label) == ""
    assert decode(b"plain", label).html == b"plain"
