"""The package as a library: what `import weft` offers."""

import weft
from weft.urls.canonical import canonical

PAGE = """<html><head><meta charset="iso-8859-1"><title>Größe</title></head><body>
<p>Die Größe der Häuser überraschte alle, die an diesem Morgen über die Brücke kamen, und keiner sprach ein Wort.</p>
</body></html>"""


def test_a_page_may_be_text_or_bytes() -> None:
    text, octets = weft.extract(PAGE), weft.extract(PAGE.encode("latin-1"))
    assert text.text == octets.text
    assert text.title == "Größe"
    assert (text.charset, octets.charset) == ("utf-8", "cp1252")
    assert weft.extract("").text == weft.extract(b"").text == ""


def test_text_that_no_charset_can_hold_is_no_reason_to_fail() -> None:
    assert "Größe" in weft.extract(PAGE.replace("alle", "\ud800")).text


def test_robots_may_be_text_or_bytes() -> None:
    file = "User-agent: *\nDisallow: /größe\n"
    for robots in (weft.Robots.parse(file), weft.Robots.parse(file.encode())):
        assert not robots.allows("https://example.org/gr%C3%B6%C3%9Fe/1", "anybot")
        assert robots.allows("https://example.org/", "anybot")


def test_canonical_is_the_one_of_the_crawl() -> None:
    assert weft.canonical is canonical
