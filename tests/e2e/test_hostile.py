"""A web that misbehaves in every way simweb knows: the crawl ends by itself, finds every text, asks for nothing
forbidden, is never too early, and has a reason of its own for whatever went wrong."""

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.crawling import config_of, judged, violations, web_of, weft
from tests.e2e.watched import NO_DNS, Peak, Watched, reason_of, stories, watched_crawl
from weft.simweb import expand
from weft.simweb.answer import Fate
from weft.simweb.config import GROUPS
from weft.simweb.judge import Score, Violation
from weft.simweb.process import RunningWeb, running
from weft.simweb.server import LARGE as LARGE_ANSWER
from weft.simweb.truth import Truth

BROKEN = "malformed,slow"
LARGE = "bombs,endless-body"
ODD = "errors,redirects,robots,encodings,duplicates,discovery,freshness,markup,consent"
MAX_BODY = 2 << 20  # a gzip bomb of 1.1 MB passes, the parser must find it
DELAY = 0.05

# path (or its beginning) → the one reason, or those that honest runs may differ in
REASONS: dict[str, set[str]] = {
    "/odd/resets/at-once": {"reset"},
    "/odd/resets/head": {"reset"},
    "/odd/resets/body": {"truncated"},
    "/odd/truncated/": {"truncated"},
    "/odd/double-length/": {"malformed"},
    "/odd/bad-chunks/": {"malformed"},
    "/odd/charsets/": {"stored"},
    "/odd/types/octets": {"wrong-type"},
    "/odd/types/none": {"stored"},
    "/odd/types/xhtml": {"stored"},
    "/odd/types/shouting": {"stored"},
    "/odd/types/plain.txt": {"stored"},
    "/odd/types/pdf-as-html": {"binary", "not-text"},  # not-text: the magic bytes are behind a content encoding
    "/odd/types/png-as-html": {"binary", "not-text"},
    "/files/": {"wrong-type"},
    "/odd/timeouts/1": {"timeout"},
    "/odd/timeouts/half": {"too-slow"},
    "/odd/drips/": {"too-slow"},
    "/odd/endless-body/": {"too-large"},
    "/odd/endless-headers/": {"headers-too-large"},
    "/odd/huge-header/": {"headers-too-large"},
    "/odd/bomb/gzip": {"decompression-bomb"},
    "/odd/bomb/br": {"decompression-bomb"},
    "/odd/bomb/zstd": {"decompression-bomb"},
    "/odd/bomb/nesting": {"html-too-deep"},
    "/odd/bomb/tables": {"html-too-deep"},
    "/odd/bomb/attributes": {"html-too-many-attributes"},
    "/odd/bomb/links": {"too-large", "stored", "duplicate-body"},  # 8 MB of links that hold no words
    "/odd/not-found/": {"not-found"},
    "/odd/gone/": {"gone"},
    "/odd/failing/": {"server-error"},
    "/odd/heals/": {"stored"},
    "/odd/unavailable/": {"stored"},
    "/odd/unavailable-date/": {"stored"},
    "/odd/busy/": {"stored"},
    "/odd/loop/self": {"redirect-loop"},
    "/odd/loop/a": {"redirected"},
    "/odd/loop/b": {"redirected"},
    "/odd/chain/5": {"too-many-redirects"},
    "/odd/moved/landing": {"stored"},
    "/odd/moved/": {"redirected"},
    "/odd/mirrors/": {"stored", "duplicate-body"},
    "/odd/reprints/": {"stored", "duplicate-text"},
    "/odd/canonical/": {"stored", "duplicate-text"},
    "/odd/noindex/meta": {"noindex"},
    "/odd/noindex/tag": {"noindex"},
    "/odd/noindex/": {"stored"},
    "/odd/nofollow/never": {"unknown", "robots-denied"},
    "/odd/refresh/1": {"empty"},
    "/feed.xml": {"empty"},
    "/atom.xml": {"empty"},
    "/archive/": {"stored"},
}


@dataclass(frozen=True)
class Judged:
    """A crawl of a web, its web's truth and the verdicts."""

    crawl: Watched
    truth: Truth
    score: Score
    impolite: list[Violation]


def crawled(web: RunningWeb, folder: Path, retry: list[float]) -> Judged:
    config = config_of(
        web,
        folder,
        frontier={"retry": retry},
        fetch={"first_byte_seconds": 2.0, "total_seconds": 4.0, "max_body": MAX_BODY, "resolvers": NO_DNS},
        pace={"delay": DELAY, "latency_factor": 0.0},
    )
    crawl = watched_crawl(web.seeds(), folder / "crawl", config)
    return Judged(crawl, web.truth(), judged(web, crawl.out), impolite(web))


def impolite(web: RunningWeb) -> list[Violation]:
    """A server that is busy making a bomb notices late that a large answer has left, or that we hung up on it."""
    found = violations(web, DELAY)
    if web.config.misbehaviours.isdisjoint(expand("bombs")):
        return found
    late = {
        (request.host, request.finished)
        for request in web.requests()
        if request.sent > LARGE_ANSWER or not request.complete
    }
    ends = [(one.host, one.request.arrived - one.gap) for one in found]
    return [
        one
        for one, (host, end) in zip(found, ends, strict=True)
        if one.kind == "overlap" or not any(host == name and abs(end - when) < 1e-6 for name, when in late)
    ]


