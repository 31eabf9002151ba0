"""Every knob once, unknown ones refused, the environment on top."""

from pathlib import Path

import pytest

from weft.config import Config, from_environment, override, reference
from weft.errors import ConfigError

ROOT = Path(__file__).parent.parent


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "weft.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_file_and_environment(tmp_path: Path) -> None:
    path = written(tmp_path, "[pace]\ndelay = 2\n[scope]\nown = ['127.0.0.0/8']\n")
    config = Config.load(path, {"WEFT_PACE_DELAY": "3.5", "WEFT_SCOPE_BLOCK": "a.example, b.example", "OTHER": "x"})
    assert config.pace.delay == 3.5
    assert config.scope.own == ("127.0.0.0/8",)
    assert config.scope.block == ("a.example", "b.example")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    config = override(Config(), "pace", delay=7.5, quiet=['*.example "x" 08:00-20:00 UTC'])
    config = override(config, "fetch", hosts={"a.example": "127.0.0.1"})
    assert Config.load(written(tmp_path, config.to_toml()), {}) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[pace]\ndely = 3\n", "unknown key pace.dely; did you mean delay"),
        ("[paces]\ndelay = 3\n", r"unknown section \[paces\]; did you mean pace"),
        ("[pace]\ndelay = 'soon'\n", "Expected `float`"),
        ("[pace]\ndelay = -1\n", ">= 0"),
        ("[scope]\nreach = 'world'\n", "Invalid enum value"),
        ("pace = 3\n", r"\[pace\] must be a table"),
        ("[pace\n", "not valid TOML"),
    ],
)
def test_refusals_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        Config.load(written(tmp_path, text), {})
    assert "\n" not in str(refusal.value)
    assert "weft.toml" in str(refusal.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        Config.load(tmp_path / "none.toml", {})


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("WEFT_PACE_DELLAY", "WEFT_PACE_DELAY"),
        ("WEFT_FETHC_CONTACT", "WEFT_FETCH_CONTACT"),
        ("WEFT_CONTACT", "WEFT_FETCH_CONTACT"),
        ("WEFT_FETCH", "WEFT_FETCH_"),
        ("WEFT_pace_delay", "WEFT_PACE_DELAY"),
        ("WEFT_X", "WEFT_"),
    ],
)
def test_a_misspelt_variable_is_refused_with_the_nearest(variable: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown variable {variable}; did you mean {meant}") as refusal:
        Config.load(None, {variable: "1"})
    assert "\n" not in str(refusal.value)


def test_variables_that_are_no_settings_are_left_alone() -> None:
    assert Config.load(None, {"WEFT_KILL_AT": "frontier.leased", "WEFTY": "1", "PATH": "/bin"}) == Config()


def test_variables_hold_for_the_run_but_for_where_the_data_lie() -> None:
    variables = {"WEFT_PACE_DELAY": "3", "WEFT_STORAGE_STATE": "memory:", "WEFT_CRAWL_MAX_PAGES": "5"}
    places, knobs, limits = from_environment(variables)
    assert places == {"storage": {"state": "memory:"}}
    assert knobs == {"pace": {"delay": "3"}}
    assert limits == {"crawl": {"max_pages": "5"}}


def test_the_reference_page_is_up_to_date() -> None:
    page = ROOT / "docs" / "configuration.md"
    assert page.read_text(encoding="utf-8") == reference(), "run `make docs`"


def test_every_key_has_a_line_of_doc() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert len(rows) > 50
    assert all(line.rstrip(" |").rpartition("|")[2].strip() for line in rows)
