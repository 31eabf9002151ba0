"""Every knob: one typed section per stage, each field with default, unit and a line of doc, written once, here.

TOML and environment come in (`Config.load`), one frozen Config goes out; unknown keys are refused with the nearest
known name. `python -m weft.config` prints docs/configuration.md.
"""

import difflib
import os
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from .environment import Environment, Tables, laid_over, sorted_out
from .errors import ConfigError


def _doc(text: str) -> Meta:
    return Meta(description=text)


Count: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the configuration file."""


class Storage(Section, frozen=True):
    """Where state and data live. Paths are relative to the crawl's DIR."""

    state: Annotated[str, _doc("tables and queues: `rocksdb:state`, `redis://host:6379/0`, `memory:`")] = (
        "rocksdb:state"
    )
    blobs: Annotated[str, _doc("archive and corpus: `file:.`, `s3://bucket/prefix`, `gs://…`, `az://…`")] = "file:."
    partitions: Annotated[Positive, _doc("number of partitions of hosts; fixed when DIR is made")] = 256
    memory: Annotated[Positive, _doc("bytes of cache for the embedded engine")] = 448 * 1024 * 1024


class Crawl(Section, frozen=True):
    """When the crawl ends and how much is done at once."""

    max_pages: Annotated[Count, _doc("stop after this many fetched pages of all runs; 0: no limit")] = 0
    max_bytes: Annotated[Count, _doc("stop after this many body bytes of all runs; 0: no limit")] = 0
    max_seconds: Annotated[Seconds, _doc("stop after this time of all runs; 0: no limit")] = 0
    connections: Annotated[Positive, _doc("requests under way at once, over all hosts")] = 512
    commit_seconds: Annotated[Seconds, _doc("group commit: longest time an answer waits to be made durable")] = 0.5
    backlog: Annotated[Positive, _doc("captures that may wait to be refined before fetching pauses")] = 20_000


class Scope(Section, frozen=True):
    """Which links belong to the crawl."""

    reach: Annotated[
        Literal["host", "domain", "any"], _doc("`host`: the seeds' hosts; `domain`: their registrable domains; `any`")
    ] = "domain"
    include: Annotated[tuple[str, ...], _doc("if given, a URL must match one of these regular expressions")] = ()
    exclude: Annotated[tuple[str, ...], _doc("a URL that matches one of these is dropped")] = ()
    schemes: Annotated[tuple[str, ...], _doc("schemes that are followed")] = ("http", "https")
    block: Annotated[tuple[str, ...], _doc("hosts and domains never asked (with everything below them)")] = ()
    max_url_length: Annotated[Positive, _doc("longer URLs are dropped")] = 2048
    max_depth: Annotated[Count, _doc("links from the nearest seed")] = 20
    max_depth_in_domain: Annotated[Count, _doc("links followed in a row inside one registrable domain")] = 15
    max_redirects: Annotated[Count, _doc("redirects in a row")] = 5
    pages_per_host: Annotated[Count, _doc("URLs asked for per host; 0: no limit")] = 0
    pages_per_domain: Annotated[Count, _doc("URLs asked for per registrable domain; 0: no limit")] = 100_000
    own: Annotated[
        tuple[str, ...],
        _doc("hosts or CIDR ranges that are yours: may be asked faster and may have private addresses"),
    ] = ()


