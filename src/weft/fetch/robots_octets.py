"""The normal form of very many rules at once: for hostile files, which may be odd in every octet.

A large text of rule values comes in, one a line; the same text in the normal form of robots_path.py goes out, which
calls it and says what the form is. Every step is one numpy operation over all octets: 512 KiB take about 10 ms.
"""

import string

import numpy as np
from numpy.typing import NDArray

Octets = NDArray[np.uint8]

_PERCENT, _DOLLAR, _LINE_END, _QUERY = b"%$\n?"
_NOT_HEX = 16
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


def _hex_values() -> Octets:
    values = np.full(256, _NOT_HEX, np.uint8)
    for digit in string.hexdigits:
        values[ord(digit)] = int(digit, 16)
    return values


_HEX = _hex_values()


class BulkNormal:
    """Knows which characters stand for themselves, and which are decoded where they are %-encoded."""

    def __init__(self, plain: str, decoded: str) -> None:
        self._width = np.full(256, 3, np.uint8)  # octets that an octet becomes
        self._width[list(plain.encode() + b"*$\n")] = 1
        self._decoded = np.zeros(256, np.bool_)
        self._decoded[list(decoded.encode())] = True

    def normal(self, text: str) -> str:
        """Lines of latin-1 in normal form, with `*` and with `$` where it anchors."""
        octets = np.frombuffer(text.encode("latin-1"), np.uint8)
        following = np.concatenate((octets, np.full(2, _LINE_END, np.uint8)))
        result, width = octets.copy(), self._width[octets]
        dollars = np.flatnonzero(octets == _DOLLAR)
        width[dollars[following[dollars + 1] != _LINE_END]] = 3
        self._sequences(octets, following, result, width)
        wide = width == 3
        if not wide.any() and width.all():
            return result.tobytes().decode("ascii")
        expanded = np.repeat(result, width)
        places = (np.cumsum(width, dtype=np.int64) - width)[wide]
        expanded[places] = _PERCENT
        expanded[places + 1] = _DIGITS[octets[wide] >> 4]
        expanded[places + 2] = _DIGITS[octets[wide] & 15]
        return expanded.tobytes().decode("ascii")

    def _sequences(self, octets: Octets, following: Octets, result: Octets, width: Octets) -> None:
        """Decode %-sequences or write them in lower case; a `%` that begins none is left to be encoded."""
        places = np.flatnonzero(octets == _PERCENT)
        high, low = _HEX[following[places + 1]], _HEX[following[places + 2]]
        whole = (high < _NOT_HEX) & (low < _NOT_HEX)
        places, high, low = places[whole], high[whole], low[whole]
        codes = (high << np.uint8(4)) | low
        decoded = self._decoded[codes] | _separators_in_queries(octets, places, codes)
        width[places] = 1
        result[places + 1], result[places + 2] = _DIGITS[high], _DIGITS[low]
        result[places[decoded]] = codes[decoded]
        width[places[decoded] + 1] = width[places[decoded] + 2] = 0


def _separators_in_queries(octets: Octets, places: NDArray[np.intp], codes: Octets) -> NDArray[np.bool_]:
    """Which sequences are `/` or `?` behind a `?` of their line."""
    found: NDArray[np.bool_] = (codes == ord("/")) | (codes == _QUERY)
    chosen = places[found]
    if len(chosen):
        found[found] = _last_before(octets == _QUERY, chosen) > _last_before(octets == _LINE_END, chosen)
    return found


def _last_before(marks: NDArray[np.bool_], places: NDArray[np.intp]) -> NDArray[np.intp]:
    """The place of the last mark before each place; -1 if there is none."""
    marked: NDArray[np.intp] = np.concatenate((np.full(1, -1, np.intp), np.flatnonzero(marks)))
    last: NDArray[np.intp] = marked[np.searchsorted(marked, places) - 1]
    return last
