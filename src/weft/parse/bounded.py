"""One page in a child process that the kernel ends at its limits: for the command line, which has no pool of parsers.

In: what to do, and the limits. Out: the bytes it gave, or `Refused` with the reason. Called by `weft.cli.extract`.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from weft.config import Parse
from weft.errors import Refused
from weft.parse.worker import Memory
from weft.records import Refusal

_DONE, _REFUSED, _NO_MEMORY, _CRASHED = range(4)


def bounded(work: Callable[[], bytes], limits: Parse) -> bytes:
    """Do the work within CPU time and memory. A refusal that it raises comes through."""
    answers, write_end = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(answers)
        _work(work, limits, write_end)
    os.close(write_end)
    with os.fdopen(answers, "rb") as pipe:
        answer = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == _DONE:
        return answer
    if status == _REFUSED:
        raise Refused(answer.decode())
    ends = {-signal.SIGPROF: Refusal.TIMEOUT, _NO_MEMORY: Refusal.MEMORY}
    raise Refused(ends.get(status, Refusal.CRASH).value)


def _work(work: Callable[[], bytes], limits: Parse, write_end: int) -> NoReturn:
    """The child's part. It leaves nothing behind: no output of its own, no core, no traceback."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, limits.seconds)
    Memory(limits.memory).limit()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    answer, status = b"", _CRASHED
    try:
        answer, status = work(), _DONE
    except Refused as refusal:
        answer, status = str(refusal).encode(), _REFUSED
    except MemoryError:
        status = _NO_MEMORY
    finally:
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(answer)
        os._exit(status)
