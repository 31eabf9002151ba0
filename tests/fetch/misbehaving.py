"""A small web server on real sockets that answers exactly as told, well or badly, and notes every request."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, TypeAlias


class Seen(NamedTuple):
    """A request as it arrived."""

    address: str  # where it was received
    path: str
    fields: dict[str, str]
    connection: int


class Say(NamedTuple):
    """An answer of given octets, and what happens to the connection behind it: keep, close, reset or hold."""

    octets: bytes
    then: str = "close"


Stream: TypeAlias = Callable[[asyncio.StreamWriter], Awaitable[None]]
Answer: TypeAlias = Say | Stream


def page(
    body: bytes = b"<html>hello</html>",
    status: str = "200 OK",
    *fields: str,
    kind: str = "text/html",
    then: str = "keep",
) -> Say:
    """A flawless answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *fields, "", ""]
    return Say("\r\n".join(lines).encode("latin-1") + body, then)


def redirect(location: str, status: str = "301 Moved") -> Say:
    return page(b"moved", status, f"Location: {location}")


class Server:
    """Paths and their answers. A list of answers is given out one by one, the last one again and again."""

    def __init__(self, answers: Mapping[str, Answer | list[Answer]]) -> None:
        self.answers = dict(answers)
        self.seen: list[Seen] = []
        self.connections = 0
        self.port = 0
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, address: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> "Server":
        """On further addresses with the same port."""
        server = await asyncio.start_server(self._serve, address, self.port, ssl=tls)
        self.port = self.port or server.sockets[0].getsockname()[1]
        self._servers.append(server)
        return self

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def idle(self) -> None:
        """Until it has noticed the end of every connection."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def paths(self) -> list[str]:
        return [seen.path for seen in self.seen]

    def __getitem__(self, path: str) -> Answer:
        answer = self.answers.get(path, page(b"nothing here", "404 Not Found"))
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self.connections += 1
        number = self.connections
        try:
            while await self._answer(reader, writer, number):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        self.seen.append(Seen(writer.get_extra_info("sockname")[0], path, fields, number))
        answer = self[path]
        if not isinstance(answer, Say):
            await answer(writer)
            return False
        writer.write(answer.octets)
        await writer.drain()
        if answer.then == "hold":
            await reader.read()  # until the client gives up
        if answer.then == "reset":
            reset(writer)
        return answer.then == "keep"


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection by RST rather than FIN."""
    transport = writer.transport
    transport.abort()


async def drip(writer: asyncio.StreamWriter, octets: bytes, pause: float) -> None:
    """Send octet by octet until the client is gone."""
    for octet in octets:
        writer.write(bytes([octet]))
        await writer.drain()
        await asyncio.sleep(pause)


async def flood(writer: asyncio.StreamWriter, piece: bytes, octets: int) -> None:
    """Send a piece again and again, as fast as the client reads, up to a number of octets."""
    for _ in range(octets // len(piece)):
        writer.write(piece)
        await writer.drain()
