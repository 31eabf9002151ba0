"""The child of process.py: `python -m weft.simweb CONFIG-AS-JSON LOG-FILE`; people use `weft simweb`.

Lines come in on standard input (`advance`), JSON goes out; the end of input is the end of the web.
"""

import asyncio
import json
import sys
from pathlib import Path

import msgspec
import uvloop

from .config import SimWebConfig
from .web import SimWeb


async def serve(config: SimWebConfig, log_path: Path) -> None:
    async with SimWeb(config, log_path) as web:
        _say(port=web.port)
        lines = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        async for line in lines:
            if line.strip() == b"advance":
                _say(version=web.advance())


def _say(**values: int) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(serve(msgspec.json.decode(sys.argv[1], type=SimWebConfig), Path(sys.argv[2])))
