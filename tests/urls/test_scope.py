"""Static scope rules and one's own hosts."""

import pytest

from weft.config import Scope
from weft.errors import ConfigError
from weft.records import Drop
from weft.urls.own import OwnHosts
from weft.urls.scope import Rules, reach_of

RULES = Rules(
    Scope(
        include=(r"/docs/", r"^https://whole\.example/"),
        exclude=(r"\.pdf$",),
        block=("bad.example", "*.worse.example"),
        max_url_length=60,
    )
)


@pytest.mark.parametrize(
    ("url", "drop"),
    [
        ("http://good.example/docs/a", None),
        ("https://whole.example/x", None),
        ("ftp://good.example/docs/a", Drop.SCHEME),
        ("mailto:a@good.example", Drop.SCHEME),
        ("http://good.example/docs/" + "a" * 60, Drop.TOO_LONG),
        ("http://bad.example/docs/a", Drop.BLOCKED),
        ("http://www.bad.example/docs/a", Drop.BLOCKED),
        ("http://notbad.example/docs/a", None),
        ("http://x.worse.example/docs/a", Drop.BLOCKED),
        ("http://good.example/docs/a.pdf", Drop.EXCLUDED),
        ("http://good.example/blog/a", Drop.EXCLUDED),
    ],
)
def test_rules(url: str, drop: Drop | None) -> None:
    assert RULES.drop(url) is drop


def test_a_bad_pattern_is_one_clear_line() -> None:
    with pytest.raises(ConfigError, match=r"not a regular expression"):
        Rules(Scope(include=("(",)))


@pytest.mark.parametrize(("reach", "joins"), [("host", "www.example.org"), ("domain", "example.org"), ("any", "")])
def test_reach(reach: str, joins: str) -> None:
    assert reach_of("www.example.org", reach) == joins


def test_own_hosts() -> None:
    own = OwnHosts(["127.0.0.0/8", "::1", "intranet.example", "*.lab.example"])
    assert own
    assert own.covers_name("127.3.2.1")
    assert own.covers_name("intranet.example")
    assert own.covers_name("a.b.lab.example")
    assert own.covers_address("::1")
    assert not own.covers_name("lab.example")
    assert not own.covers_name("10.0.0.1")
    assert not own.covers_address("intranet.example")
    assert not OwnHosts([])


@pytest.mark.parametrize("entry", ["", "http://example.org/", "10.0.0.0/99", "host:80"])
def test_own_refuses_what_is_neither_host_nor_range(entry: str) -> None:
    with pytest.raises(ConfigError, match="neither a host name"):
        OwnHosts([entry])
