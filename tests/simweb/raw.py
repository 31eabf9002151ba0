"""One HTTP request over a plain socket, so that nothing between the test and the wire makes sense of the answer."""

import asyncio
from typing import NamedTuple

from weft.simweb import SimWeb


class Raw(NamedTuple):
    """What came over the wire until the end, the limit or the time was up."""

    data: bytes
    ended: str  # closed, reset, limit, silence

    @property
    def status(self) -> int:
        return int(self.data.split(b" ", 2)[1])

    @property
    def body(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[2]

    def header(self, name: str) -> str:
        lines = self.data.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
        return next((value.strip() for key, _, value in (line.partition(":") for line in lines) if key == name), "")


async def ask(
    web: SimWeb, target: str, host: int = 0, headers: str = "", seconds: float = 10.0, limit: int = 10**6
) -> Raw:
    """GET on a connection of its own; `seconds` of silence end it."""
    there = web.world.host(host)
    reader, writer = await asyncio.open_connection(there.address, web.port)
    request = f"GET {target} HTTP/1.1\r\nHost: {there.name}:{web.port}\r\n{headers}Connection: close\r\n\r\n"
    writer.write(request.encode())
    data, ended = b"", "closed"
    try:
        while len(data) < limit:
            part = await asyncio.wait_for(reader.read(65_536), seconds)
            if not part:
                break
            data += part
        else:
            ended = "limit"
    except ConnectionResetError:
        ended = "reset"
    except TimeoutError:
        ended = "silence"
    writer.close()
    return Raw(data, ended)
