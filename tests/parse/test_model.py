"""The model: run time agrees with training, the cut is the best one, a plain rule helps where the model doubts."""

import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

from bench.text_network import Batch, Example, Parameters, assemble, forward_backward, initial
from bench.train_text import _weights
from weft.parse.features import ROWS, SPANS, Features, features
from weft.parse.model import best_cut, chances, choose, tempered, weights
from weft.parse.walk import walk

HIDDEN = (6, 4, 5)
PAGE = (
    "<div role=navigation><a href=/>Home and news and sport and more</a></div>"
    + "<p>Some words, and then some more of them.</p><div>short</div>" * 12
)


def seen() -> Features:
    return features(walk(LexborHTMLParser(PAGE)), "https://example.org/a")


def example(page: Features) -> Example:
    labels = (page.words > 3).astype(np.float32)
    return Example(page.matrix().T.copy(), labels, page.words + 1, page.spans.low, page.spans.high)


def loss(parameters: Parameters, batch: Batch) -> float:
    return forward_backward(parameters, batch)[0]


def test_weights_fit_the_features() -> None:
    assert weights().w1.shape[1] == ROWS
    assert (weights().w2.shape[1] - len(weights().w1)) % SPANS == 0


def test_training_and_run_time_agree() -> None:
    page = seen()
    parameters = initial(ROWS, HIDDEN, SPANS, np.random.default_rng(1))
    parameters["w1"] *= 0.1
    found = chances(page, _weights(parameters, np.zeros(ROWS, np.float32), np.ones(ROWS, np.float32)))
    batch = assemble([example(page)])
    target = batch.labels * np.log(found + 1e-6) + (1 - batch.labels) * np.log(1 - found + 1e-6)
    weight = np.sqrt(batch.words) + 0.3
    hits, kept = (found * batch.words * batch.labels).sum(), (found * batch.words).sum()
    soft = 2 * hits / (kept + (batch.words * batch.labels).sum())
    assert np.isclose(loss(parameters, batch), -(weight * target).sum() / weight.sum() + 1 - soft, atol=1e-4)


def test_gradients_match_differences() -> None:
    page = seen()
    rng = np.random.default_rng(2)
    parameters = {name: value.astype(np.float64) for name, value in initial(ROWS, HIDDEN, SPANS, rng).items()}
    parameters["w1"] *= 0.05
    batch = assemble([example(page), example(page)])
    _, gradients = forward_backward(parameters, batch)  # type: ignore[arg-type]
    for name, value in parameters.items():
        place = np.unravel_index(int(np.argmax(np.abs(gradients[name]))), value.shape)
        losses = []
        for step in (1e-4, -2e-4):
            value[place] += step
            losses.append(loss(parameters, batch))  # type: ignore[arg-type]
        value[place] += 1e-4
        assert np.isclose((losses[0] - losses[1]) / 2e-4, gradients[name][place], rtol=0.05, atol=1e-5), name


def test_the_cut_promises_the_best_f1() -> None:
    chance = np.array([0.9, 0.8, 0.3, 0.05], np.float32)
    words = np.array([100, 50, 10, 400], np.float32)
    assert best_cut(chance, words).tolist() == [True, True, False, False]
    assert best_cut(np.array([0.2], np.float32), np.array([5], np.float32)).tolist() == [True]


@pytest.mark.parametrize(("sentences", "is_kept"), [(30, False), (2, True)])
def test_links_of_doubtful_worth_are_left_out_beside_sure_prose(sentences: int, is_kept: bool) -> None:
    prose = f"<p>{'Some words, and then some more. ' * sentences}</p>"
    page = features(walk(LexborHTMLParser(prose + "<p><a href=x>More of the same elsewhere</a></p>" * 30)))
    chance = np.where(page.link_share > 0, 0.45, 0.95).astype(np.float32)
    assert best_cut(chance, page.words).all()
    assert choose(chance, page).tolist() == [True] + [is_kept] * 30
    assert choose(np.maximum(chance, 0.55), page).all()


def test_a_sure_model_is_left_alone_and_an_unsure_one_is_told_the_rule() -> None:
    page = seen()
    struck = np.arange(len(page.words)) == 0  # the menu
    sure = np.where(struck, 0, 1).astype(np.float32)
    assert np.allclose(tempered(sure, page), sure, atol=0.02)
    unsure = np.full(len(page.words), 0.3, np.float32)
    mixed = tempered(unsure, page)
    assert mixed[0] <= 0.3 < mixed[1]
