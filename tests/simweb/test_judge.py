"""The judge finds what was planted, and nothing in an innocent log."""

from pathlib import Path

from weft.simweb import Request, SimWebConfig, expand, politeness, read_log, score
from weft.simweb.judge import busiest, forbidden, refetched
from weft.simweb.log import Log
from weft.simweb.planting import Sites
from weft.simweb.truth import Truth, truth_of
from weft.simweb.world import World


def request(arrived: float, finished: float, host: str = "a.example", **changes: object) -> Request:
    values: dict[str, object] = {
        "wall": 1_700_000_000 + arrived,
        "arrived": arrived,
        "finished": finished,
        "connection": 1,
        "address": "127.1.0.1",
        "host": host,
        "target": "/",
        "status": 200,
        "agent": "weft",
        "sent": 100,
        "body": 50,
        "complete": True,
    }
    return Request(**{**values, **changes})  # type: ignore[arg-type]


def a_second(_: str) -> float:
    return 1.0


def test_an_innocent_log() -> None:
    log = [request(number * 1.2, number * 1.2 + 0.2) for number in range(50)]
    assert politeness(log, a_second) == []
    assert politeness([request(0, 1, "a.example"), request(0.5, 2, "b.example")], a_second) == []


def test_a_gap_counts_from_the_end_of_the_answer() -> None:
    (violation,) = politeness([request(0, 0.5), request(1.2, 1.3)], a_second)
    assert (violation.kind, violation.required) == ("early", 1.0)
    assert round(violation.gap, 3) == 0.7


def test_overlapping_requests_even_when_the_long_one_began_first() -> None:
    log = [request(0, 10), request(3, 3.1), request(5, 5.1), request(11.5, 12)]
    assert [violation.kind for violation in politeness(log, a_second)] == ["overlap", "overlap"]
    assert politeness([request(0, 1), request(0.99, 1.5)], a_second)[0].kind == "overlap"


def test_the_log_may_be_out_of_order() -> None:
    assert len(politeness([request(3, 3.1), request(0, 2.5)], a_second)) == 1


def test_retry_after_holds_for_the_whole_host() -> None:
    log = [request(0, 0.1, status=503, retry_after=30.0), request(5, 5.1, target="/other"), request(31, 31.1)]
    (violation,) = politeness(log, a_second)
    assert violation.request.target == "/other"
    assert violation.required == 30.0


def test_the_busiest_second_of_an_address() -> None:
    log = [request(number * 0.25, number * 0.25, f"h{number}.example") for number in range(40)]
    assert busiest(log, 1.0) == {"127.1.0.1": 4}
    assert busiest([*log, request(3.1, 3.1)], 1.0) == {"127.1.0.1": 5}


def test_refetched_urls() -> None:
    log = [request(0, 0), request(2, 2, target="/robots.txt"), request(4, 4, target="/robots.txt"), request(6, 6)]
    assert refetched(log) == {"http://a.example/": 2}


def a_truth() -> Truth:
    config = SimWebConfig(hosts=6, pages=3, misbehaviours=expand("robots-disallow,robots-closed,near-duplicates"))
    return truth_of(Sites(World(config), 8080))


def test_forbidden_requests_are_found_and_robots_txt_is_none() -> None:
    truth = a_truth()
    closed = next(host.name for host in truth.hosts if host.closed)
    disallowing = next(host.name for host in truth.hosts if host.habit == "robots-disallow")
    log = [
        request(0, 0, closed, target="/robots.txt"),
        request(1, 1, closed, target="/anything"),
        request(2, 2, disallowing, target="/members/area"),
        request(3, 3, disallowing, target="/members/open/house"),
    ]
    assert [violation.request.target for violation in forbidden(truth, log)] == ["/anything", "/members/area"]


def test_documents_are_sorted() -> None:
    truth = a_truth()
    markers = list(truth.texts)
    twins = truth.near[0]
    plain = next(marker for marker in markers if all(marker not in group for group in truth.near))
    rows = [
        ("http://a/1", f"Filed under {plain} long ago."),
        ("http://a/2", f"Filed under {plain}."),
        ("http://a/3", f"See {twins[0]}."),
        ("http://a/4", f"See {twins[1]}."),
        ("http://a/5", "Nothing we know."),
        ("http://a/6", "Filed under SW-ZZZ-1."),
    ]
    result = score(truth, rows, [])
    assert result.duplicates == ["http://a/2"]
    assert result.near_duplicates == ["http://a/4"]
    assert result.wrong == ["http://a/5", "http://a/6"]
    assert result.found == 2
    assert result.wanted == len(result.missing) + 2
    assert not result.perfect
    assert result.precision == 1 - 2 / 6


def test_a_log_file_can_be_read_while_it_grows(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    rows = [request(0, 1), request(2, 3)]
    for count, row in enumerate(rows, 1):
        log.add(row)
        assert read_log(tmp_path / "log") == rows[:count]
    log.close()
    with (tmp_path / "log").open("ab") as file:
        file.write(b'{"wall": 1')
    assert read_log(tmp_path / "log") == rows