class Frontier(Section, frozen=True):
    """Order, leases, retries and traps."""

    lease_seconds: Annotated[Seconds, _doc("a lease not settled by then comes back")] = 300.0
    retry: Annotated[
        tuple[float, ...], _doc("seconds before the 2nd, 3rd, … attempt; one more failure is the last")
    ] = (
        30.0,
        120.0,
        300.0,
        900.0,
    )
    finish: Annotated[
        Literal["prompt", "patient"],
        _doc("when all that is left waits longer than a minute for something to heal: `prompt` ends, `patient` waits"),
    ] = "prompt"
    jitter: Annotated[Share, _doc("retry times vary by up to this share, up and down")] = 0.3
    recent: Annotated[Positive, _doc("URLs kept in memory by the seen check, 16 bytes each")] = 4_000_000
    known_bytes: Annotated[
        Count,
        _doc("largest size of a scratch file in DIR: keys of known URLs, about 43 bytes each and one of memory"),
    ] = 4 * 1024 * 1024 * 1024
    authority_share: Annotated[
        Share, _doc("share of the fetch budget for hosts of high authority while they have work")
    ] = 0.6
    authority_domains: Annotated[Positive, _doc("a host linked from this many other domains has high authority")] = 8
    trials: Annotated[
        Count, _doc("fruitless requests a host may spend on trying URLs that the trap defence holds, …")
    ] = 50
    trial_share: Annotated[Share, _doc("… and so many more for each of its pages that said something new")] = 0.1
    evidence_bytes: Annotated[
        Positive, _doc("memory for what the pages of hosts have said; what has no room is read when it is needed")
    ] = 256 * 1024 * 1024
    head: Annotated[
        Positive, _doc("pending rows held in memory per active host; a quarter of them with more hosts than `hosts`")
    ] = 16
    hosts: Annotated[Positive, _doc("hosts held in memory; the others are read when their moment comes")] = 20_000
    bands: Annotated[
        tuple[Positive, Positive, Positive],
        _doc("turns of a host that go to seeds and what sitemaps point out, to other URLs, and to what is held"),
    ] = (6, 3, 1)
    park_after: Annotated[Positive, _doc("a host is parked after this many requests in a row that failed")] = 10
    domain_budget: Annotated[
        Positive,
        _doc("URLs asked for of a domain that is no seed's, times one more than the domains that link to it"),
    ] = 10_000


class Pace(Section, frozen=True):
    """Politeness. There is no off switch: below 0.5 s only for `own` hosts."""

    delay: Annotated[
        Seconds,
        _doc("seconds from the end of an answer to the next request to that host; at least 0.5 where it is not `own`"),
    ] = 1.0
    latency_factor: Annotated[Seconds, _doc("the gap is at least this many times the last response times")] = 2.0
    max_crawl_delay: Annotated[Seconds, _doc("Crawl-delay above this is obeyed at this pace")] = 300.0
    max_retry_after: Annotated[Seconds, _doc("Retry-After above this is cut to it")] = 86_400.0
    requests_per_address: Annotated[
        float, Meta(gt=0), _doc("requests a second to one IP address, over all its hosts")
    ] = 4.0
    requests_per_domain: Annotated[float, Meta(gt=0), _doc("requests a second to one registrable domain")] = 4.0
    wide_addresses: Annotated[
        tuple[str, ...], _doc("CIDR ranges of large CDNs, with the requests a second they bear: `192.0.2.0/24=50`")
    ] = ()
    own_budgets: Annotated[bool, _doc("`own` hosts, too, are held to the requests a second per address and domain")] = (
        False
    )
    quiet: Annotated[
        tuple[str, ...], _doc("quiet hours by host pattern: `*.example.org 08:00-20:00 Europe/Berlin`")
    ] = ()


