"""Which hosts belong to the crawl: those the seeds named, or their registrable domains, or all.

Seeds, and where they redirect to, widen it. Kept in the table; in memory a set of hashes.
"""

from typing import Final

import xxhash

from weft.config import Config
from weft.ports import Put, Range, Table
from weft.urls.host import host_key, registrable

from . import keys

_REMEMBERED: Final = 200_000
_HOST: Final = b"h"
_DOMAIN: Final = b"d"


class Reach:
    def __init__(self, table: Table, config: Config) -> None:
        self._table = table
        self._reach = config.scope.reach
        self._partitions = config.storage.partitions
        self._members: set[bytes] = set()
        self._answers: dict[bytes, bool] = {}  # by host key

    async def load(self) -> None:
        groups = [Range(number.to_bytes(2, "big") + keys.SCOPE, limit=1_000_000) for number in range(self._partitions)]
        for rows in await self._table.scan(groups):
            self._members.update(item for item, _ in rows)

    def covers(self, key: bytes, host: str) -> bool:
        """Does this host (with its key) belong to the crawl?"""
        if self._reach == "any":
            return True
        answer = self._answers.get(key)
        if answer is None:
            member = _host_member(host) if self._reach == "host" else _domain_member(registrable(host))
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            answer = self._answers[key] = member in self._members
        return answer

    def is_seeded(self, domain: str) -> bool:
        """Did a seed lie in this registrable domain?"""
        return _domain_member(domain) in self._members

    def widen(self, host: str) -> list[Put]:
        """The host of a seed joins; the rows to write, none if it was in before."""
        members = {_host_member(host), _domain_member(registrable(host))} - self._members
        if not members:
            return []
        self._members |= members
        self._answers.clear()
        group = host_key(host, self._partitions)[:2] + keys.SCOPE
        return [Put((group, member), host.encode()) for member in members]


def _host_member(host: str) -> bytes:
    return _HOST + xxhash.xxh3_64_digest(host.encode())


def _domain_member(domain: str) -> bytes:
    return _DOMAIN + xxhash.xxh3_64_digest(domain.encode())
