"""Which function carries out which verb. A verb's module is loaded when it is called: `weft url` needs no Parquet."""

import argparse
from importlib import import_module
from typing import Final

_MODULES: Final = {
    "crawl": "crawl",
    "status": "state",
    "inspect": "state",
    "dead": "state",
    "refine": "refine",
    "check": "check",
    "extract": "extract",
    "robots": "tools",
    "url": "tools",
    "simweb": "simweb",
    "demo": "demo",
}


def run(verb: str, options: argparse.Namespace) -> int:
    """Carry it out; the exit status."""
    carry_out = getattr(import_module(f"weft.cli.{_MODULES[verb]}"), verb)
    status: int = carry_out(options)
    return status
