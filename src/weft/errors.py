"""What can go wrong with us (not with the web: that is an `Outcome`).

WeftError               has one line for a person; cli prints it and exits with `status`
├── UsageError          wrong arguments                                          exit 2
├── ConfigError         a configuration file, key or value                       exit 2
├── SeedError           nothing to start from                                    exit 2
├── CrawlDirError       DIR cannot be used: rights, another version, in use      exit 2
├── Refused             a page no parser may have: too deep, too big, …          (an outcome of the page)
├── Stopped             ended before the crawl's end; nothing lost               exit 3
└── EngineError         a storage engine failed                                  exit 1
    ├── Unavailable     out of reach for now: try again
    ├── Corrupt         holds what we did not write
    ├── Missing         no such blob or file
    └── TooLarge        over the port's limit
"""


class WeftError(Exception):
    """One line a person understands."""

    status = 1


class UsageError(WeftError):
    status = 2


class ConfigError(WeftError):
    status = 2


class SeedError(WeftError):
    status = 2


class CrawlDirError(WeftError):
    status = 2


class Refused(WeftError):
    """A page that no parser may have; the message is its reason."""


class Stopped(WeftError):
    status = 3


class EngineError(WeftError):
    """A storage engine failed; foreign exceptions are mapped here at the engine's boundary."""


class Unavailable(EngineError):
    pass


class Corrupt(EngineError):
    pass


class Missing(EngineError):
    pass


class TooLarge(EngineError):
    pass
