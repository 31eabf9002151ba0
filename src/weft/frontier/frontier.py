"""The frontier: which URLs there are, which may be asked for now, and what became of the others.

Links come in by `add`, with their pages by `add_pages`; permissions go out by `lease`, answers come back by `answered`
and `settle`. The crawl loop calls it; refining calls `add_pages` and `learn`. docs/frontier.md tells the story of a URL
and of every queue.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from weft.config import Config
from weft.ports import Clock, Table
from weft.records import Drop, Finding, Lease, Link, Outcome, Page, Reason, Record
from weft.urls.host import host_key
from weft.urls.scope import Rules

from . import keys
from .admission import Added, Admission, Admit, Judges, Origins
from .answers import Answers
from .domains import Domains
from .holds import Holds
from .learning import Learning
from .leasing import Leasing
from .leftovers import TOLD, Left, Leftovers
from .letters import Filter, Letter, Letters
from .moves import Moves
from .outlook import Lookout, Outlook
from .queues import Queues
from .reach import Reach
from .recovery import Recovery
from .restoring import Restoring
from .rows import Learned, Settled
from .seen import Seen
from .settling import Settling, redirect_of
from .state import State
from .story import HostStory, Story, Teller, host_story
from .timekeeper import Timekeeper
from .trapping import Trapping
from .turns import Turns
from .waking import Waking

# Then others have their turn: 512 took up to 35 ms, in which no host that was due could be asked.
_LINKS_IN_A_ROW: Final = 256


class Counts(Record, frozen=True):
    """URLs by where they are, and hosts."""

    pending: int = 0  # in queues of hosts that can be asked, now or later
    leased: int = 0  # handed out, not settled
    waiting: int = 0  # for another attempt
    held: int = 0  # by the trap defence, until they are tried
    parked: int = 0  # in queues of hosts that were given up
    capped: int = 0  # in queues of hosts that have brought as many pages as they may
    dead: int = 0  # given up themselves
    done: int = 0
    gone: int = 0
    hosts: int = 0
    parked_hosts: int = 0


def _admit_all(_: str) -> Drop | None:
    return None


class Frontier:
    """One per crawl and process; its methods may be called from many tasks."""

    def __init__(
        self, table: Table, clock: Clock, config: Config, *, admit: Admit = _admit_all, scratch: Path | None = None
    ) -> None:
        """`scratch`: a folder for a file that is needed no longer than the process."""
        time = Timekeeper(clock)
        state = State.of(table, time, config)
        queues, holds = Queues(state), Holds(state)
        moves = Moves(state, holds)
        self._state = state
        self._answers = Answers(state)
        self._settling = Settling(state, self._answers, moves)
        self._trapping = Trapping(state, holds)
        self._restoring = Restoring(state, moves, holds, self._trapping)
        self._reach = Reach(table, config)
        self._domains = Domains(table, config, self._reach)
        judges = Judges(self._reach, Rules(config.scope), admit, self._trapping, self._domains)
        self._seen = Seen(table, config, scratch)
        self._admission = Admission(state, queues, judges, self._seen, self._restoring)
        self._leasing = Leasing(state, queues, self._trapping, self._domains)
        self._recovery = Recovery(state, moves)
        self._waking = Waking(state, moves)
        self._turns = Turns(state)
        self._lookout = Lookout(state)
        self._learning = Learning(state)
        self._letters = Letters(state, moves, self._waking)
        self._leftovers = Leftovers(state)
        self._teller = Teller(state, self._admission)
        # One batch at a time: batches are large, and nothing needs a finer lock.
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Load what a start needs: hosts, leases of the process before, scope. Reads only."""
        async with self._lock:
            await self._reach.load()
            await self._recovery.load()
            await self._seen.load(empty=not self._state.hosts.known)
            if self._state.hosts.known:
                self._state.budgets.open(self._state.time.now_ms())

    async def add(self, links: Sequence[Link]) -> Added:
        """Take in the links that are new and belong to the crawl. Durable on return; doing it twice does nothing."""
        return await self._add(links, {})

    async def add_pages(self, pages: Sequence[Page]) -> Added:
        """The same with the links of pages, of which first each is judged: does it say anything new?"""
        async with self._lock:
            self._keep_time()
            origins = await self._trapping.judge(pages)
        return await self._add([link for page in pages for link in page.links], origins)

    async def _add(self, links: Sequence[Link], origins: Origins) -> Added:
        added = Added()
        for start in range(0, len(links), _LINKS_IN_A_ROW):
            async with self._lock:
                self._keep_time()
                added = added.plus(await self._admission.add(links[start : start + _LINKS_IN_A_ROW], origins))
            await asyncio.sleep(0)  # a free lock is taken again without a pause
        return added

    async def lease(self, limit: int) -> list[Lease]:
        """Up to `limit` permissions for one request each, to hosts that may be asked now. Durable on return."""
        async with self._lock:
            self._keep_time()
            await self._settling.hasten()
            if self._recovery.needed:
                await self._recovery.resume()
            if expired := self._waking.expired():
                await self._settling.expire(expired)
            self._turns.expire()
            if self._state.due:
                await self._waking.wake()
            return await self._leasing.lease(limit)

    def answered(self, outcome: Outcome) -> None:
        """The answer has ended: its host is free, and will be left alone for as long as it is owed."""
        entry = self._state.leases.get(keys.key_of(outcome.lease.place))
        if entry is None or entry.lease.leased != outcome.lease.leased:
            self._answers.late(outcome)
        elif not entry.answered:
            self._answers.heard(entry, outcome)

    async def settle(self, outcomes: Sequence[Outcome]) -> Added:
        """End leases, durably. Redirects become links first. Leases that are not out are ignored."""
        links = [link for outcome in outcomes if (link := redirect_of(outcome)) is not None]
        async with self._lock:
            self._keep_time()
            added = await self._admission.add(links, self._settling.origins(outcomes)) if links else Added()
            await self._settling.settle(outcomes)
            for outcome in outcomes:
                if outcome.reason is not Reason.STORED:
                    self._trapping.arrived(keys.key_of(outcome.lease.place))
            return added

    async def learn(self, findings: Sequence[Finding]) -> None:
        """What refining found out of URLs. Durable on return; the same findings again change hardly anything."""
        async with self._lock:
            self._keep_time()
            await self._learning.learn(findings)

    async def turn(self, host: str, holder: str = "") -> None:
        """Wait until the host may be asked, then hold it until `answered` reports a request to it.

        `holder` is the host of the lease under which the request is made: what that holds already is waited for only
        as long as the gap to its last request.
        """
        await self._turns.wait(host, holder)

    def orphans(self) -> list[Lease]:
        """Leases of a process that died: how their requests ended is not known."""
        return [entry.lease for entry in self._state.leases.values() if entry.orphan]

    def slow_down(self, orphan: Lease, crawl_delay: float) -> None:
        """What robots.txt asks for, if more is known than what was settled."""
        entry = self._state.leases.get(keys.key_of(orphan.place))
        if entry is not None:
            self._recovery.slow_down(entry.host, crawl_delay)

    def ready_in(self) -> float | None:
        """Seconds until a host may be asked; None: nothing can become ready but by `settle`, `add` or a revival."""
        return 0.0 if self._recovery.needed else self._lookout.ready_in()

    async def outlook(self) -> Outlook:
        """Whether the crawl can go on, when, and what it waits for. To be asked when nothing is under way."""
        return Outlook(0.0) if self._recovery.needed else await self._lookout.outlook()

    def waits(self) -> Outlook:
        """What `outlook` found last, while it holds: for whoever watches."""
        return self._lookout.last()

    async def wants_address(self, limit: int) -> list[str]:
        """Hosts whose address must be known before they are asked. Waits until there are some."""
        return await self._state.lookups.take(limit)

    def resolved(self, addresses: Mapping[str, str | None]) -> None:
        """Addresses that were looked up; None: there is none."""
        for name, address in addresses.items():
            host = self._state.hosts.live(host_key(name, self._state.config.storage.partitions))
            if host is not None:
                self._state.located(host, address)

    def counts(self) -> Counts:
        totals = self._state.totals
        return Counts(
            pending=max(0, totals.pending - len(self._state.leases)),
            leased=len(self._state.leases),
            waiting=totals.waiting,
            held=totals.held,
            parked=totals.parked,
            capped=totals.capped,
            dead=totals.dead,
            done=totals.done,
            gone=totals.gone,
            hosts=self._state.hosts.known,
            parked_hosts=totals.parked_hosts,
        )

    def dropped(self) -> Mapping[Drop, str]:
        """A URL for each reason for which links were not taken in, by this process."""
        return self._admission.drops.examples

    async def explain(self, url: str) -> Story:
        """All that is known of a canonical URL, what comes next and why."""
        return await self._teller.tell(url)

    def dead(self, wanted: Filter | None = None) -> AsyncIterator[Letter]:
        """Parked hosts and dead URLs."""
        return self._letters.dead(wanted or Filter())

    async def leftovers(self, limit: int = TOLD) -> Left:
        """What is held, the largest groups of it, and what a cap keeps in its queue."""
        return await self._leftovers.look(limit)

    async def glance(self) -> None:
        """Let `left` be no older than it must be: cheap, if called often."""
        await self._leftovers.refresh()

    def left(self) -> Left:
        """What `leftovers` or `glance` found last."""
        return self._leftovers.last()

    async def revive(self, wanted: Filter | None = None) -> int:
        """Give parked hosts, dead and waiting URLs all their attempts anew, and the waiting ones at once; how many."""
        async with self._lock:
            self._keep_time()
            return await self._letters.revive(wanted or Filter())

    async def release(self, wanted: str) -> int:
        """Take up again what is held and looks so (`example.org/p*`), never to be held again; how many."""
        async with self._lock:
            self._keep_time()
            return await self._restoring.release(wanted)

    async def again(self) -> int:
        """Ask once more for everything that was fetched, with conditional requests; how many."""
        async with self._lock:
            self._keep_time()
            return await self._letters.again()

    async def host_rows(self) -> AsyncIterator[HostStory]:
        """Every host, for exports and `weft status`."""
        async for hosts in self._letters.host_pages():
            sketches = await self._state.table.get([keys.authority_row(key) for key, _ in hosts])
            for (_, row), links in zip(hosts, sketches, strict=True):
                yield host_story(row, links)

    async def url_rows(self) -> AsyncIterator[tuple[Settled, Learned | None]]:
        """Every URL whose fate is known, with what refining learned of it: the URL table."""
        async for pair in self._letters.url_rows():
            yield pair

    async def close(self) -> None:
        """Write what is newer in memory than in the table."""
        async with self._lock:
            self._keep_time()
            await self._admission.close()
            await self._trapping.close()
            await self._domains.close()
            late = [self._state.hosts.saved(host) for host in self._state.hosts.all_live() if host.dirty]
            if late:
                await self._state.table.write(late)
            self._seen.close()

    def _keep_time(self) -> None:
        self._state.hosts.drift_ms = self._state.time.drift_ms()
