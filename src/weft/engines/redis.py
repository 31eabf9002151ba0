"""Table and Queue on a Redis server, 7 or newer. URL `redis://HOST:PORT/DB#NAME` (also rediss, unix).

The server should answer only after its disk has the write: `appendonly yes`, `appendfsync always`; opening warns where
it does not. #NAME keeps several crawls on one server apart.
"""

import asyncio
import logging
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urldefrag

from redis import exceptions
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from weft.engines.limits import check_key, check_messages
from weft.errors import ConfigError, Corrupt, EngineError, Unavailable
from weft.ports import Key, Message, Put, Range, Rows, Step

Client: TypeAlias = Redis
log = logging.getLogger(__name__)

CHUNK: Final = 500  # reads or messages at once: more would hold up everyone else on the server
WRITE_CHUNK: Final = 2000  # operations per script, about 10 ms of the server
CONNECTIONS: Final = 32
PATIENCE: Final = 10.0  # seconds for a connection, and for an answer beyond what a receive asked to wait

# A row is in a hash (its value) and in a sorted set of equal scores (its order). Scripts change both at once; and they
# are one command to the client, where a command costs ten times what it costs the server.
_GET: Final = """
local found = {}
for place, key in ipairs(KEYS) do
  found[place] = redis.call('HGET', key, ARGV[place])
end
return found
"""
_WRITE: Final = """
for place = 1, #KEYS / 2 do
  local hash, order, item = KEYS[2 * place - 1], KEYS[2 * place], ARGV[3 * place - 1]
  if ARGV[3 * place - 2] == 'put' then
    redis.call('HSET', hash, item, ARGV[3 * place])
    redis.call('ZADD', order, 0, item)
  else
    redis.call('HDEL', hash, item)
    redis.call('ZREM', order, item)
  end
end
"""
_SCAN: Final = """
local found = {}
for place, item in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
  found[2 * place - 1] = item
  found[2 * place] = redis.call('HGET', KEYS[1], item)
end
return found
"""
_PUT_IF: Final = """
local found = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] == '0' and found then return 0 end
if ARGV[2] == '1' and found ~= ARGV[3] then return 0 end
if ARGV[4] == '1' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[5])
  redis.call('ZADD', KEYS[2], 0, ARGV[1])
else
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return 1
"""
# Entries whose term is over (from a place in the pending list that moves on, as one call looks at a part of it), then
# new ones: {where to look next, {id, body, id, body, …}}.
_COME_BACK: Final = """
local start = '-'
while true do
  local pending = redis.call('XPENDING', KEYS[1], 'weft', start, '+', 1000, ARGV[2])
  for _, entry in ipairs(pending) do
    redis.call('XCLAIM', KEYS[1], 'weft', ARGV[2], 0, entry[1], 'IDLE', ARGV[1], 'JUSTID')
  end
  if #pending < 1000 then return end
  start = '(' .. pending[#pending][1]
end
"""
"""Messages that this consumer was given and did not ack are due at once; those of others when their terms end."""

_RECEIVE: Final = """
local claimed = redis.call('XAUTOCLAIM', KEYS[1], 'weft', ARGV[4], ARGV[1], ARGV[2], 'COUNT', ARGV[3])
local found = {}
for _, entry in ipairs(claimed[2]) do
  found[#found + 1] = entry[1]
  found[#found + 1] = entry[2][2]
end
local left = tonumber(ARGV[3]) - #found / 2
if left > 0 then
  local new = redis.call('XREADGROUP', 'GROUP', 'weft', ARGV[4], 'COUNT', left, 'STREAMS', KEYS[1], '>')
  for _, entry in ipairs(new and new[1][2] or {}) do
    found[#found + 1] = entry[1]
    found[#found + 1] = entry[2][2]
  end
end
return {claimed[1], found}
"""


