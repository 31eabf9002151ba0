"""Fixtures that every test folder may use, and what `make test` runs at the same time."""

from collections.abc import AsyncIterator, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.cli.calling import Weft
from tests.redis_server import RedisServer
from tests.s3_server import S3Server

ROOT = Path(__file__).parent.parent
CLOCK = "clock"

# Beside other tests an example may take long for no fault of its own.
settings.register_profile("beside others", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("beside others")


class ByFile(LoadScopeScheduling):
    """The tests of a file share a process, and so do all files with a test that measures time.

    pytest-xdist's own groups are lost on pytest 9.2: it no longer lets a plugin write them into the name of a test.
    """

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid.partition("::")[0])


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may be switched off
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest groups come first, so that all processes have work to the end."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if _group(item.location[0]) == CLOCK:
        return 0
    return 1 if item.path.parent.name == "e2e" else 2


@cache
def _group(file: str) -> str:
    return CLOCK if f"pytest.mark.{CLOCK}\n" in (ROOT / file).read_text(encoding="utf-8") else file


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis for this process that keeps what it acknowledges. Missing: a skip at a desk, a failure with CI=true."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def s3_server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[S3Server]:
    """An S3 of one bucket, `s3://bucket/…`, that the environment points to as it would to a real one."""
    server = S3Server()
    await server.start()
    settings = {"ENDPOINT": f"http://127.0.0.1:{server.port}", "ALLOW_HTTP": "true", "REGION": "here"}
    for name, value in {**settings, "ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    yield server
    await server.stop()


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Weft:
    """`weft` without a process of its own, for what has nothing to do with signals, streams and locks."""
    return Weft(capsys)
