"""When two texts are the same, and when they are near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.parse.fingerprint import body_digest, fingerprints, normalised, simhash, text_digest

ENGLISH = " ".join(
    f"In the year {year} the weavers of the valley sold {year * 7 % 100} bales of cloth to the merchants of the coast."
    for year in range(1700, 1740)
)
CHINESE = "今天天气很好，我们去公园散步，看到了很多花和树。孩子们在草地上玩耍，老人们坐在长椅上聊天。" * 8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wool and Yarn", "wool  and\n\tYARN "),
        ("ﬁne ＷＯＯＬ ²", "fine wool 2"),
        ("Straße", "STRASSE"),
        ("soft\u00adhyphen\u200b here\ufeff", "softhyphen here"),
        ("a\u00a0b\u3000c", "a b c"),
        ("caf\u00e9", "cafe\u0301"),
        ("İstanbul", "i̇stanbul"),
    ],
)
def test_the_same_text_in_another_dress(one: str, other: str) -> None:
    assert text_digest(one) == text_digest(other)
    assert simhash(one) == simhash(other)


@pytest.mark.parametrize(("one", "other"), [("wool", "wool."), ("cafe", "café"), ("a b", "ab"), ("", "x")])
def test_what_a_reader_tells_apart_is_not_the_same(one: str, other: str) -> None:
    assert text_digest(one) != text_digest(other)


@given(st.text(max_size=200))
def test_fingerprints_agree_with_their_parts(text: str) -> None:
    both = fingerprints(text)
    assert both == (text_digest(text), simhash(text))
    assert len(both.digest) == len(body_digest(text.encode())) == 16
    assert 0 <= both.simhash < 1 << 64
    assert "  " not in normalised(text)


@given(st.characters(codec="utf-8"))
def test_ascii_takes_the_short_way_to_the_same_place(character: str) -> None:
    """A text is normalised alike whether or not a character elsewhere in it is beyond ASCII."""
    assert normalised(f"A b\t{character} é").endswith(" é")
    assert normalised(f"Wool\x1fAND {character}").startswith("wool and")


@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_a_small_change_moves_few_bits_and_another_text_many(text: str) -> None:
    changed = text.replace("weavers", "spinners", 1).replace("公园", "花园", 1)
    assert changed != text
    assert (simhash(text) ^ simhash(changed)).bit_count() <= 3
    assert (simhash(ENGLISH) ^ simhash(CHINESE)).bit_count() > 15
    other = "Entirely different: a page on the tides of the northern sea, its lights, ports and winds. " * 20
    assert (simhash(text) ^ simhash(other)).bit_count() > 15


def test_short_and_empty_texts_have_one_too() -> None:
    assert simhash("") == 0
    assert simhash("a") != simhash("b")
