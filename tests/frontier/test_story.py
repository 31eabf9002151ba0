"""What a person can ask the frontier: the story of a URL, the dead and the parked, and to try them again."""

import msgspec

from tests.frontier.driver import Desk, configured
from weft.config import Scope
from weft.engines.memory import MemoryTable
from weft.engines.torn import Crashed, TornTable
from weft.frontier.letters import Filter, Letter
from weft.records import Drop, Finding, Link, Outcome, Reason


async def letters(desk: Desk, wanted: Filter | None = None) -> list[Letter]:
    return [letter async for letter in desk.frontier.dead(wanted)]


async def died(desk: Desk, *urls: str) -> None:
    await desk.add(*urls)
    for _ in range(5 * len(urls)):
        await desk.settle(await desk.lease(), Reason.SERVER_ERROR)
        desk.clock.tick((desk.frontier.ready_in() or 0.0) + 0.001)


async def test_the_story_of_a_url_from_discovery_to_its_end() -> None:
    desk = Desk()
    url = "http://a.example/deep/page"
    assert (await desk.frontier.explain(url)).state == "unknown"
    await desk.frontier.add([Link(url, depth=3, source="http://b.example/")])
    story = await desk.frontier.explain(url)
    assert (story.state, story.source, story.depth, story.band) == ("pending", "http://b.example/", 3, "normal")
    assert "depth 3" in story.priority_why
    (lease,) = await desk.lease()
    assert (await desk.frontier.explain(url)).state == "leased"
    await desk.settle([lease], Reason.TIMEOUT)
    story = await desk.frontier.explain(url)
    assert (story.state, story.attempt, story.next) == ("waiting", 2, "another attempt")
    assert story.next_at is not None
    assert story.next_at > desk.clock.now() + 20
    assert [visit.reason for visit in story.visits] == [Reason.TIMEOUT]
    desk.clock.tick(60)
    await desk.settle(await desk.lease())
    await desk.frontier.learn([Finding(url, desk.clock.now(), title="A page", words=321)])
    story = await desk.frontier.explain(url)
    assert story.state == "done"
    assert [visit.reason for visit in story.visits] == [Reason.TIMEOUT, Reason.STORED]
    assert story.learned is not None
    assert (story.learned.title, story.learned.words) == ("A page", 321)
    assert story.host is not None
    assert story.host.done == 1
    assert msgspec.json.decode(msgspec.json.encode(story))["state"] == "done"


async def test_the_decision_on_an_unknown_url_is_made_again() -> None:
    desk = Desk(configured(Scope(reach="host", exclude=("private",))))
    await desk.frontier.add([Link("http://a.example/", seed=True)])
    assert (await desk.frontier.explain("http://b.example/")).drop is Drop.OUT_OF_SCOPE
    assert (await desk.frontier.explain("http://a.example/private")).drop is Drop.EXCLUDED
    assert (await desk.frontier.explain("http://a.example/x")).drop is None
    for _ in range(2):
        await desk.add("http://a.example/private", "http://a.example/private/2", "http://b.example/")
    await desk.frontier.close()
    await desk.reopened()
    (row,) = (await desk.frontier.explain("http://a.example/")).drops
    assert (row.reason, row.count, row.examples[0]) == ("excluded", 4, "http://a.example/private")


async def test_dead_urls_are_listed_by_host_reason_and_pattern_and_revived() -> None:
    desk = Desk()
    await died(desk, "http://a.example/one", "http://b.example/two")
    assert desk.frontier.counts().dead == 2
    found = await letters(desk)
    assert {(letter.url, letter.reason, letter.attempts) for letter in found} == {
        ("http://a.example/one", "server-error", 5),
        ("http://b.example/two", "server-error", 5),
    }
    assert len(found[0].visits) == 5
    assert [letter.url for letter in await letters(desk, Filter(host="a.example"))] == ["http://a.example/one"]
    assert [letter.url for letter in await letters(desk, Filter(pattern="*/two"))] == ["http://b.example/two"]
    assert await letters(desk, Filter(reason="timeout")) == []
    assert (await desk.frontier.explain("http://a.example/one")).state == "dead"

    assert await desk.frontier.revive(Filter(host="a.example")) == 1
    await desk.reopened()
    desk.clock.tick(1000)
    (lease,) = await desk.lease()
    assert (lease.url, lease.attempt) == ("http://a.example/one", 1)
    await desk.settle([lease])
    counts = desk.frontier.counts()
    assert (counts.dead, counts.done) == (1, 1)


async def test_parked_hosts_are_listed_and_revived_with_all_their_attempts() -> None:
    desk = Desk()
    await desk.add("http://a.example/1", "http://a.example/2")
    for _ in range(5):
        await desk.settle(await desk.lease(), Reason.DNS_FAILED)
        desk.clock.tick((desk.frontier.ready_in() or 0.0) + 0.001)
    (letter,) = await letters(desk)
    assert (letter.parked, letter.reason, letter.pending) == (True, "dns-failed", 2)
    assert "given up (dns-failed)" in (await desk.frontier.explain("http://a.example/1")).next
    assert await desk.frontier.revive(Filter(reason="dns-failed")) == 1
    desk.clock.tick(1000)
    for _ in range(4):
        (lease,) = await desk.lease()
        await desk.settle([lease], Reason.DNS_FAILED)
        assert desk.frontier.counts().parked_hosts == 0
        desk.clock.tick((desk.frontier.ready_in() or 0.0) + 0.001)


