"""The verb `simweb`: serve the miniature internet until stopped, or print its truth."""

import argparse
import asyncio
import signal
from pathlib import Path

import msgspec
import uvloop

from weft.errors import UsageError
from weft.simweb import GROUPS, KINDS, MILD, MISBEHAVIOURS, Scene, SimWeb, SimWebConfig, expand, scenes_of
from weft.simweb.scenery import parts_of

from . import show


class Ready(msgspec.Struct, frozen=True):
    """What a program needs to crawl it."""

    port: int
    seeds: list[str]
    hosts: dict[str, str]


class SceneTruth(msgspec.Struct, frozen=True):
    """One scene: its honest pages, and which URLs of its traps they link to. All else that it serves is trap."""

    host: str
    address: str
    honest: list[str]
    linked: list[str]
    traps: list[str]


def simweb(options: argparse.Namespace) -> int:
    if options.features == "help":
        _list_features()
        return 0
    if "help" in options.scenes:
        _list_scenery()
        return 0
    if options.hosts < 1 or options.pages < 1:
        raise UsageError("simweb: at least one host and one page")
    config = _config(options)
    if options.truth:
        web = SimWeb(config)
        if config.scenes:
            show.json_line([_truth(web.scene(index)) for index in range(config.hosts)])
        else:
            show.json_line(web.truth(numeric=not options.names))
        return 0
    uvloop.run(_serve(config, options))
    return 0


def _config(options: argparse.Namespace) -> SimWebConfig:
    if options.scenes:
        return scenes_of(*options.scenes, seed=options.seed, port=options.port)
    return SimWebConfig(
        hosts=options.hosts,
        pages=options.pages,
        seed=options.seed,
        port=options.port,
        misbehaviours=MILD if options.features is None else expand(options.features),
    )


def _truth(scene: Scene) -> SceneTruth:
    traps = [kind.name for kind in parts_of(scene.text) if kind.trap]
    linked = [f"http://{host}{target}" if host != scene.host.name else target for host, target in scene.linked()]
    return SceneTruth(scene.host.name, scene.host.address, list(scene.honest()), linked, traps)


async def _serve(config: SimWebConfig, options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with SimWeb(config, Path(options.log) if options.log else None) as web:
        seeds = web.seeds(numeric=not options.names)
        if options.json:
            show.json_line(Ready(web.port, seeds, web.hosts()))
        else:
            what = f"{config.hosts} scenes" if config.scenes else f"{config.hosts} sites of {config.pages} pages"
            show.line(f"{what}; begin at {' '.join(seeds)} (Ctrl-C ends it)")
            show.line(f"try: weft crawl {seeds[0]} --scope any --own 127.0.0.0/8 --delay 0 --out crawl")
        await stopped.wait()


def _list_scenery() -> None:
    for title, trap in (("honest look-alikes", False), ("traps", True)):
        show.line(title)
        sized = [(kind.name + (f":{kind.size}" if kind.most > 1 else ""), kind) for kind in KINDS if kind.trap is trap]
        show.pairs([(f"  {name}", kind.help) for name, kind in sized])
    show.line("A scene is one host: parts joined by +, a number after the colon for another N.")


def _list_features() -> None:
    for group in GROUPS:
        show.line(group)
        members = [(f"  {kind.name}", kind.help) for kind in MISBEHAVIOURS if kind.group == group]
        show.pairs(members)
    show.line(f"mild (the default): {', '.join(sorted(MILD))}")
    show.line("all, none")
