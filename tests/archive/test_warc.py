"""Our records as other programs read them: warcio and fastwarc, digests checked; nothing a server sends breaks one."""

import gzip
import io
from collections.abc import Iterator

import brotli  # type: ignore[import-untyped]
import msgspec
import pytest
from fastwarc.warc import ArchiveIterator
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator as WarcioIterator  # type: ignore[import-untyped]

from tests.archive.material import HEADERS, HTML, Disk, answer, answers, capture, exchange
from weft.archive import replay, warc
from weft.records import Capture, Exchange, Headers, Kind, Reason


def encoded(one: Capture) -> bytes:
    outcome, captures = answer(one)
    return warc.encode(outcome, captures, "<urn:uuid:info>").data


def by_fastwarc(data: bytes) -> dict[str, tuple[dict[str, str], bytes]]:
    found = {}
    for record in ArchiveIterator(io.BytesIO(data), parse_http=False):
        assert record.verify_block_digest() or "WARC-Block-Digest" not in record.headers
        fields = dict(record.headers.items())
        found[fields["WARC-Type"]] = fields, record.reader.read()
    return found


def http_of(data: bytes) -> tuple[str, list[tuple[str, str]], bytes]:
    """Status line, headers and body of the response, as warcio sees them."""
    for record in WarcioIterator(io.BytesIO(data)):
        if record.rec_type in ("response", "revisit"):
            head = record.http_headers
            return f"{head.protocol} {head.statusline}", head.headers, record.raw_stream.read()
    raise AssertionError("no response")


async def whole_file() -> bytes:
    disk = Disk()
    page = answer(capture(exchange(7)))
    robots = capture(exchange(8, b"User-agent: *\nDisallow:\n"), Kind.ROBOTS)
    packed = (*HEADERS, ("Content-Encoding", "gzip"))
    batch = [
        *answers(2),
        (page[0], (robots, page[1][0])),
        answer(capture(exchange(9, gzip.compress(HTML * 2000), packed))),
        answer(capture(exchange(10, b"", status=304)), Reason.UNCHANGED),
        answer(capture(exchange(11, b""))),
    ]
    await disk.archive().store(batch)
    ((_, data),) = (await disk.files()).items()
    return data


def faults(data: bytes) -> list[str]:
    """What warcio finds wrong with the digests."""
    found = []
    for record in WarcioIterator(io.BytesIO(data), check_digests=True):
        record.raw_stream.read()
        if record.digest_checker.passed is False:
            found += record.digest_checker.problems
    return found


async def test_other_programs_read_the_file_and_find_every_digest_right() -> None:
    data = await whole_file()
    assert faults(data) == []
    kinds = [record.headers["WARC-Type"] for record in ArchiveIterator(io.BytesIO(data), parse_http=False)]
    triple = ["request", "response", "metadata"]
    assert kinds == ["warcinfo", *triple * 5, "request", "revisit", "metadata", *triple]
    for record in ArchiveIterator(io.BytesIO(data), parse_http=True, strict_mode=True):
        if record.headers["WARC-Type"] == "response":
            assert record.verify_payload_digest()
    assert b"Injected" in gzip.decompress(data)
    assert b"\r\nInjected" not in gzip.decompress(data)


async def test_each_record_is_a_gzip_member_of_its_own() -> None:
    data = await whole_file()
    offsets = [record.stream_pos for record in ArchiveIterator(io.BytesIO(data), parse_http=False)]
    for start, end in zip(offsets, [*offsets[1:], len(data)], strict=True):
        assert gzip.decompress(data[start:end]).startswith(b"WARC/1.1\r\n")
        assert gzip.decompress(data[start:end]).endswith(b"\r\n\r\n")


def test_a_response_says_all_that_is_known() -> None:
    one = capture(msgspec.structs.replace(exchange(), truncated="length", version="2"), Kind.SITEMAP)
    records = by_fastwarc(encoded(one))
    fields, block = records["response"]
    assert fields["WARC-Record-ID"] == one.id
    assert fields["WARC-Date"] == "2023-11-14T22:13:20.250000Z"
    assert fields["WARC-Target-URI"] == one.exchange.url
    assert fields["WARC-IP-Address"] == "192.0.2.7"
    assert fields["WARC-Identified-Payload-Type"] == "text/html"
    assert fields["WARC-Truncated"] == "length"
    assert fields["WARC-Protocol"] == "h2"
    assert fields["WARC-Payload-Digest"] == f"sha1:{warc.sha1(HTML)}"
    assert block.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n")
    assert block.endswith(b"\r\n\r\n" + HTML)
    fields, block = records["request"]
    assert fields["WARC-Concurrent-To"] == one.id
    assert block.startswith(b"GET /page/0?q=\xe4 HTTP/1.1\r\nHost: site.example\r\nUser-Agent: weft/0.1")
    fields, block = records["metadata"]
    assert fields["WARC-Concurrent-To"] == one.id
    assert b"via: https://site.example/\r\n" in block
    assert b"outcome: stored\r\n" in block


