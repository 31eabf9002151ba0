"""Pages made to hurt a parser: name → body and the headers it comes with. Used by test_bombs."""

import gzip
import zlib
from collections.abc import Iterator

from weft.records import Headers

HTML: Headers = (("Content-Type", "text/html"),)
GZIP: Headers = (*HTML, ("Content-Encoding", "gzip"))


def bombs() -> Iterator[tuple[str, bytes, Headers]]:
    """Each about as large as the fetcher lets through, or as small as it takes."""
    yield from ((name, body, HTML) for name, body in nests())
    yield from ((name, body, HTML) for name, body in crowds())
    yield from codings()


def nests() -> Iterator[tuple[str, bytes]]:
    """Elements in elements."""
    yield "divs", b"<div>" * 200_000
    yield "spans", b"<span>" * 200_000
    yield "formatting", b"<b><i><u>" * 100_000
    yield "reopened", b"".join(b"<div><font a=%d></div>" % number for number in range(3_000))
    yield "misnested", b"<b><p><i></b>" * 30_000
    yield "anchors-in-tables", b"<table><a>" * 30_000
    yield "tables", b"<table><tr><td>" * 50_000
    yield "lists", b"<ul><li>" * 100_000
    yield "options", b"<select>" + b"<option>" * 300_000
    yield "template", b"<template>" * 50_000
    yield "svg", b"<svg>" * 50_000 + b"<desc>" * 50_000
    yield "headers", b"<div>" * 200 + b"<header>x</header>" * 100_000
    yield "nested-headers", (b"<header>" + b"<div>" * 3) * 60 + b"<b>x</b>" * 100_000 + b"<h1>title</h1>"
    yield "hidden-in-hidden", b"<p>" + b"<span hidden>" * 9_000 + b"word " * 1_000_000
    yield "properties", b"<div itemprop=name>" * 9_000 + b"word " * 1_000_000
    yield "noscripts", b"<p>x " + b"<span>x <noscript>" * 4_500 + b"word " * 1_000_000
    yield "no-formulas", b"<span class=katex>" * 900 + b"<i>x</i>" * 400_000


def crowds() -> Iterator[tuple[str, bytes]]:
    """Many of a kind, or much of one."""
    yield (
        "html-tags",
        b"<html " + b" ".join(b"a%d" % number for number in range(19_000)) + b">" + b"<html b>" * 240_000,
    )
    yield "attributes", b"<p " + b"".join(b"a%d=1 " % number for number in range(100_000)) + b">x"
    yield "one-attribute", b"<p a='" + b"x" * 5_000_000 + b"'>x"
    yield "links", b"".join(b"<a href=/%d>x</a>" % number for number in range(300_000))
    yield "bad-links", b"".join(b"<a href='http://[%d'>x</a>" % number for number in range(300_000))
    yield "entities", b"&amp;&#x41;&CounterClockwiseContourIntegral;&" * 200_000
    yield "comments", b"<!--" * 500_000
    yield "end-tags", b"</p>" * 500_000
    yield "words", b"<p>" + b"word " * 1_000_000
    yield "paragraphs", b"<p>some words here" * 100_000
    yield "one-word", b"<p>" + b"x" * 5_000_000
    yield "title", b"<title>" + b"t " * 3_000_000
    yield "metas", b"<meta name=robots content=index>" * 100_000
    yield "json-ld", b"<script type=application/ld+json>" + b"[" * 1_000_000 + b"</script>"
    yield "classes", b"".join(b"<div class='nav-%d content'>x</div>" % number for number in range(30_000))
    yield "bare-headers", b"<header>x</header>" * 480_000
    yield "menus", b"<nav><b>x</b></nav>" * 240_000
    yield "formulas", b"<p>" + b"<math><mi>x</mi></math>" * 240_000
    yield "cells", b"<table><tr>" + b"<td colspan=30>a" * 490_000
    yield "element-names", b"".join(b"<x%d>" % number for number in range(400_000))
    yield "attribute-names", b"".join(b"<p x%d>" % number for number in range(200_000))
    yield "many-elements", b"<p>x" * 2_000_000
    yield "brackets", b"<" * 8_000_000


def codings() -> Iterator[tuple[str, bytes, Headers]]:
    """What is not what it says."""
    yield "no-charset", b"\x81" * 5_000_000, (("Content-Type", "text/html; charset=windows-1252"),)
    yield "gzip", gzip.compress(bytes(1 << 27)), GZIP
    yield "gzip-of-html", gzip.compress(b"<div>" * (1 << 23)), GZIP
    yield "gzip-members", gzip.compress(b"<p>word</p>") * 100_000, GZIP
    yield "deflate", zlib.compress(bytes(1 << 26)), (*HTML, ("Content-Encoding", "deflate"))
    yield "not-gzip", b"<p>words", GZIP
    yield "cut-gzip", gzip.compress(b"<p>words" * 1000)[:-20], GZIP
    yield "layers", b"<p>words", (*HTML, ("Content-Encoding", ", ".join(["gzip"] * 1000)))
    yield "unknown-coding", b"<p>words", (*HTML, ("Content-Encoding", "pack200"))