class Fetch(Section, frozen=True):
    """One request."""

    contact: Annotated[str, _doc("URL or mail address in the User-Agent; required unless every host is own")] = ""
    product: Annotated[str, _doc("product token, letters, `_` and `-` only; matched in robots.txt")] = "weft"
    from_header: Annotated[str, _doc("value of the From header; empty: not sent")] = ""
    connect_seconds: Annotated[Seconds, _doc("time to connect, TLS included")] = 10.0
    first_byte_seconds: Annotated[Seconds, _doc("time from the request to the first byte of the answer")] = 20.0
    total_seconds: Annotated[Seconds, _doc("time for the whole request")] = 60.0
    minimum_rate: Annotated[Count, _doc("bytes a second below which a body is given up, after the first 5 s")] = 500
    max_body: Annotated[Positive, _doc("body bytes as transferred")] = 32 * 1024 * 1024
    max_headers: Annotated[Positive, _doc("bytes of all header fields")] = 64 * 1024
    types: Annotated[tuple[str, ...], _doc("content types whose body is read")] = (
        "text/html",
        "application/xhtml+xml",
        "text/plain",
        "text/xml",
        "application/xml",
        "application/rss+xml",
        "application/atom+xml",
    )
    robots_seconds: Annotated[Seconds, _doc("a robots.txt is asked for again after this time")] = 86_400.0
    resolvers: Annotated[tuple[str, ...], _doc("DNS servers; empty: the system's")] = ()
    hosts: Annotated[
        dict[str, str],
        _doc('addresses for host names, used instead of DNS: `name = "127.0.0.1"`; `"*.name"`: all below it'),
    ] = {}
    ca_file: Annotated[
        str,
        _doc("PEM file of certificate authorities that are trusted beside the system's (`SSL_CERT_FILE` names those)"),
    ] = ""
    sitemaps: Annotated[bool, _doc("read sitemaps named by robots.txt and at /sitemap.xml")] = True


class Archive(Section, frozen=True):
    """Raw pages."""

    file_bytes: Annotated[Positive, _doc("a WARC file is sealed when it reaches this size")] = 1_000_000_000
    operator: Annotated[str, _doc("`operator` of the warcinfo record")] = ""


class Parse(Section, frozen=True):
    """Parser processes."""

    workers: Annotated[Count, _doc("parser processes; 0: one per core but one, at least one")] = 0
    seconds: Annotated[Seconds, _doc("CPU time a page may take before its parser is replaced")] = 2.0
    memory: Annotated[Positive, _doc("bytes a parser process may use")] = 512 * 1024 * 1024
    max_decoded: Annotated[Positive, _doc("bytes a body may have after its content encoding is undone")] = (
        32 * 1024 * 1024
    )
    max_links: Annotated[Positive, _doc("links taken from one page; `weft inspect` says how many were left out")] = (
        100_000
    )


class Corpus(Section, frozen=True):
    """Documents."""

    segment_rows: Annotated[Positive, _doc("documents in a segment before it is committed")] = 1000
    segment_seconds: Annotated[Seconds, _doc("longest time a document waits for its segment")] = 5.0
    shard_bytes: Annotated[Positive, _doc("segments are compacted into shards of about this size")] = 400_000_000
    source: Annotated[str, _doc("`source` column")] = "weft"


class Config(Section, frozen=True):
    """All of it."""

    storage: Storage = Storage()
    crawl: Crawl = Crawl()
    scope: Scope = Scope()
    frontier: Frontier = Frontier()
    pace: Pace = Pace()
    fetch: Fetch = Fetch()
    archive: Archive = Archive()
    parse: Parse = Parse()
    corpus: Corpus = Corpus()

    @classmethod
    def load(cls, path: Path | None = None, environment: Mapping[str, str] | None = None) -> "Config":
        """From a TOML file (if any) and `WEFT_SECTION_KEY` variables, which win."""
        tables = laid_over(settings(path) if path else {}, *from_environment(environment))
        return from_tables(tables, str(path) if path else "environment")

    def to_toml(self) -> str:
        """The whole configuration, as `load` reads it."""
        return "\n".join(
            f"[{section}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())
            for section, table in msgspec.to_builtins(self).items()
        )


def settings(path: Path) -> Tables:
    """What a file sets, as tables, names checked; values are not yet."""
    tables = read_tables(path)
    _check_names(tables, str(path))
    return tables


def from_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """What the process's environment sets, or these variables."""
    return sorted_out(os.environ if variables is None else variables, typing.get_type_hints(Config))


def apart(config: Config) -> tuple[Tables, Tables]:
    """What of a whole configuration is to be kept; and what it has from the environment, for this run."""
    _, *passing = from_environment()
    variables = laid_over({}, *passing)
    kept, told = msgspec.to_builtins(config), msgspec.to_builtins(from_tables(variables, "environment"))
    of_run: Tables = {}
    for section, table in variables.items():
        for key in table:
            if kept[section][key] == told[section][key]:  # or the program chose it, whatever the environment says
                of_run.setdefault(section, {})[key] = kept[section].pop(key)
    return kept, of_run


