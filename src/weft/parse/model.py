"""The model that tells main text from the rest: weights learned by bench/train_text.py, a forward pass in numpy.

In: `Features`. Out: the chance of each block to be main text, and the blocks to keep. Called by `weft.parse.text`.
"""

from functools import cache
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

from weft.parse.features import Features
from weft.parse.vocabulary import REGIONS

Floats = npt.NDArray[np.float32]
WEIGHTS = "weights.npz"
# What a person would strike out on any page, whatever the model has or has not seen.
_STRUCK = sum(
    1 << REGIONS.index(region) for region in ("nav", "footer", "aside", "dialog", "button", "noscript", "form")
)
_MARKED = 0.03  # share of words struck out from which the rule has something to say; or there are menus or footers
# How much the rule counts: a multiple of the square of the doubt, up to a limit. Swept from 0 to 8 and from 0 to 0.4:
# without it, a model that has seen only articles keeps half of what a service page says.
_DOUBT, _MOST_RULE = 3.0, 0.2
_ONE_THREAD = 1 << 18  # multiplications up to which OpenBLAS stays in the calling thread


class Weights(msgspec.Struct, frozen=True):
    """h1 = relu(w1 x + b1); h2 = relu(w2 h1 + wp (averages of h1's first units) + b2); logit = w3 h2 + b3."""

    w1: Floats
    b1: Floats
    w2: Floats
    wp: Floats
    b2: Floats
    w3: Floats
    b3: Floats


@cache
def weights() -> Weights:
    """The weights that come with the package."""
    with (files("weft.parse") / WEIGHTS).open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return Weights(*(stored[name].astype(np.float32) for name in Weights.__struct_fields__))


def chances(page: Features, model: Weights) -> Floats:
    """The chance of each block to be main text."""
    hidden = _product(model.w1, page.matrix)
    hidden += model.b1[:, None]
    np.maximum(hidden, 0, out=hidden)
    spans, count = page.low.shape
    units = model.wp.shape[1] // spans
    sums = np.zeros((units, count + 1), np.float32)
    np.cumsum(hidden[:units], axis=1, out=sums[:, 1:])
    averages = sums.take(page.high, axis=1)
    averages -= sums.take(page.low, axis=1)
    averages /= page.high - page.low
    second = _product(model.w2, hidden)
    second += _product(model.wp, averages.reshape(units * spans, count))
    second += model.b2[:, None]
    np.maximum(second, 0, out=second)
    logits = np.einsum("u,ub->b", model.w3, second) + model.b3
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), np.float32)


def _product(left: Floats, right: Floats) -> Floats:
    """left @ right, in pieces small enough that the BLAS library does not wake its threads.

    They would spin between calls and, on a busy machine, take a hundred times longer than the product itself.
    """
    piece = max(1, _ONE_THREAD // left.size)
    out = np.empty((len(left), right.shape[1]), np.float32)
    for start in range(0, right.shape[1], piece):
        np.matmul(left, right[:, start : start + piece], out=out[:, start : start + piece])
    return out


def tempered(chance: Floats, page: Features) -> Floats:
    """The chances, mixed with a plain rule where they promise little: on kinds of pages that training has not shown."""
    struck = (page.regions & _STRUCK) != 0
    if not page.furniture and page.words[struck].sum() <= _MARKED * page.words.sum():
        return chance
    _, promised = _ranking(chance, page.words)
    weight = min(_MOST_RULE, _DOUBT * (1 - float(promised.max())) ** 2)
    rule = np.where(struck, 0, 1 - 0.5 * page.link_share)
    return np.asarray(chance * (1 - weight) + weight * rule, np.float32)


def choose(chance: Floats, words: Floats) -> npt.NDArray[np.bool_]:
    """The blocks to keep: the cut through the ranking by chance at which expected F1 is highest."""
    order, promised = _ranking(chance, words)
    kept = np.zeros(len(chance), bool)
    kept[order[: int(np.argmax(promised)) + 1]] = True
    return kept


def _ranking(chance: Floats, words: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Blocks by falling chance, and the F1 to expect when all up to each are kept."""
    order = np.argsort(-chance, kind="stable")
    weight = words[order] + 0.01
    expected = np.cumsum(chance[order] * weight)
    return order, 2 * expected / (np.cumsum(weight) + expected[-1])
