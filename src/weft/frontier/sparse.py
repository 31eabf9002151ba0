"""Large tables that a small crawl hardly uses: memory is taken in small pages, where something is written."""

import contextlib
import mmap
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def zeros(shape: tuple[int, ...], kind: "np.dtype[Any]") -> "NDArray[Any]":
    """As numpy's, which asks for pages of 2 MB: entries lie anywhere, so a hundred would fill 64 MB of them.

    That took up to half a second. Finding an entry among millions takes a few nanoseconds longer without them.
    """
    memory = mmap.mmap(-1, prod(shape) * kind.itemsize, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a kernel that knows no large pages
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, kind).reshape(shape)
