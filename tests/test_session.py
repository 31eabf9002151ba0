"""An open crawl: what it tells while it runs, and what it leaves behind in the process."""

import asyncio
import gc
import sys
import threading
from pathlib import Path

from weft.build import opened
from weft.directory import CrawlDirectory
from weft.loops import Ending
from weft.metrics import Report

PATIENCE = 10.0


class BusyDisk(CrawlDirectory):
    """Takes its time over the first snapshot: until it is told to go on."""

    def __init__(self, directory: CrawlDirectory) -> None:
        super().__init__(directory.path, directory.config, None)
        self.go_on = threading.Event()
        self.told_in_time: list[bool] = []
        self.written: list[Report] = []

    def write_progress(self, report: Report) -> None:
        self.told_in_time.append(self.go_on.wait(PATIENCE))
        self.written.append(report)
        super().write_progress(report)


async def test_a_busy_disk_holds_up_neither_the_loop_nor_the_last_snapshot(tmp_path: Path) -> None:
    directory = CrawlDirectory.open(tmp_path, {"parse": {"workers": 1}})
    busy = BusyDisk(directory)
    async with opened(busy) as session:
        asyncio.get_running_loop().call_later(0.1, busy.go_on.set)
        ending, _ = await session.crawl(lambda _: None)
    directory.close()
    assert ending is Ending.EXHAUSTED
    assert all(busy.told_in_time)
    assert [report.ended for report in busy.written] == ["", Ending.EXHAUSTED.value]
    assert directory.progress().ended == Ending.EXHAUSTED.value


async def test_the_interpreter_is_left_as_it_was_found(tmp_path: Path) -> None:
    def settings() -> tuple[object, ...]:
        return gc.get_threshold(), gc.get_freeze_count(), sys.getswitchinterval()

    before = settings()
    directory = CrawlDirectory.open(tmp_path, {"parse": {"workers": 1}})
    async with opened(directory):
        assert settings() != before
    directory.close()
    assert settings() == before
