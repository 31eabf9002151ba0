"""The recent set: it may forget, tells what it forgot, and never takes one key for another."""

from random import Random

import pytest

from weft.frontier.recent import Recent, hashes


def random_keys(count: int, seed: int = 5) -> list[bytes]:
    random = Random(seed)
    return [random.randbytes(18) for _ in range(count)]


def known(recent: Recent, keys: list[bytes]) -> list[bool]:
    found: list[bool] = recent.knows(hashes(keys)).tolist()
    return found


def replace(recent: Recent, keys: list[bytes], kept: bool = False) -> set[bytes]:
    """Those that had to go, without their partitions."""
    return {pair.tobytes() for pair in recent.replace(hashes(keys), kept)}


def test_it_is_bounded_and_knows_most_of_the_last() -> None:
    recent, keys = Recent(1000), random_keys(10_000)
    assert not any(known(recent, keys))
    for start in range(0, len(keys), 100):
        replace(recent, keys[start : start + 100])
    assert sum(known(recent, keys[-500:])) > 350
    assert sum(known(recent, keys)) <= 1024
    assert known(recent, [keys[-1], keys[0]]) == [True, False]
    assert known(recent, []) == []


def test_it_tells_what_it_had_no_place_for() -> None:
    recent, keys = Recent(64), random_keys(1000)
    gone = {pair for key in keys for pair in replace(recent, [key])}
    remembered = {key[2:] for key, is_known in zip(keys, known(recent, keys), strict=True) if is_known}
    assert len(remembered) == 64
    assert gone == {key[2:] for key in keys} - remembered
    assert not replace(recent, keys[-1:], kept=True), "its own place"
    many = random_keys(2000, seed=6)
    gone = replace(recent, many)
    placeless = {key[2:] for key, is_known in zip(many, known(recent, many), strict=True) if not is_known}
    assert len(placeless) == 2000 - 64, "of keys that come together the last has the place"
    assert gone == placeless | remembered - {keys[-1][2:]}, "what is kept elsewhere is not lost"
    assert not replace(recent, keys, kept=True) - {key[2:] for key in many}, "nor are those"


def test_a_sweep_finds_what_is_kept_nowhere_else_and_only_once() -> None:
    recent, keys = Recent(64), random_keys(40)
    gone = replace(recent, keys) | replace(recent, keys[:10], kept=True)
    swept = [pair.tobytes() for start in range(0, 64, 16) for pair in recent.sweep(64 + start, 16)]
    assert sorted(swept) == sorted({key[2:] for key in keys[10:]} - gone)
    assert not len(recent.sweep(0, 64))
    assert not replace(recent, random_keys(1000, seed=6), kept=True), "all of them count as kept"


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(("byte", "bit"), [(2, 1), (2, 128), (10, 1), (10, 2), (10, 128), (17, 1), (17, 128)])
def test_no_key_is_taken_for_another(byte: int, bit: int, kept: bool) -> None:
    recent = Recent(1)  # as few places as there can be
    key = bytes(range(18))
    other = key[:byte] + bytes([key[byte] ^ bit]) + key[byte + 1 :]
    replace(recent, [key], kept)
    assert known(recent, [other, key]) == [False, True]
