"""Floors of the text extractor on pages of our own. They only go up."""

from pathlib import Path

import pytest

from bench.text_score import score
from weft.parse.text import extract

PAGES = Path(__file__).parent / "pages"
NAMES = sorted(path.stem for path in PAGES.glob("*.html") if path.stem != "shell")
FLOOR_MEAN = 0.98
FLOOR_PAGE = 0.90


def f1(name: str) -> float:
    found = extract((PAGES / f"{name}.html").read_bytes(), f"https://example.org/{name}")
    return score(found.text, (PAGES / f"{name}.txt").read_text(encoding="utf-8")).f1


def test_mean_f1_stays_above_its_floor() -> None:
    scores = [f1(name) for name in NAMES]
    assert sum(scores) / len(scores) >= FLOOR_MEAN


@pytest.mark.parametrize("name", NAMES)
def test_each_page_stays_above_its_floor(name: str) -> None:
    assert f1(name) >= FLOOR_PAGE
