"""The model that tells main text from the rest: weights learned by bench/train_text.py, a forward pass in numpy.

In: `Features`. Out: the chance of each block to be main text, and the blocks to keep. Called by `weft.parse.text`.
"""

import os
from functools import cache
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

from weft.parse.features import BLOCK_ROWS, Features
from weft.parse.traits import ROWS as PLACE_ROWS
from weft.parse.vocabulary import REGIONS

Floats = npt.NDArray[np.float32]
WEIGHTS = "weights.npz"
# What a person would strike out on any page, whatever the model has or has not seen.
_STRUCK = sum(
    1 << REGIONS.index(region) for region in ("nav", "footer", "aside", "dialog", "button", "noscript", "form")
)
_MARKED = 0.03  # share of words struck out from which the rule has something to say; or there is furniture
# How much the rule counts: a multiple of the square of the doubt, up to a limit. Swept from 0 to 8 and from 0 to 0.4:
# without it, a model that has seen only articles keeps half of what a service page says.
_DOUBT, _MOST_RULE = 3.0, 0.2
# When links beside prose are doubted: sure words, from 15 to 150, and the least chance, from 0.4 to 0.6, were swept. On
# sources and languages left out of training it gains up to .01; more of it costs listings as much.
_LINKED, _SURE, _PROSE, _EVEN = 0.5, 0.9, 100, 0.5
_PAGE_ROW = BLOCK_ROWS + PLACE_ROWS  # the first of the features that a page's blocks share
# Multiplications up to which OpenBLAS stays in the calling thread; always, if it has been told to.
_ONE_THREAD = 1 << 62 if os.environ.get("OPENBLAS_NUM_THREADS") == "1" else 1 << 18


class Weights(msgspec.Struct, frozen=True):
    """h1 = relu(w1 x + b1); h2 = relu(w2 (h1 and, over each span, averages of its first units) + b2); w3 h2 + b3."""

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


def chances(page: Features, model: Weights) -> Floats:
    """The chance of each block to be main text."""
    spans, many = page.spans.low.shape
    first = len(model.w1)
    units = (model.w2.shape[1] - first) // spans
    shared = _product(page.places.T, model.w1[:, BLOCK_ROWS:_PAGE_ROW].T)
    shared += model.w1[:, _PAGE_ROW:] @ page.page + model.b1
    hidden = _product(page.blocks.T, model.w1[:, :BLOCK_ROWS].T)
    hidden += shared.take(page.place, axis=0)
    np.maximum(hidden, 0, out=hidden)
    sums = np.zeros((many + 1, units), np.float32)
    hidden[:, :units].cumsum(0, out=sums[1:])
    averages = sums.take(page.spans.high.T, axis=0)
    averages -= sums.take(page.spans.low.T, axis=0)
    averages /= page.spans.size.T[:, :, None]
    second = _product(hidden, model.w2[:, :first].T)
    second += _product(averages.reshape(many, spans * units), model.w2[:, first:].T)
    second += model.b2
    np.maximum(second, 0, out=second)
    logits = _product(second, model.w3[:, None])[:, 0] + model.b3
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * logits), np.float32)


def _product(left: Floats, right: Floats) -> Floats:
    """left @ right, in pieces small enough that the BLAS library does not wake its threads.

    They would spin between calls and, on a busy machine, take a hundred times longer than the product itself.
    """
    piece = max(1, _ONE_THREAD // right.size)
    out = np.empty((len(left), right.shape[1]), np.float32)
    for start in range(0, len(left), piece):
        np.matmul(left[start : start + piece], right, out=out[start : start + piece])
    return out


def struck(page: Features) -> npt.NDArray[np.bool_]:
    """The blocks in menus, forms and the like."""
    return np.asarray(((page.regions & _STRUCK) != 0).take(page.place))


def tempered(chance: Floats, page: Features) -> Floats:
    """The chances, mixed with a plain rule where they promise little: on kinds of pages that training has not shown."""
    outside = struck(page)
    if not page.furniture and page.words[outside].sum() <= _MARKED * page.words.sum():
        return chance
    _, promised = _ranking(chance, page.words)
    weight = min(_MOST_RULE, _DOUBT * (1 - float(promised.max())) ** 2)
    rule = 1 - 0.5 * page.link_share
    rule[outside] = 0
    return np.asarray(chance + weight * (rule - chance))


def choose(chance: Floats, page: Features) -> npt.NDArray[np.bool_]:
    """The blocks to keep: those up to the best cut. Beside sure prose, links only if they are likelier than not.

    What F1 to expect is reckoned as if blocks were independent; but entries of a list are all main text, or none is.
    """
    kept = best_cut(chance, page.words)
    linked = page.link_share > _LINKED
    if page.words[(chance > _SURE) & ~linked].sum() >= _PROSE:
        kept &= ~linked | (chance >= _EVEN)
    return kept


def best_cut(chance: Floats, words: Floats) -> npt.NDArray[np.bool_]:
    """The blocks above the cut through the ranking by chance at which expected F1 is highest."""
    order, promised = _ranking(chance, words)
    kept = np.zeros(len(chance), bool)
    kept[order[: int(promised.argmax()) + 1]] = True
    return kept


def _ranking(chance: Floats, words: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Blocks by falling chance, and the F1 to expect when all up to each are kept."""
    order = (-chance).argsort(kind="stable")
    weight = words.take(order) + 0.01
    expected = (chance.take(order) * weight).cumsum()
    return order, 2 * expected / (weight.cumsum() + expected[-1])
