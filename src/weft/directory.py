"""A crawl's DIR: made or opened, locked, its format checked, its configuration kept in `weft.toml`."""

import fcntl
import os
import secrets
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from .config import Config, from_tables, read_tables
from .errors import ConfigError, CrawlDirError
from .metrics import Report

_SERVERS: Final = ("redis://", "rediss://", "unix://")
FORMAT: Final = "3"
"""Of everything below DIR; raised when an older Weft could not read it."""


class CrawlDirectory:
    """Use `open` (for one writer at a time) or `read` (beside a running crawl)."""

    def __init__(self, path: Path, config: Config, lock: int | None) -> None:
        self.path = path
        self.config = config
        self._lock = lock

    @classmethod
    def open(cls, path: Path, settings: Mapping[str, Mapping[str, Any]]) -> "CrawlDirectory":
        """Make or resume; `settings` are laid over what DIR has. Held until `close`."""
        try:
            (path / "state").mkdir(parents=True, exist_ok=True)
            lock = _lock(path)
            stored = _stored(path)
            config = _merged(stored, settings, path)
            _write(path / "state" / "format", FORMAT.encode())
            _write(path / "weft.toml", config.to_toml().encode())
        except OSError as error:
            raise CrawlDirError(f"{path}: {error.strerror or error}") from None
        return cls(path, config, lock)

    @classmethod
    def read(cls, path: Path) -> "CrawlDirectory":
        """Look at an existing DIR without holding it."""
        stored = _stored(path)
        if not stored:
            raise CrawlDirError(f"{path}: holds no crawl")
        return cls(path, from_tables(stored, str(path / "weft.toml")), None)

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
            found = (path / "state" / "format").read_text().strip()
            if found != FORMAT:
                raise CrawlDirError(
                    f"{path}: made by another version of weft (format {found}, this one reads {FORMAT})"
                )
            return read_tables(path / "weft.toml")
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CrawlDirError(f"{path}: {error}") from None
    return {}


def _merged(stored: dict[str, Any], settings: Mapping[str, Mapping[str, Any]], path: Path) -> Config:
    tables = {name: dict(table) for name, table in stored.items()}
    for name, table in settings.items():
        tables.setdefault(name, {}).update(table)
    _name_state(tables.setdefault("storage", {}), stored.get("storage", {}).get("state", ""))
    config = from_tables(tables, "configuration")
    before = stored.get("storage", {}).get("partitions", config.storage.partitions)
    if config.storage.partitions != before:
        raise ConfigError(f"{path}: has {before} partitions, fixed when it was made; storage.partitions cannot change")
    return config


def _name_state(storage: dict[str, Any], before: str) -> None:
    """Two crawls on one server must not share rows: without a #NAME of its own, DIR gets one and keeps it."""
    state = storage.get("state", "")
    if isinstance(state, str) and state.startswith(_SERVERS) and "#" not in state:
        known = before.partition("#")
        storage["state"] = before if known[0] == state else f"{state}#weft-{secrets.token_hex(4)}"


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    draft = path.with_name(f".{path.name}.new")
    draft.write_bytes(data)
    draft.replace(path)
