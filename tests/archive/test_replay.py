"""Whole files read back: ours, and those of others, where every record that gives nothing says why."""

import gzip
import io

import pytest
import zstandard

from tests.archive.material import HTML, Disk, answer, answers, capture, exchange
from weft.archive import replay
from weft.archive.replay import Skipped
from weft.errors import Corrupt
from weft.records import Kind, Reason

PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hi"


def record(uri: str = "http://a.example/", block: bytes = PAGE, **fields: str) -> bytes:
    """A record as another program might write it. Fields are given with underscores."""
    head = {
        "WARC_Type": "response",
        "WARC_Record_ID": "<urn:uuid:1>",
        "WARC_Date": "2024-01-02T03:04:05Z",
        "WARC_Target_URI": uri,
        "Content_Type": "application/http; msgtype=response",
        "Content_Length": str(len(block)),
    } | fields
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in head.items())
    return b"WARC/1.0\r\n" + lines.encode() + b"\r\n" + block + b"\r\n\r\n"


def read(data: bytes, largest: int = 1_000_000) -> list[str]:
    """The body of each capture, the reason of each record without one."""
    found = replay.records(io.BytesIO(data), "f", largest)
    return [one.reason if isinstance(one, Skipped) else one[0].exchange.body.decode() for one in found]


GOOD = record("http://b.example/", PAGE + b" there")


@pytest.mark.parametrize(
    "data",
    [
        record() + GOOD,
        gzip.compress(record()) + gzip.compress(GOOD),
        gzip.compress(record() + GOOD),
        zstandard.compress(record() + GOOD),
        (record() + GOOD).replace(b"\r\n", b"\n").replace(b"Length: 49", b"Length: 46").replace(b": 55", b": 52"),
    ],
    ids=["plain", "gzip", "one gzip member for all", "zstd", "bare LF"],
)
def test_every_common_form_is_read(data: bytes) -> None:
    assert read(data) == ["<p>hi", "<p>hi there"]


@pytest.mark.parametrize(
    ("odd", "outcome"),
    [
        (record("dns:a.example"), "not an http URL"),
        (record(WARC_Date="yesterday"), "no valid WARC-Date"),
        (record(block=b"garbage"), "not an HTTP answer"),
        (record(block=b""), "not an HTTP answer"),
        (record(block=PAGE * 1000), "49000 bytes are more than 10000"),
        (record(WARC_Type="revisit"), "a revisit: the body lies in another record"),
        (record(WARC_Type="resource", block=b"<p>as it is"), "<p>as it is"),
        (record("<http://a.example/>"), "<p>hi"),
        (record(block=b"HTTP/2 200\r\n\r\n<p>two"), "<p>two"),
        (
            record(block=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n2;x\r\nhi\r\n0\r\n\r\n"),
            "<p>hi",
        ),
        (record(block=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<p>undone"), "<p>undone"),
        (record(block=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n<p>cut"), "<p>cut"),
    ],
)
def test_odd_records_do_no_harm_to_the_next(odd: bytes, outcome: str) -> None:
    assert read(odd + GOOD, 10_000) == [outcome, "<p>hi there"]
    assert read(gzip.compress(odd) + gzip.compress(GOOD), 10_000) == [outcome, "<p>hi there"]


@pytest.mark.parametrize(
    "data", [b"<html>no WARC</html>" * 50, gzip.compress(b"<html>") * 9, b"\x00" * 5000, record(WARC_Type="warcinfo")]
)
def test_a_file_without_captures_says_so(data: bytes) -> None:
    assert read(data) == ["no captures in this file"]
    assert read(b"") == ["no captures in this file"]


def test_behind_damage_the_next_record_is_found() -> None:
    for damage in (b"garbage" * 9, b"\x1f\x8b\x08" * 50, gzip.compress(b"no record"), b"\0" * 3_000_000):
        first, *others = read(gzip.compress(record()) + damage + gzip.compress(GOOD))
        assert first == "<p>hi"
        assert others[-1] == "<p>hi there"
        assert all(other.startswith("the file is damaged") for other in others[:-1])


def test_a_flipped_bit_costs_one_record() -> None:
    members = [gzip.compress(record(f"http://a.example/{number}", PAGE + b"%d" % number)) for number in range(9)]
    hurt = bytearray(members[4])
    hurt[len(hurt) // 2] ^= 0xFF
    found = read(b"".join([*members[:4], bytes(hurt), *members[5:]]))
    bodies = [one for one in found if one.startswith("<p>")]
    assert bodies == [f"<p>hi{number}" for number in range(9) if number != 4]
    assert len(found) > len(bodies)


def test_what_is_cut_short_says_so() -> None:
    assert read((record() + GOOD)[:-20]) == ["<p>hi", "the record is cut short"]
    first, second = read((gzip.compress(record()) + gzip.compress(GOOD))[:-60])
    assert first == "<p>hi"
    assert not second.startswith("<p>")


async def test_our_own_file_gives_back_its_captures() -> None:
    disk = Disk()
    archive = disk.archive()
    batch = [*answers(40), answer(capture(exchange(50, status=404)), Reason.NOT_FOUND)]
    batch.append(answer(capture(exchange(51, b"", status=304)), Reason.UNCHANGED))
    batch.append(answer(capture(exchange(52), Kind.SITEMAP)))
    stored = await archive.store(batch)
    await archive.checkpoint(stored)
    await archive.close()
    ((name, _),) = await disk.blobs.list("raw/")
    found = [one async for some in replay.replay(disk.blobs, name, 1_000_000) for one in some]
    assert len(found) == 43
    captures = [one[0] for one in found if not isinstance(one, Skipped)]
    assert [one.id for one in captures] == [made.id for _, (made,) in batch if made.exchange.status != 304]
    assert captures[0].exchange.body == HTML
    assert captures[0].exchange.started == batch[0][1][0].exchange.started
    assert captures[-1].kind is Kind.SITEMAP
    offsets = [one[1].offset for one in found if not isinstance(one, Skipped)]
    assert offsets[:40] == [one.position.offset for one in stored.announcements[:40]]


async def test_a_position_that_holds_something_else_is_an_error() -> None:
    disk = Disk()
    archive = disk.archive()
    stored = await archive.store(answers(2))
    place = stored.announcements[0].position
    with pytest.raises(Corrupt):
        await archive.read([place._replace(offset=place.offset + 3)])
    with pytest.raises(Corrupt):
        await archive.read([place._replace(length=place.length - 3)])
    assert (await archive.read([place]))[0].id == stored.announcements[0].id
