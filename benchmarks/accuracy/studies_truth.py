"""Recovery, odd studies, prediction intervals and errors of several simulated studies.

    python benchmarks/accuracy/studies_truth.py run FILE [--parts NAME ...] [--draws N]
    python benchmarks/accuracy/studies_truth.py page FILE

`run` adds a line of JSON to FILE for every missing draw, `page` prints the tables of
docs/evidence/benchmarks.md. Each of five studies has 24 (or 40) samples and 100 genes, with its own
gain (exp of N(0, .3²)) and offset (N(0, .7²), or 2²) for every gene; 8 genes differ between the
classes by .8 standard deviations, but not in an odd study. The number of a draw is its seed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from studies import Data, linear, observed_fits, pool_studies, settings, splits_of

from genesig.data.files.readers import load_schema
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.alignment import AUTO, STUDYWISE_ALIGNMENTS
from genesig.data.validate import study_config
from genesig.results import Dataset, Design, Fits, Splits
from genesig.selection.assess.controls import null_errors, p_value
from genesig.selection.assess.held_out import predictions_table
from genesig.selection.assess.intervals import delong
from genesig.selection.gather import selection_table
from genesig.selection.genes.frequency import MIN_PERMUTATIONS
from genesig.selection.left_out_studies import studies_table
from genesig.selection.linear.half_samples import study_half_samples
from genesig.selection.linear.nested_cross_validation import fit_final_model
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy
from genesig.selection.meta_analysis import meta_table

Array = np.ndarray[Any, Any]
N_STUDIES = 5
N = 24  # samples of a study
D = 100  # genes
N_TRUE = 8
EFFECT = 0.8  # standard deviations
N_PERMUTATIONS = 19
N_LARGE = 250
"""Samples of each class of a sixth study, in which the true AUC is measured well enough."""
LINEAR = {**linear(), "tau_count": 6, "mu": [1e-3], "lam": [1e-2, 1e-1, 1.0]}
"""The default settings, with fewer values of each grid."""
FOLD_STEPS = settings()["normalise"]["folds"]
OFFSETS = (0.7, 2.0)
SIZES = (24, 40)
WELL = "well"
ILL = "ill"
STANDARD = "standardise"


def draw_chip(
    rng: np.random.Generator, y: Array, effects: Array, offset: float = OFFSETS[0]
) -> Array:
    """Return values (n, D) of samples on a chip with its own gain and offset of each gene.

    y: classes, 0 or 1; effects (D,): class differences, in standard deviations.
    """
    d = len(effects)
    X = rng.standard_normal((len(y), d)) + np.outer(y - 0.5, effects)
    return 8 + rng.normal(0, offset, d) + np.exp(rng.normal(0, 0.3, d)) * X


def alternate_classes(n: int) -> Array:
    """Return classes 0 and 1 in turn."""
    return np.arange(n) % 2


def draw_studies(
    rng: np.random.Generator, study_effects: list[Array], offset: float = OFFSETS[0], n: int = N
) -> Data:
    """Return a study of n samples for each array of effects (D,), the classes of equal size."""
    y = alternate_classes(n)
    X = np.vstack([draw_chip(rng, y, effects, offset) for effects in study_effects])
    return Data(
        X,
        np.tile(np.where(y == 1, ILL, WELL), len(study_effects)),
        np.repeat([f"study{k}" for k in range(len(study_effects))], n),
    )


def effects_of_studies(odd: str) -> list[Array]:
    """Return the effects (D,) of five studies; odd: "others" or "reversed" in the last, or ""."""
    effects = np.where(np.arange(D) < N_TRUE, EFFECT, 0.0)
    last_effects = {"": effects, "others": np.roll(effects, N_TRUE), "reversed": -effects}[odd]
    return [*[effects] * (N_STUDIES - 1), last_effects]


def count_true_genes(dataset: Dataset, splits: Splits) -> float:
    """Return the number of true genes among the eight with the largest half-sample frequency."""
    study = PreparedStudy(dataset, splits, FOLD_STEPS)
    half_sample_study = study_half_samples(study, LinearSettings(**LINEAR), permutations=1)
    genes = selection_table(dataset, half_sample_study, 1.0)["gene"][:N_TRUE]
    return float(sum(dataset.genes.index(str(gene)) < N_TRUE for gene in genes))


def measure_recovery(seed: int, offset: float) -> dict[str, float]:
    """Return the true genes of all studies by each alignment, and of single studies."""
    rng = np.random.default_rng((1, seed))
    data = draw_studies(rng, effects_of_studies("others"), offset)
    counts = {}
    for align in (AUTO, *STUDYWISE_ALIGNMENTS):
        dataset = pool_studies(data, align)
        counts[align] = count_true_genes(dataset, splits_of(dataset))
    single_counts = [count_true_genes(*single_study(data, f"study{k}")) for k in range(N_STUDIES)]
    return {
        **counts,
        "best": max(single_counts),
        "mean": float(np.mean(single_counts[:-1])),
        "odd": single_counts[-1],
    }


def single_study(data: Data, name: str) -> tuple[Dataset, Splits]:
    """Return one of the studies as a data set without studies, and its default splits."""
    is_study = data.study == name
    dataset = pool_studies(
        Data(data.X[is_study], data.label[is_study], data.study[is_study]), "none"
    )
    design = Design("label", "classification", dataset.design.classes, None, None)
    dataset = Dataset(dataset.X, dataset.obs, dataset.var, design, dataset.provenance)
    names = {"expression": "e.tsv", "samples": "s.tsv", "label": "label"}
    config = study_config(names, load_schema(), source="defaults")
    return dataset, draw_splits(dataset, seed=0, **config["splits"])


def measure_odd_study(seed: int, odd: str) -> dict[str, float]:
    """Return whether studies.tsv reports the odd study as different, and whether another study."""
    rng = np.random.default_rng((2, seed))
    table = table_of_studies(pool_studies(draw_studies(rng, effects_of_studies(odd)), STANDARD))
    is_apart = table[table["row"] == "study"].set_index("study")["apart"] == 1
    last_study = f"study{N_STUDIES - 1}"
    return {
        "odd": float(is_apart[last_study]),
        "another": float(is_apart.drop(last_study).any()),
    }


def table_of_studies(dataset: Dataset) -> pd.DataFrame:
    """Return studies.tsv of pooled studies."""
    splits, fits = observed_fits(dataset, LINEAR)
    return studies_table(dataset, predictions_table(dataset, splits, fits.with_chosen()))


def measure_next_study(seed: int, differ: str, n: int) -> dict[str, float]:
    """Return whether the prediction interval contains the AUC of the model in a sixth study.

    "true": the AUC in `N_LARGE` samples of each class, which the interval predicts; "small": the
    AUC in as few samples as a study has.
    """
    rng = np.random.default_rng((3, seed))
    study_effects = [DIFFER[differ](rng) for _ in range(N_STUDIES + 1)]
    dataset = pool_studies(draw_studies(rng, study_effects[:-1], n=n), STANDARD)
    next_study = table_of_studies(dataset).set_index("row").loc["next study"]
    study = PreparedStudy(dataset, splits_of(dataset), FOLD_STEPS)
    final = fit_final_model(study, LinearSettings(**LINEAR)).with_chosen()
    y = alternate_classes(2 * N_LARGE)
    X = draw_chip(rng, y, study_effects[-1])
    large, small = (auc_in_study(final, X[:m], y[:m]) for m in (2 * N_LARGE, n))
    low = next_study["low"]
    high = next_study["high"]
    return {
        "true": float(low <= large <= high),
        "small": float(low <= small <= high),
        "low": float(low),
        "high": float(high),
        "auc": large,
    }


def auc_in_study(final: Fits, X: Array, y: Array) -> float:
    """Return the AUC of the chosen list in a new study, which is standardised by itself."""
    genes, weights = final.coef(0, -1)
    score = ((X - X.mean(axis=0)) / X.std(axis=0))[:, genes] @ weights
    is_positive = y == (max(WELL, ILL) == ILL)  # the positive class is the last by name
    return delong(np.where(is_positive, 1, -1), score)[0]


def _equal_effects(rng: np.random.Generator) -> Array:
    return np.where(np.arange(D) < N_TRUE, EFFECT, 0.0)


def _scaled_effects(rng: np.random.Generator) -> Array:
    return _equal_effects(rng) * np.exp(0.4 * rng.standard_normal())


def _sometimes_other_genes(rng: np.random.Generator) -> Array:
    effects = _equal_effects(rng)
    return np.roll(effects, N_TRUE) if rng.random() < 1 / N_STUDIES else effects


# How studies differ -> function of a generator that draws the effects (D,) of a study.
DIFFER = {
    "not at all": _equal_effects,
    "as a whole": _scaled_effects,
    "one in five is odd": _sometimes_other_genes,
}


def measure_null(seed: int) -> dict[str, float]:
    """Return the permutation p and the error of five studies of noise."""
    rng = np.random.default_rng((4, seed))
    dataset = pool_studies(draw_studies(rng, [np.zeros(D)] * N_STUDIES), STANDARD)
    splits, fits = observed_fits(dataset, LINEAR)
    _, permuted = observed_fits(dataset, LINEAR, f"permuted-1-{N_PERMUTATIONS}")
    observed, null = (
        null_errors(dataset, splits, label_fits.with_chosen())["error"][:, -1]
        for label_fits in (fits, permuted)
    )
    return {"p": p_value(float(observed[0]), null), "error": float(observed[0])}


def measure_confounded(seed: int, align: str) -> dict[str, float]:
    """Return the error and selected genes of noise if most cases are in two of four studies."""
    rng = np.random.default_rng((5, seed))
    parts = []
    labels = []
    names = []
    for k in range(4):
        y = np.repeat([1, 0] if k < 2 else [0, 1], [18, 6])
        parts.append(draw_chip(rng, y, np.zeros(D)))
        labels += np.where(y == 1, ILL, WELL).tolist()
        names += [f"study{k}"] * len(y)
    dataset = pool_studies(Data(np.vstack(parts), np.array(labels), np.array(names)), align)
    table = table_of_studies(dataset)
    study = PreparedStudy(dataset, splits_of(dataset), FOLD_STEPS)
    half_sample_study = study_half_samples(
        study, LinearSettings(**LINEAR), permutations=MIN_PERMUTATIONS
    )
    genes = selection_table(dataset, half_sample_study, settings()["signature"]["fdr"])
    rows = table[table["row"] == "study"]
    return {
        "error": float(rows["error"].mean()),
        "auc": float(rows["value"].mean()),
        "fdr_selected": float(genes["fdr_selected"].any()),
        "meta": float((meta_table(dataset)["q_value"] <= 0.05).any()),
    }


CONFOUNDED = (STANDARD, "none", AUTO)
PARTS: dict[str, tuple[Callable[[int], dict[str, float]], int]] = {
    **{f"recovery: {offset}": (partial(measure_recovery, offset=offset), 30) for offset in OFFSETS},
    **{
        f"odd: {odd}": (partial(measure_odd_study, odd=odd), 100)
        for odd in ("others", "reversed", "")
    },
    **{
        f"next, {n}: {differ}": (partial(measure_next_study, differ=differ, n=n), 300)
        for n in SIZES
        for differ in DIFFER
    },
    "null": (measure_null, 100),
    **{
        f"confounded: {align}": (partial(measure_confounded, align=align), 30)
        for align in CONFOUNDED
    },
}
"""Name of a part -> function of a seed that measures a draw, default number of draws."""


def run_parts(path: Path, parts: list[str], draws: int | None) -> None:
    """Add the missing draws of some parts to a file, in the order of seeds."""
    lines = path.read_text().splitlines() if path.exists() else []
    finished = {(line["part"], line["seed"]) for line in map(json.loads, lines)}
    jobs = sorted((seed, part) for part in parts for seed in range(draws or PARTS[part][1]))
    for seed, part in jobs:
        if (part, seed) not in finished:
            measure, _ = PARTS[part]
            line = json.dumps({"part": part, "seed": seed, **measure(seed)})
            with path.open("a") as file:
                file.write(line + "\n")


def write_page(path: Path) -> Iterator[str]:
    """Yield the tables of docs/evidence/benchmarks.md."""
    results = pd.read_json(path, lines=True)
    results["above"] = (results["auc"] > results["high"]).astype(float)
    for title, (parts, columns) in TABLES.items():
        yield from ("", f"| {title} | " + " | ".join(columns.values()) + " | draws |")
        yield "| " + " | ".join(["---"] * (len(columns) + 2)) + " |"
        for part, row_title in parts.items():
            part_rows = results[results["part"] == part]
            cells = [_cell(part_rows[column]) for column in columns]
            yield f"| {row_title} | " + " | ".join(cells) + f" | {len(part_rows)} |"
    p = results.loc[results["part"] == "null", "p"]
    levels = (0.05, 0.1, 0.2, 0.5)
    shares = ", ".join(f"{(p <= level + 1e-9).mean():.3f} at {level}" for level in levels)
    yield from ("", f"Share of {len(p)} studies of noise with p of at most a level: {shares}")


def _cell(values: pd.Series[float]) -> str:
    """Return the mean, ± its standard error unless the values are 0 and 1."""
    if values.isin((0.0, 1.0)).all():
        return f"{values.mean():.2f}"
    return f"{values.mean():.2f} ± {values.std() / np.sqrt(len(values)):.2f}"


TABLES = {
    "true genes among the first eight": (
        {f"recovery: {offset}": f"offsets of {offset} standard deviations" for offset in OFFSETS},
        {
            STANDARD: STANDARD,
            "centre": "centre",
            "rank": "rank",
            AUTO: AUTO,
            "none": "none",
            "best": "best single study",
            "mean": "a single study",
            "odd": "the odd study",
        },
    ),
    "fifth study": (
        {
            "odd: ": "like the others",
            "odd: others": "other genes differ",
            "odd: reversed": "genes differ the other way",
        },
        {"odd": "reported as different", "another": "another study reported"},
    ),
    "how studies differ": (
        {f"next, {n}: {name}": f"{name}, {n} samples each" for n in SIZES for name in DIFFER},
        {
            "true": "interval contains the AUC in a sixth study",
            "above": "AUC lies above",
            "small": "contains the AUC in as few samples of it",
            "low": "lower end",
            "auc": "AUC",
            "high": "upper end",
        },
    ),
    "most cases in two of four studies": (
        {f"confounded: {align}": align for align in CONFOUNDED},
        {
            "error": "balanced error",
            "auc": "AUC",
            "fdr_selected": "any gene FDR-selected",
            "meta": "any gene has q ≤ 0.05",
        },
    ),
}
"""Heading of a table -> titles of its rows by part, titles of its columns by key."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "page"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--draws", type=int)
    options = parser.parse_args()
    if options.command == "run":
        run_parts(options.file, options.parts, options.draws)
    else:
        print(*write_page(options.file), sep="\n")
