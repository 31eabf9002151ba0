"""Content encodings: what is packed comes out, what is broken has a name, what is a bomb does not go off."""

import gzip
import subprocess
import sys
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import Refused
from weft.parse.decode import decode
from weft.records import Refusal

LIMIT = 1_000_000


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def _zstd_stream(body: bytes) -> bytes:
    """Without the size in its header, as servers send it."""
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(body) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZIP", gzip.compress),
    "deflate with zlib's wrapping": ("deflate", zlib.compress),
    "deflate without": ("deflate", _raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "zstd as a stream": ("zstd", _zstd_stream),
    "two": ("gzip, br", lambda body: brotli.compress(gzip.compress(body))),
    "identity": ("identity", bytes),
    "none": ("", bytes),
    "a word that means nothing": ("utf-8", bytes),
}
PACKED = [name for name, (encoding, _) in PACKERS.items() if encoding not in ("identity", "", "utf-8")]


@pytest.mark.parametrize("name", PACKERS)
@given(body=st.binary(max_size=2000))
@settings(max_examples=30)
def test_round_trip(name: str, body: bytes) -> None:
    encoding, pack = PACKERS[name]
    assert decode(pack(body), encoding, LIMIT) == body
    assert decode(pack(body * 100), encoding, LIMIT) == body * 100


@pytest.mark.parametrize("name", PACKED)
def test_cut_at_every_byte(name: str) -> None:
    encoding, pack = PACKERS[name]
    packed = pack(b"hello hello hello world")
    for end in range(1, len(packed)):
        with pytest.raises(Refused, match=Refusal.BAD_ENCODING.value):
            decode(packed[:end], encoding, LIMIT)
    assert decode(b"", encoding, LIMIT) == b""  # a body that is not there is not cut


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
@given(body=st.binary(min_size=1, max_size=300))
@settings(max_examples=100)
def test_corrupt_data_has_a_name(encoding: str, body: bytes) -> None:
    reason = ""
    try:
        decode(body, encoding, 10_000)
    except Refused as refusal:
        reason = str(refusal)
    assert reason in ("", Refusal.BAD_ENCODING.value, Refusal.BOMB.value)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
def test_plain_text_declared_as_packed(encoding: str) -> None:
    with pytest.raises(Refused, match=Refusal.BAD_ENCODING.value):
        decode(b"<!doctype html><p>hello</p>", encoding, LIMIT)


@pytest.mark.parametrize("name", PACKERS)
def test_the_limit_is_exact(name: str) -> None:
    encoding, pack = PACKERS[name]
    body = b"0123456789" * 1000
    assert decode(pack(body), encoding, len(body)) == body
    with pytest.raises(Refused, match=Refusal.BOMB.value):
        decode(pack(body), encoding, len(body) - 1)


def test_several_members_and_padding() -> None:
    assert decode(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", LIMIT) == b"one two"
    assert decode(zstandard.compress(b"one ") + _zstd_stream(b"two"), "zstd", LIMIT) == b"one two"
    assert decode(gzip.compress(b"one") + b"\0\0\0", "gzip", LIMIT) == b"one"
    with pytest.raises(Refused, match=Refusal.BOMB.value):
        decode(gzip.compress(b"a" * 600_000) * 2, "gzip", LIMIT)
    for encoding, member in (("gzip", gzip.compress(b"")), ("zstd", zstandard.compress(b""))):
        with pytest.raises(Refused, match=Refusal.BAD_ENCODING.value):
            decode(member * 100_000, encoding, LIMIT)


def test_more_than_two_encodings_and_unreadable_ones() -> None:
    packed = gzip.compress(gzip.compress(gzip.compress(b"x")))
    for encoding in ("gzip, gzip, gzip", "compress", "br, exi"):
        with pytest.raises(Refused, match=Refusal.BAD_ENCODING.value):
            decode(packed, encoding, LIMIT)


def test_a_window_that_no_page_needs() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(Refused, match=Refusal.BAD_ENCODING.value):
        decode(packer.compress(b"x" * 1000) + packer.flush(), "zstd", LIMIT)


# What a process that unpacks a bomb of 512 MB needs at most, beside what it needs anyway.
MEASURE = """
import sys
from tests.peak_memory import peak
from weft.errors import Refused
from weft.parse.decode import decode
encoding, limit, size = sys.argv[1], 20 << 20, 512
zeros = bytes(1 << 20)
if encoding == "gzip":
    import zlib; packer = zlib.compressobj(1, wbits=31)
elif encoding == "br":
    import brotli
    class Packer:
        def __init__(self): self.inner = brotli.Compressor(quality=1)
        def compress(self, data): return self.inner.process(data)
        def flush(self): return self.inner.finish()
    packer = Packer()
else:
    import zstandard; packer = zstandard.ZstdCompressor(level=1).compressobj()
bomb = b"".join(packer.compress(zeros) for _ in range(size)) + packer.flush()
before = peak()
try:
    decode(bomb, encoding, limit)
    print("went off")
except Refused as refusal:
    after = peak()
    print(str(refusal), after - before <= limit + (32 << 20))
"""


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
def test_a_bomb_takes_no_more_than_the_limit_and_32_mb(encoding: str) -> None:
    run = subprocess.run([sys.executable, "-c", MEASURE, encoding], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [Refusal.BOMB.value, "True"]
