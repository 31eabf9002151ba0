"""Tables that take memory where something is written."""

import mmap
import subprocess
import sys

import numpy as np
import pytest

from weft.frontier import sparse

A_HUNDRED_ENTRIES = """
from random import Random
import numpy as np
from tests.peak_memory import peak
from weft.frontier import sparse

table = sparse.zeros((4 << 20, 2), np.dtype(np.uint64))
before = peak()
for place in Random(3).choices(range(len(table)), k=100):
    table[place] = 1
print(peak() - before)
"""


def test_a_few_entries_anywhere_in_a_large_table_take_little_memory() -> None:
    done = subprocess.run([sys.executable, "-c", A_HUNDRED_ENTRIES], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 4 << 20


@pytest.mark.parametrize("kind", ["<u8", "<u2", "?", "V32"])
def test_it_begins_empty_and_keeps_what_is_written(kind: str) -> None:
    table = sparse.zeros((300, 7), np.dtype(kind))
    assert table.shape == (300, 7)
    assert not table.view(np.uint8).any()
    table[299, 6] = table[0, 0] = np.frombuffer(b"\1" * 32, kind)[0]
    assert np.count_nonzero(table.view(np.uint8)) == 2 * table.itemsize


def test_it_needs_no_kernel_with_large_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain(mmap.mmap):
        def madvise(self, *_: int) -> None:
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(mmap, "mmap", Plain)
    assert not sparse.zeros((5,), np.dtype(np.uint16)).any()
