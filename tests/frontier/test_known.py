"""The file of known keys: it never claims what it was not told, and what it forgot it never calls new."""

import os
import struct
from collections.abc import Callable
from itertools import compress
from pathlib import Path
from random import Random

import pytest

from weft.frontier.known import Known
from weft.frontier.recent import hashes

ROOMY = 1 << 30
NONE = hashes([])
REGIONS = 4


@pytest.fixture(autouse=True)
def small_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that files with few keys are written and grow often."""
    monkeypatch.setattr("weft.frontier.known._LEAST", 128)
    monkeypatch.setattr("weft.frontier.known.REGIONS", REGIONS)
    monkeypatch.setattr("weft.frontier.known._ENOUGH", (16 * 16,) * REGIONS)


def keep(known: Known, keys: list[bytes]) -> None:
    for region in known.keep(hashes(keys)):
        known.write(region, NONE)


def write_all(known: Known) -> Known:
    for region in range(REGIONS):
        known.write(region, NONE)
    return known


def unknown(known: Known, keys: list[bytes]) -> list[bytes]:
    return list(compress(keys, (~known.look(hashes(keys))[0]).tolist()))


def never_kept(known: Known, keys: list[bytes]) -> list[bytes]:
    """Those of which the file is sure that it never had them."""
    found, lost = known.look(hashes(keys))
    return list(compress(keys, (~found & ~lost).tolist()))


def random_keys(count: int, seed: int = 3) -> list[bytes]:
    random = Random(seed)
    return [random.randbytes(18) for _ in range(count)]


def filled(known: Known, keys: list[bytes]) -> Known:
    """The last of the keys wait to be written."""
    for start in range(0, len(keys), 250):
        keep(known, keys[start : start + 250])
        if start <= len(keys) // 2 < start + 250:
            write_all(known)
    return known


@pytest.mark.parametrize("count", [1, 1000, 20_000, 37_000, 100_000])
def test_all_keys_are_found_again_however_often_the_file_grew(tmp_path: Path, count: int) -> None:
    keys, others = random_keys(count), random_keys(1000, seed=4)
    known = filled(Known(tmp_path, ROOMY), keys)
    assert unknown(known, keys) == []
    assert unknown(known, others) == others
    assert known.size <= 44 * count + 100_000


@pytest.mark.parametrize("limit", [ROOMY, 200_000])
@pytest.mark.parametrize("count", [1000, 37_000, 200_000])
def test_what_was_kept_is_never_called_new(tmp_path: Path, count: int, limit: int) -> None:
    keys, others = random_keys(count), random_keys(1000, seed=4)
    known = filled(Known(tmp_path, limit), keys)
    assert never_kept(known, keys) == []
    full = count * 16 > limit
    assert never_kept(known, others) == ([] if full else others)


def test_what_was_lost_of_a_crowded_bucket_is_not_called_new_after_its_splits(tmp_path: Path) -> None:
    random = Random(6)
    hosts = [random.getrandbits(64) for _ in range(300)]
    urls = [host ^ random.getrandbits(54) << 10 for host in hosts]  # of one bucket until there are a thousand
    crowd = [b"ab" + struct.pack("<QQ", *pair) for pair in zip(hosts, urls, strict=True)]
    known = write_all(filled(Known(tmp_path, 1 << 21), crowd))
    assert len(unknown(known, crowd)) > 200
    assert never_kept(known, crowd) == []
    write_all(filled(known, random_keys(40_000)))
    assert known.size > 1 << 20
    assert never_kept(known, crowd) == []


def fails(*_: object) -> None:
    raise OSError(28, "No space left on device")


def writes_half(file: int, data: bytes, place: int, pwrite: Callable[[int, bytes, int], int] = os.pwrite) -> int:
    """As a disk that becomes full."""
    return pwrite(file, data[: len(data) // 2], place)


@pytest.mark.parametrize(
    ("call", "instead"), [("pread", fails), ("preadv", fails), ("pwrite", fails), ("pwrite", writes_half)]
)
def test_after_a_failure_of_the_disk_nothing_is_called_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, instead: Callable[..., object]
) -> None:
    keys = random_keys(20_000)
    known = filled(Known(tmp_path, ROOMY), keys[:10_000])
    with monkeypatch.context() as patched:
        patched.setattr(f"weft.frontier.known.os.{call}", instead)
        write_all(filled(known, keys[10_000:10_100]))
        never_kept(known, keys[:100])
    filled(known, keys[10_100:])
    assert never_kept(known, keys + random_keys(1000, seed=4)) == []
    assert len(unknown(known, keys[:10_000] + keys[10_100:])) < 200


def test_a_small_file_keeps_its_size_and_the_newest(tmp_path: Path) -> None:
    keys = random_keys(100_000)
    known = write_all(filled(Known(tmp_path, 200_000), keys))
    assert known.size <= 200_000
    assert len(unknown(known, keys[-250:])) < 25
    kept = len(keys) - len(unknown(known, keys))
    assert 0.8 * known.size < kept * 16 <= 1.01 * known.size


@pytest.mark.parametrize("byte", [2, 9, 10, 17])
def test_no_key_is_taken_for_another(tmp_path: Path, byte: int) -> None:
    known = Known(tmp_path, ROOMY)
    key = bytes(range(18))
    other = key[:byte] + bytes([key[byte] ^ 128]) + key[byte + 1 :]
    keep(known, [key])
    assert unknown(known, [other, key]) == [other]
    assert unknown(write_all(known), [other, key]) == [other]


def test_a_key_across_two_places_is_not_found(tmp_path: Path) -> None:
    known = Known(tmp_path, ROOMY)
    one, two = b"same" + b"\1" * 4, b"same" + b"\2" * 4  # hashes of which any two lead to the first bucket
    first, across, second = (b"ab" + host + url for host, url in ((one, one), (one, two), (two, two)))
    keep(known, [first, second])
    assert unknown(known, [first, across, second]) == [across]
    assert unknown(write_all(known), [first, across, second]) == [across]


def test_without_a_place_for_it_nothing_is_kept(tmp_path: Path) -> None:
    keys = random_keys(100)
    for known in (Known(tmp_path / "missing", ROOMY), Known(tmp_path, 0)):
        keep(known, keys)
        write_all(known)
        assert unknown(known, keys) == keys
        assert known.size == 0


def test_the_file_has_no_name_and_ends_with_its_owner(tmp_path: Path) -> None:
    keys = random_keys(100)
    known = filled(Known(tmp_path, ROOMY), keys)
    assert unknown(known, keys) == []
    assert list(tmp_path.iterdir()) == []
    known.close()
    assert unknown(known, keys) == keys
