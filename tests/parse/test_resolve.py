"""The short cuts of resolving give what `canonical` gives, on every href."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.config import Config
from weft.parse.resolve import Resolver, Target, near, plain
from weft.records import Drop
from weft.urls.canonical import canonical
from weft.urls.host import url_key

BASE = "https://www.site.example/folder/page?q=1"
PIECES = (
    "/ // . .. a B 1 - _ ~ %41 %2F % ? & = # utm_source=x _ga=1 fbclid=2 gclid http: http:// https:// HTTP:// "
    "host.example a.b.example/ c.d xn--a 127.1 0x7f : @ + ' * ; , ! $ ( ) [ | \" < ^ \\ é"
)
pieces = st.sampled_from([*PIECES.split(), " ", "\t"])


@given(st.lists(pieces, max_size=9).map("".join))
def test_a_plain_href_is_as_canonical_would_have_it(href: str) -> None:
    short = plain(href, BASE)
    assert not short or short == canonical(href, BASE)


@pytest.mark.parametrize("base", [BASE, "http://a.example/", "http://a.example/x/?y=/z", "http://a.example/%20/x"])
@given(st.lists(pieces, max_size=9).map("".join))
def test_a_near_href_is_as_canonical_would_have_it(base: str, href: str) -> None:
    short = near(href, base)
    assert not short or short == canonical(href, base)


@pytest.mark.parametrize("href", ["about", "a/b.html", "module.html", "class-x_y/(1)"])
def test_common_relative_hrefs_are_near(href: str) -> None:
    assert near(href, BASE) == canonical(href, BASE)


@pytest.mark.parametrize(
    "href", ["", "/about", "../up", "a/../b", "mailto:x", "a:b", "?q", "a b", "a?x=1", "a#b", ".x", "a//b"]
)
def test_others_are_not_near(href: str) -> None:
    assert near(href, BASE) == ""


@pytest.mark.parametrize(
    "href",
    ["/", "/about", "/a/b.html", "/a/?page=2&x=y", "http://other.example/", "https://other.example/a/b?c=d#e", "/a#b"],
)
def test_common_hrefs_are_plain(href: str) -> None:
    assert plain(href, BASE) == canonical(href, BASE)


OTHERS = (
    "about //other.example/ /a/../b /.well-known /%41 /a?utm_source=x http://a.example:80/ http://1.2.3.4/ /a//b #top "
    "http://xn--nxasmq6b.example/ http://Host.example/ http://user@a.example/"
)


@pytest.mark.parametrize("href", [*OTHERS.split(), "", "/a b", "http://" + "a" * 64 + ".example/"])
def test_others_are_not(href: str) -> None:
    assert plain(href, BASE) == ""


@pytest.mark.parametrize(
    ("href", "domain"),
    [
        ("/about", "www.site.example"),  # no public suffix that we know: the host stands for itself
        ("http://a.b.other.co.uk/x", "other.co.uk"),
        ("http://a.github.io/x/../y", "a.github.io"),
        ("http://127.0.0.1/", "127.0.0.1"),
    ],
)
def test_a_target_knows_its_key_and_domain(href: str, domain: str) -> None:
    url = canonical(href, BASE)
    assert Resolver(Config()).resolve(href, BASE) == Target(url, url_key(url, Config().storage.partitions), domain)


@pytest.mark.parametrize(
    ("href", "drop"),
    [
        ("mailto:a@b.example", Drop.SCHEME),
        ("javascript:void(0)", Drop.SCHEME),
        ("data:text/html,x", Drop.SCHEME),
        ("ftp://a.example/", Drop.SCHEME),
        ("http://[bad", Drop.BAD_URL),
        ("http://exa mple.org/", Drop.BAD_URL),
        ("/" + "a" * 3000, Drop.TOO_LONG),
        ("/" + "a" * 20_000, Drop.TOO_LONG),
    ],
)
def test_drops(href: str, drop: Drop) -> None:
    assert Resolver(Config()).resolve(href, BASE) is drop


def test_memory_of_origins_is_bounded() -> None:
    resolver = Resolver(Config())
    first = resolver.known("https://0.example")
    first["/"] = Drop.SCHEME
    for number in range(2000):
        resolver.known(f"https://{number % 1000}.example")["/"] = Drop.SCHEME
    assert resolver.known("https://0.example") == {}
    known = resolver.known("https://crowded.example")
    for number in range(5000):
        resolver.known("https://crowded.example")[str(number)] = Drop.SCHEME
    assert len(known) < 1000
