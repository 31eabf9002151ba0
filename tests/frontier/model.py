"""What the frontier promises, as a few dictionaries: the model that a random driver holds the real one against."""

from dataclasses import dataclass, field

from weft.config import Config
from weft.records import Fate, Lease, Outcome
from weft.urls.host import registrable

_SLACK = 0.002  # seconds: the frontier counts whole milliseconds


@dataclass
class Url:
    depth: int
    order: int  # of arrival; what a crash made uncertain has none
    plain: bool = True  # neither a redirect's target nor tried before: its place in the queue is known
    final: bool = False  # settled for good, and acknowledged
    not_before: float = 0.0


@dataclass
class Model:
    """Truth as the caller of the frontier knows it; `sure` URLs were acknowledged."""

    config: Config
    addresses: dict[str, str]
    urls: dict[str, Url] = field(default_factory=dict)
    maybe: dict[str, int] = field(default_factory=dict)  # added by a call that a crash cut: depth
    cut: set[str] = field(default_factory=set)  # taken in by two calls, one of them cut: may be asked for twice
    out: dict[str, Lease] = field(default_factory=dict)  # leased, not settled, in this process
    busy: dict[str, str] = field(default_factory=dict)  # host → URL under way
    free_at: dict[str, float] = field(default_factory=dict)  # host, address or domain → not to be asked before
    polite_at: dict[str, float] = field(default_factory=dict)  # the same of hosts, had they all been reached
    unsaved: set[str] = field(default_factory=set)  # hosts with answers that no settling has written
    arrivals: int = 0
    leases: int = 0

    def added(self, url: str, depth: int, plain: bool = True) -> None:
        self.maybe.pop(url, None)
        if url not in self.urls:
            self.arrivals += 1
            self.urls[url] = Url(depth, self.arrivals, plain and url not in self.cut)

    def uncertain(self, url: str, depth: int) -> None:
        if url not in self.urls:
            self.maybe.setdefault(url, depth)
            self.cut.add(url)

    def leased(self, lease: Lease, now: float) -> None:
        """Every promise about one lease."""
        self.leases += 1
        url = self.urls.get(lease.url)
        assert url or lease.url in self.maybe, f"leased what nobody added: {lease.url}"
        if url is None:
            self.added(lease.url, self.maybe[lease.url], plain=False)
            url = self.urls[lease.url]
        assert lease.url not in self.out, f"leased twice at once: {lease.url}"
        assert not url.final or lease.url in self.cut, f"leased after it was settled for good: {lease.url}"
        assert lease.host not in self.busy, f"two connections to {lease.host}"
        early = url.not_before - now
        assert early <= _SLACK or lease.url in self.cut, f"retried {early:.3f} s early: {lease.url}"
        for name, interval in self._limits(lease.host).items():
            early = self.free_at.get(name, 0.0) - now
            assert early <= _SLACK, f"{name} asked {early:.3f} s early"
            self.free_at[name] = now + interval
        self._in_order(lease.url, url)
        self.out[lease.url] = lease
        self.busy[lease.host] = lease.url

    def _limits(self, host: str) -> dict[str, float]:
        pace = self.config.pace
        return {
            host: pace.delay,
            self.addresses[host]: 1.0 / pace.requests_per_address,
            f"domain {registrable(host)}": 1.0 / pace.requests_per_domain,
        }

    def _in_order(self, name: str, url: Url) -> None:
        """Inside a branch of a host: first come, first served."""
        if not url.plain:
            return
        branch = branch_of(name)
        for other, facts in self.urls.items():
            if other == name or not facts.plain or facts.final or other in self.out or branch_of(other) != branch:
                continue
            assert url.order < facts.order, f"{name} went before {other}"

    def answered(self, outcome: Outcome, latency: float) -> None:
        """The host is free; what it is owed is at least this."""
        host, pace = outcome.lease.host, self.config.pace
        if self.busy.get(host) != outcome.lease.url:
            return
        del self.busy[host]
        self.unsaved.add(host)
        owed = max(pace.delay, pace.latency_factor * latency, outcome.retry_after or 0.0)
        self.polite_at[host] = max(self.polite_at.get(host, 0.0), outcome.finished + owed)
        if outcome.reason.fate is Fate.CLOSED:
            owed = max(owed, self.config.frontier.retry[0])
        self.free_at[host] = max(self.free_at.get(host, 0.0), outcome.finished + owed)
        url = self.urls[outcome.lease.url]
        url.plain = False
        if outcome.reason.fate is Fate.AGAIN:
            del self.out[outcome.lease.url]
        elif outcome.reason.fate is Fate.RETRY:
            frontier = self.config.frontier
            base = frontier.retry[min(outcome.lease.attempt, len(frontier.retry)) - 1]
            url.not_before = outcome.finished + base * (1 - frontier.jitter)

    def settled(self, outcome: Outcome) -> None:
        """Acknowledged: the lease is over."""
        self.unsaved.discard(outcome.lease.host)
        lease = self.out.get(outcome.lease.url)
        if lease is not None and lease.leased == outcome.lease.leased:
            del self.out[outcome.lease.url]
            self.urls[outcome.lease.url].final = outcome.reason.fate in (Fate.DONE, Fate.GONE)

    def revived(self) -> None:
        """The dead are back, with nothing to wait for; nor are hosts that could not be reached left alone for it."""
        for facts in self.urls.values():
            facts.not_before = 0.0
        for host, moment in self.polite_at.items():
            self.free_at[host] = min(self.free_at.get(host, 0.0), moment)

    def crashed(self, now: float) -> None:
        """All that was out comes back. A host under way is owed its delay; an unsettled answer is forgotten."""
        owed = now + self.config.pace.delay
        for url in self.out:
            self.urls[url].not_before = 0.0
        for host in self.unsaved:
            self.free_at[host] = min(self.free_at[host], owed)
        for host in self.busy:
            self.free_at[host] = owed
        for host in self.busy:
            for name, interval in self._limits(host).items():
                self.free_at[name] = now + interval
        for facts in self.urls.values():
            facts.plain = False  # a lease may have been cut anywhere; order is promised between crashes
        self.out.clear()
        self.busy.clear()
        self.unsaved.clear()


def branch_of(url: str) -> str:
    """Host and first segment of the path."""
    return "/".join(url.split("/")[2:4])
