"""Several simulated studies whose truth is known: what they find, name and foretell.

    python benchmarks/accuracy/studies_truth.py run FILE [--parts NAME ...] [--draws N]
    python benchmarks/accuracy/studies_truth.py page FILE

`run` adds a line of JSON to FILE for every draw that is not there yet, `page` prints the tables of
docs/evidence/benchmarks.md. Studies of 24 samples (or 40) and 100 genes, each with a gain (e to
the power of N(0, .3²)) and an offset (N(0, .7²), or 2²) of its own for every gene; 8 genes
tell the classes apart by .8 standard deviations, except in a study that is odd.
Seeds are the numbers of the draws.
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
from genesig.results import Dataset, Design, Fits
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
STUDIES = 5
N = 24
D = 100
TRUE = 8
EFFECT = 0.8
PERMUTED = 19
LINEAR = {**linear(), "tau_count": 6, "mu": [1e-3], "lam": [1e-2, 1e-1, 1.0]}
"""The default settings, with fewer values of each grid."""
FOLD_STEPS = settings()["normalise"]["folds"]
OFFSETS = (0.7, 2.0)
SIZES = (24, 40)
WELL = "well"
ILL = "ill"
STANDARD = "standardise"


def chip(rng: np.random.Generator, y: Array, effects: Array, offset: float = OFFSETS[0]) -> Array:
    """Measure samples whose classes differ by so much, on a chip with a gain and an offset."""
    d = len(effects)
    X = rng.standard_normal((len(y), d)) + np.outer(y - 0.5, effects)
    return 8 + rng.normal(0, offset, d) + np.exp(rng.normal(0, 0.3, d)) * X


def halve_effects(n: int) -> Array:
    return np.arange(n) % 2


def draw_studies(
    rng: np.random.Generator, study_effects: list[Array], offset: float = OFFSETS[0], n: int = N
) -> Data:
    """Draw a study for each row of effects, the classes in equal parts."""
    y = halve_effects(n)
    X = np.vstack([chip(rng, y, effects, offset) for effects in study_effects])
    return Data(
        X,
        np.tile(np.where(y == 1, ILL, WELL), len(study_effects)),
        np.repeat([f"study{k}" for k in range(len(study_effects))], n),
    )


def hold_signs(odd: str = "") -> list[Array]:
    """Return the effects in five studies, in the last of which the genes do not hold."""
    effects = np.where(np.arange(D) < TRUE, EFFECT, 0.0)
    last_effects = {"": effects, "others": np.roll(effects, TRUE), "reversed": -effects}[odd]
    return [*[effects] * (STUDIES - 1), last_effects]


def first_genes(dataset: Dataset, splits: Any) -> set[int]:
    """Return the numbers of the first eight genes by half-frequency, as signature.tsv has them."""
    study = PreparedStudy(dataset, splits, FOLD_STEPS)
    chance = study_half_samples(study, LinearSettings(**LINEAR), permutations=1)
    genes = selection_table(dataset, chance, 1.0)["gene"][:TRUE]
    return {dataset.genes.index(str(gene)) for gene in genes}


def measure_recovery(seed: int, offset: float) -> dict[str, float]:
    """Count true genes among the first eight of all studies, however aligned, and of each study."""
    rng = np.random.default_rng((1, seed))
    data = draw_studies(rng, hold_signs("others"), offset)
    rates = {}
    for align in (AUTO, *STUDYWISE_ALIGNMENTS):
        dataset = pool_studies(data, align)
        rates[align] = share_of_true(first_genes(dataset, splits_of(dataset)))
    study_rates = [
        share_of_true(first_genes(*single_study(data, f"study{k}"))) for k in range(STUDIES)
    ]
    return {
        **rates,
        "best": max(study_rates),
        "mean": float(np.mean(study_rates[:-1])),
        "odd": study_rates[-1],
    }


def share_of_true(genes: set[int]) -> float:
    return float(len(genes & set(range(TRUE))))


def single_study(data: Data, name: str) -> tuple[Dataset, Any]:
    """Return one of the studies as a data set of its own, and its splits by default."""
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
    """Return whether studies.tsv says that the odd study lies apart, and whether of any other."""
    rng = np.random.default_rng((2, seed))
    table = odd_study_told(pool_studies(draw_studies(rng, hold_signs(odd)), STANDARD))
    is_outlying = table[table["row"] == "study"].set_index("study")["apart"] == 1
    last_study = f"study{STUDIES - 1}"
    return {
        "odd": float(is_outlying[last_study]),
        "another": float(is_outlying.drop(last_study).any()),
    }


def odd_study_told(dataset: Dataset) -> pd.DataFrame:
    """Return studies.tsv."""
    splits, fits = observed_fits(dataset, LINEAR)
    return studies_table(dataset, predictions_table(dataset, splits, fits.with_chosen()))


MANY = 250
"""Samples of each class of a sixth study by which its true AUC is known well enough."""


def measure_next_study(seed: int, differ: str, n: int) -> dict[str, float]:
    """Return whether the interval holds what the model of five studies does in a sixth one.

    Twice: its AUC in `MANY` samples of each class, which is what the interval is about, and in a
    study as small as the others.
    """
    rng = np.random.default_rng((3, seed))
    study_effects = [DIFFER[differ](rng) for _ in range(STUDIES + 1)]
    dataset = pool_studies(draw_studies(rng, study_effects[:-1], n=n), STANDARD)
    following = odd_study_told(dataset).set_index("row").loc["next study"]
    study = PreparedStudy(dataset, splits_of(dataset), FOLD_STEPS)
    final = fit_final_model(study, LinearSettings(**LINEAR)).with_chosen()
    y = halve_effects(2 * MANY)
    X = chip(rng, y, study_effects[-1])
    large, small = (auc_of_effect(final, X[:m], y[:m]) for m in (2 * MANY, n))
    low = following["low"]
    high = following["high"]
    return {
        "true": float(low <= large <= high),
        "small": float(low <= small <= high),
        "low": float(low),
        "high": float(high),
        "auc": large,
    }


def auc_of_effect(final: Fits, X: Array, y: Array) -> float:
    """Return the AUC of a model in a new study, which is standardised by itself."""
    genes, weights = final.coef(0, -1)
    score = ((X - X.mean(axis=0)) / X.std(axis=0))[:, genes] @ weights
    positive = y == (max(WELL, ILL) == ILL)  # the last by name
    return delong(np.where(positive, 1, -1), score)[0]


def _equal_effects(rng: np.random.Generator) -> Array:
    return np.where(np.arange(D) < TRUE, EFFECT, 0.0)


def _shift_of_study(rng: np.random.Generator) -> Array:
    return _equal_effects(rng) * np.exp(0.4 * rng.standard_normal())


def _some_odd_genes(rng: np.random.Generator) -> Array:
    return np.roll(_equal_effects(rng), TRUE) if rng.random() < 1 / STUDIES else _equal_effects(rng)


DIFFER = {
    "not at all": _equal_effects,
    "as a whole": _shift_of_study,
    "one in five is odd": _some_odd_genes,
}


def measure_null(seed: int) -> dict[str, float]:
    """Return the permutation p of five studies of noise, and whether any gene is named."""
    rng = np.random.default_rng((4, seed))
    dataset = pool_studies(draw_studies(rng, [np.zeros(D)] * STUDIES), STANDARD)
    splits, fits = observed_fits(dataset, LINEAR)
    _, permuted = observed_fits(dataset, LINEAR, f"permuted-1-{PERMUTED}")
    observed, null = (
        null_errors(dataset, splits, label_fits.with_chosen())["error"][:, -1]
        for label_fits in (fits, permuted)
    )
    return {"p": p_value(float(observed[0]), null), "error": float(observed[0])}


def measure_confounded(seed: int, align: str) -> dict[str, float]:
    """Put most cases into two of four studies, and let nothing but the study tell them apart."""
    rng = np.random.default_rng((5, seed))
    parts = []
    labels = []
    names = []
    for k in range(4):
        y = np.repeat([1, 0] if k < 2 else [0, 1], [18, 6])
        parts.append(chip(rng, y, np.zeros(D)))
        labels += np.where(y == 1, ILL, WELL).tolist()
        names += [f"study{k}"] * len(y)
    dataset = pool_studies(Data(np.vstack(parts), np.array(labels), np.array(names)), align)
    table = odd_study_told(dataset)
    study = PreparedStudy(dataset, splits_of(dataset), FOLD_STEPS)
    chance = study_half_samples(study, LinearSettings(**LINEAR), permutations=MIN_PERMUTATIONS)
    is_selected = selection_table(dataset, chance, settings()["signature"]["fdr"])["fdr_selected"]
    rows = table[table["row"] == "study"]
    return {
        "error": float(rows["error"].mean()),
        "auc": float(rows["value"].mean()),
        "named": float(is_selected.any()),
        "meta": float((meta_table(dataset)["q_value"] <= 0.05).any()),
    }


CONFOUNDED = (STANDARD, "none", AUTO)
PARTS: dict[str, tuple[Callable[[int], dict[str, float]], int]] = {
    **{f"recovery: {each}": (partial(measure_recovery, offset=each), 30) for each in OFFSETS},
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
"""Name of a part -> what a draw of it comes to, and how many there are."""


def run_parts(path: Path, parts: list[str], draws: int | None) -> None:
    """Add the draws that are not there yet to a file, those of the first seeds first."""
    lines = path.read_text().splitlines() if path.exists() else []
    finished = {
        (line_record["part"], line_record["seed"]) for line_record in map(json.loads, lines)
    }
    todo = sorted((seed, part) for part in parts for seed in range(draws or PARTS[part][1]))
    for seed, part in todo:
        if (part, seed) not in finished:
            line = json.dumps({"part": part, "seed": seed, **PARTS[part][0](seed)})
            with path.open("a") as file:
                file.write(line + "\n")


def write_page(path: Path) -> Iterator[str]:
    """Yield the tables of docs/evidence/benchmarks.md."""
    results = pd.read_json(path, lines=True)
    results["above"] = (results["auc"] > results["high"]).astype(float)
    for title, (parts, keys) in TABLES.items():
        yield from ("", f"| {title} | " + " | ".join(keys.values()) + " | draws |")
        yield "| " + " | ".join(["---"] * (len(keys) + 2)) + " |"
        for part, words in parts.items():
            part_rows = results[results["part"] == part]
            cells = [_cell(part_rows[key]) for key in keys]
            yield f"| {words} | " + " | ".join(cells) + f" | {len(part_rows)} |"
    p = results.loc[results["part"] == "null", "p"]
    shares = ", ".join(f"{(p <= at + 1e-9).mean():.3f} at {at}" for at in (0.05, 0.1, 0.2, 0.5))
    yield from ("", f"Share of {len(p)} studies of noise with p of at most so much: {shares}")


def _cell(values: pd.Series[float]) -> str:
    if values.isin((0.0, 1.0)).all():
        return f"{values.mean():.2f}"
    return f"{values.mean():.2f} ± {values.std() / np.sqrt(len(values)):.2f}"


TABLES = {
    "true genes among the first eight": (
        {f"recovery: {each}": f"offsets of {each} standard deviations" for each in OFFSETS},
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
        {"odd": "is said to differ", "another": "another one is"},
    ),
    "how studies differ": (
        {f"next, {n}: {each}": f"{each}, {n} samples each" for n in SIZES for each in DIFFER},
        {
            "true": "interval holds the AUC in a sixth",
            "above": "it lies above",
            "small": "holds that in as few samples of it",
            "low": "lower end",
            "auc": "AUC",
            "high": "upper end",
        },
    ),
    "most cases in two of four studies": (
        {f"confounded: {each}": each for each in CONFOUNDED},
        {
            "error": "balanced error",
            "auc": "AUC",
            "named": "any gene is named",
            "meta": "any gene has q ≤ .05",
        },
    ),
}
"""Heading -> what its rows are about, and what its columns are."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["run", "page"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--draws", type=int)
    given = parser.parse_args()
    if given.command == "run":
        run_parts(given.file, given.parts, given.draws)
    else:
        print(*write_page(given.file), sep="\n")