async def test_again_visits_what_was_fetched_with_its_validators() -> None:
    desk = Desk()
    await desk.add("http://a.example/x", "http://a.example/missing")
    for _ in range(2):
        (lease,) = await desk.lease()
        kind = Reason.NOT_FOUND if lease.url.endswith("missing") else Reason.STORED
        outcome = Outcome(lease, kind, desk.clock.now(), etag='"1"', modified="Mon, 01 Jan 2024 00:00:00 GMT")
        await desk.frontier.settle([outcome])
    assert await desk.frontier.again() == 1
    await desk.reopened()
    desk.clock.tick(2)
    (lease,) = await desk.lease()
    assert (lease.url, lease.etag, lease.modified) == ("http://a.example/x", '"1"', "Mon, 01 Jan 2024 00:00:00 GMT")
    await desk.settle([lease], Reason.UNCHANGED)
    rows = [row async for row in desk.frontier.url_rows()]
    fetched = {settled.url: (settled.fetches, settled.reason) for settled, _ in rows}
    assert fetched == {"http://a.example/x": (2, "unchanged"), "http://a.example/missing": (0, "not-found")}
    assert [host.name async for host in desk.frontier.host_rows()] == ["a.example"]


async def failed(desk: Desk, *urls: str, reason: Reason = Reason.TIMEOUT) -> None:
    """They wait for another attempt."""
    await desk.add(*urls)
    for _ in urls:
        await desk.settle(await desk.lease(), reason)
        desk.clock.tick(1.0)


async def test_what_waits_is_tried_at_once_with_all_its_attempts() -> None:
    desk = Desk()
    await failed(desk, "http://a.example/1", "http://b.example/1")
    assert desk.frontier.counts().waiting == 2
    assert await desk.frontier.revive(Filter(host="b.example", reason="timeout")) == 1
    assert (await desk.frontier.explain("http://a.example/1")).state == "waiting"
    story = await desk.frontier.explain("http://b.example/1")
    assert (story.state, story.attempt, len(story.visits)) == ("pending", 1, 1)
    await desk.frontier.close()
    await desk.reopened()
    counts = desk.frontier.counts()
    assert (counts.waiting, counts.pending) == (1, 1)
    (lease,) = await desk.lease()
    assert (lease.url, lease.attempt) == ("http://b.example/1", 1)
    await desk.settle([lease])
    assert await desk.frontier.revive(Filter(pattern="b.example")) == 0
    assert await desk.frontier.revive() == 1
    counts = desk.frontier.counts()
    assert (counts.waiting, counts.pending, counts.done) == (0, 1, 1)
    assert await desk.crawl() == ["http://a.example/1"]


async def test_a_second_chance_asks_nobody_earlier_than_it_wants() -> None:
    """A host that could not be reached is asked at once; a Retry-After holds."""
    desk = Desk()
    await desk.add("http://shut.example/1", "http://busy.example/1")
    for lease in await desk.lease():
        shut = lease.host == "shut.example"
        outcome = desk.outcome(lease, Reason.CONNECT_FAILED if shut else Reason.RATE_LIMITED, retry_after=500.0)
        outcome = msgspec.structs.replace(outcome, retry_after=None if shut else 500.0)
        desk.frontier.answered(outcome)
        await desk.frontier.settle([outcome])
    assert await desk.frontier.revive(Filter(reason="timeout")) == 0
    assert await desk.frontier.revive(Filter(reason="connect-failed")) == 1
    assert await desk.frontier.revive() == 1, "the URL of the host that is busy"
    desk.clock.tick(2.0)
    assert [lease.url for lease in await desk.lease()] == ["http://shut.example/1"]
    desk.clock.tick(490.0)
    assert await desk.lease() == []


async def test_a_second_chance_that_is_cut_anywhere_loses_nothing() -> None:
    urls = [f"http://a.example/{n}" for n in range(4)]
    for cut in range(1, 40):
        rows = MemoryTable()
        desk = Desk(table=rows)
        await failed(desk, *urls)
        await desk.frontier.close()
        desk.table = table = TornTable(cut, cut, rows)
        await desk.reopened()
        try:
            await desk.frontier.revive()
            await desk.frontier.close()
            over = True
        except Crashed:
            over = False
        desk.table = table.reopened()
        await desk.reopened()
        assert set(await desk.crawl()) == set(urls), cut
        assert desk.frontier.counts().done == 4, cut
        if over:
            assert desk.frontier.counts().waiting == 0
            return
    raise AssertionError("never came to its end")
