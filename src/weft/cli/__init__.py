"""`weft`: parses arguments, calls the verb, prints errors as one line. What a verb does lies beside this file."""

import sys
from importlib import metadata

from weft.errors import WeftError

from .arguments import build_parser
from .verbs import run


def main(arguments: list[str] | None = None) -> int:
    """The entry point; returns the exit status."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.version:
        sys.stdout.write(f"weft {metadata.version('weft')}\n")
        return 0
    if not options.verb:
        parser.print_help()
        return 2
    try:
        return run(options.verb, options)
    except WeftError as error:
        sys.stderr.write(f"weft: {error}\n")
        return error.status
    except BrokenPipeError:  # the reader of our output has left: `weft … | head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 3
