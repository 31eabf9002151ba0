"""Counters and what goes with them: an example each, kept over restarts, and the line to type to learn more of it."""

from pathlib import Path

from weft.engines.memory import MemoryTable
from weft.metrics import Missing, Tally, meaning_of
from weft.records import Drop, Kind, Lease, Outcome, Page, Reason, Refusal

DIR = Path("my crawl")
ROOT = "http://a.example"


def outcome(path: str, reason: Reason, kind: Kind = Kind.PAGE, lasting: bool = False) -> Outcome:
    lease = Lease(f"{ROOT}{path}", "a.example", 1, 0, 1.0, 2.0, kind=kind)
    return Outcome(lease, reason, 1.0, detail="so it is", lasting=lasting)


def rows(tally: Tally) -> dict[str, Missing]:
    return {row.word: row for row in tally.missing(DIR)}


async def test_examples_are_kept_with_the_counters() -> None:
    table, tally = MemoryTable(), Tally()
    tally.outcomes([outcome(f"/{page}", Reason.NOT_FOUND) for page in range(3)])
    tally.outcomes([outcome("/fine", Reason.STORED), outcome("/sitemap.xml", Reason.GONE, Kind.SITEMAP)])
    tally.page(Page("1", f"{ROOT}/deep", Refusal.TOO_DEEP))
    drops, dropped = (("nofollow", 2), ("scheme", 1)), (("nofollow", f"{ROOT}/?a=1&b=2"), ("scheme", "tel:1"))
    tally.page(Page("2", f"{ROOT}/page", drops=drops, dropped=dropped))
    tally.links(0, {Drop.TOO_DEEP: 4})
    tally.sample({Drop.TOO_DEEP: f"{ROOT}/far"})
    await tally.save(table)
    later = Tally()
    await later.load(table)
    assert later.missing(DIR) == tally.missing(DIR)
    inspect = f"weft inspect 'my crawl' {ROOT}"
    assert rows(later) == {
        "not-found": Missing("answer", "not-found", 3, "404: not found", f"{ROOT}/2", f"{inspect}/2"),
        "html-too-deep": Missing("page", "html-too-deep", 1, "", f"{ROOT}/deep", f"{inspect}/deep"),
        "nofollow": Missing(
            "link", "nofollow", 2, meaning_of(Drop.NOFOLLOW), f"{ROOT}/?a=1&b=2",
            f"weft inspect 'my crawl' '{ROOT}/?a=1&b=2'",
        ),
        # of what is no URL, the page it was found on can be inspected
        "scheme": Missing("link", "scheme", 1, meaning_of(Drop.SCHEME), "tel:1", f"{inspect}/page"),
        "too-deep": Missing("link", "too-deep", 4, meaning_of(Drop.TOO_DEEP), f"{ROOT}/far", f"{inspect}/far"),
    }  # fmt: skip


async def test_counters_of_before_have_no_examples_and_are_told_all_the_same() -> None:
    tally = Tally()
    tally.counts["outcome.not-found"] = 7
    assert rows(tally)["not-found"] == Missing("answer", "not-found", 7, "404: not found")


def test_every_drop_has_a_meaning() -> None:
    assert all(meaning_of(drop) for drop in Drop)


def test_troubles_are_few_and_one_for_each_url() -> None:
    tally = Tally()
    for number in range(100):
        tally.outcomes([outcome(f"/{number // 2}", Reason.TLS_FAILED, lasting=True)])
    tally.outcomes([outcome("/slow", Reason.TIMEOUT)])
    assert len(tally.troubles) == 20
    assert tally.troubles[f"{ROOT}/0"].why == "so it is"
