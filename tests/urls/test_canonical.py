"""Only equivalences that hold everywhere; nothing else is merged."""

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weft.urls.canonical import BadURLError, canonical

SAME = [
    ("HTTP://Example.ORG/", "http://example.org/"),
    ("http://example.org", "http://example.org/"),
    ("http://example.org:80/", "http://example.org/"),
    ("https://example.org:443/a", "https://example.org/a"),
    ("http://example.org/a/./b/../c", "http://example.org/a/c"),
    ("http://example.org/%7euser", "http://example.org/~user"),
    ("http://example.org/a%2fb", "http://example.org/a%2Fb"),
    ("http://example.org/?q=%41%2d", "http://example.org/?q=A-"),
    ("http://example.org/page#part", "http://example.org/page"),
    ("http://exa\tmple.org/a\nb", "http://example.org/ab"),
    (" http://example.org/ ", "http://example.org/"),
    ("http:\\\\example.org\\a", "http://example.org/a"),
    ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ("http://user:secret@example.org/", "http://example.org/"),
    ("http://example.org/%e4", "http://example.org/%E4"),
    ("http://example.org/ä", "http://example.org/%C3%A4"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://example.org/?utm_source=x&a=1&gclid=2", "http://example.org/?a=1"),
    ("http://example.org/?fbclid=1", "http://example.org/"),
    ("http://example.org/?%75tm_medium=x&b", "http://example.org/?b"),
    ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
]

DIFFERENT = [
    ("http://example.org/a", "http://example.org/a/"),
    ("http://example.org/", "https://example.org/"),
    ("http://example.org/", "http://www.example.org/"),
    ("http://example.org/a%2Fb", "http://example.org/a/b"),
    ("http://example.org/A", "http://example.org/a"),
    ("http://example.org//a", "http://example.org/a"),
    ("http://example.org/?a=1&b=2", "http://example.org/?b=2&a=1"),
    ("http://example.org/?a=1&a=2", "http://example.org/?a=1"),
    ("http://example.org/?q=a+b", "http://example.org/?q=a%20b"),
    ("http://example.org/?", "http://example.org/"),
    ("http://example.org/?ref=x", "http://example.org/"),
    ("http://example.org/?session=1", "http://example.org/"),
    ("http://example.org/?cid=1", "http://example.org/"),
    ("http://example.org/?UTM_source=x", "http://example.org/"),
    ("http://example.org/%%341", "http://example.org/%41"),
    ("http://example.org/?a&&b", "http://example.org/?a&b"),
]


@pytest.mark.parametrize(("written", "expected"), SAME)
def test_safe_equivalences(written: str, expected: str) -> None:
    assert canonical(written) == expected


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_pages_stay_different(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("b", "http://example.org/x/b"),
        ("../b?c#d", "http://example.org/b?c"),
        ("//other.example/p", "http://other.example/p"),
        ("?q=1", "http://example.org/x/y?q=1"),
        ("#top", "http://example.org/x/y"),
        ("", "http://example.org/x/y"),
        ("mailto:a@b.example", "mailto:a@b.example"),
    ],
)
def test_links_resolve_against_their_base(link: str, expected: str) -> None:
    assert canonical(link, "http://example.org/x/y") == expected


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "no scheme",
        "http://",
        "http://exa mple.org/",
        "http://[::1/",
        "http://example.org:99999/",
        "http://" + "a" * 64 + ".example/",
        "http://" + ".".join(["abcdefgh"] * 40) + "/",
        "http://" + "ü" * 1_000_000 + ".example/",
        "http://example.org/" + "x" * 20_000,
        "http://\ud800.example/",
    ],
)
def test_what_is_no_url_is_refused(bad: str) -> None:
    with pytest.raises(BadURLError):
        canonical(bad)


pieces = st.text(st.sampled_from("abAB012%%%2f4E.~/?&=#+;:@ü☃\\ \t-_utm_"), max_size=40)


@given(pieces)
@example("%%34%31")
@example("%4%31")
@example("?utm_a=1&utm_b")
def test_canonical_is_idempotent(tail: str) -> None:
    try:
        once = canonical("http://Example.org/" + tail)
    except BadURLError:
        return
    assert canonical(once) == once


@given(st.text(max_size=200), st.one_of(st.none(), st.text(max_size=50)))
def test_any_text_gives_a_url_or_a_clear_refusal(text: str, base: str | None) -> None:
    with contextlib.suppress(BadURLError):
        once = canonical(text, base)
        assert "#" not in once
        assert "\n" not in once
