"""Seeds as people write them."""

import pytest

from weft.records import Link, Via
from weft.urls.canonical import BadURLError
from weft.urls.seeds import BadSeed, read_seeds, seed


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("example.org", "http://example.org/"),
        ("Example.org/Path", "http://example.org/Path"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("site.example:8000/a", "http://site.example:8000/a"),
        ("https://example.org/a#b", "https://example.org/a"),
        ("  bücher.example ", "http://xn--bcher-kva.example/"),
    ],
)
def test_a_seed(written: str, url: str) -> None:
    assert seed(written) == Link(url, via=Via.SEED, seed=True)


@pytest.mark.parametrize("written", ["ftp://example.org/", "http://", "two words"])
def test_what_is_no_seed(written: str) -> None:
    with pytest.raises(BadURLError):
        seed(written)


def test_a_file_of_seeds() -> None:
    lines = ["\ufeffexample.org\n", "# comment\n", "\n", "   \n", "not a seed\n", "https://b.example/\r\n"]
    found = list(read_seeds(lines))
    assert [item.url for item in found if isinstance(item, Link)] == ["http://example.org/", "https://b.example/"]
    assert [item for item in found if isinstance(item, BadSeed)] == [BadSeed(5, "not a seed", "not a URL")]
