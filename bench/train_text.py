"""Train the text model, and examine it on pages it has not seen.

    python -m bench.train_text PAGES.parquet --validate [--cache DIR]     by domain, by source, without Chinese
    python -m bench.train_text PAGES.parquet --out src/weft/parse/weights.npz

Needs numpy only. About a minute per model on one core.
"""

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import msgspec
import numpy as np

from bench.text_network import Adam, Batch, Example, Floats, Parameters, batches, forward_backward, initial
from bench.text_pages import Lesson, lessons
from bench.text_rivals import measure_cached
from bench.text_score import score
from weft.parse.features import SPANS, group_rows
from weft.parse.model import Weights
from weft.parse.render import render
from weft.parse.text import judge

_MOST_BLOCKS = 1500  # of one page in training
# Groups of features that a page forgets together, and how often: templates and languages differ, addresses are missing.
_FORGOTTEN: tuple[tuple[tuple[str, ...], float], ...] = (
    (("near", "far"), 0.35),
    (("near",), 0.15),
    (("far",), 0.15),
    (("regions",), 0.15),
    (("regions", "tags", "near", "far"), 0.1),
    (("letters",), 0.2),
    (("hints",), 0.4),
    (("repeats",), 0.2),
)


class Recipe(msgspec.Struct, frozen=True):
    """How to train; swept over one at a time on the folds by domain."""

    epochs: int = 12  # more gain nothing on pages of known sources and lose on those of others
    hidden: tuple[int, int, int] = (24, 8, 24)  # larger ones are no better on pages of other sources
    rate: float = 3e-3
    decay: float = 0.01
    pages: int = 16  # in a batch
    column_drop: float = 0.05
    unit_drop: float = 0.1
    balance: float = 0.7  # a page's weight is its source's size to this negative power
    settled: float = 0.6  # share of the steps after which weights are averaged
    seed: int = 0