def from_tables(tables: Mapping[str, Any], origin: str) -> Config:
    """Check names, then types; every refusal is one line."""
    _check_names(tables, origin)
    try:
        return msgspec.convert(tables, Config, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}: {error}") from None


def _check_names(tables: Mapping[str, Any], origin: str) -> None:
    for name, table in tables.items():
        section = _section_type(name, origin)
        if not isinstance(table, Mapping):
            raise ConfigError(f"{origin}: [{name}] must be a table")
        known = section.__struct_fields__
        for key in table:
            if key not in known:
                raise ConfigError(f"{origin}: unknown key {name}.{key}{_nearest(key, known)}")


def override(config: Config, section: str, **values: Any) -> Config:
    """The configuration with some values of one section replaced and checked."""
    table = {**msgspec.to_builtins(getattr(config, section)), **values}
    return msgspec.structs.replace(config, **{section: _checked(section, table)})


def _checked(section: str, table: Mapping[str, Any]) -> Section:
    try:
        return msgspec.convert(table, _section_type(section, "arguments"), strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{section}: {error}") from None


def _toml(value: Any) -> str:
    """JSON's strings, numbers, booleans and lists are TOML's; only tables are written otherwise."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    return msgspec.json.encode(value).decode()


def _section_type(name: str, origin: str) -> type[Section]:
    hints = typing.get_type_hints(Config)
    if name not in Config.__struct_fields__:
        raise ConfigError(f"{origin}: unknown section [{name}]{_nearest(name, Config.__struct_fields__)}")
    section: type[Section] = hints[name]
    return section


def _nearest(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}"


def read_tables(path: Path) -> dict[str, Any]:
    """A TOML file as it is."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def reference() -> str:
    """docs/configuration.md, from the definitions above."""
    lines = [
        "# Configuration",
        "",
        "Made from `src/weft/config.py` by `make docs`. Every key can be set in a TOML file (`--config FILE`, or",
        "`weft.toml` in the crawl's DIR) and by an environment variable `WEFT_SECTION_KEY`, which wins (lists with",
        "commas). Unknown keys and variables are refused. A variable holds for the run and is not kept in `weft.toml`,",
        "but for `state`, `blobs` and `partitions` of `[storage]`, which say where the data lie.",
        "",
        "The limits of `[crawl]` in a file are of the whole crawl, all its runs together; in the environment and",
        "on the command line (`--max-pages`) they are of one run and are not kept. A run after a kill or a stop goes",
        "on counting where that one was, one after an end or a limit begins at 0.",
    ]
    for name, section in typing.get_type_hints(Config).items():
        lines += [
            "",
            f"## [{name}]",
            "",
            section.__doc__ or "",
            "",
            "| key | type | default | meaning |",
            "|---|---|---|---|",
        ]
        hints = typing.get_type_hints(section, include_extras=True)
        defaults = section()
        for key in section.__struct_fields__:
            kind, text = _described(hints[key])
            default = msgspec.json.encode(getattr(defaults, key)).decode()
            lines.append(f"| `{key}` | {kind} | `{default}` | {text} |")
    return "\n".join(lines) + "\n"


def _described(hint: Any) -> tuple[str, str]:
    texts = [meta.description for meta in getattr(hint, "__metadata__", ()) if getattr(meta, "description", None)]
    return _type_name(hint), texts[-1] if texts else ""


def _type_name(hint: Any) -> str:
    if hasattr(hint, "__metadata__"):
        return _type_name(hint.__origin__)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin is tuple:
        return f"list of {_type_name(arguments[0])}"
    if origin is dict:
        return "table"
    return getattr(hint, "__name__", str(hint)) if not isinstance(hint, types.UnionType) else str(hint)


if __name__ == "__main__":
    import sys

    sys.stdout.write(reference())
