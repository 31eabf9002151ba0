"""Where a request goes: a URL comes in; its host and the checked addresses of that host go out. Called by http.py.

The parser that makes URLs canonical (ada) decides what the host is; what another could read differently is refused.
"""

import re
from typing import Final, NamedTuple

import ada_url
import yarl

from weft.records import Reason
from weft.urls.host import is_address

from .connector import Asking
from .dns import Answer, Resolver
from .guard import Guard

_REMEMBERED: Final = 50_000  # origins
# The shape of a canonical URL, in which every parser finds the same host: no user, no backslash, nothing but ASCII.
_CANONICAL: Final = re.compile(r"(https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?)/[!-\"$-\[\]-~]*")


class End(NamedTuple):
    """How an exchange ended before its time. Without a reason: what was left out does not matter."""

    reason: Reason | None
    detail: str
    truncated: str = ""
    lasting: bool = False


class _Known(NamedTuple):
    """What is known of an origin: its host as ada has it, an answer for that host, and what of it may be used."""

    host: str
    found: Answer | None  # None where the host is an address itself
    checked: tuple[str, ...]
    named: str = ""  # what the Host field says


class Destinations:
    """Remembers what was found and checked."""

    def __init__(self, guard: Guard, resolver: Resolver) -> None:
        self._guard, self._resolver = guard, resolver
        self._known: dict[str, _Known] = {}

    def known(self, url: str) -> Asking | None:
        """What was found and checked before, as long as DNS says the same."""
        parts = _CANONICAL.fullmatch(url)
        known = self._known.get(parts[1]) if parts else None
        # Addresses are checked once per answer of DNS; the connector checks the one it uses once more.
        if known is None or (known.found and self._resolver.cached(known.host) is not known.found):
            return None
        return Asking(known.host, yarl.URL(url, encoded=True), known.checked, known.named)

    async def find(self, url: str) -> Asking | End:
        try:
            url = ada_url.normalize_url(url).partition("#")[0]
        except ValueError:
            return End(Reason.BAD_URL, "not a URL")
        parts = _CANONICAL.fullmatch(url)
        if parts is None:
            return End(Reason.BAD_URL, "not an http or https URL with a host and without a user")
        found = await self._checked(parts[2].strip("[]"))
        if isinstance(found, End):
            return found
        target = yarl.URL(url, encoded=True)
        if target.raw_host != found.host:
            return End(Reason.BAD_URL, "two parsers disagree about its host")
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        found = self._known[parts[1]] = found._replace(named=target.host_port_subcomponent or "")
        return Asking(found.host, target, found.checked, found.named)

    async def _checked(self, host: str) -> _Known | End:
        """The addresses that may be connected to."""
        found = None if is_address(host) else await self._resolver.resolve(host)
        addresses = found.addresses if found else (host,)
        refusals = {address: self._guard.refusal(address, host) for address in addresses}
        checked = tuple(address for address, refusal in refusals.items() if refusal is None)
        if checked:
            return _Known(host, found, checked)
        if found and not refusals:
            return End(Reason.DNS_FAILED, found.problem, lasting=found.nowhere)
        return End(Reason.ADDRESS_FORBIDDEN, "; ".join(filter(None, refusals.values())))
