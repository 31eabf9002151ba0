"""Compares a crawl with the truth: recall, precision, forbidden requests; of pace the server's log is the judge."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

import msgspec

from .answer import Fate
from .log import Request
from .truth import Truth

MARKER = re.compile(r"\bSW-[0-9A-Z]+-[0-9A-Z]+(?:-[0-9A-Z]+)?\b")
# Clocks of client and server are read at slightly different moments; the client may round.
TOLERANCE = 0.001


class Violation(msgspec.Struct, frozen=True):
    """Something a site owner would complain about."""

    kind: str  # early, overlap, forbidden
    host: str
    request: Request
    gap: float = 0.0  # seconds since the last answer ended
    required: float = 0.0


class Score(msgspec.Struct, frozen=True):
    """A crawl against the truth."""

    wanted: int  # texts that must be stored, near duplicates counted once
    found: int
    missing: list[str]  # markers of texts that were not stored
    documents: int
    wrong: list[str]  # URLs of documents that should not be there
    outdated: list[str]  # URLs of documents that have changed since
    duplicates: list[str]  # URLs of documents whose text was stored before
    near_duplicates: list[str]  # URLs of documents nearly the same as one stored before
    forbidden: list[str]  # URLs asked that must never be asked
    trap_requests: int
    trap_beyond_sample: int
    requests: int

    @property
    def recall(self) -> float:
        return self.found / self.wanted if self.wanted else 1.0

    @property
    def precision(self) -> float:
        return 1 - len(self.wrong) / self.documents if self.documents else 1.0

    @property
    def perfect(self) -> bool:
        """Every wanted text once, nothing else, nothing forbidden asked."""
        return not (self.missing or self.wrong or self.duplicates or self.forbidden)


def score(truth: Truth, documents: Iterable[tuple[str, str]], log: Iterable[Request], sample: int = 100) -> Score:
    """Documents are (url, text) rows of the corpus; `sample` is how many pages of a trap are no fault."""
    requests, sorter, traps = list(log), _Sorter(truth), Traps(truth)
    for url, text in documents:
        sorter.add(url, marker_of(text), trapped=bool(traps.of(url)))
    groups = _groups(truth)
    missing = sorted("/".join(sorted(group)) for group in groups if not group & sorter.seen)
    trapped = Counter(filter(None, (traps.of(url_of(request)) for request in requests)))
    return Score(
        wanted=len(groups),
        found=len(groups) - len(missing),
        missing=missing,
        documents=sorter.documents,
        wrong=sorter.wrong,
        outdated=sorter.outdated,
        duplicates=sorter.duplicates,
        near_duplicates=sorter.near_duplicates,
        forbidden=sorted({url_of(violation.request) for violation in forbidden(truth, requests)}),
        trap_requests=trapped.total(),
        trap_beyond_sample=sum(max(0, count - sample) for count in trapped.values()),
        requests=len(requests),
    )


class _Sorter:
    """Takes documents one by one and says of each what it is."""

    def __init__(self, truth: Truth) -> None:
        self._known = truth.texts.keys() | set(truth.optional)
        self._bases = {base_of(marker) for marker in self._known}
        self._group = {marker: group for group in truth.near for marker in group}
        self.seen: set[str] = set()
        self.documents = 0
        self.wrong: list[str] = []
        self.outdated: list[str] = []
        self.duplicates: list[str] = []
        self.near_duplicates: list[str] = []

    def add(self, url: str, marker: str, trapped: bool) -> None:
        self.documents += 1
        if marker in self._known:
            twins = self._group.get(marker, ())
            if marker in self.seen:
                self.duplicates.append(url)
            elif self.seen.intersection(twins):
                self.near_duplicates.append(url)
            self.seen.add(marker)
        elif marker and base_of(marker) in self._bases:
            self.outdated.append(url)
        elif not trapped:
            self.wrong.append(url)


def marker_of(text: str) -> str:
    """The marker in a text; empty when there is none."""
    match = MARKER.search(text)
    return match[0] if match else ""


def base_of(marker: str) -> str:
    """A marker without the version of a page that changes."""
    return "-".join(marker.split("-")[:3])


def url_of(request: Request) -> str:
    """The request's URL without its port, which the log does not have."""
    return f"http://{request.host}{request.target}"


