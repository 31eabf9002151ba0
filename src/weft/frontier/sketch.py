"""About how many distinct domains link to a host, in 64 bytes (HyperLogLog with 64 registers).

Exact enough where it matters: off by less than one up to about ten, by some 13 % for large numbers.
"""

import math
from typing import Final

_REGISTERS: Final = 64
_ALPHA: Final = 0.709


def added(sketch: bytes, member: int) -> bytes:
    """The sketch with a 64-bit hash in it; the same object if that changes nothing."""
    registers = bytearray(sketch or bytes(_REGISTERS))
    index = member & (_REGISTERS - 1)
    rank = 59 - (member >> 6).bit_length()  # position of the first 1 among the other 58 bits
    if registers[index] >= rank:
        return sketch
    registers[index] = rank
    return bytes(registers)


def estimate(sketch: bytes) -> int:
    if not sketch:
        return 0
    empty = sketch.count(0)
    if empty > 8:  # linear counting is the better estimate while registers are empty
        return round(_REGISTERS * math.log(_REGISTERS / empty))
    return round(_ALPHA * _REGISTERS**2 / sum(2.0**-rank for rank in sketch))
