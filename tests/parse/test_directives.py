"""noindex and nofollow, from headers and meta tags, said to all or to us."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.parse.directives import Directives, is_nofollow, of_headers, of_metas

NOW = 1_700_000_000.0  # November 2023
BOTH = Directives(noindex=True, nofollow=True)
NOINDEX = Directives(noindex=True)
NOFOLLOW = Directives(nofollow=True)
NOTHING = Directives()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("noindex", NOINDEX),
        ("NoIndex", NOINDEX),
        ("nofollow", NOFOLLOW),
        ("none", BOTH),
        ("all", NOTHING),
        ("index, follow", NOTHING),
        ("noindex, nofollow", BOTH),
        ("noindex,nofollow", BOTH),
        ("noindex; nofollow", BOTH),
        ("noarchive, nosnippet, noimageindex", NOTHING),
        ("max-snippet: 20, noindex", NOINDEX),
        ("max-image-preview:none", NOTHING),
        ("max-image-preview: none, nofollow", NOFOLLOW),
        ("max-snippet:-1, max-image-preview:large, max-video-preview:-1", NOTHING),
        ("googlebot: noindex", NOTHING),
        ("googlebot: noindex, nofollow", NOTHING),
        ("weft: noindex", NOINDEX),
        ("WEFT: nofollow", NOFOLLOW),
        ("weftish: none", NOTHING),
        ("*: noindex", NOINDEX),
        ("otherbot: noindex, weft: nofollow", NOFOLLOW),
        ("weft: noindex, otherbot: nofollow", NOINDEX),
        ("nofollow, otherbot: noindex", NOFOLLOW),
        ("unavailable_after: 25 Jun 2010 15:00:00 GMT", NOINDEX),
        ("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT", NOINDEX),
        ("unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, nofollow", BOTH),
        ("unavailable_after: 2010-06-25T15:00:00+00:00", NOINDEX),
        ("unavailable_after: 2010-06-25", NOINDEX),
        ("unavailable_after: 25 Jun 2099 15:00:00 GMT", NOTHING),
        ("unavailable_after: never", NOTHING),
        ("unavailable_after: 2099-06-25, noindex", NOINDEX),
        ("otherbot: unavailable_after: 25 Jun 2010 15:00:00 GMT", NOTHING),
        ("", NOTHING),
        (",,::,", NOTHING),
        ("noindexing", NOTHING),
    ],
)
def test_header(value: str, expected: Directives) -> None:
    assert of_headers((("X-Robots-Tag", value),), "weft", NOW) == expected


def test_headers_add_up() -> None:
    headers = (("x-robots-tag", "noindex"), ("Content-Type", "none"), ("X-ROBOTS-TAG", "weft: nofollow"))
    assert of_headers(headers, "Weft", NOW) == BOTH
    assert of_headers((), "weft", NOW) == NOTHING


@pytest.mark.parametrize(
    ("metas", "expected"),
    [
        ([("robots", "noindex")], NOINDEX),
        ([("robots", "NOINDEX, FOLLOW")], NOINDEX),
        ([("robots", "none")], BOTH),
        ([("robots", "noindex nofollow")], BOTH),
        ([("robots", "index, follow, max-image-preview: none")], NOTHING),
        ([("googlebot", "noindex")], NOTHING),
        ([("weft", "nofollow")], NOFOLLOW),
        ([("robots", "index,follow"), ("weft", "noindex")], NOINDEX),
        ([("robots", "noindex"), ("weft", "index")], NOINDEX),
        ([("description", "noindex")], NOTHING),
        ([("robots", "unavailable_after: 2010-06-25")], NOINDEX),
        ([], NOTHING),
    ],
)
def test_meta(metas: list[tuple[str, str]], expected: Directives) -> None:
    assert of_metas(metas, "weft", NOW) == expected


@pytest.mark.parametrize(
    ("rel", "expected"),
    [
        ("nofollow", True),
        ("NOFOLLOW noopener", True),
        ("external nofollow", True),
        ("noopener,nofollow", True),
        ("ugc", False),
        ("sponsored", False),
        ("donofollow", False),
        ("", False),
    ],
)
def test_rel(rel: str, expected: bool) -> None:
    assert is_nofollow(rel) is expected


def test_a_hostile_value_takes_no_time() -> None:
    value = "a:" * 500_000 + "," * 500_000
    assert of_headers((("X-Robots-Tag", value),), "weft", NOW) == NOTHING


@given(st.text("unavailable_after:, 0123456789-TZ+GMTJanFri weft*noindex"))
def test_no_value_is_an_error(value: str) -> None:
    of_headers((("X-Robots-Tag", value), ("X-Robots-Tag", f"unavailable_after: {value}")), "weft", NOW)
