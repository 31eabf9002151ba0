"""Pages made to hurt parsers: refused before a tree is built, or read within bounds."""

import random
import re
import subprocess
import sys

import pytest

from weft.parse.bare import bare, tags
from weft.parse.nesting import is_too_deep
from weft.parse.prescan import inspect
from weft.parse.reading import tree_of
from weft.records import Refusal

SECONDS = 2
MEMORY = 512 << 20
# Read by a process of its own under the limits of a parser; prints how it ended.
READ = f"""
import resource, sys
from tests.peak_memory import peak
from weft.errors import Refused
from weft.parse.text import extract
extract(b"<p>warm up</p>")
used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 1
resource.setrlimit(resource.RLIMIT_CPU, (used + {SECONDS}, used + {SECONDS}))
html = eval(sys.argv[1])
try:
    print("words", len(extract(html).text.split()))
except Refused as refused:
    print("refused", refused)
print(peak())
"""
BOMBS = {
    "divs": "b'<div>' * 200_000",
    "attributes": "b'<div ' + b' '.join(b'a%d=1' % i for i in range(100_000)) + b'>x'",
    "links": "b''.join(b'<a href=/%d>x</a> ' % i for i in range(300_000))",
    "tables": "b'<table><tr><td>' * 100_000",
    "entity": "b'<p>&' + b'a' * 5_000_000",
    "entities": "b'<p>' + b'&CounterClockwiseContourIntegral;' * 200_000",
    "formatting": "b'<b><p>' * 50_000",
    "stray ends": "b'<div></x>' * 100_000",
    "lists": "b'<ul><li>x' * 50_000",
    "paragraphs": "b'<p>x' * 300_000",
    "breaks": "b'x<br>' * 400_000",
    "cells": "b'<table>' + b'<tr><td>a<td>b' * 50_000",
    "brackets": "b'<' * 2_000_000",
    "comments": "b'<!--' * 500_000",
    "zeros": "bytes(4_000_000)",
    "one word": "b'<p>' + b'a' * 8_000_000",
    "brackets, large": "b'<' * (16 << 20)",
    "names of elements": "b''.join(b'<x%d>' % i for i in range(400_000))",
    "names in few tags": "(b'<p' + b' a%d=1' * 40 + b'>') * 5_000 % tuple(range(200_000))",
    "names again and again": "b''.join(b'<a%d></a%d>' % (i % 19_000, i % 19_000) for i in range(490_000))",
    "paragraphs, large": "b'<p>x' * (4 << 20)",
    "paragraphs, as many as may be": "b'<p>x' * 499_000",
    "attributes, large": "b'<p a b c d e f g h i j k>' * 600_000",
    "elements and attributes": "b'<p a b>x' * 499_000 + b' ' * 9_000_000",
    "comments left out": "b'<div>' * 25_000 + b'<!-->' * 3_000_000",
    "scripts left out": "b'<div>' * 25_000 + b'<script></script>' * 400_000",
    "bytes of no charset": "b'<meta charset=windows-1252>' + b'\\x81' * 5_000_000",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_stay_within_bounds(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", READ, BOMBS[name]], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    outcome, memory = done.stdout.splitlines()
    assert int(memory) <= MEMORY, outcome


def test_reasons_are_given() -> None:
    assert inspect(b"<div>" * 200_000) is Refusal.TOO_DEEP
    assert (
        inspect(b"<div " + b" ".join(b"a%d" % place for place in range(100_000)) + b">") is Refusal.TOO_MANY_ATTRIBUTES
    )
    assert inspect(b" " * (17 << 20)) is Refusal.TOO_LARGE
    assert inspect(b"<p>x" * 600_000) is Refusal.TOO_LARGE
    assert inspect(b"".join(b"<p data-%d></p>" % place for place in range(60_000))) is Refusal.TOO_MANY_NAMES
    assert inspect(b"".join(b"<x-%d></x-%d>" % (place, place) for place in range(60_000))) is Refusal.TOO_MANY_NAMES


def test_stray_end_tags_hide_no_depth() -> None:
    assert inspect(b"<div></x>" * 100_000) is Refusal.TOO_DEEP
    assert inspect(b"<divided></divider>" * 100_000) is Refusal.TOO_DEEP
    assert inspect(b"<path-of-mine></x>" * 100_000) is Refusal.TOO_DEEP


@pytest.mark.parametrize(
    "html",
    [
        b"<optgroup>x" * 50_000,
        b"<svg>" + b"<path>" * 30_000,
        b"<svg>" + b"<option>" * 30_000,
        b"<math>" + b"<td>" * 30_000,
        b"<path/>" * 30_000,
        b"<g><svg></g>" + b"<path/>" * 30_000 + b"</svg>",
        b"<svg><desc><p></svg></p></desc>" + b"<td>" * 30_000,
        b"<svg>" + b"<html>" * 30_000,
        b"<svg><svg>" + b"<svg><span><svg/></svg></svg>" * 30_000,
        b"<select></select><path/></select><select/>" * 30_000,
        b"<table>" + b"<table><optgroup><table></table><ul></table>" * 30_000,
        b"<li><dd>" * 30_000,
        b"<span>" * 9_000 + b"</x>" * 100_000,
    ],
)
def test_whatever_nests_is_counted(html: bytes) -> None:
    assert inspect(html) is Refusal.TOO_DEEP


@pytest.mark.parametrize(
    "unit",
    [
        b"<div><!--</div>-->",
        b"<div a='></div>'>",
        b"<div><p a=</div>",
        b"<div><script></div></script>",
        b"<div><textarea></div></textarea>",
        b"<div><!</div>",
        b"<div><select></div></select>",
        b"<div><table></div></table>",
        b"<span><p></span></p>",
        b"<div><<!---->/div>",
    ],
)
def test_end_tags_that_close_nothing_hide_no_depth(unit: bytes) -> None:
    assert inspect(unit * 30_000) is Refusal.TOO_DEEP


def test_formulas_and_icons_are_not_deep() -> None:
    formula = b"<math><mrow><mi>x</mi><mo>=</mo><mspace width='0.2em'/><mi>y</mi></mrow></math>"
    assert inspect((b"<p>words " + formula + b"</p>") * 12_000) is None
    assert inspect(b"<div class=card><svg><path d='M0 0'/><path d='M1 1'></svg>x</div>" * 15_000) is None
    assert inspect(b"<svg></svg>" + b"<li><input><wbr>x" * 30_000) is None
    assert inspect(b"<svg><style>a{}</style></svg>" + b"<div><script>i<n;i++</script></div>" * 30_000) is None


def test_ordinary_size_is_no_reason() -> None:
    rows = b"<tr><td>a</td><td>b</td></tr>" * 30_000
    assert inspect(b"<table>" + rows + b"</table>") is None
    assert inspect(b"<p>unclosed" * 50_000) is None
    assert inspect(b"<svg>" + b'<path d="M0 0"/>' * 50_000 + b"</svg>") is None


def test_blanks_in_values_are_no_attributes() -> None:
    line = b"<path d='M1.2 3.4 " + b"L5.6 7.8 " * 200 + b"'/>"
    assert inspect(b"<svg>" + line * 2_500 + b"</svg>") is None


@pytest.mark.parametrize("value", [b"'b c'", b'b="', b"b='x y' ", b"'/' ", b"=' '"])
def test_no_value_hides_attributes(value: bytes) -> None:
    tag = b"<p a=" + value + b" b c d e f g h i j k l m n o p q r s t>"
    assert inspect(tag * 100_000) is Refusal.TOO_MANY_ATTRIBUTES


def test_script_without_brackets_is_not_taken_for_attributes() -> None:
    script = b"for (i=0; i<a.length; i++) { x = 'y z' } " + b"var a = 'b c d e f'; " * 20_000
    assert inspect(b"<script>" + script + b"</script><p>text</p>") is None


PARAGRAPHS = b"<p>Some words of an ordinary page.</p>" * 200


@pytest.mark.parametrize(
    "hidden",
    [
        b"<script>var d=[" + rb'"<div>x<\/div>",' * 21_000 + b"]</script>",
        b"<script>" + b"for(i=0;i<n;i++){x<y}" * 11_000 + b"</script>",
        b"<!-- " + b"<div>" * 21_000 + b" -->",
        b"<textarea rows=3>" + b"<div>" * 21_000 + b"</textarea>",
        b"<STYLE>" + b"<div>" * 21_000 + b"</Style >",
        b"<svg viewBox='0 0 1 1'><title>x</title><path d='M0'/></svg><script>" + b"<div>" * 21_000 + b"</script>",
        b"<select><option>a</select><script>" + b"<div>" * 21_000 + b"</script>",
        b"<script>" + b"".join(b"'<x%d>'" % place for place in range(60_000)) + b"</script>",
        b"<!-- never closed " + b"<div>" * 21_000,
    ],
)
def test_what_is_no_markup_is_no_reason(hidden: bytes) -> None:
    assert inspect(PARAGRAPHS + hidden + PARAGRAPHS) is None


@pytest.mark.parametrize(
    "start",
    [
        b"<!-->",
        b"<!--->",
        b"<!-- x --!>",
        b"<p title='<!--'>",
        b"<p title='<script>'>",
        b"<p title=\"'\"><p title='<script>\">'>",
        b"<script><!--<script></script> <!-- </script>",
        b"<svg><style>",
        b"<svg><title></svg></title><style>",
        b"<svg><path d='</svg><style>'><style>",
        b"<select><style></select>",
        b"<template><col><style></template>",
        b"<title><!--</title>",
        b"<script/></script>",
        b"<!doctype '>'<!-->",
        b"</ <!-->",
        b"<scripts>",
    ],
)
def test_what_a_parser_makes_elements_of_cannot_be_hidden(start: bytes) -> None:
    assert inspect(start + b"<div>" * 21_000 + b"--></script></style>") is Refusal.TOO_DEEP


def test_whatever_stands_around_an_element_it_is_seen() -> None:
    """Pieces that begin and end all there is to begin and end, in any order; elements that can be told apart."""
    pieces = [
        *(b"<%s>", b"</%s>", b"<%s/>", b"<%s a='", b'<%s a=">"', b"<%s a"),
        *(b"<!--", b"-->", b"--!>", b"<!-->", b"--", b"<!x", b"<?", b"</", b"<", b">", b"'", b'"', b"=", b" x ", b"/"),
    ]
    names = b"script style textarea title svg select option math template path desc p table col iframe xmp noscript div"
    for seed in range(3000):
        chance = random.Random(seed)
        html = b""
        for place in range(chance.randint(2, 25)):
            piece = chance.choice(pieces)
            html += piece % chance.choice(names.split()) if b"%" in piece else piece
            html += b"<m%d>" % place if chance.random() < 0.5 else b""
        made = {node.tag or "" for node in tree_of(html).css("*") if re.fullmatch(r"m\d+", node.tag or "")}
        seen = {match.decode() for match in re.findall(rb"<(m\d+)", bare(html))}
        assert made <= seen, html


def test_pieces_make_no_difference_to_depths() -> None:
    end = b"</section>" * 900
    for before in range(0, 1 << 20, 99_991):
        text = b"x" * before
        assert is_too_deep(tags(text + b"<section>" * 10_001 + end))
        assert not is_too_deep(tags(text + (b"<section>" * 900 + end + b"<p></section>") * 20))
