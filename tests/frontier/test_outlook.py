"""What a crawl waits for when it asks nobody: gaps are no waits, troubles are."""

from tests.frontier.driver import Desk, configured
from weft.config import Pace
from weft.frontier.outlook import Moment, Outlook, look, moment_of
from weft.frontier.rows import HostRow
from weft.records import Asked, Link, Outcome, Reason

NOW = 1_000_000.0


def test_a_long_wait_is_one_for_something_to_heal() -> None:
    gap = Moment(NOW + 300.0, "Crawl-delay in robots.txt", "slow.example", 9)
    shut = Moment(NOW + 3600.0, "Retry-After", "shut.example", 4)
    soon = Moment(NOW + 59.0, "the host cannot be reached", "soon.example", 1)
    assert look([], NOW) == Outlook()
    assert look([shut], NOW) == Outlook(3600.0, True, (shut,), 4, 1)
    assert look([shut, gap], NOW) == Outlook(300.0, False, (gap, shut), 13, 2)
    assert not look([shut, soon], NOW).long
    assert look([Moment(NOW - 5.0, "", "due.example", 1)], NOW).ready_in == 0.0


def test_outlooks_add_up() -> None:
    shut = [Moment(NOW + 100.0 * number, "Retry-After", f"h{number}.example", number) for number in range(1, 20)]
    whole = look(shut, NOW)
    assert Outlook().plus(look(shut[:7], NOW)).plus(look(shut[7:], NOW)).plus(Outlook()) == whole
    assert (whole.hosts, whole.urls, len(whole.waits)) == (19, 190, 5)


def test_what_a_host_waits_for() -> None:
    row = HostRow("h.example", pending=2, waiting=1, pause="failures")
    assert moment_of(row, NOW, None, NOW + 5) == Moment(NOW, "failures", "h.example", 3)
    assert moment_of(row, NOW, NOW + 7, None) == Moment(NOW + 7, "quiet hours", "h.example", 3)
    assert moment_of(row, None, None, NOW + 5) == Moment(NOW + 5, "another attempt", "h.example", 3)
    assert moment_of(row, None, None, None) is None
    row.parked = "dns-failed"
    assert moment_of(row, NOW, None, NOW) is None


async def asked(desk: Desk, reason: Reason, retry_after: float | None = None, crawl_delay: float = 0.0) -> None:
    """Everything that may be asked for now ends so."""
    leases = await desk.lease()
    assert leases
    now = desk.clock.now()
    for lease in leases:
        one = Asked(lease.host, lease.url, now, now, 500)
        outcome = Outcome(lease, reason, now, 500, (one,), retry_after=retry_after, crawl_delay=crawl_delay)
        desk.frontier.answered(outcome)
        await desk.frontier.settle([outcome])


async def test_the_gap_of_a_host_is_no_wait_however_long() -> None:
    desk = Desk()
    await desk.add("http://slow.example/1", "http://slow.example/2")
    await asked(desk, Reason.STORED, crawl_delay=300.0)
    outlook = await desk.frontier.outlook()
    assert outlook.ready_in == 300.0
    assert not outlook.long
    (wait,) = outlook.waits
    assert (wait.host, wait.why, wait.until) == ("slow.example", "Crawl-delay in robots.txt", desk.clock.now() + 300.0)


async def test_one_host_with_a_gap_keeps_the_others_waited_for() -> None:
    desk = Desk()
    await desk.add("http://slow.example/1", "http://slow.example/2")
    await asked(desk, Reason.STORED, crawl_delay=300.0)
    await desk.add("http://shut.example/1")
    await asked(desk, Reason.RATE_LIMITED, retry_after=200.0)
    assert not (await desk.frontier.outlook()).long
    desk.clock.tick(200.0)
    await asked(desk, Reason.RATE_LIMITED, retry_after=5000.0)
    assert not (await desk.frontier.outlook()).long
    desk.clock.tick(100.0)
    await asked(desk, Reason.STORED)  # the last of the slow one
    outlook = await desk.frontier.outlook()
    assert outlook.long
    assert (outlook.urls, outlook.hosts) == (1, 1)


async def test_retry_after_leaves_a_long_wait() -> None:
    desk = Desk()
    await desk.add(*(f"http://shut.example/{page}" for page in range(7)))
    await asked(desk, Reason.OVERLOADED, retry_after=3600.0)
    outlook = await desk.frontier.outlook()
    assert outlook.long
    assert (outlook.urls, outlook.hosts) == (7, 1)
    assert [(wait.host, wait.why) for wait in outlook.waits] == [("shut.example", "Retry-After")]
    assert all(wait.until == desk.clock.now() + 3600.0 for wait in outlook.waits)
    assert desk.frontier.waits() == outlook
    desk.clock.tick(3550.0)
    assert not (await desk.frontier.outlook()).long  # so near, it is waited for


async def test_a_retry_within_a_minute_is_waited_for_and_a_later_one_is_not() -> None:
    desk = Desk(configured(pace=Pace(delay=0.5)))
    await desk.add("http://bad.example/")
    await asked(desk, Reason.SERVER_ERROR)
    outlook = await desk.frontier.outlook()
    assert not outlook.long
    assert outlook.waits[0].why == "another attempt after server-error"
    desk.clock.tick((outlook.ready_in or 0.0) + 0.001)
    await asked(desk, Reason.SERVER_ERROR)
    outlook = await desk.frontier.outlook()
    assert outlook.long
    assert (outlook.urls, outlook.hosts) == (1, 1)


async def test_a_closed_host_and_quiet_hours_are_waits_and_survive_a_restart() -> None:
    desk = Desk(configured(pace=Pace(quiet=("*.quiet.example 00:00-23:59",))))
    await desk.add("http://gone.example/", "http://a.quiet.example/")
    await asked(desk, Reason.CONNECT_FAILED)
    assert not (await desk.frontier.outlook()).long  # half a minute
    desk.clock.tick(30.0)
    await asked(desk, Reason.CONNECT_FAILED)
    for _ in range(2):
        outlook = await desk.frontier.outlook()
        assert outlook.long
        assert (outlook.urls, outlook.hosts) == (2, 2)
        assert [wait.why for wait in outlook.waits] == ["the host cannot be reached", "quiet hours"]
        await desk.frontier.close()
        await desk.reopened()
        assert not await desk.lease()


async def test_a_host_that_is_given_up_is_not_waited_for() -> None:
    desk = Desk()
    await desk.frontier.add([Link("http://gone.example/"), Link("http://gone.example/2")])
    for _ in range(5):
        await asked(desk, Reason.CONNECT_FAILED)
        outlook = await desk.frontier.outlook()
        desk.clock.tick(outlook.ready_in or 0.0)
    assert outlook == Outlook()
