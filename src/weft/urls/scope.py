"""The static rules of the scope: everything about a URL that can be judged without knowing the seeds.

Parsers apply them to every link, the frontier to seeds and redirects, `weft inspect` to any URL.
"""

import re

from weft.config import Scope
from weft.errors import ConfigError
from weft.records import Drop

from .host import host_of, registrable


class Rules:
    """Compiled from the [scope] section."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._schemes = tuple(f"{scheme}://" for scheme in scope.schemes)
        self._include = [_compiled(pattern) for pattern in scope.include]
        self._exclude = [_compiled(pattern) for pattern in scope.exclude]
        self._blocked = frozenset(name.lower().lstrip("*.") for name in scope.block)

    def drop(self, url: str) -> Drop | None:
        """Why this canonical URL is none of ours; None when nothing speaks against it."""
        if not url.startswith(self._schemes):
            return Drop.SCHEME
        if len(url) > self._scope.max_url_length:
            return Drop.TOO_LONG
        if self._blocked and self._is_blocked(host_of(url)):
            return Drop.BLOCKED
        if any(pattern.search(url) for pattern in self._exclude):
            return Drop.EXCLUDED
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return Drop.EXCLUDED
        return None

    def _is_blocked(self, host: str) -> bool:
        """The host itself, or any domain above it."""
        while host:
            if host in self._blocked:
                return True
            host = host.partition(".")[2]
        return False


def reach_of(host: str, reach: str) -> str:
    """What joins the scope with a seed of this host: the host, its registrable domain, or everything ("")."""
    if reach == "host":
        return host
    return registrable(host) if reach == "domain" else ""


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"scope: {pattern!r} is not a regular expression: {error}") from None
