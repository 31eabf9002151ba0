"""A crawl's DIR: made or opened, locked, its format checked, its configuration kept in `weft.toml`.

`weft.toml` is written before `state/format`, which makes DIR a crawl: a start that was killed in between, or found the
disk full, is completed by the next one.
"""

import contextlib
import fcntl
import os
import secrets
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import msgspec

from .config import Config, from_tables, read_tables
from .environment import laid_over
from .errors import ConfigError, CrawlDirError
from .killpoints import KillPoints
from .metrics import Report

Tables: TypeAlias = Mapping[str, Mapping[str, Any]]
Check: TypeAlias = Callable[[Config], None]
"""Raises for a configuration that cannot work."""

_SERVERS: Final = ("redis://", "rediss://", "unix://")
_OF_A_START: Final = {"lock", "format", ".format.new"}  # all that a start leaves in state/ before the engines open
FORMAT: Final = "4"
"""Of everything below DIR; raised when an older Weft could not read it."""
_BEFORE: Final = "3"  # made into FORMAT by whoever opens DIR for work
# What `weft.toml` of that format says, with all its defaults, that must not be kept: a knob that is gone, values that
# nobody chose, and limits, which may be those of one run and would be those of the whole crawl now.
_DROPPED: Final = {
    ("crawl", "max_pages"): None,
    ("crawl", "max_bytes"): None,
    ("crawl", "max_seconds"): None,
    ("frontier", "trap_sample"): None,
    ("fetch", "max_body"): 10 << 20,
    ("parse", "max_decoded"): 20 << 20,
    ("parse", "max_links"): 5000,
}


