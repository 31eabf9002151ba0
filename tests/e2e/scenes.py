"""Crawls scenes of simweb (look-alikes, traps) as a person would, and judges them by the server's log."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.crawling import PATIENCE, config_of, report_of, weft
from weft.simweb import SceneScore, scenes_of, score_scene
from weft.simweb.planting import Sites
from weft.simweb.process import RunningWeb, running
from weft.simweb.world import World

BOUND = 350  # requests into a trap that no honest page links to
DEEP = {"max_depth": 10_000, "max_depth_in_domain": 10_000}


@dataclass(frozen=True)
class SceneCrawl:
    """A crawl of scenes that came to its end; `status` is that of the process."""

    web: RunningWeb
    out: Path
    scenes: tuple[str, ...]
    status: int
    report: dict[str, Any]
    scores: dict[str, SceneScore]

    def assert_over(self) -> None:
        """The crawl ended by itself and left nothing."""
        assert (self.status, self.report["ended"], self.report["pending"]) == (0, "exhausted", 0)


def configured(web: RunningWeb, folder: Path, **sections: dict[str, Any]) -> Path:
    """As fast as it goes, inside the domains of the seeds."""
    sections["scope"] = {"reach": "any", **sections.get("scope", {})}
    return config_of(web, folder, pace={"delay": 0.0}, **sections)


def crawl_of(web: RunningWeb, out: Path, config: Path, *more: str) -> SceneCrawl:
    """`weft crawl` of all scenes to its end."""
    done = weft("crawl", *web.seeds(), "--out", out, "--config", config, "--json", *more)
    return judged(web, out, done.returncode, report_of(done))


def judged(web: RunningWeb, out: Path, status: int, report: dict[str, Any]) -> SceneCrawl:
    log, scenes = web.requests(), web.config.scenes
    scores = {text: score_scene(web.scene(index), log) for index, text in enumerate(scenes)}
    return SceneCrawl(web, out, scenes, status, report, scores)


@contextmanager
def crawled(folder: Path, *scenes: str, cap: int = 0, **sections: dict[str, Any]) -> Iterator[SceneCrawl]:
    """Each scene on a host of its own, crawled together; `cap` is --max-pages, so that a crawl that fails ends too."""
    with running(scenes_of(*scenes), folder) as web:
        more = ["--max-pages", str(cap)] if cap else []
        yield crawl_of(web, folder / "crawl", configured(web, folder, **sections), *more)


def assert_whole(score: SceneScore, bound: int = BOUND) -> None:
    """Every honest page, nothing that no page links to, and no more waste than a trap may cost."""
    assert score.missing == [], f"{len(score.missing)} of {score.honest} honest pages: {score.missing[:5]}"
    assert score.strange == []
    assert {trap: cost for trap, cost in score.waste.items() if cost > bound and trap != "tarpit"} == {}


def cap_of(*scenes: str, more: int = BOUND) -> int:
    """What a crawl may cost at most: honest pages, what they link to, and the bound of each trap."""
    web = Sites(World(scenes_of(*scenes)), 0)
    pages = [len(set(web.scene(index).honest())) + len(set(web.scene(index).linked())) for index in range(len(scenes))]
    return sum(pages) + more * sum(len(text.split("+")) for text in scenes)


def kill_after(process: "subprocess.Popen[str]", web: RunningWeb, requests: int) -> bool:
    """SIGKILL when the server has seen so many more requests; False if the crawl ended before."""
    target = asked(web) + requests
    for _ in range(PATIENCE * 50):
        try:
            process.wait(timeout=0.02)
        except subprocess.TimeoutExpired:
            if asked(web) >= target:
                break
        else:
            return False
    process.kill()
    process.communicate()
    return True


def asked(web: RunningWeb) -> int:
    return web.log_path.read_bytes().count(b"\n")