def served(folder: Path, hosts: int, features: str, retry: list[float]) -> Judged:
    """Faults that are over soon, and waits that are short."""
    web = web_of(hosts, 2, features, crawl_delay=0.3, latency=0.2, drip=0.3, retry_after=1, failures=1)
    with running(web, folder) as served:
        return crawled(served, folder, retry)


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """What no honest server sends. One attempt each: a host in trouble is left alone twice as long each time."""
    return served(tmp_path_factory.mktemp("broken"), 8, BROKEN, [])


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """What is far too much. Attempts are many, because making bombs keeps the server busy."""
    return served(tmp_path_factory.mktemp("large"), 8, LARGE, [0.3] * 4)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """What honest servers do send; every kind of robots.txt among it."""
    return served(tmp_path_factory.mktemp("odd"), 23, ODD, [0.2])


def assert_unharmed(judged: Judged) -> None:
    crawl, score = judged.crawl, judged.score
    assert crawl.status == 0, crawl.errors[-2000:]
    assert crawl.errors == "", "a fault of the web is no news for standard error"
    assert crawl.report["ended"] == "exhausted"
    assert crawl.report["pending"] == 0
    assert score.recall == 1.0, score.missing[:10]
    assert score.forbidden == []
    assert score.duplicates == []
    assert [url for url in score.wrong if not excused(url, judged.truth)] == []
    assert judged.impolite == []


def excused(url: str, truth: Truth) -> bool:
    """Denied by a consent signal alone, on which no verdict is passed yet; or wordless, which no filter drops yet."""
    denied = {row.url for row in truth.urls if row.fate is Fate.UNWANTED and row.consent == "deny"}
    noindex = "/odd/noindex/meta", "/odd/noindex/tag"
    path = urlsplit(url).path
    return (url in denied and path not in noindex) or path == "/odd/bomb/links"


def assert_own_reasons(judged: Judged) -> set[str]:
    """Every URL with a known fault has its reason. Returns the parts of REASONS that were looked at."""
    closed = {host.name for host in judged.truth.hosts if host.closed}
    wanted = {}
    for row in judged.truth.urls:
        parts = urlsplit(row.url)
        begins = [begin for begin in REASONS if parts.path.startswith(begin)]
        if begins and parts.hostname not in closed:
            wanted[row.url] = max(begins, key=len)
    told = stories(judged.crawl.out, wanted)
    others = {url: reason_of(told[url]) for url, begin in wanted.items() if reason_of(told[url]) not in REASONS[begin]}
    assert others == {}
    return set(wanted.values())


def test_a_broken_web_harms_nothing(broken: Judged) -> None:
    assert_unharmed(broken)


def test_a_web_of_bombs_harms_nothing(large: Judged) -> None:
    assert_unharmed(large)


def test_an_odd_web_harms_nothing(odd: Judged) -> None:
    assert_unharmed(odd)


def test_every_fault_has_its_own_reason(broken: Judged, large: Judged, odd: Judged) -> None:
    assert assert_own_reasons(broken) | assert_own_reasons(large) | assert_own_reasons(odd) == set(REASONS)


def test_hosts_that_cannot_be_asked_are_given_up_with_the_reason(odd: Judged) -> None:
    habits = {host.habit: host.name for host in odd.truth.hosts}
    closed = [row for row in odd.truth.urls if row.kind == "page" and row.fate is Fate.FORBIDDEN]
    beyond = [row for row in odd.truth.urls if row.fate is Fate.DEAD and row.kind in ("unresolvable", "refused")]
    told = stories(odd.crawl.out, [row.url for row in (*closed, *beyond)])
    parked = {urlsplit(url).hostname: story.host.parked for url, story in told.items() if story.host}
    assert parked[habits["robots-failing"]] == "robots-unreachable"
    assert parked[habits["robots-timeout"]] == "robots-unreachable"
    assert parked[habits["robots-closed"]] == ""
    for row in beyond:
        assert reason_of(told[row.url]) == ("dns-failed" if row.kind == "unresolvable" else "connect-failed")
    assert odd.crawl.report["parked"] >= sum(map(bool, parked.values()))


def test_a_person_can_look_it_up(broken: Judged) -> None:
    dead = [row.url for row in broken.truth.urls if row.url.endswith("/odd/bad-chunks/1")]
    done = weft("inspect", broken.crawl.out, dead[0], "--json")
    story = json.loads(done.stdout)["story"]
    assert (story["state"], story["visits"][-1]["reason"]) == ("dead", "malformed")
    told = weft("inspect", broken.crawl.out, dead[0])
    assert "malformed" in told.stdout
    assert "not a valid HTTP answer" in told.stdout
    listed = weft("dead", broken.crawl.out, "list", "--reason", "malformed")
    assert dead[0] in listed.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Peak:
    """What the same web needs without the bombs."""
    return served(tmp_path_factory.mktemp("plain"), 8, "none", []).crawl.peak


def test_memory_stays_within_the_caps(broken: Judged, large: Judged, plain: Peak) -> None:
    """Endless heads and bodies cost the loop no more than a body and 32 MB; parsers of bombs keep their limit."""
    assert plain.loop > 0
    assert plain.parser > 0
    for peak in (broken.crawl.peak, large.crawl.peak):
        assert peak.loop - plain.loop <= MAX_BODY + (32 << 20), f"{peak.loop >> 20} MB, plainly {plain.loop >> 20} MB"
        assert peak.parser <= 512 << 20


@pytest.mark.long
@pytest.mark.parametrize("group", [group for group in GROUPS if group != "traps"])
def test_each_group_alone(tmp_path: Path, group: str) -> None:
    judged = served(tmp_path, 24, group, [0.2])
    assert_unharmed(judged)
    assert_own_reasons(judged)


@pytest.mark.long
def test_all_together(tmp_path: Path) -> None:
    judged = served(tmp_path, 32, f"{BROKEN},{LARGE},{ODD}", [0.2])
    assert_unharmed(judged)
    assert assert_own_reasons(judged) == set(REASONS)
