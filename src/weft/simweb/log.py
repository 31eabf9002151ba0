"""The server's log: one `Request` per request, in memory and, if asked for, as lines of JSON in a file.

The server writes it, the judge and tests read it. Lines are written at once, so another process can read along.
"""

from collections import deque
from pathlib import Path

import msgspec


class Request(msgspec.Struct, frozen=True):
    """One request. Times are seconds; `arrived` and `finished` are monotonic and comparable on one machine."""

    wall: float  # when the request had arrived, since 1970
    arrived: float
    finished: float  # when the whole answer had been handed to the system, or the client was gone
    connection: int
    address: str
    host: str  # as asked, without the port
    target: str  # path and query
    status: int  # 0: no status was sent
    agent: str
    sent: int  # bytes, headers included
    body: int  # of them, the body's; 0 where a script sent them
    complete: bool  # the answer reached its end
    retry_after: float = 0.0  # seconds the answer asked to wait
    cookie: str = ""  # as the client sent it


class Log:
    """Keeps the last `limit` requests; `path` gets them all."""

    def __init__(self, path: Path | None = None, limit: int = 1_000_000) -> None:
        self._recent: deque[Request] = deque(maxlen=limit)
        # Unbuffered: a test that reads the file sees every request that was answered.
        self._file = path.open("ab", buffering=0) if path else None
        self._encoder = msgspec.json.Encoder()

    def add(self, request: Request) -> None:
        self._recent.append(request)
        if self._file is not None:
            self._file.write(self._encoder.encode(request) + b"\n")

    def requests(self) -> list[Request]:
        """In the order in which they were finished."""
        return list(self._recent)

    def clear(self) -> None:
        self._recent.clear()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def read_log(path: Path) -> list[Request]:
    """A log file, a half-written last line left out."""
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    decoder = msgspec.json.Decoder(Request)
    return [decoder.decode(line) for line in whole.split(b"\n") if line]
