"""A plain reader of a scene: walks it by its links, without a network, and says what it found."""

import re
from collections import Counter, deque
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urljoin, urlsplit

from weft.simweb import Scene, SimWebConfig, scenes_of
from weft.simweb.answer import Visit
from weft.simweb.planting import Sites
from weft.simweb.scene import POLICY
from weft.simweb.world import World

Place = tuple[str, str]  # host, target


@dataclass
class Found:
    """What the links of a scene lead to."""

    pages: set[str] = field(default_factory=set)  # that belong to no trap
    order: list[Place] = field(default_factory=list)  # everything there was, in the order of reading
    linked: set[Place] = field(default_factory=set)  # URLs of traps on those pages
    broken: list[Place] = field(default_factory=list)
    depth: dict[str, int] = field(default_factory=dict)  # clicks from the start page
    into: Counter[str] = field(default_factory=Counter)


def scene_of(text: str, seed: int = 1) -> Scene:
    config: SimWebConfig = scenes_of(text, seed=seed)
    return Sites(World(config), 8000).scene(0)


def body_of(scene: Scene, target: str, host: str = "") -> bytes | None:
    """The page; None where there is none."""
    answer = scene.answer(Visit(target, {}, False, host=host or scene.host.name))
    return answer.body if answer.status == 200 else None


def links_of(place: Place, body: bytes) -> list[Place]:
    base = f"http://{place[0]}{place[1]}"
    urls = [urlsplit(urljoin(base, unescape(href))) for href in re.findall(r'href="([^"]+)"', body.decode())]
    places = [(url.hostname or "", url.path + (f"?{url.query}" if url.query else "")) for url in urls]
    return [place for place in places if not place[1].startswith(POLICY) and "/static/" not in place[1]]


def lines_of(place: Place, body: bytes) -> frozenset[str]:
    """Lines of a page's main part, without digits and without the words of its own URL."""
    own = set(re.findall(r"[a-z]+", "".join(place).lower()))
    main = body.decode().partition("<main>")[2].partition("</main>")[0]
    lines = [
        re.findall(r"[^\W\d_]+", re.sub(r"<[^>]+>", " ", line).lower())
        for line in re.split(r"\n|</(?:p|li|tr|div|h1|h2)>", main)
    ]
    return frozenset(filter(None, (" ".join([word for word in line if word not in own]) for line in lines)))


def walk(scene: Scene, deep: int = 0) -> Found:
    """Breadth first; of each trap only the first `deep` pages."""
    found, honest = Found(), frozenset(scene.honest())
    start = (scene.host.name, "/")
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        place, depth = queue.popleft()
        body = body_of(scene, place[1], place[0])
        if body is None:
            found.broken.append(place)
            continue
        found.order.append(place)
        trap = "" if _is_honest(place, scene, honest) else scene.trap(*place)
        if not trap:
            found.pages.add(place[1])
            found.depth[place[1]] = depth
        for link in links_of(place, body):
            into = "" if _is_honest(link, scene, honest) else scene.trap(*link)
            if into and not trap:
                found.linked.add(link)
            if link in seen or (into and found.into[into] >= deep):
                continue
            found.into[into] += 1
            seen.add(link)
            queue.append((link, depth + 1))
    return found


def _is_honest(place: Place, scene: Scene, honest: frozenset[str]) -> bool:
    return place[0] == scene.host.name and place[1] in honest
