"""Pages made to hurt parsers: refused before a tree is built, or read within bounds."""

import subprocess
import sys

import pytest

from weft.parse.prescan import inspect
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


def test_stray_end_tags_hide_no_depth() -> None:
    assert inspect(b"<div></x>" * 100_000) is Refusal.TOO_DEEP


def test_ordinary_size_is_no_reason() -> None:
    rows = b"<tr><td>a</td><td>b</td></tr>" * 30_000
    assert inspect(b"<table>" + rows + b"</table>") is None
    assert inspect(b"<p>unclosed" * 50_000) is None
    assert inspect(b"<svg>" + b'<path d="M0 0"/>' * 50_000 + b"</svg>") is None


def test_script_without_brackets_is_not_taken_for_attributes() -> None:
    script = b"for (i=0; i<a.length; i++) { x = 'y z' } " + b"var a = 'b c d e f'; " * 20_000
    assert inspect(b"<script>" + script + b"</script><p>text</p>") is None
