"""What a reader takes for one thing is kept as one, whatever the model thinks of its parts."""

import numpy as np
import pytest

from weft.parse.features import features
from weft.parse.reading import read
from weft.parse.together import keep_together

PROSE = "The harbour authority voted on Tuesday to rebuild the old pier, ending years of argument. " * 2
TABLE = "<table><thead><tr><th>Name<th>People</thead><tr><td>Town 0<td>0<tr><td>Town 1<td>1</table>"


def settled(html: str, chances: dict[str, float]) -> list[str]:
    """What is kept of a page: blocks begin with these words and have these chances; from a half on they are kept."""
    walk = read(html.encode()).walk
    names = [next(name for name in chances if text.startswith(name)) for text in walk.texts]
    assert names == list(chances)
    chance = np.array(list(chances.values()), np.float32)
    kept = chance >= 0.5
    keep_together(walk, features(walk), chance, kept)
    return [name for name, is_kept in zip(names, kept, strict=True) if is_kept]


@pytest.mark.parametrize(("first", "whole"), [(0.6, True), (0.05, False)])
def test_tables_are_kept_whole_or_left_whole(first: float, whole: bool) -> None:
    chances = {"Before": 0.9, "Name | People": first, "Town 0 | 0": 0.05, "Town 1 | 1": 0.6, "After": 0.1}
    kept = settled(f"<p>Before</p>{TABLE}<p>After, in more words than before</p>", chances)
    assert kept == ["Before", *(["Name | People", "Town 0 | 0", "Town 1 | 1"] if whole else [])]


def test_loose_cells_go_with_their_table() -> None:
    rows = "<tr><td>a<td>1<tr><td>b<td><ul><li>x<li>y</ul><tr><td>c<td>3"
    chances = {"Before": 0.9, "a | 1": 0.6, "b": 0.05, "x": 0.05, "y": 0.6, "c | 3": 0.6, "After": 0.1}
    assert settled(f"<p>Before</p><table>{rows}</table><p>After, in more words</p>", chances) == list(chances)[:-1]


@pytest.mark.parametrize(("second", "whole"), [(0.6, True), (0.05, False)])
def test_lists_are_kept_whole_or_left_whole(second: float, whole: bool) -> None:
    items = "<li>one<li><a href=x>two</a><li>three<ul><li><a href=y>below</a></ul><li><b>four</b>"
    chances = {"Before": 0.9, "one": 0.6, "two": second, "three": 0.01, "below": 0.1, "four": 0.01, "other": 0.01}
    kept = settled(f"<p>Before</p><ul>{items}</ul><ol><li>other</ol>", chances)
    assert kept == ["Before", *(["one", "two", "three", "four"] if whole else [])]


@pytest.mark.parametrize(
    ("part", "chances"),
    [
        ("<ul><li>one<li>two</ul>", {"one": 0.2, "two": 0.1}),
        (TABLE, {"Name | People": 0.1, "Town 0 | 0": 0.2, "Town 1 | 1": 0.3}),
        ("<pre>def f():\n    pass</pre>", {"def f()": 0.2}),
        ("<blockquote>Quoted</blockquote>", {"Quoted": 0.2}),
    ],
)
def test_lists_tables_and_code_stay_in_the_company_of_text(part: str, chances: dict[str, float]) -> None:
    beside, apart = f"<div>{PROSE}{part}</div>", f"<div>{PROSE}</div><div>{part}<p>Not text, in more words</p></div>"
    inside = {"The harbour": 0.9, **chances}
    assert settled(beside, inside) == list(inside)
    assert settled(apart, {**inside, "Not text": 0.1}) == ["The harbour"]
    assert settled(beside, {**dict.fromkeys(inside, 0.05), "The harbour": 0.9}) == ["The harbour"]
    assert settled(f"<form>{beside}</form>", inside) == ["The harbour"]


def test_lists_of_links_have_to_be_text_themselves() -> None:
    page = f"<div>{PROSE}<ul><li><a href=x>one</a><li><a href=y>two</a></ul></div>"
    assert settled(page, {"The harbour": 0.9, "one": 0.3, "two": 0.3}) == ["The harbour"]


def test_headings_stay_with_what_they_head() -> None:
    page = f"<h1>Title</h1><h2>Part</h2><h3>Piece</h3><p>{PROSE}</p><h2>Elsewhere</h2><p>more</p><h2>End</h2>"
    chances = {"Title": 0.2, "Part": 0.2, "Piece": 0.2, "The": 0.9, "Elsewhere": 0.2, "more": 0.1, "End": 0.2}
    assert settled(page, chances) == ["Part", "Piece", "The"]
    assert settled(page, chances | {"Piece": 0.05}) == ["The"]
    assert settled(f"<div><h2>Part</h2></div><p>{PROSE}</p>", {"Part": 0.2, "The": 0.9}) == ["The"]
    assert settled(f"<h2>Part</h2><div><div><p>{PROSE}</p></div></div>", {"Part": 0.2, "The": 0.9}) == ["Part", "The"]


def test_questions_stay_with_their_answers() -> None:
    button = "<button aria-expanded=false>Why is that?</button>"
    other = button.replace("that", "more")
    page = f"<h2>FAQ</h2><div>{button}<div><p>{PROSE}</p></div></div><div>{other}<div><p>more</p></div></div>"
    chances = {"FAQ": 0.2, "Why is that": 0.01, "The": 0.9, "Why is more": 0.2, "more": 0.1}
    assert settled(page, chances) == ["FAQ", "Why is that", "The"]
    assert settled(f"<div role=button>Share</div><p>{PROSE}</p>", {"Share": 0.3, "The": 0.9}) == ["The"]
