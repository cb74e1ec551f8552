"""Compare FDR-selected genes by one E(t) of all samples with those by an E(t) of each training set.

    python benchmarks/accuracy/fdr_selected_nested.py [--sets 3] [--out FILE] [DATA ...]

A study counts the genes that halves select by chance once for all its training sets: permutation b
permutes all samples and takes outer split b (`study_half_samples`). Fully nested, each outer
training set permutes the labels of its own samples, 100 times again, without its test samples. Both
ways select genes and fit the model of the FDR-selected genes, on the same splits and halves.

DATA are names of answers.py, or kinds of simulated studies (`DRAWN`), of which `--sets` are drawn:
1000 genes in blocks of ten (r .7), of which ten differ by 1.2 standard deviations. Without any:
golub, alon, singh and all kinds. Outer splits: 5 folds, 2 repeats (simulated: 1).

Printed for each: E(t) by both at the thresholds of the training sets (the smallest t with q <= .1
by the one E; 0 where no gene passes, and left out), the standard error of the one E there, the
share of training sets in which it is the smaller one; genes with q <= .1 by both, their mean
Jaccard index; balanced error of the model of the FDR-selected genes by both, on held-out samples;
and, if the truth is known, the true genes and the mean share of false genes of both.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from answers_data import OTHER_SOURCES, PUBLISHED, Source
from fdr_selected_genes import BLOCK, GENES, TRUE, are_true
from study import settings, splits_of

from genesig.data.splits.folds import CHANCE
from genesig.data.steps.normalise import bind_steps, normalise_samples
from genesig.results import Dataset, Design, Split, Splits
from genesig.results.splits import PAIRS_OF_TRAINING_SET, HalfSampleStudy
from genesig.selection.genes.frequency import count_tails, expected_tails, selection_q
from genesig.selection.linear.answers import HalfSelection, NullTails, fit_fdr_selected
from genesig.selection.linear.half_samples import (
    count_pairs,
    select_half_samples,
    study_half_samples,
)
from genesig.selection.linear.kinds import inner_elastic_nets, outer_elastic_nets
from genesig.selection.linear.training_sets import (
    LinearSettings,
    NormalisedMatrix,
    PreparedStudy,
    linear_keywords,
)

Array = np.ndarray[Any, Any]
PUBLISHED_DATA = ("golub", "alon", "singh")


class SelectedGenes(NamedTuple):
    """Results of a training set by one E(t): E, FDR-selected genes, scores of test samples."""

    chance: Array
    genes: Array
    scores: Array


class Fold(NamedTuple):
    """One outer split: how often its halves list each gene, its test rows, and both answers."""

    times: Array
    test: Array
    one: SelectedGenes
    nested: SelectedGenes


def draw_study(n: int, share: float, seed: int, **design: Any) -> Dataset:
    """Return a study of two classes, `share` of its n samples ill; columns are in `design`."""
    rng = np.random.default_rng((seed, n, int(100 * share)))
    y = rng.permutation(np.arange(n) < share * n)
    obs = {"state": np.where(y, "ill", "well")}
    X = np.sqrt(0.7) * np.repeat(rng.normal(size=(n, GENES // BLOCK)), BLOCK, axis=1)
    X += np.sqrt(0.3) * rng.normal(size=(n, GENES))
    X[:, : TRUE * BLOCK : BLOCK] += 1.2 * y[:, None]
    if "group" in design:  # of 1 to 8 samples and one class; a fifth of the variance is theirs
        sizes = rng.choice([1, 1, 2, 2, 3, 8], n)
        patient = np.empty(n, dtype=int)
        patient[np.argsort(y, kind="stable")] = np.repeat(np.arange(n), sizes)[:n]
        patient += n * y
        X += rng.normal(0, 0.5, (2 * n, GENES))[patient]
        obs["patient"] = np.array([f"p{patient_number:03d}" for patient_number in patient])
    if "batch" in design:  # 70 % of the ill ones, 30 % of the others; it moves every gene
        second = rng.random(n) < np.where(y, 0.7, 0.3)
        X += np.outer(second, rng.normal(0, 1, GENES))
        obs["batch"] = np.where(second, "b", "a")
    samples = [f"S{k:03d}" for k in range(n)]
    genes = [f"g{k:04d}" for k in range(GENES)]
    design_settings = {"group": None, "pair": None, **design}
    return Dataset(
        X,
        pd.DataFrame(obs, index=samples),
        pd.DataFrame({"symbol": genes}, index=genes),
        Design("state", "classification", ("well", "ill"), **design_settings),
        {},
    )


DRAWN: dict[str, dict[str, Any]] = {
    "even": {"n": 60, "share": 0.5},
    "80:20": {"n": 80, "share": 0.2},
    "groups": {"n": 90, "share": 0.5, "group": "patient"},
    "batch": {"n": 80, "share": 0.5, "batch": "batch"},
}


def config_of(dataset: Dataset, repeats: int) -> dict[str, Any]:
    """Return the defaults, and what the design asks for: ComBat where there are batches."""
    scheme = "stratified_kfold" if dataset.design.group is None else "stratified_group_kfold"
    config = settings(
        {}, splits={"folds": 5, "repeats": repeats, "subsamples": 0, "scheme": scheme}
    )
    if dataset.design.batch is not None:
        folds = [{"step": "combat", "covariates": []}, *config["normalise"]["folds"]]
        config["normalise"]["folds"] = bind_steps(folds, dataset)
    return config


def nested_null_tails(
    dataset: Dataset, splits: Splits, split: Split, config: dict[str, Any], protocol: LinearSettings
) -> NullTails:
    """Return E(t) of a training set, and of what trains its folds, by its own samples alone."""
    rows = dataset.rows(split.train)
    folds = config["normalise"]["folds"]
    training_data = replace(dataset, X=dataset.X[rows], obs=dataset.obs.iloc[rows])
    alone = replace(split, test=())
    numbers = range(1, config["signature"]["permutations"] + 1)
    half_counts = count_pairs(PAIRS_OF_TRAINING_SET, protocol)
    study = PreparedStudy(training_data, replace(splits, outer=()), folds)
    todo = study.make_training_sets([alone], numbers, half_counts=half_counts, stage=CHANCE)
    outer_tails = []
    inner = []
    for matrix in study.group_by_matrix(todo, 500):
        training_sets = matrix.training_sets
        sets = outer_elastic_nets(matrix, protocol)
        halves = [(k, task.halves) for k, task in enumerate(training_sets)]
        inner_halves = [task.inner_halves for task in training_sets]
        of_folds = [
            (k, fold_halves[training_sets[k].permutation % len(fold_halves)])
            for k, fold_halves in enumerate(inner_halves)
        ]
        for tails, half_samples in ((outer_tails, halves), (inner, of_folds)):
            lists = select_half_samples(sets, training_sets, half_samples, protocol)
            tails += [count_tails(times[None], lists.n_lists)[0] for times in lists.counts()]
    return NullTails(expected_tails(np.array(outer_tails)), expected_tails(np.array(inner)))


def compare_folds(
    dataset: Dataset, config: dict[str, Any], seed: int
) -> Iterator[tuple[Fold, HalfSampleStudy]]:
    """Yield what each outer split says by both, and the chance of the study."""
    splits = splits_of(dataset, config, seed=seed)
    steps = config["normalise"]["folds"]
    count = config["signature"]["permutations"]
    protocol = LinearSettings(**linear_keywords(config))
    prepared_study = PreparedStudy(dataset, splits, steps)
    study = study_half_samples(prepared_study, protocol, permutations=count)
    null_tails = NullTails.from_study(study, "outer")
    assert null_tails is not None
    todo = prepared_study.make_training_sets(
        splits.outer, half_counts=count_pairs(PAIRS_OF_TRAINING_SET, protocol)
    )
    for matrix in prepared_study.group_by_matrix(todo, 1):
        training_sets = matrix.training_sets
        (split,) = (
            split_of_study
            for split_of_study in splits.outer
            if split_of_study.name == training_sets[0].split
        )
        sets = outer_elastic_nets(matrix, protocol)
        inner = inner_elastic_nets(training_sets, sets)
        halves = [(0, training_sets[0].halves)]
        (times,) = select_half_samples(sets, training_sets, halves, protocol).counts()
        nested = nested_null_tails(dataset, splits, split, config, protocol)
        expectations = [
            _select_genes(matrix, sets, inner, times, chance, protocol)
            for chance in (null_tails, nested)
        ]
        all_counts = np.zeros(len(dataset.genes), dtype=np.int64)
        all_counts[matrix.genes] = times
        yield Fold(all_counts, training_sets[0].test, *expectations), study


def _select_genes(
    matrix: NormalisedMatrix,
    sets: Any,
    inner: Any,
    times: Array,
    chance: NullTails,
    protocol: LinearSettings,
) -> SelectedGenes:
    todo = matrix.training_sets
    half_selection = HalfSelection.from_training_sets(todo, sets, protocol)
    (model,), _, _ = fit_fdr_selected(todo, sets, inner, protocol, chance, half_selection)
    listed = np.flatnonzero(selection_q(times, chance.outer) <= protocol.fdr)
    return SelectedGenes(chance.outer, matrix.genes[listed], model.scores(matrix.X, todo[0].test))


def summarise_study(
    dataset: Dataset, folds: list[Fold], study: HalfSampleStudy, has_truth: bool
) -> dict[str, Any]:
    """Sum up what both said."""
    y = dataset.response()
    at = []
    measures = {}
    for fold in folds:
        if len(fold.one.genes):
            t = int(fold.times[fold.one.genes].min())
            at.append((fold.one.chance[t], fold.nested.chance[t], t))
    ones, nested, threshold = np.array(at).T if at else np.full((3, 1), np.nan)
    error = study.outer[:, threshold.astype(int)].std(axis=0).mean() / 10 if at else np.nan
    for name in ("one", "nested"):
        named_of_folds = [getattr(fold, name) for fold in folds]
        wrong = [
            (s.scores > 0) != (y[f.test] > 0) for s, f in zip(named_of_folds, folds, strict=True)
        ]
        of = np.concatenate([y[fold.test] for fold in folds])
        rates = [np.concatenate(wrong)[of == item].mean() for item in (-1, 1)]
        measures |= {
            f"named_{name}": np.mean([len(item.genes) for item in named_of_folds]),
            f"error_{name}": np.mean(rates),
        }
        if has_truth:
            true = [are_true(item.genes) for item in named_of_folds]
            measures |= {
                f"true_{name}": np.mean([item.sum() for item in true]),
                f"false_{name}": np.mean([np.mean(~t) if len(t) else 0 for t in true]),
            }
    gene_sets = [(set(fold.one.genes), set(fold.nested.genes)) for fold in folds]
    jaccard_indices = [len(a & b) / len(a | b) for a, b in gene_sets if a | b]
    return {
        "splits": len(folds),
        "with_genes": len(at),
        "t": np.mean(threshold),
        "expected_one": np.mean(ones),
        "expected_nested": np.mean(nested),
        "standard_error": error,
        "one_smaller": np.mean(ones < nested),
        "jaccard": np.mean(jaccard_indices) if jaccard_indices else np.nan,
        **measures,
    }


def studies(name: str, sets: int) -> Iterator[tuple[Dataset, dict[str, Any]]]:
    """Yield the studies of a name, with their configs."""
    if name in PUBLISHED or name in OTHER_SOURCES:
        dataset = Source.of(name).read()
        yield dataset, config_of(dataset, 2)
        return
    for seed in range(sets):
        dataset = draw_study(seed=seed, **DRAWN[name])
        yield dataset, config_of(dataset, 1)


def main() -> None:
    """Run what is asked for, print it and write it."""
    asks = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asks.add_argument("data", nargs="*", metavar="DATA")
    asks.add_argument("--sets", type=int, default=3)
    asks.add_argument("--out", type=Path)
    options = asks.parse_args()
    rows = []
    for name in options.data or (*PUBLISHED_DATA, *DRAWN):
        for seed, (dataset, config) in enumerate(studies(name, options.sets)):
            dataset = normalise_samples(dataset, **config["normalise"])
            fold_results = list(compare_folds(dataset, config, seed))
            has_truth = name in DRAWN
            rows.append(
                {
                    "data": name,
                    **summarise_study(
                        dataset, [fold for fold, _ in fold_results], fold_results[0][1], has_truth
                    ),
                }
            )
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    means = table.groupby("data", sort=False).mean(numeric_only=True)
    print(means.T.round(3).to_string())
    if options.out:
        table.to_csv(options.out, sep="\t", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
