"""About how many distinct domains link to a host, in 32 bytes (HyperLogLog with 64 registers of 4 bits).

Exact enough where it matters: off by less than one up to about ten, by some 13 % for large numbers, up to a million.
"""

import math
from collections.abc import Iterable
from typing import Final

_REGISTERS: Final = 64
SIZE: Final = _REGISTERS // 2  # bytes; nobody's sketch may also be empty
NONE: Final = bytes(SIZE)
_ALPHA: Final = 0.709
_DIGITS: Final = "0123456789abcdef"  # a register is a hexadecimal digit; they sort as their values do
_EMPTY: Final = "0" * _REGISTERS
_LOW: Final = int("0f" * 32, 16)
_SPARE: Final = int("10" * 32, 16)


def added(sketch: bytes, members: Iterable[int]) -> bytes:
    """The sketch with these 64-bit hashes in it; the same object if that changes nothing."""
    known = sketch.hex() or _EMPTY
    registers = known
    for member in members:
        index, rank = register(member)
        if registers[index] < (digit := _DIGITS[rank]):
            registers = registers[:index] + digit + registers[index + 1 :]
    return sketch if registers is known else bytes.fromhex(registers)


def register(member: int) -> tuple[int, int]:
    """The register of a 64-bit hash, and the rank that it gets at least."""
    return member & (_REGISTERS - 1), min(15, 59 - (member >> 6).bit_length())  # the first 1 of the other 58 bits


def union(one: bytes, other: bytes) -> bytes:
    """The sketch of all members of both; the first object if the other brings none."""
    if one == other or not other:
        return one
    a, b = int.from_bytes(one), int.from_bytes(other)
    both = _larger(a & _LOW, b & _LOW) | _larger(a >> 4 & _LOW, b >> 4 & _LOW) << 4
    return one if both == a else both.to_bytes(SIZE)


def _larger(one: int, other: int) -> int:
    """The larger of each two registers, all at once: four spare bits before each hold a 1 to borrow from, which is
    left only where `one` is not the smaller."""
    left = ((one | _SPARE) - other) & _SPARE
    ours = left - (left >> 4)
    return one & ours | other & ~ours


def estimate(sketch: bytes) -> int:
    if not sketch:
        return 0
    registers = sketch.hex()
    empty = registers.count("0")
    if empty > 8:  # linear counting is the better estimate while registers are empty
        return round(_REGISTERS * math.log(_REGISTERS / empty))
    inverse = sum(registers.count(digit) * 2.0**-rank for rank, digit in enumerate(_DIGITS))
    return round(_ALPHA * _REGISTERS**2 / inverse)