def test_not_modified_is_a_revisit() -> None:
    fields, block = by_fastwarc(encoded(capture(exchange(body=b"", status=304))))["revisit"]
    assert fields["WARC-Profile"].endswith("/revisit/server-not-modified")
    assert block.startswith(b"HTTP/1.1 304 ")


LENGTHS: list[tuple[Headers, list[tuple[str, str]]]] = [
    ((("Transfer-Encoding", "chunked"),), [("X-Crawler-Transfer-Encoding", "chunked"), ("Content-Length", "3")]),
    ((("content-length", "3"),), [("content-length", "3")]),
    ((("Content-Length", "999"),), [("X-Crawler-Content-Length", "999"), ("Content-Length", "3")]),
    (
        (("Content-Length", "3"), ("Content-Length", "3")),
        [("Content-Length", "3"), ("X-Crawler-Content-Length", "3")],
    ),
    ((), [("Content-Length", "3")]),
]


@pytest.mark.parametrize(("sent", "kept"), LENGTHS)
def test_the_length_is_that_of_what_is_stored(sent: Headers, kept: list[tuple[str, str]]) -> None:
    _, headers, body = http_of(encoded(capture(exchange(body=b"abc", headers=sent))))
    assert headers == kept
    assert body == b"abc"


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_body_is_kept_as_it_was_sent(encoding: str) -> None:
    body = gzip.compress(HTML) if encoding == "gzip" else brotli.compress(HTML)
    one = capture(exchange(body=body, headers=(("Content-Encoding", encoding),)))
    data = encoded(one)
    assert by_fastwarc(data)["response"][0]["WARC-Identified-Payload-Type"] == "text/html"
    _, headers, stored = http_of(data)
    assert stored == body
    assert ("Content-Encoding", encoding) in headers


def hostile() -> Iterator[str]:
    yield "x\r\nWARC-Type: warcinfo\r\n\r\n"
    yield "a\nSet-Cookie: b=c"
    yield "a\rb\x00c\x0bd\x85e"
    yield "\r\n\r\n<html>"


@pytest.mark.parametrize("value", [*hostile()])
def test_no_field_can_end_a_record(value: str) -> None:
    headers = (("X-Odd", value), (f"X-{value}", "1"), ("", "nameless"), ("Last", "here"))
    odd = msgspec.structs.replace(exchange(headers=headers), reply=value, address=value, truncated=value, sent=headers)
    data = encoded(msgspec.structs.replace(capture(odd), id="<urn:uuid:a>"))
    records = by_fastwarc(data)
    assert set(records) == {"request", "response", "metadata"}
    _, found, body = http_of(data)
    assert body == HTML
    assert found[0][0] == "X-Odd"
    assert [name for name, _ in found][-2:] == ["Last", "Content-Length"]
    assert len(found) == 4


text = st.text(st.characters(max_codepoint=255), max_size=40)


@given(st.lists(st.tuples(text, text), max_size=5), st.binary(max_size=300), text, st.integers(100, 999))
def test_whatever_a_server_sends_comes_back(
    headers: list[tuple[str, str]], body: bytes, reply: str, status: int
) -> None:
    sent = Exchange("https://a.example/", 5.0, 6.0, status=status, reply=reply, headers=tuple(headers), body=body)
    entry = warc.encode(None, [Capture("<urn:uuid:b>", sent)], "<urn:uuid:info>")
    part = entry.parts[0]
    read = replay.decode(entry.data[part.start : part.start + part.length])
    assert read.exchange.body == body
    assert read.exchange.status == status
    expected = [(warc.clean(name).strip(" \t").replace(":", "_"), warc.clean(value)) for name, value in headers]
    kept = [(name, value.strip(" \t")) for name, value in expected if name]
    assert read.exchange.headers == (*kept, ("Content-Length", str(len(body))))
    assert read.exchange.reply == warc.clean(reply).strip(" \t")