def without_port(url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f"{parts.hostname}:{parts.port}", f"{parts.hostname}", 1) if parts.port else url


def _groups(truth: Truth) -> list[frozenset[str]]:
    """Sets of markers of which one is wanted: near duplicates together, all others alone."""
    near = [frozenset(group) & truth.texts.keys() for group in truth.near]
    together = frozenset().union(*near)
    return [*filter(None, near), *(frozenset({marker}) for marker in truth.texts if marker not in together)]


class Traps:
    """Which trap a URL belongs to, if any."""

    def __init__(self, truth: Truth) -> None:
        self._by_host: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for trap in truth.traps:
            self._by_host[trap.host].append((trap.prefix, trap.kind))

    def of(self, url: str) -> str:
        """`kind host`, or nothing. A subdomain of a host with the subdomains trap is the trap."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        for prefix, kind in self._by_host.get(host, ()):
            if prefix and target.startswith(prefix):
                return f"{kind} {host}"
        parent = host.partition(".")[2]
        while parent:
            if any(kind == "subdomains" for _, kind in self._by_host.get(parent, ())):
                return f"subdomains {parent}"
            parent = parent.partition(".")[2]
        return ""


def forbidden(truth: Truth, log: Iterable[Request]) -> list[Violation]:
    """Requests that must never be made. robots.txt itself may always be asked for."""
    never = {without_port(row.url) for row in truth.urls if row.fate is Fate.FORBIDDEN}
    closed = {name for host in truth.hosts if host.closed for name in (host.name, host.address)}
    return [
        Violation("forbidden", request.host, request)
        for request in log
        if request.target != "/robots.txt" and (url_of(request) in never or request.host in closed)
    ]


def politeness(log: Iterable[Request], delay_of: Callable[[str], float]) -> list[Violation]:
    """Gaps that were too short and requests that overlapped, per host.

    A gap runs from the end of an answer to the arrival of the next request; Retry-After makes it longer.
    """
    violations = []
    last: dict[str, Request] = {}
    until: dict[str, float] = defaultdict(float)
    for request in sorted(log, key=lambda request: request.arrived):
        previous = last.get(request.host)
        if previous is not None:
            gap, required = request.arrived - previous.finished, delay_of(request.host)
            if gap < 0:
                violations.append(Violation("overlap", request.host, request, gap, required))
            elif gap < required - TOLERANCE:
                violations.append(Violation("early", request.host, request, gap, required))
            elif request.arrived < until[request.host] - TOLERANCE:
                asked = until[request.host] - previous.finished
                violations.append(Violation("early", request.host, request, gap, asked))
        if previous is None or request.finished > previous.finished:
            last[request.host] = request
        if request.retry_after:
            until[request.host] = max(until[request.host], request.finished + request.retry_after)
    return violations


def busiest(log: Iterable[Request], window: float) -> dict[str, int]:
    """Per address, the most requests that arrived within any `window` seconds."""
    arrivals: dict[str, list[float]] = defaultdict(list)
    for request in log:
        arrivals[request.address].append(request.arrived)
    return {address: _most_within(sorted(times), window) for address, times in arrivals.items()}


def _most_within(times: list[float], window: float) -> int:
    most = start = 0
    for end, time in enumerate(times):
        while times[start] <= time - window:
            start += 1
        most = max(most, end - start + 1)
    return most


def refetched(log: Iterable[Request]) -> dict[str, int]:
    """URLs that were asked for more than once, with how often; robots.txt left out."""
    counts = Counter(url_of(request) for request in log if request.target != "/robots.txt")
    return {url: count for url, count in counts.items() if count > 1}
