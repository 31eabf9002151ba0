"""The network of `weft.parse.model` as it is trained: over the blocks of pages, with its gradients in numpy."""

from collections.abc import Iterator

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


class Example(msgspec.Struct):
    """One page ready for training."""

    matrix: Floats  # block × feature, standardised
    labels: Floats
    words: Floats  # as the score counts them
    low: Integers
    high: Integers
    weight: float = 1.0


class Batch(msgspec.Struct):
    """Several pages under each other."""

    x: Floats
    labels: Floats
    words: Floats
    low: Integers  # per span and row
    high: Integers
    starts: Integers  # first row of each page
    weights: Floats


Parameters = dict[str, Floats]


def initial(features: int, hidden: tuple[int, int, int], spans: int, rng: np.random.Generator) -> Parameters:
    """Small random weights for the given hidden units: first layer, how many of them are averaged, second layer."""

    def layer(rows: int, columns: int) -> Floats:
        return rng.normal(0, np.sqrt(2 / rows), (rows, columns)).astype(np.float32)

    first, averaged, second = hidden
    return {
        "w1": layer(features, first),
        "b1": np.zeros(first, np.float32),
        "w2": layer(first + averaged * spans, second),
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
    starts = np.cumsum([0, *(len(example.matrix) for example in chosen)])[:-1]
    return Batch(
        np.concatenate([e.matrix for e in chosen]),
        np.concatenate([e.labels for e in chosen]),
        np.concatenate([e.words for e in chosen]),
        np.concatenate([e.low + start for e, start in zip(chosen, starts, strict=True)], axis=1),
        np.concatenate([e.high + start for e, start in zip(chosen, starts, strict=True)], axis=1),
        starts,
        np.array([e.weight for e in chosen], np.float32),
    )


def _average(values: Floats, low: Integers, high: Integers) -> Floats:
    """Means over every span: row × (span · unit)."""
    sums = np.zeros((len(values) + 1, values.shape[1]), np.float64)
    np.cumsum(values, axis=0, out=sums[1:])
    means = (sums[high] - sums[low]) / (high - low)[:, :, None]
    return means.transpose(1, 0, 2).reshape(len(values), -1).astype(np.float32)


def _average_back(gradient: Floats, low: Integers, high: Integers) -> Floats:
    """The transpose of `_average`: every row of a span gets its share."""
    spans, rows = low.shape
    parts = gradient.reshape(rows, spans, -1).transpose(1, 0, 2)
    share = (parts / (high - low)[:, :, None]).reshape(spans * rows, -1)
    edges = np.zeros((rows + 1, share.shape[1]), np.float32)
    _scatter(edges, low.ravel(), share)
    _scatter(edges, high.ravel(), -share)
    return np.cumsum(edges, axis=0, dtype=np.float64)[:-1].astype(np.float32)


def _scatter(target: Floats, places: Integers, values: Floats) -> None:
    """target[places] += values, where places repeat; several times faster than np.add.at."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    target[ordered[starts]] += np.add.reduceat(values[order], starts, axis=0)


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


def forward_backward(p: Parameters, batch: Batch, drop: Floats | None = None) -> tuple[float, Parameters]:
    """Loss and gradients of one batch; `drop` scales the hidden units of the second layer in this step."""
    width = p["w1"].shape[1]
    units = (p["w2"].shape[0] - width) // len(batch.low)
    z1 = batch.x @ p["w1"] + p["b1"]
    h1 = np.maximum(z1, 0)
    context = np.concatenate([h1, _average(h1[:, :units], batch.low, batch.high)], axis=1)
    z2 = context @ p["w2"] + p["b2"]
    keep = (z2 > 0) if drop is None else (z2 > 0) * drop
    h2 = z2 * keep
    loss, g = loss_gradient(h2 @ p["w3"] + p["b3"], batch)
    gz2 = np.outer(g, p["w3"]) * keep
    gcontext = gz2 @ p["w2"].T
    gh1 = gcontext[:, :width].copy()
    gh1[:, :units] += _average_back(np.ascontiguousarray(gcontext[:, width:]), batch.low, batch.high)
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
