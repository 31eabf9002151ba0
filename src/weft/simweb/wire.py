"""What no honest server sends: resets, silence, drips, floods, lengths that lie, chunks that are none."""

from collections.abc import Callable, Iterator

import msgspec

from .answer import Answer, Fate, Handler, Hang, Plant, Repeat, Reply, Reset, Script, Send, Step, Visit
from .page import render
from .prepare import head_bytes, prepare
from .site import Site

CLOSE = b"Connection: close\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked"
HTML_LINE = "Content-Type: text/html; charset=utf-8"
SMALL = b"<!DOCTYPE html><html><body><p>A small answer.</p></body></html>"


class Fault(msgspec.Struct, frozen=True):
    """A way to spoil an answer: from the head and body of an honest one to steps on the wire."""

    name: str
    fate: Fate
    spoil: Callable[[bytes, bytes], tuple[Step, ...]]


def wire(site: Site) -> Iterator[Plant]:
    for kind, faults in FAULTS.items():
        if site.world.carries(site.host.index, kind):
            for turn, fault in enumerate(faults):
                yield _spoiled(site, kind, turn, fault)
    if site.world.carries(site.host.index, "drips"):
        yield Plant("/odd/drips/1", Fate.DEAD, _drip(site), "drips")
    if site.world.carries(site.host.index, "resets"):
        yield Plant("/odd/reset/", Fate.DEAD, reset_after, "resets", linked=False, prefix=True)


def _spoiled(site: Site, kind: str, turn: int, fault: Fault) -> Plant:
    """A page with a text of its own, spoiled on its way out."""
    path, number = f"/odd/{kind}/{fault.name}", site.world.extra(kind, turn)

    def answer(visit: Visit) -> Reply:
        article = site.world.article(site.host.index, number)
        honest = prepare(Answer(200, render(site.extra(article, visit.numeric, path))))
        return Script(200, fault.spoil(honest.head, honest.body))

    return Plant(path, fault.fate, answer, kind, text=(site.host.index, number))


def reset_after(visit: Visit) -> Reply:
    """/odd/reset/N: an answer of about 200 bytes of which N arrive."""
    count = visit.target.rpartition("/")[2]
    honest = prepare(Answer(200, SMALL))
    whole = honest.head + CLOSE + honest.body
    return Script(200, (Send(whole[: int(count)]), Reset())) if count.isdigit() else Answer(404)


def _drip(site: Site) -> Handler:
    head = head_bytes(200, [HTML_LINE, "Content-Length: 100000"]) + CLOSE
    return lambda _: Script(200, (Send(head), Repeat(b"x", site.world.config.drip, 100_000)))


def _without_length(head: bytes) -> bytes:
    return b"".join(line for line in head.splitlines(keepends=True) if not line.startswith(b"Content-Length"))


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _never(*_: bytes) -> tuple[Step, ...]:
    return (Hang(),)


def _stalls(head: bytes, body: bytes) -> tuple[Step, ...]:
    return Send(head + CLOSE + body[: len(body) // 2]), Hang()


def _endless_body(head: bytes, _: bytes) -> tuple[Step, ...]:
    start = _without_length(head) + f"{CHUNKED}\r\n".encode() + CLOSE + _chunk(b"<!DOCTYPE html><html><body>")
    return Send(start), Repeat(_chunk(b"<p>And so it went on and on.</p>\n" * 500))


def _endless_headers(*_: bytes) -> tuple[Step, ...]:
    return Send(b"HTTP/1.1 200 OK\r\n"), Repeat(b"X-More: and more and more and more\r\n" * 100)


def _huge_header(head: bytes, body: bytes) -> tuple[Step, ...]:
    return (Send(head + b"X-Huge: " + b"h" * 300_000 + b"\r\n" + CLOSE + body),)


def _reset_at_once(*_: bytes) -> tuple[Step, ...]:
    return (Reset(),)


def _reset_in_head(head: bytes, _: bytes) -> tuple[Step, ...]:
    return Send(head[:40]), Reset()


def _reset_in_body(head: bytes, body: bytes) -> tuple[Step, ...]:
    return Send(head + CLOSE + body[: len(body) // 4]), Reset()


def _truncated(head: bytes, body: bytes) -> tuple[Step, ...]:
    return (Send(head + CLOSE + body[: len(body) * 3 // 4]),)


def _double_length(head: bytes, body: bytes) -> tuple[Step, ...]:
    return (Send(head + f"Content-Length: {len(body) // 2}\r\n".encode() + CLOSE + body),)


def _bad_chunks(head: bytes, body: bytes) -> tuple[Step, ...]:
    start = _without_length(head) + f"{CHUNKED}\r\n".encode() + CLOSE
    return (Send(start + _chunk(body[:-1000]) + b"zz\r\n" + body[-1000:] + b"\r\n0\r\n\r\n"),)


FAULTS: dict[str, tuple[Fault, ...]] = {
    "timeouts": (Fault("1", Fate.DEAD, _never), Fault("half", Fate.OPTIONAL, _stalls)),
    "endless-body": (Fault("1", Fate.SKIPPED, _endless_body),),
    "endless-headers": (Fault("1", Fate.DEAD, _endless_headers),),
    "huge-header": (Fault("1", Fate.OPTIONAL, _huge_header),),
    "resets": (
        Fault("at-once", Fate.DEAD, _reset_at_once),
        Fault("head", Fate.DEAD, _reset_in_head),
        Fault("body", Fate.OPTIONAL, _reset_in_body),
    ),
    "truncated": (Fault("1", Fate.OPTIONAL, _truncated),),
    "double-length": (Fault("1", Fate.OPTIONAL, _double_length),),
    "bad-chunks": (Fault("1", Fate.OPTIONAL, _bad_chunks),),
}
