"""URLs that are held: every one of them is counted, found again and tried."""

from tests.frontier.driver import Desk
from weft.records import Evidence, Page


async def test_what_is_held_in_the_same_turn_is_there_to_be_tried() -> None:
    """A host's whole queue may come to be held before one of it is written."""
    desk = Desk()
    urls = [f"http://a.org/p/{n}" for n in range(60)]
    await desk.add(*urls)
    for _ in range(20):
        (lease,) = await desk.lease()
        await desk.settle([lease])
        await desk.frontier.add_pages([Page("1", lease.url, evidence=Evidence(digest=7))])
        desk.clock.tick(1.0)
    (lease,) = await desk.lease()
    counts = desk.frontier.counts()
    assert (counts.pending, counts.leased, counts.held, counts.done) == (0, 1, 39, 20)
    await desk.settle([lease])
    desk.clock.tick(1.0)
    assert len(await desk.crawl()) == 39, "the budget of the host allows it"
    assert (desk.frontier.counts().held, desk.frontier.counts().done) == (0, 60)
