"""Who we are: the User-Agent with product token and contact, and the header fields of every request.

The [fetch] section comes in; an `Identity` goes out, or a ConfigError that stops the start. Called by build.
"""

import re
from collections.abc import Iterable
from typing import Final

from weft.config import Fetch
from weft.errors import ConfigError
from weft.records import Headers, Kind, Lease
from weft.urls.own import OwnHosts

VERSION: Final = "0.1"
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")  # RFC 9309, 2.2.1: else no robots.txt could name us
_CONTACT: Final = re.compile(
    r"https?://[^\s()<>\"\\]+\.[^\s()<>\"\\]+|[^\s()<>\"\\@]+@[^\s()<>\"\\@]+\.[^\s()<>\"\\@]+"
)
_MAIL: Final = re.compile(r"[^\s()<>\"\\@,;:]+@[^\s()<>\"\\@,;:]+")
_ENCODINGS: Final = "gzip, deflate, br, zstd"
_ACCEPT: Final = {
    Kind.PAGE: "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1",
    Kind.ROBOTS: "text/plain,*/*;q=0.1",
    Kind.SITEMAP: "application/xml,text/xml,text/plain;q=0.8,*/*;q=0.5",
    Kind.POLICY: "application/json,application/xml;q=0.9,*/*;q=0.5",
}


class Identity:
    """The product token that robots.txt names, and the fields we send."""

    def __init__(self, config: Fetch) -> None:
        """Raises ConfigError for a token, contact or From that would mislead or break a header."""
        if not _TOKEN.fullmatch(config.product):
            raise ConfigError(f"fetch.product: {config.product!r} must consist of letters, `_` and `-` only (RFC 9309)")
        if config.contact and not _CONTACT.fullmatch(config.contact):
            raise ConfigError(f"fetch.contact: {config.contact!r} is neither a web address nor a mail address")
        if config.from_header and not _MAIL.fullmatch(config.from_header):
            raise ConfigError(f"fetch.from_header: {config.from_header!r} is not a mail address")
        self.product = config.product
        about = f" (+{config.contact})" if config.contact else ""
        self.user_agent = f"{config.product}/{VERSION}{about}"
        sender = (("From", config.from_header),) if config.from_header else ()
        self._fields = {
            kind: (("User-Agent", self.user_agent), ("Accept", accept), ("Accept-Encoding", _encodings(kind)), *sender)
            for kind, accept in _ACCEPT.items()
        }

    def fields(self, kind: Kind) -> Headers:
        """The header fields of a request."""
        return self._fields[kind]

    def fields_for(self, lease: Lease) -> Headers:
        """The same, with the validators of the copy we have."""
        fields = self._fields[lease.kind]
        if lease.etag and is_field_value(lease.etag):
            fields += (("If-None-Match", lease.etag),)
        if lease.modified and is_field_value(lease.modified):
            fields += (("If-Modified-Since", lease.modified),)
        return fields


def require_contact(config: Fetch, own: OwnHosts, hosts: Iterable[str]) -> None:
    """Refuse to start without a contact where a host that is not one's own will be asked."""
    if config.contact:
        return
    for host in hosts:
        addresses = config.hosts.get(host, "").replace(",", " ").split()
        if not own.covers_name(host) and not (addresses and all(map(own.covers_address, addresses))):
            raise ConfigError(
                f"{host} is not named by --own, so its owner must be able to reach you: give --contact URL or MAIL"
            )


def is_field_value(text: str) -> bool:
    """Whether it may stand in a header: printable, one line, not too long."""
    return len(text) <= 1024 and text.isascii() and text.isprintable()


def _encodings(kind: Kind) -> str:
    # robots.txt is read here, not in a parser process, and is small: it is asked for as it is.
    return "identity" if kind is Kind.ROBOTS else _ENCODINGS