def train(pages: list[Lesson], recipe: Recipe) -> Weights:
    """The network's weights, with the scaling of the features folded into the first layer."""
    rng = np.random.default_rng(recipe.seed)
    pages = [page for page in pages if page.labels.max() > 0]
    rows = np.concatenate([page.features.matrix()[:, ::3] for page in pages], axis=1)
    mean, scale = rows.mean(1), rows.std(1) + 0.05
    examples = _examples(pages, mean, scale, recipe.balance)
    parameters = initial(len(mean), recipe.hidden, SPANS, rng)
    average = {name: np.zeros_like(value) for name, value in parameters.items()}
    adam, step = Adam(parameters, recipe.decay), 0
    total = recipe.epochs * -(-len(examples) // recipe.pages)
    for _ in range(recipe.epochs):
        for batch in batches(examples, recipe.pages, rng):
            _forget(batch, recipe.column_drop, rng)
            kept = (rng.random(recipe.hidden[2]) >= recipe.unit_drop) / (1 - recipe.unit_drop)
            _, gradients = forward_backward(parameters, batch, kept.astype(np.float32))
            rate = recipe.rate * min(1, (step + 1) / 50) * 0.5 * (1 + np.cos(np.pi * step / total))
            adam.step(parameters, gradients, rate)
            step += 1
            if step > recipe.settled * total:
                _fold_in(average, parameters, step - int(recipe.settled * total))
    return _weights(average, mean, scale)


def _fold_in(average: Parameters, parameters: Parameters, many: int) -> None:
    """The mean of the last steps generalises better than the last one."""
    for name, value in parameters.items():
        average[name] += (value - average[name]) / many


def _examples(pages: list[Lesson], mean: Floats, scale: Floats, balance: float) -> list[Example]:
    sizes = Counter((page.page.source, page.chinese) for page in pages)
    out = []
    for page in pages:
        matrix = np.clip((page.features.matrix()[:, :_MOST_BLOCKS].T - mean) / scale, -8, 8)
        many = len(matrix)
        low = np.minimum(page.features.spans.low[:, :many], many - 1)
        high = np.minimum(page.features.spans.high[:, :many], many)
        weight = sizes[page.page.source, page.chinese] ** -balance
        out.append(Example(matrix.astype(np.float32), page.labels[:many], page.words[:many], low, high, weight))
    return out


def _forget(batch: Batch, column_drop: float, rng: np.random.Generator) -> None:
    """Set features to their mean, whole groups for a page, single ones for the batch: nothing is relied on alone."""
    ends = np.append(batch.starts[1:], len(batch.x))
    groups = group_rows()
    for start, end in zip(batch.starts, ends, strict=True):
        for names, share in _FORGOTTEN:
            if rng.random() < share:
                for name in names:
                    batch.x[start:end, groups[name]] = 0
    batch.x *= rng.random(batch.x.shape[1]) >= column_drop


def _weights(p: Parameters, mean: Floats, scale: Floats) -> Weights:
    return Weights(
        w1=np.ascontiguousarray((p["w1"] / scale[:, None]).T),
        b1=np.asarray(p["b1"] - (mean / scale) @ p["w1"], np.float32),
        w2=np.ascontiguousarray(p["w2"].T),
        b2=p["b2"],
        w3=p["w3"],
        b3=p["b3"],
    )


def f1(page: Lesson, model: Weights) -> float:
    """The score of a page under a model."""
    _, kept = judge(page.walk, page.features, model)
    return score(render(page.walk, np.flatnonzero(kept).tolist()), page.page.text).f1


def examine(pages: list[Lesson], held_back: Callable[[Lesson], bool], recipe: Recipe) -> dict[str, float]:
    """Train on the rest, score what was held back."""
    model = train([page for page in pages if not held_back(page)], recipe)
    return {page.page.id: f1(page, model) for page in pages if held_back(page)}


def validate(pages: list[Lesson], rival: dict[str, float], recipe: Recipe, folds: int) -> None:
    """Print ours beside the rival's: by domain, then leaving out each source, then leaving out Chinese."""
    found: dict[str, float] = {}
    for fold in range(folds):
        found |= examine(pages, lambda page, fold=fold: page.fold(folds) == fold, recipe)  # type: ignore[misc]
    report(f"{folds} folds by domain", pages, found, rival)
    for source in sorted({page.page.source for page in pages}):
        found = examine(pages, lambda page, source=source: page.page.source == source, recipe)  # type: ignore[misc]
        report(f"without source {source}", pages, found, rival)
    report("without Chinese", pages, examine(pages, lambda page: page.chinese, recipe), rival)


def report(title: str, pages: list[Lesson], found: dict[str, float], rival: dict[str, float]) -> None:
    """Means per group."""
    groups: dict[str, list[str]] = defaultdict(list)
    for page in pages:
        if page.page.id in found:
            language = "Chinese" if page.chinese else "other languages"
            for group in ("all", f"source {page.page.source}", f"type {page.page.page_type}", language):
                groups[group].append(page.page.id)
    print(f"\n{title}")
    for group, ids in groups.items():
        ours, theirs = (sum(scores[page] for page in ids) / len(ids) for scores in (found, rival))
        print(
            f"  {group:22s} {len(ids):5d}  weft {ours:.4f}  trafilatura {theirs:.4f}  {ours - theirs:+.4f}", flush=True
        )


def main() -> None:
    """Train or validate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--cache", type=Path, help="keep what trafilatura says here")
    parser.add_argument("--out", type=Path, help="train on everything and write the weights here")
    arguments = parser.parse_args()
    known = lessons(arguments.pages)
    recipe = Recipe()
    if arguments.validate:
        inputs = [(page.page.id, page.page.html) for page in known]
        runs = measure_cached("trafilatura", inputs, arguments.cache)
        rival = {page.page.id: score(run.text, page.page.text).f1 for page, run in zip(known, runs, strict=True)}
        validate(known, rival, recipe, arguments.folds)
    if arguments.out:
        model = train(known, recipe)
        stored = {name: getattr(model, name) for name in Weights.__struct_fields__}
        np.savez_compressed(arguments.out, **{name: value.astype(np.float16) for name, value in stored.items()})


if __name__ == "__main__":
    main()