class RedisTable:
    """A hash and a sorted set per group.

    What is written in one call is applied by one script, whole or not at all for whoever is killed meanwhile, unless
    it is more than `WRITE_CHUNK` operations. A script that fails (no memory) has applied what came before.
    """

    def __init__(self, client: Client, name: bytes) -> None:
        self._client = client
        self._name = name

    async def get(self, keys: Sequence[Key]) -> list[bytes | None]:
        values: list[bytes | None] = []
        for start in range(0, len(keys), CHUNK):
            chunk = keys[start : start + CHUNK]
            hashes, items = [self._hash(group) for group, _ in chunk], [item for _, item in chunk]
            async with _mapping():
                values += cast("list[bytes | None]", await self._client.eval(_GET, len(hashes), *hashes, *items))
        return values

    async def scan(self, ranges: Sequence[Range]) -> list[Rows]:
        async with _mapping(), self._client.pipeline(transaction=False) as pipe:
            for wanted in ranges:
                start = b"[" + wanted.start if wanted.start else b"-"
                stop = b"+" if wanted.stop is None else b"(" + wanted.stop
                pipe.eval(_SCAN, 2, self._hash(wanted.group), self._order(wanted.group), start, stop, wanted.limit)
            found = cast("list[list[bytes]]", await _answers(pipe))
        return [list(zip(flat[::2], flat[1::2], strict=True)) for flat in found]

    async def write(self, *steps: Step, sync: bool = False) -> None:  # noqa: ARG002 - every answer is after an fsync
        operations = list(chain.from_iterable(steps))
        for start in range(0, len(operations), WRITE_CHUNK):
            await self._apply(operations[start : start + WRITE_CHUNK])

    async def _apply(self, operations: Step) -> None:
        keys: list[bytes] = []
        arguments: list[bytes] = []
        for operation in operations:
            group, item = operation.key
            check_key(group, item)
            keys += (self._hash(group), self._order(group))
            arguments += (b"put", item, operation.value) if isinstance(operation, Put) else (b"delete", item, b"")
        async with _mapping():
            await self._client.eval(_WRITE, len(keys), *keys, *arguments)

    async def put_if(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        group, item = key
        check_key(group, item)
        arguments = [item, b"0" if old is None else b"1", old or b"", b"0" if new is None else b"1", new or b""]
        async with _mapping():
            return bool(await self._client.eval(_PUT_IF, 2, self._hash(group), self._order(group), *arguments))

    async def close(self) -> None:
        await self._client.aclose(close_connection_pool=True)

    def _hash(self, group: bytes) -> bytes:
        return self._name + b":h:" + group

    def _order(self, group: bytes) -> bytes:
        return self._name + b":o:" + group


class RedisQueue:
    """A stream with one consumer group. Terms run on the server's clock, and outlive both ends' restarts."""

    def __init__(self, client: Client, key: bytes, term: float, consumer: str) -> None:
        self._client = client
        self._key = key
        self._term = term
        self._consumer = consumer
        self._look_from = _START

    async def start(self) -> None:
        """Make the stream and its group unless they exist. Whoever had messages under our name is dead."""
        async with _mapping():
            try:
                await self._client.xgroup_create(self._key, _GROUP, id="0", mkstream=True)
            except exceptions.ResponseError as error:
                if _code(error) != "BUSYGROUP":
                    raise
            await self._client.eval(_COME_BACK, 1, self._key, round(self._term * 1000), self._consumer)

    async def send(self, bodies: Sequence[bytes]) -> None:
        check_messages(bodies)
        for start in range(0, len(bodies), CHUNK):
            async with _mapping(), self._client.pipeline(transaction=False) as pipe:
                for body in bodies[start : start + CHUNK]:
                    pipe.xadd(self._key, {b"b": body})
                await _answers(pipe)

    async def receive(self, limit: int, wait: float = 0.0) -> list[Message]:
        if limit <= 0:
            return []
        left = wait
        task = asyncio.current_task()
        cancels = task.cancelling() if task else 0
        while True:
            messages = await self._take(limit)
            if not messages and self._look_from != _START:
                continue  # there is more of the pending list to look through
            if messages or left <= 0:
                return messages
            if task and task.cancelling() > cancels:
                raise asyncio.CancelledError  # the client's `wait_for` loses a cancellation on Python 3.11
            # The server wakes us for a new message but not when a term ends: look for those four times a term.
            pause = min(left, self._term / 4, PATIENCE / 2)
            messages = await self._take_new(limit, pause)
            if messages:
                return messages
            left -= pause

    async def _take(self, limit: int) -> list[Message]:
        term = round(self._term * 1000)
        async with _mapping():
            answer = await self._client.eval(_RECEIVE, 1, self._key, term, self._look_from, limit, self._consumer)
        self._look_from, flat = cast("tuple[bytes, list[bytes]]", answer)
        return [Message(receipt, body) for receipt, body in zip(flat[::2], flat[1::2], strict=True)]

    async def _take_new(self, limit: int, wait: float) -> list[Message]:
        async with _mapping():
            block = max(1, round(wait * 1000))
            answer = await self._client.xreadgroup(_GROUP, self._consumer, {self._key: ">"}, count=limit, block=block)
        streams = cast("list[tuple[bytes, list[tuple[bytes, dict[bytes, bytes]]]]]", answer or [])
        return [Message(receipt, fields[b"b"]) for _, entries in streams for receipt, fields in entries]

    async def ack(self, messages: Sequence[Message]) -> None:
        known = _receipts(messages)
        if known:
            async with _mapping(), self._client.pipeline(transaction=True) as pipe:
                pipe.xack(self._key, _GROUP, *known)
                pipe.xdel(self._key, *known)
                await _answers(pipe)

    async def extend(self, messages: Sequence[Message]) -> None:
        known = _receipts(messages)
        if known:
            async with _mapping():
                await self._client.xclaim(self._key, _GROUP, self._consumer, 0, known, justid=True)

    async def size(self) -> int:
        async with _mapping():
            return int(await self._client.xlen(self._key))

    async def close(self) -> None:
        await self._client.aclose(close_connection_pool=True)


_GROUP: Final = "weft"
_START: Final = b"0-0"
_RECEIPT: Final = re.compile(rb"[0-9]{1,20}-[0-9]{1,20}")


def _receipts(messages: Sequence[Message]) -> list[Any]:
    return [message.receipt for message in messages if _RECEIPT.fullmatch(message.receipt)]


def check_redis(url: str) -> None:
    """Refuse what is no address of a server that answers us. Not for use inside a running loop."""
    asyncio.run(_ping(urldefrag(url)[0]))


async def _ping(address: str) -> None:
    client = Redis.from_pool(_pool(address))
    try:
        async with _mapping():
            await client.ping()
    finally:
        await client.aclose(close_connection_pool=True)


async def open_redis_table(url: str) -> RedisTable:
    address, name = urldefrag(url)
    return RedisTable(await _connected(address), (name or "weft").encode())


async def open_redis_queue(url: str, name: str, term: float, consumer: str = "") -> RedisQueue:
    """`consumer`: who receives. One process at a time has a name; the next one has at once what the last one held.

    Without a name it is a consumer that never was before.
    """
    address, prefix = urldefrag(url)
    key = f"{prefix or 'weft'}:q:{name}".encode()
    queue = RedisQueue(await _connected(address), key, term, consumer or secrets.token_hex(8))
    await queue.start()
    return queue


async def _connected(address: str) -> Client:
    """A client of a server that answers. One that may forget what it acknowledged is used with a warning."""
    client = Redis.from_pool(_pool(address))
    try:
        async with _mapping():
            await client.ping()
            await _check_durable(client, address)
    except BaseException:
        await client.aclose(close_connection_pool=True)
        raise
    return client


def _pool(address: str) -> BlockingConnectionPool:
    try:
        return BlockingConnectionPool.from_url(
            address,
            max_connections=CONNECTIONS,
            timeout=PATIENCE,
            socket_timeout=PATIENCE,
            socket_connect_timeout=PATIENCE,
            retry=Retry(NoBackoff(), 0),  # whoever calls knows whether to try again; a put_if must not be
        )
    except ValueError as error:
        raise ConfigError(f"{address}: {error}") from error


async def _check_durable(client: Client, address: str) -> None:
    try:
        found = await client.config_get("append*")
    except exceptions.ResponseError:
        return  # hosted servers forbid the question; then it is the operator's word
    if found.get("appendonly") != "yes" or found.get("appendfsync") != "always":
        log.warning("%s may lose what it acknowledged when it dies: `appendonly yes`, `appendfsync always`", address)


async def _answers(pipe: Pipeline) -> list[Any]:
    """Carry out the pipeline; its first error is raised as the server gave it."""
    answers = await pipe.execute(raise_on_error=False)
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


def _code(error: exceptions.RedisError) -> str:
    return error.status_code or str(error).partition(" ")[0]


@asynccontextmanager
async def _mapping() -> AsyncIterator[None]:
    """Redis's errors become ours."""
    try:
        yield
    except (exceptions.AuthenticationError, exceptions.AuthorizationError, exceptions.NoPermissionError) as error:
        raise ConfigError(f"redis: {error}") from error
    except (exceptions.ConnectionError, exceptions.TimeoutError, OSError) as error:
        raise Unavailable(f"redis: {error}") from error
    except exceptions.ResponseError as error:
        if _code(error) in ("WRONGTYPE", "NOGROUP"):
            raise Corrupt(f"redis: {error}") from error
        if _code(error) == "ERR":
            raise EngineError(f"redis: {error}") from error
        raise Unavailable(f"redis: {error}") from error  # OOM, MISCONF, READONLY, LOADING, MASTERDOWN …
    except exceptions.RedisError as error:
        raise EngineError(f"redis: {error}") from error
