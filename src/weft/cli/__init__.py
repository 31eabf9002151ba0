"""`weft`: parses arguments, calls the verb, prints errors as one line. What a verb does lies beside this file."""

import sys
from importlib import metadata

from weft.errors import WeftError

from . import streams
from .arguments import build_parser
from .verbs import run


def main(arguments: list[str] | None = None) -> int:
    """The entry point; returns the exit status."""
    streams.prepare()
    try:
        try:
            return _carry_out(arguments)
        finally:
            sys.stdout.flush()  # now, while somebody can be told that it failed
    except WeftError as error:
        streams.complain(str(error))
        return error.status
    except BrokenPipeError:  # the reader of our output has left: `weft … | head`
        streams.give_up()
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        streams.complain(f"{where}{error.strerror or error}")
        streams.give_up()
        return 1
    except KeyboardInterrupt:
        return 3


def _carry_out(arguments: list[str] | None) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.version:
        sys.stdout.write(f"weft {metadata.version('weft')}\n")
        return 0
    if not options.verb:
        parser.print_help()
        return 2
    return run(options.verb, options)
