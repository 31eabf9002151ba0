"""Pages made to hurt a parser: name → body and the headers it comes with. Used by test_bombs."""

import gzip
import zlib
from collections.abc import Iterator

from weft.records import Headers

HTML: Headers = (("Content-Type", "text/html"),)
GZIP: Headers = (*HTML, ("Content-Encoding", "gzip"))


def bombs() -> Iterator[tuple[str, bytes, Headers]]:
    """Each about as large as the fetcher lets through, or as small as it takes."""
    yield "divs", b"<div>" * 200_000, HTML
    yield "spans", b"<span>" * 200_000, HTML
    yield "formatting", b"<b><i><u>" * 100_000, HTML
    yield "misnested", b"<b><p><i></b>" * 30_000, HTML
    yield "anchors-in-tables", b"<table><a>" * 30_000, HTML
    yield "tables", b"<table><tr><td>" * 50_000, HTML
    yield "lists", b"<ul><li>" * 100_000, HTML
    yield "attributes", b"<p " + b"".join(b"a%d=1 " % number for number in range(100_000)) + b">x", HTML
    yield "one-attribute", b"<p a='" + b"x" * 5_000_000 + b"'>x", HTML
    yield "links", b"".join(b"<a href=/%d>x</a>" % number for number in range(300_000)), HTML
    yield "bad-links", b"".join(b"<a href='http://[%d'>x</a>" % number for number in range(300_000)), HTML
    yield "entities", b"&amp;&#x41;&CounterClockwiseContourIntegral;&" * 200_000, HTML
    yield "comments", b"<!--" * 500_000, HTML
    yield "end-tags", b"</p>" * 500_000, HTML
    yield "options", b"<select>" + b"<option>" * 300_000, HTML
    yield "template", b"<template>" * 50_000, HTML
    yield "svg", b"<svg>" * 50_000 + b"<desc>" * 50_000, HTML
    yield "words", b"<p>" + b"word " * 1_000_000, HTML
    yield "paragraphs", b"<p>some words here" * 100_000, HTML
    yield "one-word", b"<p>" + b"x" * 5_000_000, HTML
    yield "title", b"<title>" + b"t " * 3_000_000, HTML
    yield "metas", b"<meta name=robots content=index>" * 100_000, HTML
    yield "json-ld", b"<script type=application/ld+json>" + b"[" * 1_000_000 + b"</script>", HTML
    yield "classes", b"".join(b"<div class='nav-%d content'>x</div>" % number for number in range(30_000)), HTML
    yield "headers", b"<div>" * 200 + b"<header>x</header>" * 100_000, HTML
    yield "bare-headers", b"<header>x</header>" * 480_000, HTML
    yield "menus", b"<nav><b>x</b></nav>" * 240_000, HTML
    yield "formulas", b"<p>" + b"<math><mi>x</mi></math>" * 240_000, HTML
    yield "cells", b"<table><tr>" + b"<td colspan=30>a" * 490_000, HTML
    yield "nested-headers", (b"<header>" + b"<div>" * 3) * 60 + b"<b>x</b>" * 100_000 + b"<h1>title</h1>", HTML
    yield "hidden-in-hidden", b"<p>" + b"<span hidden>" * 9_000 + b"word " * 1_000_000, HTML
    yield "properties", b"<div itemprop=name>" * 9_000 + b"word " * 1_000_000, HTML
    yield "noscripts", b"<p>x " + b"<span>x <noscript>" * 4_500 + b"word " * 1_000_000, HTML
    yield "no-formulas", b"<span class=katex>" * 900 + b"<i>x</i>" * 400_000, HTML
    yield "element-names", b"".join(b"<x%d>" % number for number in range(400_000)), HTML
    yield "attribute-names", b"".join(b"<p x%d>" % number for number in range(200_000)), HTML
    yield "many-elements", b"<p>x" * 2_000_000, HTML
    yield "brackets", b"<" * 8_000_000, HTML
    yield "no-charset", b"\x81" * 5_000_000, (("Content-Type", "text/html; charset=windows-1252"),)
    yield "gzip", gzip.compress(bytes(1 << 27)), GZIP
    yield "gzip-of-html", gzip.compress(b"<div>" * (1 << 23)), GZIP
    yield "gzip-members", gzip.compress(b"<p>word</p>") * 100_000, GZIP
    yield "deflate", zlib.compress(bytes(1 << 26)), (*HTML, ("Content-Encoding", "deflate"))
    yield "not-gzip", b"<p>words", GZIP
    yield "cut-gzip", gzip.compress(b"<p>words" * 1000)[:-20], GZIP
    yield "layers", b"<p>words", (*HTML, ("Content-Encoding", ", ".join(["gzip"] * 1000)))
    yield "unknown-coding", b"<p>words", (*HTML, ("Content-Encoding", "pack200"))
