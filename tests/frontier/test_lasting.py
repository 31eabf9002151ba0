"""What does not heal by itself is not tried again within a run: an untrusted certificate, a name without a host."""

import pytest

from tests.frontier.driver import Desk, configured
from weft.config import Pace
from weft.records import Asked, Lease, Outcome, Reason


async def ask(desk: Desk, wrong: dict[str, Reason], lasting: bool = True) -> list[str]:
    """Ask for everything until nothing is ready within a minute; URLs that begin so fail, all others answer."""
    order = []
    while (ready := desk.frontier.ready_in()) is not None and ready < 60.0:
        desk.clock.tick(ready)
        for lease in await desk.lease():
            order.append(lease.url)
            outcome = answer(desk, lease, wrong, lasting)
            desk.frontier.answered(outcome)
            await desk.frontier.settle([outcome])
    return order


def answer(desk: Desk, lease: Lease, wrong: dict[str, Reason], lasting: bool) -> Outcome:
    reason = next((reason for start, reason in wrong.items() if lease.url.startswith(start)), Reason.STORED)
    now, failed = desk.clock.now(), reason is not Reason.STORED
    asked = () if reason is Reason.DNS_FAILED else (Asked(lease.host, lease.url, now - 0.1, now, 0 if failed else 200),)
    return Outcome(lease, reason, now, asked=asked, lasting=lasting and failed)


@pytest.mark.parametrize("reason", [Reason.DNS_FAILED, Reason.TLS_FAILED])
async def test_one_attempt_in_a_run_and_another_in_the_next(reason: Reason) -> None:
    desk = Desk()
    await desk.add("https://a.example/")
    for _ in range(3):
        assert await ask(desk, {"https:": reason}) == ["https://a.example/"]
        assert desk.frontier.ready_in() is None
        assert desk.frontier.counts().parked == 1
        await desk.frontier.close()
        await desk.reopened()


async def test_a_name_that_does_not_exist_is_asked_for_once_however_many_urls_it_has() -> None:
    desk = Desk()
    await desk.add(*(f"http://a.example/{page}" for page in range(20)))
    assert len(await ask(desk, {"http:": Reason.DNS_FAILED})) == 1
    assert desk.frontier.counts().parked == 20


async def test_where_nobody_could_say_it_is_tried_again() -> None:
    desk = Desk()
    await desk.add("http://a.example/")
    assert len(await ask(desk, {"http:": Reason.DNS_FAILED}, lasting=False)) == 2
    assert desk.frontier.counts().parked == 0


async def test_a_name_that_was_there_a_moment_ago_may_come_back() -> None:
    desk = Desk()
    await desk.add("http://a.example/1", "http://a.example/2")
    assert await ask(desk, {"http://a.example/2": Reason.DNS_FAILED}) == [
        "http://a.example/1", "http://a.example/2", "http://a.example/2",
    ]  # fmt: skip
    assert desk.frontier.counts().parked == 0


async def test_a_bad_certificate_costs_none_of_the_pages_that_its_host_serves_without_one() -> None:
    desk = Desk(configured(pace=Pace(delay=0.5)))
    await desk.add("https://a.example/")
    plain = [f"http://a.example/{page}" for page in range(30)]
    await desk.add("https://a.example/2", *plain)
    start = desk.clock.now()
    order = await ask(desk, {"https:": Reason.TLS_FAILED})
    assert set(plain) <= set(order)
    assert len(order) <= len(plain) + len(plain) // 10 + 4  # behind the others, where they have one turn in ten
    assert desk.clock.now() - start < 60.0
    assert desk.frontier.counts().parked == 2


async def test_a_large_site_with_a_bad_certificate_is_given_up_after_a_few_seconds() -> None:
    desk = Desk()
    await desk.add(*(f"https://a.example/{page}" for page in range(80)))
    start = desk.clock.now()
    order = await ask(desk, {"https:": Reason.TLS_FAILED})
    assert len(order) == len(set(order)) == 5
    assert desk.clock.now() - start < 10.0
    assert desk.frontier.counts().parked == 80
