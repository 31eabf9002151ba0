"""Who we say we are."""

import pytest

from weft.config import Fetch
from weft.errors import ConfigError
from weft.fetch.identity import Identity, require_contact
from weft.fetch.robots import Robots
from weft.records import Kind
from weft.urls.own import OwnHosts


@pytest.mark.parametrize("product", ["weft", "My-Bot", "my_bot"])
def test_robots_txt_can_name_us(product: str) -> None:
    identity = Identity(Fetch(product=product, contact="me@example.org"))
    assert identity.user_agent == f"{product}/0.1 (+me@example.org)"
    robots = Robots.parse(f"User-agent: {product}\nDisallow: /\n".encode())
    assert not robots.allows("http://h/", identity.product)
    assert not robots.allows("http://h/", identity.user_agent)


@pytest.mark.parametrize("product", ["", "my bot", "bot2", "bot/1.0", "bött", "bot\r\nX: y", "*"])
def test_tokens_outside_the_rfc(product: str) -> None:
    with pytest.raises(ConfigError, match="RFC 9309"):
        Identity(Fetch(product=product))


@pytest.mark.parametrize("contact", ["https://example.org/bot", "http://example.org", "bot@example.org"])
def test_contacts(contact: str) -> None:
    assert f"(+{contact})" in Identity(Fetch(contact=contact)).user_agent


@pytest.mark.parametrize(
    "contact", ["me", "example.org", "a@b", "https://x", "a@b.c) evil (", "a@b.c\r\nX: y", "ftp://a.b/"]
)
def test_what_is_no_contact(contact: str) -> None:
    with pytest.raises(ConfigError, match="contact"):
        Identity(Fetch(contact=contact))


def test_from_is_sent_only_if_given() -> None:
    assert "From" not in dict(Identity(Fetch()).fields(Kind.PAGE))
    assert dict(Identity(Fetch(from_header="me@example.org")).fields(Kind.PAGE))["From"] == "me@example.org"
    with pytest.raises(ConfigError, match="from"):
        Identity(Fetch(from_header="me\r\nX: y"))


def test_no_start_without_a_contact_unless_all_hosts_are_own() -> None:
    own = OwnHosts(["127.0.0.0/8", "intern.example"])
    fetch = Fetch(hosts={"sim.test": "127.0.0.1", "far.test": "8.8.8.8"})
    require_contact(fetch, own, ["127.0.0.1", "intern.example", "sim.test"])
    require_contact(Fetch(contact="me@example.org"), own, ["example.org"])
    for host in ("example.org", "far.test", "8.8.8.8"):
        with pytest.raises(ConfigError, match=host):
            require_contact(fetch, own, ["127.0.0.1", host])
