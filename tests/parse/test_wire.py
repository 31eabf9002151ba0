"""Frames and records survive the wire, however the bytes are cut."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from weft.parse.wire import Frames, JobWire, PageWire, ParseJob, frame
from weft.records import Announcement, Hint, Kind, Language, Link, Page, Position, Refusal, Via


@given(st.lists(st.binary(max_size=40)), st.lists(st.integers(1, 50), min_size=1))
def test_frames_come_out_as_they_went_in(payloads: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(frame, payloads))
    frames = Frames()
    found: list[bytes] = []
    turn = 0
    while stream:
        size = cuts[turn % len(cuts)]
        found += [bytes(payload) for payload in frames.feed(stream[:size])]
        stream = stream[size:]
        turn += 1
    assert found == payloads


def test_a_job_survives() -> None:
    announced = Announcement("<id>", "https://a.org/", Position("f", 1, 2), 12.5, 203, Kind.SITEMAP, 3, 2)
    job = ParseJob.of(announced, (("Content-Type", "text/html"), ("x", "\xff")), bytes(range(256)) * 1000)
    wire = JobWire()
    (payload,) = Frames().feed(b"".join(wire.pieces(job)))
    assert wire.job(payload) == job
    assert (job.status, job.kind, job.depth, job.inside, job.fetched) == (203, Kind.SITEMAP, 3, 2, 12.5)


def test_a_page_survives() -> None:
    links = tuple(
        Link(f"https://a.org/{via}", 4, via, "https://a.org/", Kind.SITEMAP, inside=300, hint=hint, key=b"k" * 18)
        for via, hint in zip(Via, [None, Hint(0.7, 5.0, None), *[None] * len(Via)], strict=False)
    )
    page = Page(
        id="<id>",
        url="https://a.org/",
        refusal=Refusal.CRASH,
        text="words \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        language=Language("eng", "Latn", 0.5),
        links=links,
        drops=(("nofollow", 2),),
        simhash=(1 << 64) - 1,
        cpu=0.25,
    )
    wire = PageWire()
    for sent in (page, msgspec.structs.replace(page, links=()), msgspec.structs.replace(page, links=links[:1])):
        assert wire.page(memoryview(wire.payload(sent))) == sent
