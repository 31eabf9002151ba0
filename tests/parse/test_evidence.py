"""What a page brings, as hashes: what counts as a line, which lines are clean, and how many are kept."""

import time
from array import array
from itertools import pairwise

import pytest

from tests.parse.test_reader import read
from weft.config import Config
from weft.parse.evidence import told
from weft.parse.reader import Reader
from weft.parse.wire import ParseJob
from weft.records import Evidence

URL = "http://a.example/manual/start"
PROSE = [
    "The river was low that summer.",
    "Nobody had seen the ferryman since spring.",
    "His boat lay upside down among the reeds.",
    "Children threw stones at its bottom to hear it ring.",
    "Then one evening smoke rose from the hut.",
    "A woman came down the slope with a lantern.",
    "She called a name that nobody had used for years.",
    "Something moved behind the shutters.",
    "After that night the boat was tarred again.",
    "People crossed and paid with eggs and bread.",
]


def of(lines: list[str], url: str = URL, linked: bool = False) -> Evidence:
    return told(url, [(line, linked) for line in lines], (), "\n".join(lines))


def hashes(packed: bytes) -> list[int]:
    return list(array("I", packed))


def page(lines: list[str], head: str = "", url: str = URL) -> Evidence:
    article = "".join(f"<p>{line} {line} {line}</p>" for line in lines)
    body = f"<html><head><title>T</title></head><body>{head}<article>{article}</article></body></html>"
    found = Reader(Config()).read(ParseJob("id", url, body.encode(), (("Content-Type", "text/html"),))).evidence
    assert found is not None
    return found


def test_the_same_lines_have_the_same_hashes() -> None:
    one, other = of(PROSE), of(PROSE)
    assert one == other
    assert one.digest
    assert of(PROSE[:-1]).digest != one.digest
    mixed = of(PROSE[::-1])
    assert (mixed.raw, mixed.clean) == (one.raw, one.clean)
    assert len(set(hashes(of(PROSE[:3]).raw)) & set(hashes(of(PROSE[2:5]).raw))) == 1


def test_digits_and_words_of_the_own_url_do_not_make_a_clean_line_new() -> None:
    first = of(["Weather of day 17 in harbour north"], "http://a.example/weather/17")
    second = of(["Weather of day 18 in harbour north"], "http://a.example/weather/18")
    assert first.raw != second.raw
    assert first.clean == second.clean
    echo = [of([f"You looked for {word} and found nothing"], f"http://a.example/find?q={word}") for word in "xy"]
    assert echo[0].clean == echo[1].clean
    escaped = of(["You looked for été and found nothing"], "http://a.example/find?q=%C3%A9t%C3%A9")
    assert escaped.clean == echo[0].clean
    assert of(["17 18 19"]).clean == b""
    assert of(["MANUAL start"]).clean == b""


def test_lines_that_are_nothing_but_links_do_not_count() -> None:
    found = of(PROSE, linked=True)
    assert found.clean == found.raw == b""
    menu = "".join(f"<li><a href=/{line.split()[1]}>{line} {line} {line}</a></li>" for line in PROSE[3:])
    bare, with_menu = page(PROSE[:3]), page(PROSE[:3], f"<ul>{menu}</ul>")
    assert with_menu.clean == bare.clean
    assert set(hashes(with_menu.raw)) == set(hashes(bare.raw))


def test_a_page_with_little_main_text_is_told_by_all_that_it_shows() -> None:
    rest = [(line, False) for line in PROSE[2:]]
    short = told(URL, [(PROSE[0], False)], rest, "x")
    assert set(hashes(of(PROSE[2:]).raw)) <= set(hashes(short.raw))
    caption = "<aside><p>A caption of its own under this picture</p></aside>"
    assert page(PROSE[:2], caption).clean != page(PROSE[:2]).clean
    assert page(PROSE, caption).clean == page(PROSE).clean


def test_main_text_goes_before_the_rest() -> None:
    main, rest = [(f"main {word}", False) for word in PROSE], [(f"rest {number}", False) for number in range(500)]
    found = set(hashes(told(URL, main, rest, "x").raw))
    assert set(hashes(told(URL, main, (), "x").raw)) <= found
    assert len(found) == 16


def test_what_puts_the_same_pairs_of_words_together_anew_says_nothing() -> None:
    """A clean line is told by one of its pairs of neighbours: of a vocabulary of few pairs, most lines are known."""
    words = ["alder", "birch", "cedar", "elder", "hazel", "larch", "maple", "rowan"]
    lines = [" ".join(words[start:end]) for start in range(8) for end in range(start + 3, 9)]
    pairs = {of([" ".join(pair)]).clean for pair in pairwise(words)}
    assert {of([line]).clean for line in lines} <= pairs
    assert len({of([line]).raw for line in lines}) == len(lines)
    assert of(["alone"]).clean != b""


def test_at_most_16_hashes_of_each_sort_are_kept() -> None:
    lines = [f"{chr(97 + number % 26) * 3}{chr(97 + number // 26) * 3} is said of it" for number in range(200)]
    found = of(lines)
    assert len(found.raw) == 16 * 4
    assert 0 < len(found.clean) <= 16 * 4
    assert hashes(found.raw) == sorted(hashes(found.raw))
    assert len(set(hashes(found.raw))) == 16
    assert 0 not in hashes(found.raw)


def test_a_line_that_is_there_many_times_takes_one_place() -> None:
    lines = sorted(PROSE, key=lambda line: hashes(of([line]).raw))
    found = of([lines[0]] * 40 + lines[1:])
    assert len(hashes(found.raw)) == len(PROSE)


def test_a_page_that_says_nothing() -> None:
    assert told(URL, (), (), " \n") == Evidence()
    found = read("<html><body></body></html>").evidence
    assert found is not None
    assert (found.digest, found.clean) == (0, b"")


def test_plain_text_is_told_by_its_lines() -> None:
    found, other = (read("\n".join(lines), "text/plain").evidence for lines in (PROSE, PROSE[:4]))
    assert found is not None
    assert other is not None
    assert len(hashes(found.clean)) == len(PROSE)
    assert set(hashes(other.raw)) < set(hashes(found.raw))


def test_sitemaps_and_what_cannot_be_read_have_no_evidence() -> None:
    assert read("<urlset><url><loc>http://a.example/</loc></url></urlset>", "application/xml").evidence is None
    assert read(b"\x00\x01\x02" * 400, "application/zip").evidence is None


@pytest.mark.clock
def test_a_huge_page_is_looked_at_in_bounded_time() -> None:
    """Lines beyond the first hundreds and words beyond the first of a line cost nothing but the digest."""
    line = "several words of prose that go on "
    started = time.process_time()
    many = of([f"{line}{number}" for number in range(1000)] + [line * 20_000])
    wide = told(URL, [(line * 100_000, False)] * 20, (), line)
    assert time.process_time() - started < 1.0
    assert len(many.raw) <= 64
    assert len(wide.clean) == 4
    body = "".join(f"<p>{line} {number}</p>" for number in range(30_000))
    huge = read(f"<article>{body}</article>").evidence
    assert huge is not None
    assert len(huge.raw) == 64


def test_lone_surrogates_are_hashed_too() -> None:
    assert of(["half a pair \ud800 of it"]).digest
