"""simweb as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from weft.simweb import SimWebConfig, expand, politeness
from weft.simweb.process import running

CONFIG = SimWebConfig(hosts=3, pages=12, misbehaviours=expand("changing"))


def test_a_web_in_another_process(tmp_path: Path) -> None:
    with running(CONFIG, tmp_path) as web:
        (seed,) = web.seeds(numeric=True)
        with urlopen(seed) as answer:
            assert next(iter(web.truth().texts)).encode() in answer.read()
        (row,) = web.requests()
        assert row.agent.startswith("Python-urllib")
        assert politeness(web.requests(), lambda _: 1.0) == []
        before = web.truth().texts.keys()
        assert web.advance() == 1
        changed = next(row for row in web.truth(numeric=True).urls if row.marker and row.marker not in before)
        with urlopen(changed.url) as answer:
            assert changed.marker.encode() in answer.read()
        pid = web.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_no_process_is_left_when_the_test_fails(tmp_path: Path) -> None:
    pids = []

    def fail() -> None:
        with running(CONFIG, tmp_path) as web:
            pids.append(web.pid)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_the_same_bytes_in_every_process() -> None:
    """Whatever Python's hash seed: a page depends on the config alone."""
    code = (
        "import hashlib; from weft.simweb import *; from weft.simweb.answer import Visit;"
        "from weft.simweb.planting import Sites; from weft.simweb.world import World;"
        "sites = Sites(World(SimWebConfig(hosts=9, pages=4, misbehaviours=expand('all'))), 80);"
        "bodies = [sites(h).answer(Visit(sites(h).path(p), {}, False)).body for h in range(9) for p in range(4)];"
        "print(hashlib.sha256(b''.join(bodies)).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
