"""JSON-LD as pages write it, sound and otherwise."""

from time import process_time
from typing import Any

import pytest

from weft.parse.jsonld import values

THING = {"@type": "Article", "headline": "Pier // vote"}
PLAIN = '{"@type":"Article","headline":"Pier // vote"}'


@pytest.mark.parametrize(
    "script",
    [
        PLAIN,
        f"\ufeff{PLAIN}",
        f"\n/*<![CDATA[*/ {PLAIN} /*]]>*/\n",
        f"<![CDATA[ {PLAIN} ]]>",
        f"//<![CDATA[\n{PLAIN}\n//]]>",
        f"// <![CDATA[ {PLAIN} // ]]>",
        f"<!--\n{PLAIN}\n-->",
        f"{PLAIN};",
        f"// what is new, and {{more}}\n{PLAIN}",
        PLAIN.replace("}", ",}"),
        PLAIN.replace("}", ", // the last\n }"),
        PLAIN.replace('","h', '",/* , */"h'),
        PLAIN.replace("// vote", r"\/\/ vote").replace("Pier", r"\Pi\u0065r"),
    ],
)
def test_what_is_no_json_is_mended(script: str) -> None:
    assert list(values([script])) == [THING]


@pytest.mark.parametrize("gap", ["", ",", "\n", " ; "])
def test_several_values_in_one_script(gap: str) -> None:
    assert list(values([f"{PLAIN}{gap}{PLAIN}"])) == [THING, THING]


@pytest.mark.parametrize(
    ("script", "value"),
    [
        (r'{"a": "Tom\'s"}', "Tom's"),
        ('{"a": "two\nlines"}', "two\nlines"),
        (r'{"a": "\ud83d\ude00 \ud83d \ude00",}', "😀 \ufffd \ufffd"),
        (r'{"a": "\\ud83d \"q\"",}', r'\ud83d "q"'),
        ('{"a": "x", "b": NaN}', "x"),
        ('{"a": ",}", "b": [1,],}', ",}"),
    ],
)
def test_strings_stay_what_they_are(script: str, value: str) -> None:
    found: Any = next(values([script]))
    assert found["a"] == value


@pytest.mark.parametrize(
    "script", ["", "{", "[" * 100_000, '{"a":' * 30_000, "]", '{"a": 1', '"\\', "1" * 9000, "/*", "\\"]
)
def test_what_cannot_be_read_gives_nothing(script: str) -> None:
    assert list(values([script])) == []


def test_what_was_read_before_the_first_mistake_counts() -> None:
    assert list(values([f"{PLAIN} {{no json}} {PLAIN}"])) == [THING]


def test_large_scripts_are_passed_over_and_all_together_are_bounded() -> None:
    large = '"' + "a" * 200_000 + '"'
    assert list(values([large, PLAIN])) == [THING]
    assert len(list(values(['"' + "a" * 150_000 + '"'] * 40))) == 3


@pytest.mark.parametrize(
    "piece", ['"\\"', ",", ",  ", "/*", "//", "[", '{"a":', "{} ", "<!--", '"', "\\ud800", "]]>", " ", "<![CDATA["]
)
@pytest.mark.clock
def test_mending_takes_time_in_proportion(piece: str) -> None:
    script = piece * (190_000 // len(piece))
    start = process_time()
    list(values([script, "x" + script]))
    assert process_time() - start < 1
