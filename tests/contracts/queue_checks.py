"""What `ports.Queue` promises, as plain functions of a bench; each raises AssertionError when an engine breaks it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import pytest

from weft.clock import ManualClock, SystemClock
from weft.errors import TooLarge
from weft.ports import MAX_MESSAGE, Message, Queue


@dataclass(frozen=True)
class Bench:
    """A queue that can be opened again, its term, and the clock it runs on (None: the server's own)."""

    opener: Callable[[], Awaitable[Queue]]
    term: float
    clock: ManualClock | None

    async def receive(self, queue: Queue, limit: int, terms: float) -> list[Message]:
        """What comes within that many terms."""
        waiting = asyncio.ensure_future(queue.receive(limit, terms * self.term))
        end = self.clock.monotonic() + terms * self.term if self.clock else 0.0
        for _ in range(100):
            if self.clock is None or await self._settled(waiting):
                break
            left = end - self.clock.monotonic()
            await self.clock.advance(min(left, self.clock.next_wake() or left))
        return await waiting

    async def let_pass(self, terms: float) -> None:
        """Nobody receives meanwhile."""
        if self.clock:
            self.clock.tick(terms * self.term)
        else:
            await SystemClock().sleep(terms * self.term)

    async def _settled(self, waiting: asyncio.Future[list[Message]]) -> bool:
        """Let everything run that needs no time."""
        for _ in range(20):
            await asyncio.sleep(0)
        return waiting.done()


Check: TypeAlias = Callable[[Bench], Awaitable[None]]


def bodies(messages: list[Message]) -> list[bytes]:
    return sorted(message.body for message in messages)


async def what_is_sent_is_received(bench: Bench) -> None:
    queue = await bench.opener()
    assert await queue.size() == 0
    assert await queue.receive(10) == []
    await queue.send([])
    await queue.send([b"one", b"", b"x" * MAX_MESSAGE])
    await queue.send([bytes(range(256)), b"one"])
    assert await queue.size() == 5
    messages = await queue.receive(10)
    assert bodies(messages) == sorted([b"one", b"one", b"", b"x" * MAX_MESSAGE, bytes(range(256))])
    await queue.ack(messages)
    assert await queue.size() == 0
    assert await queue.receive(10) == []
    await queue.close()


async def the_limit_is_kept(bench: Bench) -> None:
    queue = await bench.opener()
    sent = {b"%d" % number for number in range(1203)}
    await queue.send(sorted(sent))
    received: list[Message] = []
    assert await queue.receive(0) == []
    for _ in range(100):
        messages = await queue.receive(100)
        assert len(messages) <= 100
        received += messages
        await queue.ack(messages)  # all of them: on a busy machine the term of what is left would end
        if not messages:
            break
    assert bodies(received) == sorted(sent), "each once"
    assert await queue.size() == 0
    await queue.close()


async def a_received_message_is_hidden_for_its_term(bench: Bench) -> None:
    queue = await bench.opener()
    await queue.send([b"a", b"b"])
    first = await queue.receive(1)
    second = await queue.receive(9)
    assert len(first) == 1
    assert bodies(first + second) == [b"a", b"b"]
    assert await queue.receive(9) == []
    assert await queue.size() == 2, "hidden ones count"
    again = await bench.receive(queue, 9, terms=1.5)
    rest = await queue.receive(9) if len(again) < 2 else []
    assert bodies(again + rest) == [b"a", b"b"], "delivered again when the term was over"
    await queue.ack(again + rest)
    assert await bench.receive(queue, 9, terms=1.5) == []
    await queue.close()


async def it_comes_back_until_acked(bench: Bench) -> None:
    queue = await bench.opener()
    await queue.send([b"stubborn"])
    assert len(await queue.receive(9)) == 1
    for _ in range(3):
        messages = await bench.receive(queue, 9, terms=1.5)
        assert bodies(messages) == [b"stubborn"]
        assert await queue.receive(9) == [], "hidden again"
    await queue.ack(messages)
    assert await queue.size() == 0
    await queue.close()


async def the_expired_are_found_behind_the_hidden(bench: Bench) -> None:
    queue = await bench.opener()
    await queue.send([b"%03d" % number for number in range(300)])
    messages = await queue.receive(300)
    assert await bench.receive(queue, 1, terms=0.5) == []
    await queue.extend([message for message in messages if message.body < b"290"])
    found = await bench.receive(queue, 2, terms=0.8)
    assert len(found) == 2
    assert min(bodies(found)) >= b"290"
    await queue.close()


async def the_expired_do_not_push_out_the_new(bench: Bench) -> None:
    queue = await bench.opener()
    await queue.send([b"old 1", b"old 2"])
    await queue.receive(2)
    await bench.let_pass(1.1)
    await queue.send([b"new 1", b"new 2", b"new 3"])
    found = [message for _ in range(2) for message in await queue.receive(2)]  # the expired alone may fill the first
    found += await queue.receive(9)
    assert bodies(found) == [b"new 1", b"new 2", b"new 3", b"old 1", b"old 2"]
    await queue.close()


async def extending_hides_for_another_term(bench: Bench) -> None:
    queue = await bench.opener()
    await queue.send([b"kept", b"left"])
    messages = {message.body: message for message in await queue.receive(9)}
    assert await bench.receive(queue, 9, terms=0.5) == []
    await queue.extend([messages[b"kept"], Message(b"unknown", b"")])
    assert bodies(await bench.receive(queue, 9, terms=0.85)) == [b"left"]
    assert bodies(await bench.receive(queue, 9, terms=0.9)) == [b"kept"], "the extended term ends too"
    await queue.close()


async def acking_twice_or_in_vain_does_nothing(bench: Bench) -> None:
    queue = await bench.opener()
    await queue.send([b"a", b"b", b"c"])
    first, *others = await queue.receive(3)
    unknown = [Message(b"", b""), Message(b"unknown", b"x"), Message(b"9" * 2000, b""), Message(b"7-7", b"")]
    await queue.ack([*unknown, Message(b"\x00", b""), Message(b"\x00" * 7 + b"\x09", b"")])
    assert await queue.size() == 3
    await queue.ack([*unknown, first])
    await queue.ack([first, first])
    await queue.extend([first, *unknown])
    assert await queue.size() == 2
    again = await bench.receive(queue, 9, terms=1.5)
    again += await queue.receive(9)
    assert bodies(again) == bodies(others), "an acked message stays acked, extended or not"
    await queue.ack(others)  # the outdated receipts: they may count
    await queue.ack(again)
    assert await queue.size() == 0
    assert await bench.receive(queue, 9, terms=1.5) == []
    await queue.close()


async def a_waiting_receiver_wakes_at_once(bench: Bench) -> None:
    queue = await bench.opener()
    waiting = asyncio.ensure_future(queue.receive(5, wait=600))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    await queue.send([b"now"])
    async with asyncio.timeout(5):  # of real time: a manual clock stands still
        assert bodies(await waiting) == [b"now"]
    await queue.close()


async def waiting_ends(bench: Bench) -> None:
    queue = await bench.opener()
    assert await bench.receive(queue, 5, terms=0.3) == []
    waiting = asyncio.ensure_future(queue.receive(5, wait=600))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await queue.send([b"after"])
    found = await queue.receive(5) or await bench.receive(queue, 5, terms=1.5)
    assert bodies(found) == [b"after"], "a receiver that gave up took nothing with it"
    await queue.close()


async def receivers_share(bench: Bench) -> None:
    queue = await bench.opener()
    sent = [b"%d" % number for number in range(200)]
    received: list[Message] = []

    async def work() -> None:
        while messages := await queue.receive(7):
            received.extend(messages)
            await queue.ack(messages)

    await asyncio.gather(*(queue.send(sent[start::4]) for start in range(4)))
    await asyncio.gather(*(work() for _ in range(5)))
    assert bodies(received) == sorted(sent), "nobody gets what another has"
    await queue.close()


async def large_messages_are_refused(bench: Bench) -> None:
    queue = await bench.opener()
    with pytest.raises(TooLarge):
        await queue.send([b"fits", b"x" * (MAX_MESSAGE + 1)])
    assert await queue.size() == 0
    await queue.close()


async def reopening_brings_back_what_was_not_acked(bench: Bench) -> None:
    queue = await bench.opener()
    await queue.send([b"acked", b"held", b"waiting", b"waiting too"])
    messages = [message for _ in range(2) for message in await queue.receive(1)]
    await queue.ack(messages[:1])
    await queue.close()
    queue = await bench.opener()
    assert 3 <= await queue.size() <= 4
    found = await queue.receive(9)
    for _ in range(2):
        found += await bench.receive(queue, 9, terms=1.5) if len({m.body for m in found}) < 3 else []
    left = {b"acked", b"held", b"waiting", b"waiting too"} - {messages[0].body}
    assert {message.body for message in found} == left
    await queue.ack(found)
    await queue.send([b"new"])
    await queue.close()
    queue = await bench.opener()
    assert bodies(await queue.receive(9)) == [b"new"]
    await queue.close()


OpenAs: TypeAlias = Callable[[str, float], Awaitable[Queue]]
"""Opens one and the same queue as a consumer of that name, with that term."""

ENDLESS: Final = 3600.0  # seconds; no test outlives it


async def a_second_consumer_takes_nothing_from_a_live_one(open_as: OpenAs) -> None:
    first = await open_as("first", ENDLESS)
    await first.send([b"held", b"held too", b"waiting"])
    held = [message for _ in range(2) for message in await first.receive(1)]
    second = await open_as("second", ENDLESS)
    received = await second.receive(9)
    assert bodies(held + received) == [b"held", b"held too", b"waiting"], "each once"
    assert await second.receive(9) == await first.receive(9) == []
    await first.ack(held)
    await second.ack(received)
    assert await first.size() == await second.size() == 0
    await first.close()
    await second.close()


async def what_a_dead_consumer_held_comes_to_another_when_its_term_is_over(open_as: OpenAs) -> None:
    dead = await open_as("dead", 1.0)
    await dead.send([b"one", b"two"])
    assert len(await dead.receive(9)) == 2
    await dead.close()
    heir = await open_as("heir", 1.0)
    found = await heir.receive(9, wait=5.0)
    found += await heir.receive(9, wait=5.0) if len(found) < 2 else []
    assert bodies(found) == [b"one", b"two"]
    await heir.close()


async def a_consumer_that_comes_back_has_at_once_what_it_held_and_no_more(open_as: OpenAs) -> None:
    killed, other = await open_as("killed", ENDLESS), await open_as("other", ENDLESS)
    await killed.send([b"%04d" % number for number in range(2500)])
    of_other = [message for _ in range(3) for message in await other.receive(100)]
    held = [message for _ in range(21) for message in await killed.receive(100)]
    assert len(held) == 2100
    back = await open_as("killed", ENDLESS)
    found: list[Message] = []
    while messages := await back.receive(100):
        found += messages
    assert not {message.body for message in of_other} & {message.body for message in found}
    assert len(found) == 2200, "what it held, and what nobody had"
    for queue in (killed, other, back):
        await queue.close()


SharedCheck: TypeAlias = Callable[[OpenAs], Awaitable[None]]
SHARED_CHECKS: tuple[SharedCheck, ...] = (
    a_second_consumer_takes_nothing_from_a_live_one,
    what_a_dead_consumer_held_comes_to_another_when_its_term_is_over,
    a_consumer_that_comes_back_has_at_once_what_it_held_and_no_more,
)

CHECKS: tuple[Check, ...] = (
    what_is_sent_is_received,
    the_limit_is_kept,
    a_received_message_is_hidden_for_its_term,
    it_comes_back_until_acked,
    the_expired_are_found_behind_the_hidden,
    the_expired_do_not_push_out_the_new,
    extending_hides_for_another_term,
    acking_twice_or_in_vain_does_nothing,
    a_waiting_receiver_wakes_at_once,
    waiting_ends,
    receivers_share,
    large_messages_are_refused,
    reopening_brings_back_what_was_not_acked,
)
