"""Runs `weft` as a person does, against a simweb in a process of its own, and reads what came out."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from weft.simweb import SimWebConfig, expand
from weft.simweb.judge import Score, Violation, politeness, score
from weft.simweb.process import RunningWeb

OWN = "127.0.0.0/8"
PATIENCE = 180  # seconds after which a crawl that should have ended has failed


def config_of(web: RunningWeb, folder: Path, **sections: dict[str, Any]) -> Path:
    """A configuration with the web's names, quick retries, and whatever the test wants."""
    tables: dict[str, dict[str, Any]] = {
        "scope": {"own": [OWN], "reach": "any"},
        "frontier": {"retry": [0.3, 0.3, 0.3, 0.3]},
        "fetch": {"hosts": web.hosts(), "first_byte_seconds": 2.0, "total_seconds": 5.0, "connect_seconds": 2.0},
        "pace": {"delay": 0.05},
        "parse": {"workers": 1},
    }
    for name, table in sections.items():
        tables.setdefault(name, {}).update(table)
    path = folder / "test.toml"
    path.write_text("".join(f"[{name}]\n" + _lines(table) for name, table in tables.items()))
    return path


def _lines(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {json.dumps(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def weft(*arguments: str | Path, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """Run to the end; its output is kept apart."""
    command = [sys.executable, "-m", "weft", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=env)


def start(*arguments: str | Path) -> "subprocess.Popen[str]":
    """Run in the background, to be killed or interrupted."""
    command = [sys.executable, "-m", "weft", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def report_of(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    """The JSON object that `--json` printed."""
    assert done.returncode in (0, 1, 3), done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def documents(out: Path) -> list[tuple[str, str]]:
    """(url, text) of every row of the corpus."""
    rows: list[tuple[str, str]] = []
    for file in sorted((out / "corpus" / "data").glob("*.parquet")):
        table = pq.read_table(file, columns=["url", "text"])
        rows += [(str(row["url"]), str(row["text"])) for row in table.to_pylist()]
    return rows


def judged(web: RunningWeb, out: Path, numeric: bool = False) -> Score:
    return score(web.truth(numeric), documents(out), web.requests())


def assert_perfect(web: RunningWeb, out: Path) -> None:
    """Every text that the truth wants is stored once, nothing else, and nothing forbidden was asked."""
    score = judged(web, out)
    assert score.recall == 1.0, score.missing[:10]
    assert score.perfect, (score.wrong[:5], score.duplicates[:5], score.forbidden[:5])


def checked(out: Path) -> dict[str, Any]:
    """What `weft check` says of a DIR that nobody works on."""
    done = weft("check", out, "--json")
    assert done.returncode in (0, 1), done.stderr[-2000:]
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["clean"] is (done.returncode == 0)
    return result


def assert_sound(out: Path) -> None:
    """All that is stored keeps its promises."""
    assert checked(out)["faults"] == []


def violations(web: RunningWeb, delay: float) -> list[Violation]:
    """By the server's log: gaps that were too short, requests that overlapped."""
    slow = {host.name: host.crawl_delay for host in web.truth().hosts}
    return politeness(web.requests(), lambda host: max(delay, slow.get(host, 0.0)))


def web_of(hosts: int, pages: int, features: str = "mild", **more: Any) -> SimWebConfig:
    return SimWebConfig(hosts=hosts, pages=pages, misbehaviours=expand(features), **more)


def interrupt(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGINT)
