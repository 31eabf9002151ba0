"""Which blocks of a page belong to its reference text: the answers the text model learns from."""

import numpy as np
import numpy.typing as npt

from bench.text_score import words

_GRAM = 4  # words in a row that must agree before a long block counts as found
_REACH = 4  # blocks to each side that vouch for a short one


def labels(texts: list[str], reference: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Per block: the share of its words that stand in the reference, and how many words it has as the score counts."""
    target = words(reference)
    grams = {size: _grams(target, size) for size in range(1, _GRAM + 1)}
    lines = {" ".join(words(line)) for line in reference.splitlines()}
    tokens = [words(text) for text in texts]
    weights = np.array([len(block) for block in tokens], np.float32)
    found = np.zeros(len(texts), np.float32)
    for index, block in enumerate(tokens):
        if len(block) >= _GRAM:
            found[index] = _share(block, grams[_GRAM])
    for index, block in enumerate(tokens):
        if 0 < len(block) < _GRAM and " ".join(block) in grams[len(block)]:
            near = _neighbourhood(found, weights, index)
            found[index] = 1.0 if near > 0.5 or (" ".join(block) in lines and near > 0.2) else 0.0
    _drop_repeats(tokens, found, weights, " ".join(target))
    return found, weights


def _grams(tokens: list[str], size: int) -> set[str]:
    return {" ".join(tokens[start : start + size]) for start in range(len(tokens) - size + 1)}


def _share(block: list[str], grams: set[str]) -> float:
    """The share of words covered by runs that occur in the reference."""
    covered = np.zeros(len(block), bool)
    for start in range(len(block) - _GRAM + 1):
        if " ".join(block[start : start + _GRAM]) in grams:
            covered[start : start + _GRAM] = True
    return float(covered.mean())


def _neighbourhood(found: npt.NDArray[np.float32], weights: npt.NDArray[np.float32], index: int) -> float:
    """How much of the longer blocks around is in the reference."""
    low, high = max(index - _REACH, 0), index + _REACH + 1
    weight = np.where(weights[low:high] >= _GRAM, np.minimum(weights[low:high], 30), 0)
    return float((found[low:high] * weight).sum() / weight.sum()) if weight.sum() else 0.0


def _drop_repeats(
    tokens: list[list[str]], found: npt.NDArray[np.float32], weights: npt.NDArray[np.float32], target: str
) -> None:
    """A text that occurs more often on the page than in the reference counts where its surroundings agree best."""
    places: dict[str, list[int]] = {}
    for index, block in enumerate(tokens):
        if found[index] > 0.5:
            places.setdefault(" ".join(block), []).append(index)
    for text, indexes in places.items():
        if len(indexes) > 1:
            allowed = max(1, target.count(text))
            ranked = sorted(indexes, key=lambda index: -_neighbourhood(found, weights, index))
            found[ranked[allowed:]] = 0.0
