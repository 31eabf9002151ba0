"""Rows that are no single block are rows all the same, where the table is one of data."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from weft.parse.render import render
from weft.parse.walk import walk

LONG = "Only for those who come by the early boat. " * 6


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            "<tr><th>30 min<th>60 min<tr><td>$14<p>($8 a lesson)</p><td>$18<tr><td>$5<td>$6",
            "30 min | 60 min\n$14 ($8 a lesson) | $18\n$5 | $6",
        ),
        ("<tr><td>Weight<td>1<tr><td>Color<td><tr><td>Size<td>2", "Weight | 1\nColor\nSize | 2"),
        (f"<tr><td>a<td>1<tr><td>b<td>{LONG}<tr><td>c<td>3", f"a | 1\nb | {LONG.strip()}\nc | 3"),
        ("<tr><td>a<td>1<tr><td>b<td><ul><li>x<li>y | z</ul><tr><td>c<td>3", "a | 1\nb | x y|z\nc | 3"),
        ("<tr><td colspan=2>Prices<tr><td>a<td>1<tr><td>b<td>2", "Prices\n\na | 1\nb | 2"),
        (
            "<tr><td>Home<td>News<tr><td><p>One.</p><p>Two.</p><td>Three",
            "Home | News\n\nOne.\n\nTwo.\n\nThree",
        ),
        (
            f"<tr><td>a<td>1<tr><td>b<td>2<tr><td>{LONG * 4}<td>c",
            f"a | 1\nb | 2\n\n{(LONG * 4).strip()}\n\nc",
        ),
        (
            "<tr><td>a<td>1<tr><td>b<td>2<tr><td><p>c</p>d<table><tr><td>x<td>y</table><td>e",
            "a | 1\nb | 2\n\nc\n\nd\n\nx | y\n\ne",
        ),
    ],
)
def test_rows(rows: str, text: str) -> None:
    found = walk(LexborHTMLParser(f"<table>{rows}</table>"))
    assert render(found, range(len(found.texts))) == text


def test_a_markdown_table_is_not_broken_by_a_row_of_paragraphs() -> None:
    found = walk(LexborHTMLParser("<table><tr><td>a<td>1<tr><td>b<p>c<td>2<tr><td>d<td>3</table>"))
    lines = render(found, range(len(found.texts)), markdown=True).split("\n")
    assert lines == ["| a | 1 |", "| --- | --- |", "| b c | 2 |", "| d | 3 |"]
