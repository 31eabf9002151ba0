"""Compares the server's log with a scene: honest pages that are missing, and requests that a trap cost."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from .log import Request
from .scene import POLICY, Scene

TARPIT = "tarpit"
TURN = 150  # by this request into the tarpit all honest pages shall be there


class SceneScore(msgspec.Struct, frozen=True):
    """A crawl of one scene, by the server's log."""

    honest: int  # pages that a perfect crawler fetches
    missing: list[str]  # of them, never answered
    waste: dict[str, int]  # trap → requests into it that no honest page links to
    linked: int  # requests into traps that honest pages link to: no fault
    strange: list[str]  # targets that were asked for and do not exist
    late: list[str]  # honest pages that were not there before the tarpit's 150th request
    requests: int

    def whole(self, bound: int = 350) -> bool:
        """Every honest page, and no trap but a tarpit cost more than `bound` requests."""
        return not self.missing and all(cost <= bound for trap, cost in self.waste.items() if trap != TARPIT)


def score_scene(scene: Scene, log: Iterable[Request]) -> SceneScore:
    """`log` may hold requests to other hosts of the web."""
    honest, linked = frozenset(scene.honest()), frozenset(scene.linked())
    name, address = scene.host.name, scene.host.address
    found: set[str] = set()
    early: set[str] | None = None
    waste: Counter[str] = Counter()
    strange, allowed, count = [], 0, 0
    for request in sorted(log, key=lambda request: request.arrived):
        host, target = request.host, request.target
        below = host.endswith(f".{name}")
        if host not in (name, address) and not below:
            continue
        count += 1
        if not below and target in honest:
            found |= {target} if request.status in (200, 304) and request.complete else set()
        elif (name if host == address else host, target) in linked:
            allowed += 1
        elif trap := scene.trap(host, target):
            waste[trap] += 1
            early = set(found) if trap == TARPIT and waste[trap] == TURN else early
        elif not target.startswith(POLICY):
            strange.append(target)
    return SceneScore(
        honest=len(honest),
        missing=sorted(honest - found),
        waste=dict(waste),
        linked=allowed,
        strange=strange,
        late=sorted(honest - (found if early is None else early)),
        requests=count,
    )
