"""Charsets: what the bytes are beats what anybody says they are."""

import pytest

from weft.parse.sniff import decode

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


def test_labels_that_are_no_charsets_are_ignored() -> None:
    assert decode(b"plain", "base64").html == b"plain"


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("cp949", "남쪽 바닷가의 작은 마을에 있는 등대가 다시 문을 열었다. 주민들은 똠방각하를 보았다고 말했다."),
        ("gb18030", "城西老街的修缮工程正式启动，预计将在明年五月底前完工。"),
        ("big5hkscs", "這條建於清末的老街全長四百二十米，修繕工程預計明年五月完工。"),
        ("cp932", "商店街の小さな本屋が、来月で創業五十年を迎える。"),
        ("euc_jp", "商店街の小さな本屋が、来月で創業五十年を迎える。店主は「こんなに長く続くとは」と話す。"),
        ("cp1252", "Le café « naïf » de l’été, où l’on dînait déjà, fut fermé."),
        ("cp874", "ที่เมืองเล็กริมทะเล ประภาคารเปิดอีกครั้ง ชาวบ้านบอกว่าดีใจมาก"),
    ],
)
@pytest.mark.parametrize("before", [0, 50, 20_000])
def test_charsets_that_nobody_names_are_found(charset: str, text: str, before: int) -> None:
    body = f"<html><head><title>x</title></head><body>{'<div>x</div>' * before}<p>{text}</p>"
    found = decode(body.encode(charset))
    assert (found.charset, found.html.decode()) == (charset, body)


SCRIPTS = [
    ("cp1251", "В посёлке заработала первая за сорок лет пекарня."),
    ("koi8_r", "В посёлке заработала первая за сорок лет пекарня."),
    ("iso8859_7", "Η παλιά γέφυρα του χωριού άνοιξε ξανά για τους κατοίκους."),
    ("gb18030", "城西老街的修缮工程正式启动，预计将在明年五月底前完工。"),
    ("big5hkscs", "這條建於清末的老街全長四百二十米，修繕工程預計明年五月完工。"),
    ("cp932", "商店街の小さな本屋が、来月で創業五十年を迎える。"),
]


@pytest.mark.parametrize(("charset", "text"), [*SCRIPTS, ("iso8859_2", "Zażółć gęślą jaźń, pięć łąk żółtych.")])
@pytest.mark.parametrize("western", ["iso-8859-1", "windows-1252"])
def test_what_the_page_says_goes_before_latin_1_of_the_server(charset: str, text: str, western: str) -> None:
    body = f"<meta charset={charset}><p>plain</p><p>{text}".encode(charset)
    assert text in decode(body, western).html.decode()
    assert text in decode(body.replace(charset.encode(), western.encode()), charset).html.decode()


@pytest.mark.parametrize(("charset", "text"), SCRIPTS)
def test_words_of_other_scripts_are_no_latin_1(charset: str, text: str) -> None:
    body = f"<title>Home</title><p>plain</p><p>{text}".encode(charset)
    for found in (decode(body, "iso-8859-1"), decode(b"<meta charset=latin1>" + body)):
        assert (found.charset, text in found.html.decode()) == (charset, True)


@pytest.mark.parametrize(
    "text",
    [
        "Le café « naïf » de l’été, où l’on dînait déjà, fut fermé. ",
        "Der Förderverein rechnet fest damit, dass sie fährt: ÄÖÜß. ",
        "Þórður ætlaði að fara út í Öræfasveit. ",
        "Home »»»» News \xa0\xa0\xa0\xa0\xa0 — — €",
    ],
)
@pytest.mark.parametrize("named", ["iso-8859-1", "gb2312", "windows-1251", "shift_jis", "utf-8"])
@pytest.mark.parametrize("many", [1, 50])
def test_accented_letters_stay_western(text: str, named: str, many: int) -> None:
    body = f"<meta charset={named}><p>{text * many}".encode("cp1252")
    assert decode(body, "iso-8859-1").html == body.decode("cp1252").encode()


@pytest.mark.parametrize(
    ("label", "body", "text"),
    [
        ("l1", b"it\x92s", "it’s"),
        ("ksc5601", "똠방각하".encode("cp949"), "똠방각하"),
        ("iso-8859-11", b"\x93\xa1\x94", "“ก”"),
        ("latin5", b"it\x92s \xfe", "it’s ş"),
        ("csgb2312", "朱镕基".encode("gbk"), "朱镕基"),
        ("sjis", "①髙".encode("cp932"), "①髙"),
    ],
)
def test_a_label_means_what_browsers_take_it_for(label: str, body: bytes, text: str) -> None:
    assert decode(b"<p>" + body * 9, label).html.decode() == "<p>" + text * 9
    assert decode(b"<meta charset=%s><p>" % label.encode() + body * 9).html.decode().endswith(text)


@pytest.mark.parametrize("before", [100, 20_000])
def test_failures_are_counted_among_what_is_not_ascii(before: int) -> None:
    body = b"<meta charset=utf-8>" + b"<p>plain</p>" * before + b"caf\xe9 na\xefve"
    assert decode(body).html.endswith("café naïve".encode())


@pytest.mark.parametrize("declared", ["iso-8859-1", "cp1251", "gb18030", "utf-8", None])
@pytest.mark.parametrize("named", [b"utf-8", b"iso-8859-1", b"nonsense"])
def test_utf8_with_a_broken_byte_is_utf8(declared: str | None, named: bytes) -> None:
    body = b"<meta charset=%s><p>" % named + TEXT.encode() * 5 + b"\xe9 rest"
    found = decode(body, declared)
    assert found.charset == "utf-8"
    assert found.html.decode().count("Straße") == 5


def test_what_somebody_marked_as_broken_is_no_failure() -> None:
    for marks in (50, 2_000):
        body = f"<p>{TEXT * 5}{'�' * marks}".encode() + b"\xff"
        assert decode(body, "utf-8").charset == "utf-8"


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("declared", [None, "utf-16", "iso-8859-1"])
def test_utf16_of_bytes_below_128_is_not_taken_for_ascii(charset: str, declared: str | None) -> None:
    body = "<title>Пекарня</title><p>В посёлке заработала первая за сорок лет пекарня."
    assert decode(body.encode(charset), declared).html.decode() == body


def test_stray_zeros_are_not_taken_for_utf16() -> None:
    for body in (b"<p>" + bytes(500) + b"x", b"<p>x\0yz" * 100, b"<p>a word\0" * 50, b"\0\0<p>x" * 50):
        assert decode(body).html == body
