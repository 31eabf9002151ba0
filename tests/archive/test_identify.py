"""Payload types by their first bytes, whatever they are wrapped in."""

import gzip
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from weft.archive.identify import identify


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!DOCTYPE html><html>", "text/html"),
        (b"\xef\xbb\xbf\r\n <!-- hello --><html>", "text/html"),
        ("<html><head>".encode("utf-16"), "text/html"),
        (b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="x">', "application/xhtml+xml"),
        (b'<?xml version="1.0"?><urlset xmlns="s">', "application/xml"),
        (b"<?xml version='1.0'?><rss version='2.0'>", "application/rss+xml"),
        (b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>", "application/atom+xml"),
        (b"%PDF-1.7\n", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\x00", "image/png"),
        (gzip.compress(b"<urlset>", mtime=0), "application/gzip"),
        (b"User-agent: *\nDisallow: /\n", "text/plain"),
        (b'{"a": 1}', "application/json"),
        (b"MZ\x90\x00\x03", "application/octet-stream"),
        (b"", "application/x-empty"),
    ],
)
def test_what_the_bytes_are(body: bytes, kind: str) -> None:
    assert identify(body, "") == kind


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-15)


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("Deflate", raw_deflate),
        ("br", brotli.compress),
        ("zstd", zstandard.compress),
        ("identity", bytes),
        ("gzip, br", lambda data: brotli.compress(gzip.compress(data, mtime=0))),
    ],
)
def test_content_encodings_are_seen_through_and_bombs_cost_nothing(
    encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    assert identify(pack(b"<!doctype html><p>" + b"wool " * 5000), encoding) == "text/html"
    assert identify(pack(b"\x00" * 20_000_000), encoding) == "application/octet-stream"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "compress", "gzip, gzip"])
def test_what_cannot_be_seen_through_is_left_open(encoding: str) -> None:
    assert identify(b"<!doctype html><p>not what the header says", encoding) == ""


@given(st.binary(max_size=200), st.sampled_from(["", "gzip", "deflate", "br", "zstd"]))
def test_no_bytes_are_too_odd(body: bytes, encoding: str) -> None:
    assert isinstance(identify(body, encoding), str)
