"""Which misbehaviours grow on which host: every family's plants for one site, in the order of config.MISBEHAVIOURS."""

from collections.abc import Callable, Iterator

from . import bodies, consent, discovery, duplicates, errors, markup, redirects, robots, traps, wire
from .answer import Plant
from .scene import Scene
from .site import Site
from .world import World

Family = Callable[[Site], Iterator[Plant]]

# Each family looks itself whether its host carries it.
FAMILIES: tuple[Family, ...] = (
    robots.robots,
    consent.consent,
    redirects.redirects,
    errors.errors,
    wire.wire,
    bodies.bodies,
    duplicates.duplicates,
    discovery.discovery,
    markup.markup,
    traps.traps,
)


class Sites:
    """All sites of a web on one port, made when first asked for. `sites(index)` is a host's site."""

    def __init__(self, world: World, port: int) -> None:
        self.world = world
        self.port = port
        self._sites: dict[int, Site] = {}
        self._scenes: dict[int, Scene] = {}

    def __call__(self, index: int) -> Site:
        site = self._sites.get(index)
        if site is None:
            site = Site(self.world, index, self.port, self)
            self._sites[index] = site
            site.plant(tuple(plant for family in FAMILIES for plant in family(site)))
        return site

    def scene(self, index: int) -> Scene:
        """A host of a web of scenes."""
        config, scene = self.world.config, self._scenes.get(index)
        if scene is None:
            scene = Scene(self.world.host(index), config.scenes[index], config.seed, self.port)
            self._scenes[index] = scene
        return scene

    def answering(self, index: int) -> Site | Scene:
        """What answers for a host, in either kind of web."""
        return self.scene(index) if self.world.config.scenes else self(index)

    def seeds(self, numeric: bool) -> list[str]:
        """Where a crawl begins: the first site, from which all are found, or every scene, as no other links to it."""
        hosts = range(len(self.world.config.scenes) or 1)
        return [self(index).url("/", numeric) for index in hosts]
