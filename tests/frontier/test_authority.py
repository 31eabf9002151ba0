"""Authority in the whole frontier: who links to a host is counted from links, seen ones too, and what that gains it."""

import pytest

from tests.frontier.driver import Desk, configured
from weft.config import Frontier, Scope
from weft.records import Link, Reason


async def test_hosts_of_high_authority_get_their_share() -> None:
    desk = Desk(configured(frontier=Frontier(authority_domains=5)))
    famous = [f"http://famous{number}.com/" for number in range(50)]
    others = [f"http://other{number}.com/" for number in range(50)]
    await desk.add(*others)
    for linking in range(12):
        await desk.add(*famous, source=f"http://linking{linking}.org/")
        desk.clock.tick(0.6)
    await desk.settle(await desk.lease(), Reason.SERVER_ERROR)  # every host has been asked once
    await desk.add(famous[0])
    desk.clock.tick(60.0)
    leases = await desk.lease(50)
    assert sum(lease.host.startswith("famous") for lease in leases) == pytest.approx(30, abs=1)


async def test_a_domains_budget_grows_with_the_domains_that_link_to_it() -> None:
    desk = Desk(configured(Scope(reach="any"), Frontier(domain_budget=3)))
    pages = [f"http://a.com/{letter}" for letter in "abcdefghijklmnop"]
    await desk.add(*pages)
    assert len(await desk.crawl()) == 3
    for linking in range(3):
        await desk.add("http://a.com/a", source=f"http://linking{linking}.org/")
    await desk.add("http://a.com/new")
    await desk.reopened()
    assert 3 <= len(await desk.crawl()) <= 12


async def test_whoever_links_to_a_subdomain_links_to_the_domain() -> None:
    desk = Desk(configured(Scope(reach="any"), Frontier(domain_budget=3)))
    await desk.add(*(f"http://www.a.com/{letter}" for letter in "abcdef"))
    assert len(await desk.crawl()) == 3
    for linking in range(3):
        await desk.add("http://www.a.com/a", source=f"http://linking{linking}.org/")
    await desk.add("http://www.a.com/new", *(f"http://blog.a.com/{number}" for number in range(50)))
    assert 2 <= len(await desk.crawl()) <= 12


async def test_each_domain_counts_once_and_the_own_never() -> None:
    desk = Desk()
    for _ in range(3):
        for source in ("www.b.com", "shop.b.com", "c.org", "www.a.com", "blog.a.com"):
            await desk.add("http://www.a.com/1", source=f"http://{source}/")
        desk.clock.tick(10.0)
    assert await authority_of(desk, "http://www.a.com/1") == 2


async def test_what_was_gathered_is_written_when_the_frontier_closes() -> None:
    desk = Desk()
    pages = await linked_from_four(desk)
    await desk.frontier.close()
    await desk.reopened()
    assert {await authority_of(desk, page) for page in pages} == {4}


async def test_what_waits_to_be_counted_is_counted_in_time() -> None:
    desk = Desk()
    pages = await linked_from_four(desk)
    desk.clock.tick(6.0)
    for _ in range(4):
        await desk.add(pages[0])
    await desk.reopened()
    assert {await authority_of(desk, page) for page in pages} == {4}


async def test_who_linked_to_a_host_before_it_belonged_to_the_crawl_may_do_so_again() -> None:
    desk = Desk(configured(Scope(reach="host")))
    await desk.frontier.add([Link("http://a.com/", seed=True)])
    for _ in range(3):
        await desk.add("http://late.com/", source="http://b.org/")
        desk.clock.tick(10.0)
    await desk.frontier.add([Link("http://late.com/", seed=True)])
    for source in ("http://b.org/", "http://c.org/"):
        await desk.add("http://late.com/", source=source)
    desk.clock.tick(10.0)
    await desk.add("http://late.com/")
    assert await authority_of(desk, "http://late.com/") == 2


async def linked_from_four(desk: Desk) -> list[str]:
    """Pages of many hosts, each linked from the same four domains."""
    pages = [f"http://www.a{number}.com/" for number in range(1500)]
    await desk.add(*pages)
    for linking in range(4):
        await desk.add(*pages, source=f"http://linking{linking}.org/")
    return pages


async def authority_of(desk: Desk, url: str) -> int:
    host = (await desk.frontier.explain(url)).host
    assert host is not None
    return host.authority
