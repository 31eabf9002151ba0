"""The text of a block: white space, and characters that are no text."""

import pytest

from weft.parse.tidy import BREAK, once, tidy


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("  one\n two\t three ", "one two three"),
        ("one two", "one two"),
        ("non\u00a0breaking  and\u3000wide", "non breaking and wide"),
        (f"one {BREAK} two{BREAK}{BREAK}", "one\ntwo"),
        (f"Mit\u00adtel\u00adal\u00adter{BREAK}dort", "Mittelalter\ndort"),
        ("\u200b", ""),
        ("\u200d", ""),
        ("left \u200e right", "left right"),
        ("\ufeff first", "first"),
        ("word\u2060joined, in\u200bvisible", "wordjoined, invisible"),
        ("\ue900 Home", "Home"),
    ],
)
def test_what_nobody_sees_is_left_out(raw: str, text: str) -> None:
    assert tidy(raw, pre=0) == text


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # without its non-joiner it is another word
        "👩\u200d🚀 and \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "ខ្ញុំ\u200bស្រឡាញ់\u200bភាសា",  # between words of Khmer, which has no spaces
        "שלום\u200f (world)\u200e",
    ],
)
def test_invisible_characters_that_a_script_needs_are_kept(text: str) -> None:
    assert tidy(text, pre=0) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("don\u00e2\u0080\u0099t", "don’t"),  # UTF-8 taken for Latin-1 on its way into the page
        ("\u00d0\u009f\u00d1\u0080\u00d0\u00b8\u00d0\u00b2\u00d0\u00b5\u00d1\u0082", "Привет"),
        ("don\u0092t \u0096 never", "don’t – never"),  # Windows-1252 taken for Latin-1
        ("\u00d1\u0085\u00d1\u0083 and so on\u0085 it went", "ху and so on… it went"),
        ("wait\u0085 what", "wait… what"),
        ("\u00c3\u0085ngstr\u00c3\u00b6m", "Ångström"),
        ("caf\u00e9 \u0093bar\u0094", "café “bar”"),
        ("\u0081", ""),
        ("bell\x07 and\x1b escape\x7f", "bell and escape"),
        ("été\x08", "été"),
    ],
)
def test_control_characters_are_what_they_were_meant_to_be(raw: str, text: str) -> None:
    assert tidy(raw, pre=0) == text


def test_code_keeps_its_lines_and_its_indentation() -> None:
    assert tidy(f"\nif x:\n\tgo(){BREAK}  stop\u200b()  \n\n", pre=1) == "if x:\n\tgo()\n  stop()"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("It isnâ€™t a LastenrÃ¤der, 82Â° KevlarÂ®", "It isn’t a Lastenräder, 82° Kevlar®"),
        ("saidâ€¦ â€œso itâ€\u009d", "said… “so it”"),
        ("fun ðŸ˜€", "fun 😀"),
        ("“IRMÔ AMANHÃ… CAFÉ” — Ângulo, NÃO", "“IRMÔ AMANHÃ… CAFÉ” — Ângulo, NÃO"),
        ("“IRMÃ” e “MANHÔ", "“IRMÃ” e “MANHÔ"),
        ("pâté, château à la crème, ãé", "pâté, château à la crème, ãé"),
    ],
)
def test_what_was_encoded_twice_is_read_once(text: str, meant: str) -> None:
    assert once(text) == meant
