"""The model that tells main text from the rest: weights learned by bench/train_text.py, a forward pass in numpy.

In: `Features`. Out: the chance of each block to be main text, and the cut that promises the best F1. Called by `weft.parse.text`.
"""

from functools import cache
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

from weft.parse.features import Features

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

WINDOWS = (1, 4, 12)  # blocks to each side over which a first impression is averaged
WEIGHTS = "weights.npz"


class Weights(msgspec.Struct, frozen=True):
    """The network; inputs are scaled by what `w1` and `b1` hold."""

    w1: Floats
    b1: Floats
    w2: Floats
    b2: Floats
    w3: Floats
    b3: Floats


@cache
def weights() -> Weights:
    """The weights that come with the package."""
    with (files("weft.parse") / WEIGHTS).open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return Weights(*(stored[name].astype(np.float32) for name in Weights.__struct_fields__))


def spans(count: int, boxes: Integers) -> tuple[Integers, Integers]:
    """Per pool and block, the stretch of blocks to average over: windows, boxes, then the page."""
    index = np.arange(count)
    pools = len(WINDOWS) + boxes.shape[1] + 1
    low, high = np.empty((pools, count), np.int64), np.empty((pools, count), np.int64)
    for place, window in enumerate(WINDOWS):
        low[place] = np.maximum(index - window, 0)
        high[place] = np.minimum(index + window + 1, count)
    low[len(WINDOWS) : -1], high[len(WINDOWS) : -1] = boxes[:, :, 0].T, boxes[:, :, 1].T
    low[-1], high[-1] = 0, count
    return low, high


def chances(features: Features, model: Weights) -> Floats:
    """The chance of each block to be main text."""
    hidden = features.matrix @ model.w1
    hidden += model.b1
    np.maximum(hidden, 0, out=hidden)
    count, width = hidden.shape
    low, high = spans(count, features.boxes)
    sums = np.zeros((count + 1, width), np.float32)
    np.cumsum(hidden, axis=0, out=sums[1:])
    pooled = sums[high]
    pooled -= sums[low]
    pooled /= (high - low)[:, :, None]
    second = hidden @ model.w2[:width]
    second += np.matmul(pooled, model.w2[width:].reshape(len(low), width, -1)).sum(0)
    second += model.b2
    np.maximum(second, 0, out=second)
    logits: Floats = second @ model.w3 + model.b3
    return 1 / (1 + np.exp(-np.clip(logits, -30, 30)))


def choose(chance: Floats, words: Floats) -> npt.NDArray[np.bool_]:
    """The blocks to keep: the cut through the ranking by chance at which expected F1 is highest."""
    order = np.argsort(-chance, kind="stable")
    weight = words[order] + 0.01
    expected = np.cumsum(chance[order] * weight)
    f1 = 2 * expected / (np.cumsum(weight) + expected[-1])
    kept = np.zeros(len(chance), bool)
    kept[order[: int(np.argmax(f1)) + 1]] = True
    return kept
