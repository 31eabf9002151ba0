"""How much memory this process has had at most, for tests that run a piece of code in a process of its own.

Not `ru_maxrss`: that is inherited from whoever started the process, and may hide any growth.
"""

import re
from pathlib import Path


def peak() -> int:
    """Bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024
