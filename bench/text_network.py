"""The text model's training: a small network over the blocks of a page, written out in numpy with its gradients.

h1 = relu(x W1 + b1); context = h1 beside its averages over windows, boxes and the page; h2 = relu(context W2 + b2); logit = h2 w3 + b3.
The forward pass at run time is `weft.parse.model`; a test holds that both agree.
"""

from collections.abc import Iterator

import msgspec
import numpy as np
import numpy.typing as npt

from weft.parse.model import spans

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


class Example(msgspec.Struct):
    """One page ready for training."""

    matrix: npt.NDArray[np.float16]
    labels: Floats
    words: Floats  # as the score counts them
    boxes: Integers
    target: float  # words of the reference text
    weight: float = 1.0


class Batch(msgspec.Struct):
    """Several pages under each other."""

    x: Floats
    labels: Floats
    words: Floats
    low: Integers  # per pool and row
    high: Integers
    starts: Integers  # first row of each page
    targets: Floats
    weights: Floats


Parameters = dict[str, Floats]


def initial(features: int, hidden: tuple[int, int], pools: int, rng: np.random.Generator) -> Parameters:
    """Small random weights."""

    def layer(rows: int, columns: int) -> Floats:
        return rng.normal(0, np.sqrt(2 / rows), (rows, columns)).astype(np.float32)

    first, second = hidden
    return {
        "w1": layer(features, first),
        "b1": np.zeros(first, np.float32),
        "w2": layer(first * (pools + 1), second),
        "b2": np.zeros(second, np.float32),
        "w3": layer(second, 1)[:, 0],
        "b3": np.zeros(1, np.float32),
    }


def batches(examples: list[Example], size: int, rng: np.random.Generator) -> Iterator[Batch]:
    """The examples in random order, `size` pages at a time."""
    order = rng.permutation(len(examples))
    for start in range(0, len(order), size):
        yield assemble([examples[index] for index in order[start : start + size]])


def assemble(chosen: list[Example]) -> Batch:
    """Put pages under each other, moving their spans along."""
    lows, highs, starts, row = [], [], [], 0
    for example in chosen:
        low, high = spans(len(example.matrix), example.boxes)
        lows.append(low + row)
        highs.append(high + row)
        starts.append(row)
        row += len(example.matrix)
    return Batch(
        np.concatenate([e.matrix for e in chosen]).astype(np.float32),
        np.concatenate([e.labels for e in chosen]),
        np.concatenate([e.words for e in chosen]),
        np.concatenate(lows, axis=1),
        np.concatenate(highs, axis=1),
        np.array(starts),
        np.array([e.target for e in chosen], np.float32),
        np.array([e.weight for e in chosen], np.float32),
    )


def _pool(values: Floats, low: Integers, high: Integers) -> Floats:
    sums = np.zeros((len(values) + 1, values.shape[1]), np.float64)
    np.cumsum(values, axis=0, out=sums[1:])
    return ((sums[high] - sums[low]) / (high - low)[:, None]).astype(np.float32)


def _pool_back(gradient: Floats, low: Integers, high: Integers) -> Floats:
    """The transpose of `_pool`: every row of a span gets its share."""
    share = gradient / (high - low)[:, None]
    edges = np.zeros((len(gradient) + 1, gradient.shape[1]), np.float64)
    np.add.at(edges, low, share)
    np.subtract.at(edges, high, share)
    return np.cumsum(edges, axis=0)[:-1].astype(np.float32)


def loss_gradient(logits: Floats, batch: Batch) -> tuple[float, Floats]:
    """Cross-entropy by words plus one minus soft F1, averaged over pages; and its gradient by logit."""
    chance = 1 / (1 + np.exp(-logits))
    rows = np.diff(np.append(batch.starts, len(logits)))
    page = np.repeat(np.arange(len(rows)), rows)
    weight = np.sqrt(batch.words) + 0.3
    total = np.add.reduceat(weight, batch.starts)
    entropy = -(batch.labels * np.log(chance + 1e-6) + (1 - batch.labels) * np.log(1 - chance + 1e-6))
    loss = np.add.reduceat(weight * entropy, batch.starts) / total
    gradient = (chance - batch.labels) * (weight / total[page])
    kept = np.add.reduceat(chance * batch.words, batch.starts)
    hits = np.add.reduceat(chance * batch.words * batch.labels, batch.starts)
    goal = np.maximum(np.add.reduceat(batch.words * batch.labels, batch.starts), 1.0)
    both = kept + goal
    soft = 2 * hits / both
    slope = (
        (2 * batch.words * batch.labels / both[page] - 2 * hits[page] * batch.words / both[page] ** 2)
        * chance
        * (1 - chance)
    )
    share = batch.weights / batch.weights.sum()
    full = float((share * (loss + (1 - soft))).sum())
    return full, ((gradient - slope) * share[page]).astype(np.float32)


def forward_backward(p: Parameters, batch: Batch, drop: npt.NDArray[np.float32] | None) -> tuple[float, Parameters]:
    """Loss and gradients of one batch; `drop` scales the hidden units kept in this step."""
    z1 = batch.x @ p["w1"] + p["b1"]
    h1 = np.maximum(z1, 0)
    context = np.concatenate(
        [h1, *(_pool(h1, low, high) for low, high in zip(batch.low, batch.high, strict=True))], axis=1
    )
    z2 = context @ p["w2"] + p["b2"]
    h2 = np.maximum(z2, 0)
    if drop is not None:
        h2 = h2 * drop
    logits = h2 @ p["w3"] + p["b3"]
    loss, g = loss_gradient(logits, batch)
    gh2 = np.outer(g, p["w3"])
    if drop is not None:
        gh2 = gh2 * drop
    gz2 = gh2 * (z2 > 0)
    gcontext = gz2 @ p["w2"].T
    width = h1.shape[1]
    gh1 = gcontext[:, :width].copy()
    for place, (low, high) in enumerate(zip(batch.low, batch.high, strict=True), start=1):
        gh1 += _pool_back(gcontext[:, place * width : (place + 1) * width], low, high)
    gz1 = gh1 * (z1 > 0)
    gradients = {
        "w1": batch.x.T @ gz1,
        "b1": gz1.sum(0),
        "w2": context.T @ gz2,
        "b2": gz2.sum(0),
        "w3": h2.T @ g,
        "b3": np.array([g.sum()], np.float32),
    }
    return loss, gradients


class Adam:
    """Adam with decoupled weight decay."""

    def __init__(self, parameters: Parameters, decay: float) -> None:
        self.mean = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.square = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.decay, self.step_count = decay, 0

    def step(self, parameters: Parameters, gradients: Parameters, rate: float) -> None:
        """Move the parameters in place."""
        self.step_count += 1
        for name, gradient in gradients.items():
            self.mean[name] += 0.1 * (gradient - self.mean[name])
            self.square[name] += 0.01 * (gradient * gradient - self.square[name])
            mean = self.mean[name] / (1 - 0.9**self.step_count)
            square = self.square[name] / (1 - 0.99**self.step_count)
            decay = self.decay if name.startswith("w") else 0.0
            parameters[name] -= rate * (mean / (np.sqrt(square) + 1e-7) + decay * parameters[name])
