"""Exact duplicates: pages in, verdicts out, and the fingerprints that the next verdicts rest on. Called by corpus.

A fingerprint is a row that names the segment and the document it belongs to. It counts only while that segment is
registered, so a crash between the two leaves nothing to undo. Three are kept: of the capture (redelivery), of the
decoded body and of the normalised text. The caller writes them, before it registers the segment.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from enum import Enum
from itertools import islice
from typing import TypeAlias

import xxhash

from weft.ports import Key, Put, Table
from weft.records import Page, Record, Removal, Verdict

Judged: TypeAlias = tuple[Page, Removal | None]
"""A page, and why it is no document, if that is known."""

Registered: TypeAlias = Callable[[Collection[str]], Awaitable[Collection[str]]]
"""Which of these segments are registered."""

RECENT = 50_000  # fingerprints kept in memory; about 20 MB


class Print(Enum):
    """What a fingerprint is of; the order in which they decide."""

    CAPTURE = b"c"
    BODY = b"b"
    TEXT = b"t"


_REMOVALS = {Print.BODY: Removal.DUPLICATE_BODY, Print.TEXT: Removal.DUPLICATE_TEXT}


class Owner(Record, frozen=True):
    """To whom a fingerprint belongs."""

    segment: str
    document: str
    place: str  # a hash of its URL: a page that was fetched again is no duplicate of another
    removal: str = ""  # of a capture that did not become a document


class Exact:
    """Remembers what was stored. One per writer of segments."""

    def __init__(self, table: Table, registered: Registered, recent: int = RECENT, side: bytes = b"") -> None:
        """`side`: keeps the fingerprints of two corpora in one table apart."""
        self._table = table
        self._side = side
        self._registered = registered
        self._limit = recent
        self._recent: dict[Key, Owner] = {}  # of registered segments only, oldest first

    async def judge(self, pages: Sequence[Judged]) -> list[Verdict]:
        """In order: the first of two equal pages in the batch is the original."""
        owners = await self._owners([key for page, removal in pages for _, key in _prints(page, removal)])
        verdicts = []
        for page, removal in pages:
            verdict = _verdict(page, removal, owners)
            verdicts.append(verdict)
            if not verdict.committed:
                owners.update(_owned("", page, verdict.removal))
        return verdicts

    async def _owners(self, keys: Sequence[Key]) -> dict[Key, Owner]:
        found = {key: self._recent[key] for key in keys if key in self._recent}
        asked = [key for key in dict.fromkeys(keys) if key not in found]
        rows = zip(asked, await self._table.get([self._placed(key) for key in asked]), strict=True)
        stored = {key: _unpack(value) for key, value in rows if value is not None}
        valid = await self._registered({owner.segment for owner in stored.values()})
        found.update({key: owner for key, owner in stored.items() if owner.segment in valid})
        return found

    def fingerprints(self, segment: str, pages: Sequence[Judged]) -> list[Put]:
        """Rows that say where these pages went."""
        owned = [pair for page, removal in pages for pair in _owned(segment, page, removal)]
        return [Put(self._placed(key), _pack(owner)) for key, owner in owned]

    async def knows(self, captures: Sequence[str]) -> list[bool]:
        """Which of these captures, by their ids, it would recognise if they came again."""
        keys = [_capture_key(capture) for capture in captures]
        owners = await self._owners(keys)
        return [key in owners and owners[key].document == capture for key, capture in zip(keys, captures, strict=True)]

    def remember(self, rows: Sequence[Put]) -> None:
        """The segment these rows name is registered now."""
        for (group, item), value in rows:
            self._recent[group.removesuffix(self._side) if self._side else group, item] = _unpack(value)
        for key in list(islice(self._recent, max(0, len(self._recent) - self._limit))):
            del self._recent[key]

    def _placed(self, key: Key) -> Key:
        return key[0] + self._side, key[1]


def _verdict(page: Page, removal: Removal | None, owners: dict[Key, Owner]) -> Verdict:
    for kind, key in _prints(page, removal):
        owner = owners.get(key)
        if owner is None:
            continue
        if owner.document == page.id:
            return Verdict(Removal(owner.removal) if owner.removal else None, committed=True)
        same_place = owner.place == _place(page)
        return Verdict(Removal.UNCHANGED if same_place else _REMOVALS[kind], original=owner.document)
    return Verdict(removal)


def _owned(segment: str, page: Page, removal: Removal | None) -> list[tuple[Key, Owner]]:
    owner = Owner(segment, page.id, _place(page), removal.value if removal else "")
    return [(key, owner) for _, key in _prints(page, removal)]


def _prints(page: Page, removal: Removal | None) -> Iterator[tuple[Print, Key]]:
    """A page that is no document leaves no body and no text that others could duplicate."""
    yield Print.CAPTURE, _capture_key(page.id)
    if removal is None and page.body_digest:
        yield Print.BODY, _key(Print.BODY, page.body_digest)
    if removal is None and page.text_digest:
        yield Print.TEXT, _key(Print.TEXT, page.text_digest)


def _capture_key(capture: str) -> Key:
    return _key(Print.CAPTURE, xxhash.xxh3_128_digest(capture.encode()))


def _place(page: Page) -> str:
    return xxhash.xxh3_64_hexdigest(page.url.encode())


def _key(kind: Print, digest: bytes) -> Key:
    """Spread over 65,536 groups, so that a store that splits by group can share them out."""
    return b"dedup" + digest[:2], kind.value + digest[2:]


def _pack(owner: Owner) -> bytes:
    return "\0".join((owner.segment, owner.document, owner.place, owner.removal)).encode()


def _unpack(value: bytes) -> Owner:
    return Owner(*value.decode().split("\0"))
