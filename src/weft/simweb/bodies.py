"""Bodies that are not what they seem: old charsets, wrong types, binaries, and bombs that grow when opened."""

from collections.abc import Callable, Iterator

import brotli  # type: ignore[import-untyped]
import zstandard
from isal import isal_zlib

from .answer import HTML, Answer, Fate, Handler, Plant, Visit
from .page import page_text
from .pixels import PICTURE
from .site import Site

OLD_CHARSETS = {"latin": "windows-1252", "cyrillic": "windows-1251", "han": "gb18030", "arabic": "windows-1256"}
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n" + b"\x00\x9f\x88" * 2000 + b"%%EOF\n"
ZIP = b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(range(256)) * 40
BOMB_MEGABYTES = 256
MEGABYTE = b"<p>boom boom boom</p>\n" * 47_663


def bodies(site: Site) -> Iterator[Plant]:
    carries, index = site.world.carries, site.host.index
    if carries(index, "charsets"):
        yield from _charsets(site)
    if carries(index, "types"):
        yield from _types(site)
    if carries(index, "binaries"):
        for path, kind, body in BINARIES:
            yield Plant(path, Fate.SKIPPED, _fixed(Answer(200, body, kind, lasting=True)), "binaries")
    for name, (encoding, compress) in BOMBS.items():
        if carries(index, name):
            yield Plant(f"/odd/bomb/{encoding}", Fate.SKIPPED, _bomb(encoding, compress), name)
    if carries(index, "html-bomb"):
        for name, make in HTML_BOMBS.items():
            yield Plant(f"/odd/bomb/{name}", Fate.SKIPPED, _html_bomb(make), "html-bomb")


BINARIES = (
    ("/files/photo.png", "image/png", PICTURE),
    ("/files/report.pdf", "application/pdf", PDF),
    ("/files/bundle.zip", "application/zip", ZIP),
    ("/files/film", "video/mp4", b"\x00\x00\x00\x18ftypmp42" + bytes(2_000_000)),
)


def _fixed(answer: Answer) -> Handler:
    return lambda _: answer


# charsets: what the header says, what the markup says, what the bytes are; `old` stands for the language's own


CHARSETS = (
    ("header", "old", "", "old"),
    ("markup", "", "old", "old"),
    ("lying-header", "utf-8", "old", "old"),
    ("lying-markup", "utf-8", "old", "utf-8"),
    ("undeclared", "", "", "utf-8"),
    ("utf-16", "", "", "utf-16"),
)


def _charsets(site: Site) -> Iterator[Plant]:
    for turn, (name, *charsets) in enumerate(CHARSETS):
        old = OLD_CHARSETS[site.host.language.script]
        header, markup, real = (old if charset == "old" else charset for charset in charsets)
        number, path = site.world.extra("charsets", turn), f"/odd/charsets/{name}"
        kind = f"text/html; charset={header}" if header else "text/html"
        recode = _recoder(f'<meta charset="{markup}">' if markup else "", real)
        answer = _reshaped(site, number, path, recode, kind)
        yield Plant(path, Fate.STORED, answer, "charsets", text=(site.host.index, number))


def _recoder(declaration: str, charset: str) -> Callable[[str], bytes]:
    def recode(text: str) -> bytes:
        return text.replace('<meta charset="utf-8">', declaration).encode(charset, "xmlcharrefreplace")

    return recode


def _reshaped(site: Site, number: int, path: str, shape: Callable[[str], bytes], kind: str) -> Handler:
    """A page whose bytes or type are not those of an ordinary one."""

    def answer(visit: Visit) -> Answer:
        article = site.world.article(site.host.index, number)
        return Answer(200, shape(page_text(site.extra(article, visit.numeric, path))), kind, lasting=True)

    return answer


def _types(site: Site) -> Iterator[Plant]:
    for turn, (name, fate, kind) in enumerate(
        (
            ("octets", Fate.OPTIONAL, "application/octet-stream"),
            ("none", Fate.OPTIONAL, ""),
            ("xhtml", Fate.STORED, "application/xhtml+xml; charset=utf-8"),
            ("shouting", Fate.STORED, "TEXT/HTML;CHARSET=UTF-8"),
        )
    ):
        number, path = site.world.extra("types", turn), f"/odd/types/{name}"
        yield Plant(
            path, fate, _reshaped(site, number, path, str.encode, kind), "types", text=(site.host.index, number)
        )
    yield Plant("/odd/types/pdf-as-html", Fate.SKIPPED, _fixed(Answer(200, PDF, HTML)), "types")
    yield Plant("/odd/types/png-as-html", Fate.SKIPPED, _fixed(Answer(200, PICTURE, HTML)), "types")
    yield Plant(
        "/odd/types/plain.txt",
        Fate.OPTIONAL,
        _plain(site),
        "types",
        text=(site.host.index, site.world.extra("types", 9)),
    )


def _plain(site: Site) -> Handler:
    def answer(_: Visit) -> Answer:
        article = site.world.article(site.host.index, site.world.extra("types", 9))
        text = "\n\n".join(block.text for block in article.blocks if block.text)
        return Answer(200, text.encode(), "text/plain; charset=utf-8", lasting=True)

    return answer


# bombs


def _gzip(chunk: bytes, times: int) -> bytes:
    packer = isal_zlib.compressobj(level=1, wbits=31)
    return b"".join([*(packer.compress(chunk) for _ in range(times)), packer.flush()])


def _brotli(chunk: bytes, times: int) -> bytes:
    packer = brotli.Compressor(quality=1)
    return b"".join([*(packer.process(chunk) for _ in range(times)), packer.finish()])


def _zstd(chunk: bytes, times: int) -> bytes:
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    return b"".join([*(packer.compress(chunk) for _ in range(times)), packer.flush()])


BOMBS: dict[str, tuple[str, Callable[[bytes, int], bytes]]] = {
    "gzip-bomb": ("gzip", _gzip),
    "brotli-bomb": ("br", _brotli),
    "zstd-bomb": ("zstd", _zstd),
}


def _bomb(encoding: str, compress: Callable[[bytes, int], bytes]) -> Handler:
    """Sent whatever the client accepts."""
    return lambda _: Answer(
        200, compress(MEGABYTE, BOMB_MEGABYTES), headers=(("Content-Encoding", encoding),), lasting=True
    )


def _html_bomb(make: Callable[[], str]) -> Handler:
    return lambda _: Answer(200, f"<!DOCTYPE html><html><body>{make()}</body></html>".encode(), lasting=True)


HTML_BOMBS: dict[str, Callable[[], str]] = {
    "nesting": lambda: "<div>" * 200_000,
    "tables": lambda: "<table><tr><td>" * 20_000,
    "attributes": lambda: "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">",
    "links": lambda: "".join(f'<a href="/#{number}">x</a>' for number in range(300_000)),
}