class CrawlDirectory:
    """Use `open` (for one writer at a time) or `read` (beside a running crawl)."""

    def __init__(self, path: Path, config: Config, lock: int | None) -> None:
        self.path = path
        self.config = config
        self._lock = lock

    @classmethod
    def open(
        cls, path: Path, settings: Tables, check: Check = lambda _: None, of_run: Tables = MappingProxyType({})
    ) -> "CrawlDirectory":
        """Make or resume. `settings` are laid over what DIR has, and kept; `of_run` over both, and not kept.

        Held until `close`. Nothing refused is kept.
        """
        try:
            stored = _stored(path)
            kept = _merged(stored, settings, path)
            config = _of_run(kept, of_run)
            check(config)  # before there is a DIR at all
            (path / "state").mkdir(parents=True, exist_ok=True)
            lock = _lock(path)
            try:
                if _stored(path) != stored:
                    raise CrawlDirError(f"{path}: another weft process has just changed it; try again")
                _keep(path, kept)
            except BaseException:
                os.close(lock)
                raise
        except OSError as error:
            raise CrawlDirError(f"{path}: {error.strerror or error}") from None
        return cls(path, config, lock)

    @classmethod
    def read(cls, path: Path, *, hold: bool = False) -> "CrawlDirectory":
        """Look at an existing DIR; `hold`: nobody else works on it until `close`."""
        if not is_crawl(path):
            raise CrawlDirError(f"{path}: holds no crawl")
        if _format(path) == _BEFORE:
            raise CrawlDirError(
                f"{path}: is of format {_BEFORE}; run `weft crawl --out {path}` once, which changes that"
            )
        config = from_tables(_stored(path), str(path / "weft.toml"))
        return cls(path, config, _lock(path) if hold else None)

    @property
    def is_of_before(self) -> bool:
        """Are its rows of the format before this one?"""
        return _format(self.path) == _BEFORE

    def renew(self) -> None:
        """Its rows are of this format now, durably."""
        _write(self.path / "state" / "format", FORMAT.encode(), durably=True)

    def in_use(self) -> bool:
        """Does another process hold it?"""
        try:
            os.close(_lock(self.path))
        except CrawlDirError:
            return True
        return False

    def write_report(self, report: Report) -> None:
        _write(self.path / "report.json", msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")

    def write_progress(self, report: Report) -> None:
        """A snapshot for `weft status`, which cannot open the state of a running crawl."""
        _write(self.path / "state" / "progress.json", msgspec.json.encode(report))

    def progress(self) -> Report:
        """The last snapshot."""
        try:
            return msgspec.json.decode((self.path / "state" / "progress.json").read_bytes(), type=Report)
        except (OSError, msgspec.DecodeError):
            return Report()

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def is_crawl(path: Path) -> bool:
    """Was a start there completed?"""
    return (path / "state" / "format").exists() and not _begun(path)


def _format(path: Path) -> str:
    return (path / "state" / "format").read_text().strip()


def _begun(path: Path) -> bool:
    """Has a start of an older Weft, which wrote the format first, ended between the two files?"""
    if (path / "weft.toml").exists() or not (path / "state" / "format").exists():
        return False
    return {entry.name for entry in (path / "state").iterdir()} <= _OF_A_START


def _lock(path: Path) -> int:
    try:
        handle = os.open(path / "state" / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise CrawlDirError(f"{path}: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise CrawlDirError(f"{path}: another weft process works here") from None
    return handle


def _stored(path: Path) -> dict[str, Any]:
    """The tables of DIR's weft.toml; nothing for a new DIR."""
    try:
        if (path / "state" / "format").exists():
            found = _format(path)
            if found not in (FORMAT, _BEFORE):
                raise CrawlDirError(
                    f"{path}: made by another version of weft (format {found}, this one reads {FORMAT})"
                )
            tables = {} if _begun(path) else read_tables(path / "weft.toml")
            return _without_old(tables) if found == _BEFORE else tables
        return read_tables(path / "weft.toml") if (path / "weft.toml").exists() else {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CrawlDirError(f"{path}: {error}") from None


def _without_old(tables: dict[str, Any]) -> dict[str, Any]:
    """The tables of a `weft.toml` of the format before, as far as this version knows and wants them."""
    return {
        section: {
            key: value
            for key, value in table.items()
            if (section, key) not in _DROPPED or _DROPPED[section, key] not in (None, value)
        }
        for section, table in tables.items()
    }


def _merged(stored: dict[str, Any], settings: Tables, path: Path) -> Config:
    tables = laid_over(stored, settings)
    _make_absolute(tables.get("fetch", {}))
    _name_state(tables.setdefault("storage", {}), stored.get("storage", {}).get("state", ""))
    config = from_tables(tables, "configuration")
    before = stored.get("storage", {}).get("partitions", config.storage.partitions)
    if config.storage.partitions != before:
        raise ConfigError(f"{path}: has {before} partitions, fixed when it was made; storage.partitions cannot change")
    return config


def _of_run(kept: Config, of_run: Tables) -> Config:
    tables = laid_over(msgspec.to_builtins(kept), of_run)
    _make_absolute(tables["fetch"])
    return from_tables(tables, "environment")


def _make_absolute(fetch: dict[str, Any]) -> None:
    """The next start may be made from another folder."""
    file = fetch.get("ca_file")
    if file and isinstance(file, str):
        fetch["ca_file"] = str(Path(file).absolute())


def _name_state(storage: dict[str, Any], before: str) -> None:
    """Two crawls on one server must not share rows: without a #NAME of its own, DIR gets one and keeps it."""
    state = storage.get("state", "")
    if isinstance(state, str) and state.startswith(_SERVERS) and "#" not in state:
        known = before.partition("#")
        storage["state"] = before if known[0] == state else f"{state}#weft-{secrets.token_hex(4)}"


def _keep(path: Path, config: Config) -> None:
    """The configuration, then the mark that makes DIR a crawl. A file that says the same is left as it is."""
    killpoints = KillPoints.from_environment()
    made = is_crawl(path)
    if not made or not _says(path / "weft.toml", config):
        _write(path / "weft.toml", config.to_toml().encode(), durably=True)
    killpoints.reach("directory.configured")
    if not made:
        _write(path / "state" / "format", FORMAT.encode(), durably=True)
    killpoints.reach("directory.made")


def _says(file: Path, config: Config) -> bool:
    try:
        return from_tables(read_tables(file), str(file)) == config
    except ConfigError:  # what it says wrong is put right by the settings of this start
        return False


def _write(path: Path, data: bytes, *, durably: bool = False) -> None:
    """Whole or not at all; `durably`: against loss of power too."""
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            if durably:
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)  # a full disk needs its room
        raise
    if durably:
        _sync(path.parent)
        with contextlib.suppress(PermissionError):  # DIR's own name, in a folder that may be none of ours
            _sync(path.parent.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
