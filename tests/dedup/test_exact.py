"""Exact duplicates: what counts as one, and that only registered segments count."""

from collections.abc import Collection

from weft.dedup.exact import Exact
from weft.engines.memory import MemoryTable
from weft.records import Page, Removal, Verdict


def page(name: str, body: str, text: str) -> Page:
    return Page(
        id=f"<urn:{name}>", url=f"https://a.example/{name}", body_digest=body.encode(), text_digest=text.encode()
    )


class Segments:
    """A registry in a set."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    async def registered(self, names: Collection[str]) -> set[str]:
        return self.names & set(names)


class Store:
    """Commits as the corpus does; `registered=False` is a crash before the last step."""

    def __init__(self) -> None:
        self.table = MemoryTable()
        self.segments = Segments()
        self.exact = Exact(self.table, self.segments.registered)

    async def commit(self, *pages: Page, segment: str = "s1", registered: bool = True) -> list[Verdict]:
        verdicts = await self.exact.judge([(one, None) for one in pages])
        new = [(one, verdict.removal) for one, verdict in zip(pages, verdicts, strict=True) if not verdict.committed]
        rows = self.exact.fingerprints(segment, new)
        await self.table.write(rows)
        if registered:
            self.segments.names.add(segment)
            self.exact.remember(rows)
        return verdicts

    def restart(self) -> None:
        self.exact = Exact(self.table, self.segments.registered)


A, A_BODY, A_TEXT = page("a", "body", "text"), page("b", "body", "other"), page("c", "other", "text")
BY_BODY = Verdict(Removal.DUPLICATE_BODY, original=A.id)
BY_TEXT = Verdict(Removal.DUPLICATE_TEXT, original=A.id)


async def test_duplicates_are_found_within_a_batch_in_memory_and_in_the_table() -> None:
    store = Store()
    assert await store.commit(A, A_BODY, A_TEXT) == [Verdict(), BY_BODY, BY_TEXT]
    later = page("d", "body", "text"), page("e", "x", "text"), page("f", "y", "z")
    assert await store.commit(*later, segment="s2") == [BY_BODY, BY_TEXT, Verdict()]
    store.restart()
    again = page("g", "body", "text"), page("h", "z", "text"), page("i", "y", "q")
    verdicts = await store.commit(*again, segment="s3")
    assert verdicts == [BY_BODY, BY_TEXT, Verdict(Removal.DUPLICATE_BODY, original="<urn:f>")]


async def test_what_was_committed_is_no_duplicate_of_itself() -> None:
    store = Store()
    first = await store.commit(A, A_BODY)
    for _ in range(2):
        assert await store.commit(A, A_BODY, segment="s2") == [
            Verdict(committed=True),
            Verdict(first[1].removal, committed=True),
        ]
        store.restart()
    assert "s2" in store.segments.names


async def test_the_same_capture_twice_in_a_batch_counts_once() -> None:
    assert await Store().commit(A, A) == [Verdict(), Verdict(committed=True)]


async def test_fingerprints_of_an_unregistered_segment_count_for_nothing() -> None:
    store = Store()
    await store.commit(A, A_BODY, segment="dead", registered=False)
    store.restart()
    assert await store.commit(A_BODY, A, segment="s2") == [
        Verdict(),
        Verdict(Removal.DUPLICATE_BODY, original="<urn:b>"),
    ]


async def test_a_page_removed_for_another_reason_is_nobodys_original() -> None:
    store = Store()
    verdicts = await store.exact.judge([(A, Removal.NOINDEX), (A_BODY, None)])
    assert verdicts == [Verdict(Removal.NOINDEX), Verdict()]


async def test_pages_without_digests_are_never_equal() -> None:
    store = Store()
    empty = [Page(f"<urn:{number}>", "https://a.example/") for number in range(3)]
    assert await store.commit(*empty) == [Verdict()] * 3


async def test_memory_stays_bounded_and_forgetting_changes_no_verdict() -> None:
    store = Store()
    store.exact = Exact(store.table, store.segments.registered, recent=10)
    pages = [page(f"p{number}", f"body{number}", f"text{number}") for number in range(50)]
    await store.commit(*pages)
    copies = [page(f"q{number}", f"body{number}", f"new{number}") for number in range(50)]
    verdicts = await store.commit(*copies, segment="s2")
    assert [verdict.original for verdict in verdicts] == [one.id for one in pages]
    assert len(store.exact._recent) == 10


async def test_a_page_fetched_again_and_unchanged_is_no_duplicate_of_another() -> None:
    store = Store()
    await store.commit(A)
    again = Page("<urn:later>", A.url, body_digest=A.body_digest, text_digest=A.text_digest)
    reworded = Page("<urn:latest>", A.url, body_digest=b"new", text_digest=A.text_digest)
    unchanged = Verdict(Removal.UNCHANGED, original=A.id)
    assert await store.commit(again, reworded, segment="s2") == [unchanged, unchanged]
    store.restart()
    assert await store.commit(again, A_BODY, segment="s3") == [Verdict(Removal.UNCHANGED, committed=True), BY_BODY]
