"""The judge of scenes: what is missing, what a trap cost, and who came first."""

from collections.abc import Iterable

from tests.simweb.reader import scene_of
from weft.simweb import Request, Scene, score_scene


def log_of(scene: Scene, targets: Iterable[str], status: int = 200, complete: bool = True) -> list[Request]:
    return [request(scene.host.name, target, turn, status, complete) for turn, target in enumerate(targets)]


def request(host: str, target: str, turn: float, status: int = 200, complete: bool = True) -> Request:
    return Request(
        wall=turn, arrived=turn, finished=turn, connection=1, address="127.1.0.1", host=host, target=target,
        status=status, agent="weft", sent=1, body=1, complete=complete,
    )  # fmt: skip


def test_a_whole_site() -> None:
    scene = scene_of("articles:100+calendar")
    score = score_scene(scene, log_of(scene, [*scene.honest(), "/robots.txt", "/sitemap.xml", "/calendar/2026/05"]))
    assert (score.missing, score.waste, score.linked, score.strange) == ([], {}, 1, [])
    assert score.whole()


def test_a_page_counts_when_it_was_answered_whole() -> None:
    scene = scene_of("articles:100")
    first, *rest = scene.honest()
    assert score_scene(scene, log_of(scene, rest)).missing == [first]
    assert score_scene(scene, log_of(scene, rest) + log_of(scene, [first], status=500)).missing == [first]
    assert score_scene(scene, log_of(scene, rest) + log_of(scene, [first], complete=False)).missing == [first]
    assert score_scene(scene, log_of(scene, rest) + log_of(scene, [first], status=304)).whole()


def test_waste_is_told_by_trap() -> None:
    scene = scene_of("articles:100+calendar+facets+soft-404")
    days = [f"/calendar/2026/{month:02}" for month in range(1, 13)]
    combined = ["/catalogue?color=red", "/catalogue?color=red&size=s"]
    score = score_scene(scene, log_of(scene, [*scene.honest(), *days, *combined, "/nobody/knows"]))
    assert score.waste == {"calendar": 11, "facets": 1, "soft-404": 1}
    assert score.linked == 2
    assert score.whole(bound=11)
    assert not score.whole(bound=10)


def test_every_request_into_a_trap_counts() -> None:
    scene = scene_of("articles:100+calendar")
    assert score_scene(scene, log_of(scene, ["/calendar/2027/01"] * 3)).waste == {"calendar": 3}


def test_a_hundred_calendars_are_a_hundred_traps() -> None:
    scene = scene_of("calendars")
    days = [f"/rooms/{room}/calendar/2027/01" for room in (1, 1, 2)]
    days[1] += "/02"
    assert score_scene(scene, log_of(scene, days)).waste == {"calendars 1": 2, "calendars 2": 1}


def test_subdomains_are_told_by_their_host() -> None:
    scene = scene_of("articles:100+subdomains")
    name = scene.host.name
    log = [request(f"user-{number}.{name}", "/", number) for number in range(3)]
    score = score_scene(scene, [*log, request(f"user-1.{name}", "/robots.txt", 9), request(f"other{name}", "/", 10)])
    assert (score.waste, score.linked) == ({"subdomains": 2}, 1)


def test_pages_behind_the_tarpits_turn_are_late() -> None:
    scene = scene_of("articles:100+tarpit")
    honest = list(scene.honest())
    entries = {target for _, target in scene.linked()}
    maze = ["/maze/ember-hill" for _ in range(150)]
    assert not entries.intersection(maze)
    assert score_scene(scene, log_of(scene, [*honest[:-1], *maze, honest[-1]])).late == [honest[-1]]
    assert score_scene(scene, log_of(scene, [*maze[:149], *honest, maze[0]])).late == []
    assert score_scene(scene, log_of(scene, honest[:-1])).late == [honest[-1]]
    assert score_scene(scene, log_of(scene, [*maze, *honest])).whole(), "a tarpit is judged by `late` alone"


def test_what_does_not_exist_is_named() -> None:
    scene = scene_of("numbered:10")
    assert score_scene(scene, log_of(scene, ["/p11", "/p1"], status=404)).strange == ["/p11"]
