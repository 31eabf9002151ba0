"""A disk that can lose power: it remembers what was synced, and gives a copy of a folder with nothing but that."""

import os
import shutil
import stat
from pathlib import Path


class Disk:
    """Stands in for os.fsync. A file survives as last synced, if its folder was synced since it got its name."""

    def __init__(self) -> None:
        self.syncs = 0
        self._bytes: dict[int, bytes] = {}  # inode → content when last synced
        self._names: dict[Path, dict[str, int]] = {}  # folder → its entries (name → inode) when last synced

    def fsync(self, descriptor: int) -> None:
        self.syncs += 1
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            self._names[path] = {entry.name: entry.stat().st_ino for entry in path.iterdir()}
        else:
            self._bytes[status.st_ino] = path.read_bytes()

    def after_power_loss(self, folder: Path, copy: Path) -> Path:
        """What a machine finds that boots again: `folder` as the disk has it, made anew in `copy`."""
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        for name, inode in self._names.get(folder, {}).items():
            if folder / name in self._names:
                self.after_power_loss(folder / name, copy / name)
            elif not (folder / name).is_dir():
                (copy / name).write_bytes(self._bytes.get(inode, b""))
        return copy
