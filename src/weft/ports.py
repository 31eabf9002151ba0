"""The four storage shapes, the transport and the clock that everything else is written against.

Each docstring is the whole contract: tests/contracts holds every engine to it, on the real thing. An engine stores
bytes and knows nothing of crawling. All methods take batches; all failures of an engine are `weft.errors.EngineError`.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

from .records import Exchange, Request

Key: TypeAlias = tuple[bytes, bytes]
"""(group, item): a group's items lie together, ordered by their bytes. Both are non-empty and at most 1 KiB; a write of
a longer one is `errors.TooLarge`."""


class Put(NamedTuple):
    key: Key
    value: bytes


class Delete(NamedTuple):
    key: Key


Step: TypeAlias = Sequence[Put | Delete]


class Range(NamedTuple):
    """Items of one group from `start` (included) to `stop` (excluded, None for the end), at most `limit` of them."""

    group: bytes
    start: bytes = b""
    stop: bytes | None = None
    limit: int = 1000


Rows: TypeAlias = list[tuple[bytes, bytes]]
"""(item, value) pairs in ascending order of item."""


class Table(Protocol):
    """Rows of bytes under (group, item).

    Order: within one `write`, a step begins only when all earlier steps are durable. Within a step the last operation
    on a key wins. Concurrent writes to the same key settle in an unspecified order.
    Atomicity: a crash may tear a step (any subset of its operations is kept), never show a later step without the whole
    of the earlier ones. Callers rely on ordered steps and idempotence, nothing more.
    Durability: when `write` returns its last step is applied and visible to every reader; it survives SIGKILL of the
    process. A `sync=True` write also survives loss of power, and so does every write that had returned before it.
    Failure: a write that was cancelled or raised is a crash to the rows it had not finished; write it again.
    """

    async def get(self, keys: Sequence[Key]) -> list[bytes | None]:
        """The values of `keys`, in their order; None where there is no row."""
        ...

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        """The rows of each range, in the order of the ranges; fewer than its limit only at the range's end.

        Rows written meanwhile may or may not show.
        """
        ...

    async def write(self, *steps: Step, sync: bool = False) -> None:
        """Apply the steps one after another."""
        ...

    async def put_if(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        """Atomically replace the value `old` (None: no row) by `new` (None: delete); False if it is not `old`.

        Linearisable among callers of `put_if`; True is durable against loss of power. After `errors.Unavailable` it
        may or may not have happened: look. `write` never touches such a key.
        """
        ...

    async def close(self) -> None:
        """Flush and let go of the engine. Nothing is called afterwards."""
        ...


class Message(NamedTuple):
    """A message as received: `receipt` names this delivery to `ack` and `extend`."""

    receipt: bytes
    body: bytes


MAX_MESSAGE = 64 * 1024


class Queue(Protocol):
    """Messages of at most 64 KB, delivered at least once, in no promised order.

    A received message is hidden for the queue's term. One that was neither acked nor extended by then is delivered
    again; so is every unacked one after a restart, at the latest when the term ends. An acked message may, rarely,
    still come back. To retry, send a copy with a higher attempt, then ack; the dead have a queue of their own.
    Where the engine is a server, several processes may receive: none takes what another holds within its term, and a
    process that comes back under its name has at once what it held.
    """

    async def send(self, bodies: Sequence[bytes]) -> None:
        """Durable (survives SIGKILL) when it returns. A crash midway may leave any subset."""
        ...

    async def receive(self, limit: int, wait: float = 0.0) -> list[Message]:
        """Up to `limit` messages; waits up to `wait` seconds for the first, then returns what there is."""
        ...

    async def ack(self, messages: Sequence[Message]) -> None:
        """These are done with. Unknown receipts are ignored; an outdated one (delivered again meanwhile) may count."""
        ...

    async def extend(self, messages: Sequence[Message]) -> None:
        """Hide these for another full term from now. Those acked stay acked; unknown receipts are ignored."""
        ...

    async def size(self) -> int:
        """About how many messages wait or are hidden; 0 only if there are none."""
        ...

    async def close(self) -> None:
        """Let go of the engine. Nothing is called afterwards."""
        ...


class Journal(Protocol):
    """One append-only file, written by one owner.

    Positions are byte offsets. After a crash the file holds everything synced, in order, then possibly a torn tail;
    reopening continues behind the last whole byte. Sealing makes it an immutable blob of the same name.
    """

    @property
    def name(self) -> str: ...

    async def append(self, chunk: bytes) -> int:
        """Add the chunk; the position of its first byte. It may not be durable before `sync`."""
        ...

    async def sync(self) -> int:
        """All that was appended is durable, against loss of power too; the length that is safe."""
        ...

    async def read(self, start: int, end: int) -> bytes:
        """Bytes start to end (exclusive) of what was appended; shorter at the end of the file."""
        ...

    async def cut(self, length: int) -> None:
        """Drop all that lies behind `length`, durably: a torn tail must not stand in the middle of a file."""
        ...

    async def seal(self) -> str:
        """Sync, close, and publish it as a blob; the blob's name."""
        ...


class Journals(Protocol):
    """Opens journals by name and knows which are still open (were not sealed)."""

    async def open(self, name: str) -> Journal:
        """Create, or continue, the journal. A sealed name is an error."""
        ...

    async def unsealed(self) -> list[str]:
        """Names of journals not sealed, oldest first by name."""
        ...

    async def close(self) -> None:
        """Let go of the open journals, unsealed as they are. Nothing is called afterwards."""
        ...


class Blobs(Protocol):
    """Named immutable objects. Names are relative paths of [A-Za-z0-9._/-]; '..' is refused."""

    async def put(self, name: str, data: bytes) -> None:
        """All or nothing: a reader, or a crash, sees no part of it. Durable when it returns. Replaces."""
        ...

    async def get(self, name: str, start: int = 0, end: int | None = None) -> bytes:
        """Bytes start to end (exclusive; None: to the end), shorter at the end; `errors.Missing` if there is none."""
        ...

    async def list(self, prefix: str = "") -> list[tuple[str, int]]:
        """(name, size) of all blobs whose name begins with prefix, in order of name."""
        ...

    async def delete(self, names: Sequence[str]) -> None:
        """Remove them; names that do not exist are ignored."""
        ...

    async def move(self, name: str, to: str) -> None:
        """Give the blob another name; it replaces what had that. Durable when it returns; a crash may leave it under
        both. `errors.Missing` if there is none."""
        ...


class Transport(Protocol):
    """One GET over the network: streamed, capped, guarded. It never raises for what the web does."""

    async def get(self, request: Request) -> Exchange:
        """Ask and read the answer; every way it can end is a value of the exchange."""
        ...

    async def close(self) -> None: ...


class Clock(Protocol):
    """Wall time (persisted, may jump) and monotonic time (never persisted, never jumps) are kept apart."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since an arbitrary start."""
        ...

    async def sleep(self, seconds: float) -> None: ...
