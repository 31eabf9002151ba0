"""Look-alikes and traps: what a plain reader of the links finds is what the truth says."""

import re
import subprocess
import sys
from collections import Counter, deque
from itertools import islice
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.simweb.raw import ask
from tests.simweb.reader import body_of, lines_of, scene_of, walk
from weft.errors import ConfigError
from weft.simweb import KINDS, LOOK_ALIKES, TRAPS, SceneScore, SimWeb, scenes_of, score_scene
from weft.simweb.process import running
from weft.simweb.prose import SPACE, number_of, slug
from weft.simweb.scenery import BY_NAME, Kind

DEPTH = 15  # links in a row that a crawler follows by default; only a chain is deeper


def alone(name: str) -> str:
    """A scene that shows one kind: a look-alike by itself, a trap beside honest pages."""
    return f"articles:100+{name}" if BY_NAME[name].trap else name


def words_of(body: bytes) -> int:
    """In the main part of a page, without tags."""
    main = body.decode().partition("<main>")[2].partition("</main>")[0]
    return len(re.sub(r"<[^>]+>", " ", main).split())


@pytest.mark.parametrize("name", [*LOOK_ALIKES, *TRAPS])
def test_a_plain_reader_finds_what_the_truth_says(name: str) -> None:
    scene = scene_of(alone(name))
    found = walk(scene, deep=40)
    honest = list(scene.honest())
    assert len(honest) == len(set(honest))
    assert found.pages == set(honest)
    assert found.linked == set(scene.linked())
    assert found.broken == []
    assert name == "chain" or max(found.depth.values()) <= DEPTH
    assert bool(found.linked) == BY_NAME[name].trap or name == "tarpit"


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_leads_on_and_on(name: str) -> None:
    deep = 30 if name == "calendars" else 500
    found = walk(scene_of(alone(name)), deep)
    assert {count for trap, count in found.into.items() if trap} == {deep}


@pytest.mark.parametrize(
    "text",
    [
        "articles:200+calendar+facets+session-path+session-query+soft-404",
        "api:100+forum:40+words+same-text+print+wiki+next+calendars",
        "archive:100+events:60+products:60+filters+sort+echo+mirrors+farm+subdomains+tarpit",
        "+".join([*LOOK_ALIKES, *TRAPS]),
    ],
)
def test_parts_share_a_host_without_treading_on_each_other(text: str) -> None:
    scene = scene_of(text)
    found = walk(scene)
    assert found.pages == set(scene.honest())
    assert found.linked == set(scene.linked())
    assert found.broken == []


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_honest_pages_differ(name: str) -> None:
    """Apart from the lists, no two pages have the same body."""
    scene = scene_of(name)
    mains = [
        (body_of(scene, target) or b"").partition(b"<main>")[2].partition(b"</main>")[0] for target in scene.honest()
    ]
    assert len(set(mains)) == len(mains)


def news_of(name: str, deep: int) -> list[bool]:
    """Of each page in the order of reading (in a trap, where there is one), whether it has a line that is new."""
    scene, seen, news = scene_of(alone(name)), set[str](), list[bool]()
    for place in walk(scene, deep).order:
        if bool(scene.trap(*place)) == BY_NAME[name].trap:
            lines = lines_of(place, body_of(scene, place[1], place[0]) or b"")
            news.append(bool(lines - seen))
            seen |= lines
    return news


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_honest_pages_bring_something_new(name: str) -> None:
    news = news_of(name, 0)
    assert sum(news) >= 0.95 * len(news)


