"""The shape of the code, held by a test: who may import whom, and how long things may be."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "weft"
MODULES = sorted(SOURCE.rglob("*.py"))
WRITTEN = MODULES + sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "bench").rglob("*.py"))

GROUND = {"records", "errors", "clock", "killpoints", "checked"}
FLOOR = GROUND | {"config", "ports", "urls"}
STAGES = {"frontier", "fetch", "archive", "parse", "dedup", "corpus", "search", "cluster"}

# unit → the units it may import, itself aside
MAP: dict[str, set[str]] = {
    **dict.fromkeys(GROUND, GROUND),
    **dict.fromkeys(("ports", "urls"), FLOOR),
    "environment": GROUND,
    "config": FLOOR | {"environment"},
    **dict.fromkeys(STAGES, FLOOR),
    "metrics": FLOOR,
    "limits": FLOOR,
    "engines": GROUND | {"ports", "config"},
    "simweb": FLOOR,
    "handover": FLOOR | {"archive", "parse"},
    "loops": FLOOR | STAGES | {"limits", "metrics", "handover"},
    "directory": FLOOR | {"environment", "metrics"},
    "foreign": FLOOR | {"archive", "corpus", "loops", "metrics", "parse"},
    "session": FLOOR | STAGES | {"loops", "directory", "foreign", "handover", "limits", "metrics"},
    "check": FLOOR | STAGES | {"metrics"},
    "build": FLOOR | STAGES | {"metrics", "check", "loops", "engines", "directory", "handover", "session"},
    "cli": FLOOR
    | STAGES
    | {"build", "check", "loops", "directory", "environment", "limits", "metrics", "session", "simweb"},
    "weft": FLOOR | STAGES | {"build", "metrics"},
    "__main__": {"cli"},
}
PORTED_CLIENTS = {"rocksdict", "redis", "obstore"}
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}


def unit_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return "weft" if parts == ("__init__",) else parts[0]


def imports(path: Path) -> Iterator[str]:
    """Every absolute module name imported anywhere in the file: in functions and under TYPE_CHECKING too."""
    package = ["weft", *path.relative_to(SOURCE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*stem, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def weft_units(path: Path) -> set[str]:
    known = {unit_of(module) for module in MODULES}
    found = set()
    for name in imports(path):
        first, _, rest = name.partition(".")
        unit = rest.partition(".")[0]
        if first == "weft" and unit in known:
            found.add(unit)
    return found - {unit_of(path)}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_map(path: Path) -> None:
    unit = unit_of(path)
    assert unit in MAP, f"{unit} has no place in the import map"
    assert weft_units(path) <= MAP[unit], f"{unit} must not import {weft_units(path) - MAP[unit]}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_engines_import_client_libraries(path: Path) -> None:
    clients = {name.partition(".")[0] for name in imports(path)} & PORTED_CLIENTS
    assert not clients or unit_of(path) == "engines", f"{clients} belong into engines"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_clock_reads_time(path: Path) -> None:
    banned = {"time", "sched"} & {name.partition(".")[0] for name in imports(path)}
    allowed = path.name == "clock.py" or unit_of(path) == "simweb"
    assert not banned or allowed, "take a Clock"


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, "a file of more than 400 lines holds two things"
    assert path.stem not in FORBIDDEN_NAMES, "code without a home is missing a noun"
    if path.is_relative_to(SOURCE):
        assert len(path.relative_to(SOURCE).parts) <= 2, "folders are at most two deep"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            check_function(path, node)


def check_function(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    where = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
    assert (node.end_lineno or node.lineno) - node.lineno < 50, f"{where} is longer than 50 lines"
    if path.is_relative_to(SOURCE) and node.name != "__init__":
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        assert len([name for name in names if name not in {"self", "cls"}]) <= 5, f"{where} has too many parameters"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_broad_excepts_raise_again_or_log(path: Path) -> None:
    """`except Exception` maps a foreign error, or stands at the top of a loop and logs what happened."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"{path.name}:{node.lineno} bare except"
            broad = isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}
            kept = any(isinstance(inner, ast.Raise) or _logs(inner) for inner in ast.walk(node))
            assert kept or not broad, f"{path.name}:{node.lineno} swallows everything"


def _logs(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "exception"
