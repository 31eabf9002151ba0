"""The verb `simweb`: serve the miniature internet until stopped, or print its truth."""

import argparse
import asyncio
import signal
from pathlib import Path

import msgspec
import uvloop

from weft.errors import UsageError
from weft.simweb import GROUPS, MILD, MISBEHAVIOURS, SimWeb, SimWebConfig, expand

from . import show


class Ready(msgspec.Struct, frozen=True):
    """What a program needs to crawl it."""

    port: int
    seeds: list[str]
    hosts: dict[str, str]


def simweb(options: argparse.Namespace) -> int:
    if options.features == "help":
        _list_features()
        return 0
    if options.hosts < 1 or options.pages < 1:
        raise UsageError("simweb: at least one host and one page")
    config = SimWebConfig(
        hosts=options.hosts,
        pages=options.pages,
        seed=options.seed,
        port=options.port,
        misbehaviours=MILD if options.features is None else expand(options.features),
    )
    if options.truth:
        show.json_line(SimWeb(config).truth(numeric=not options.names))
        return 0
    uvloop.run(_serve(config, options))
    return 0


async def _serve(config: SimWebConfig, options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with SimWeb(config, Path(options.log) if options.log else None) as web:
        seeds = web.seeds(numeric=not options.names)
        if options.json:
            show.json_line(Ready(web.port, seeds, web.hosts()))
        else:
            show.line(f"{config.hosts} sites of {config.pages} pages; begin at {seeds[0]} (Ctrl-C ends it)")
            show.line(f"try: weft crawl {seeds[0]} --scope any --own 127.0.0.0/8 --delay 0 --out crawl")
        await stopped.wait()


def _list_features() -> None:
    for group in GROUPS:
        show.line(group)
        members = [(f"  {kind.name}", kind.help) for kind in MISBEHAVIOURS if kind.group == group]
        show.pairs(members)
    show.line(f"mild (the default): {', '.join(sorted(MILD))}")
    show.line("all, none")