@pytest.mark.parametrize("name", [name for name in TRAPS if name != "tarpit"])
def test_what_is_new_in_a_trap_is_soon_used_up(name: str) -> None:
    """Only a tarpit has new text for ever."""
    news = news_of(name, 12 if name == "calendars" else 600)
    later = news[len(news) // 2 :]
    assert sum(later) <= len(later) // 10


@pytest.mark.parametrize("name", [*LOOK_ALIKES, *TRAPS])
def test_a_scene_of_the_same_seed_is_the_same(name: str) -> None:
    targets = [*islice(scene_of(alone(name)).honest(), 0, 400, 37)]
    targets += [target for _, target in islice(scene_of(alone(name)).linked(), 3)]

    def pages(seed: int) -> list[bytes | None]:
        return [body_of(scene_of(alone(name), seed), target) for target in targets]

    assert pages(1) == pages(1)
    assert pages(1) != pages(2)


def test_the_sizes_that_were_asked_for() -> None:
    basics = 4  # the start page and three in the footer
    sizes = {"numbered:400": 400, "chain:2000": 2_000, "index:50000": 50_001, "articles:1000": 1_000}
    assert {text: len(list(scene_of(text).honest())) - basics for text in sizes} == sizes


def test_the_largest_section_of_a_thousand_articles_has_140_pages() -> None:
    paths = scene_of("articles:1000").honest()
    branches = Counter(path.split("/")[1].partition("?")[0] for path in paths)
    assert max(branches.values()) == 140


def test_reference_pages_are_short() -> None:
    scene = scene_of("api:400")
    pages = [path for path in scene.honest() if path.count(".") == 2]
    words = [words_of(body_of(scene, path) or b"") for path in pages]
    assert len(words) == 400
    assert min(words) >= 10
    assert max(words) <= 40


def test_an_index_of_fifty_thousand_links() -> None:
    body = body_of(scene_of("index:50000"), "/index-of-everything.html")
    assert body is not None
    assert body.count(b'href="/entry/') == 50_000
    assert b'href="/entry/49999"' in body


def test_slugs_are_numbers() -> None:
    slugs = [slug(number) for number in range(SPACE)]
    assert len(set(slugs)) == SPACE
    assert [number_of(text) for text in slugs] == list(range(SPACE))
    assert number_of("amber-nowhere") is None


@pytest.mark.parametrize("target", ["/nowhere", "/p0", "/p01", "/p401", "/p1?page=2", "/p1/"])
def test_what_is_not_there_is_404(target: str) -> None:
    assert body_of(scene_of("numbered:400"), target) is None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_has_paths_up_to_its_largest_size(kind: Kind) -> None:
    scene = scene_of(f"{kind.name}:{kind.most}")
    last = deque(scene.honest(), maxlen=8)
    assert all(body_of(scene, target) for target in last)


@pytest.mark.parametrize(
    ("text", "told"),
    [("calender", "did you mean calendar"), ("api:0", "1 to 5120"), ("api:many", "many"), ("api+", "''")],
)
def test_a_scene_that_cannot_be_is_one_clear_error(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        scene_of(text)


async def test_scenes_over_sockets_are_hosts_of_their_own() -> None:
    async with SimWeb(scenes_of("api:20", "articles:40+subdomains")) as web:
        assert len(web.seeds()) == 2
        first, second = web.scene(0), web.scene(1)
        for scene, host in ((first, 0), (second, 1)):
            for target in scene.honest():
                assert (await ask(web, target, host)).status == 200
        assert b"/api/" in (await ask(web, "/", 0)).body
        assert (await ask(web, "/api/", 1)).status == 404
        assert (await ask(web, "/robots.txt", 1)).body.startswith(b"User-agent: *")
        assert set(web.hosts()) == {first.host.name, second.host.name, f"*.{second.host.name}"}
        assert web.resolve(f"user-7.{second.host.name}") == [second.host.address]
        assert web.resolve(f"user-7.{first.host.name}") == []
        assert score_scene(first, web.requests()).whole()
        assert score_scene(second, web.requests()).whole()


def test_scenes_in_another_process(tmp_path: Path) -> None:
    with running(scenes_of("law:30"), tmp_path) as web:
        for target in web.scene(0).honest():
            with urlopen(web.seeds(numeric=True)[0].rstrip("/") + target) as answer:
                assert answer.status == 200
        score: SceneScore = score_scene(web.scene(0), web.requests())
    assert score.whole()
    assert score.honest == score.requests


def test_the_command_line_serves_scenes() -> None:
    command = [sys.executable, "-m", "weft", "simweb", "--scene", "api:20+calendar", "--truth"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert '"/api/"' in told
    assert '"/calendar/2026/05"' in told
    listed = subprocess.run([*command[:4], "--scene", "help"], capture_output=True, text=True, check=True).stdout
    assert all(kind.name in listed for kind in KINDS)
