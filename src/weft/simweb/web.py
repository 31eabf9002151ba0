"""A running miniature internet: `async with SimWeb(config) as web`. Tests, the demo and `weft simweb` use it."""

import asyncio
import errno
import socket
from pathlib import Path
from types import TracebackType

from weft.clock import SystemClock
from weft.errors import ConfigError
from weft.ports import Clock

from .backend import Backend
from .config import SimWebConfig
from .log import Log, Request
from .planting import Sites
from .scene import Scene
from .server import Server
from .truth import Truth, truth_of
from .world import World


class SimWeb:
    """Serves the web of one config on loopback addresses; knows its names, its log and its truth."""

    def __init__(self, config: SimWebConfig, log_path: Path | None = None, clock: Clock | None = None) -> None:
        self.config = config
        self.world = World(config)
        self.port = config.port
        self._log = Log(log_path)
        self._clock = clock or SystemClock()
        self._server: Server | None = None
        self._listeners: list[asyncio.Server] = []

    async def start(self) -> "SimWeb":
        """Bind every address to the same port and listen."""
        sockets = bind_all(self.world.addresses, self.config.port)
        self.port = sockets[0].getsockname()[1]
        self._server = Server(Backend(Sites(self.world, self.port), self._log, self._clock))
        if self.config.prepared:
            self._server.backend.prepare()
        loop = asyncio.get_running_loop()
        for bound in sockets:
            self._listeners.append(await loop.create_server(self._server.connection, sock=bound, backlog=512))
        return self

    async def stop(self) -> None:
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()
        if self._server is not None:
            self._server.abort()
            await asyncio.sleep(0)
        self._log.close()

    async def __aenter__(self) -> "SimWeb":
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    # what a crawler needs

    def seeds(self, numeric: bool = False) -> list[str]:
        """URLs from which everything can be found."""
        return Sites(self.world, self.port).seeds(numeric)

    def resolve(self, name: str) -> list[str]:
        """Addresses of a name of this web; none for a name that does not exist."""
        index = self.world.find(name.lower().rstrip("."))
        return [] if index is None else [self.world.host(index).address]

    def hosts(self) -> dict[str, str]:
        """name → address, for a crawler's static table."""
        return self.world.hosts()

    # what a test needs

    def truth(self, numeric: bool = False) -> Truth:
        """What a perfect polite crawler makes of the web as it is now."""
        version = self._server.backend.version if self._server else 0
        return truth_of(Sites(self.world, self.port), numeric, version)

    def scene(self, index: int) -> Scene:
        """A host of a web of scenes, with its truth."""
        return Sites(self.world, self.port).scene(index)

    def requests(self) -> list[Request]:
        return self._log.requests()

    def clear_log(self) -> None:
        """Forget the requests so far (the file keeps them)."""
        self._log.clear()

    def advance(self, steps: int = 1) -> int:
        """Let the changing pages change; how often that was done is returned."""
        if self._server is None:
            raise RuntimeError("the web does not run")
        self._server.backend.version += steps
        return self._server.backend.version


def bind_all(addresses: tuple[str, ...], port: int) -> list[socket.socket]:
    """One listening socket per address, all on one port; with port 0 a port that is free on all of them."""
    for _ in range(20):
        sockets: list[socket.socket] = []
        try:
            for address in addresses:
                chosen = sockets[0].getsockname()[1] if sockets else port
                sockets.append(_bound(address, chosen))
            return sockets
        except OSError as error:
            for bound in sockets:
                bound.close()
            if port or error.errno != errno.EADDRINUSE:
                raise ConfigError(f"simweb cannot listen on {address}:{chosen}: {error.strerror}") from None
    raise ConfigError("simweb found no port that is free on all its addresses")


def _bound(address: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setblocking(False)
        bound.bind((address, port))
    except OSError:
        bound.close()
        raise
    return bound
