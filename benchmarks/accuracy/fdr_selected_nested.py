"""Compare FDR-selected genes by one E(t) of all samples and by an E(t) of each training set.

    python benchmarks/accuracy/fdr_selected_nested.py [--sets 3] [--out FILE] [DATA ...]

E(t) is the number of genes that halves select at least t times under permuted labels. A study
counts one E for all its training sets ("shared"): permutation b permutes all samples and uses outer
split b (`study_half_samples`). Fully nested, each outer training set permutes the labels of its own
samples 100 times, without its test samples. Both select genes and fit the model of the
FDR-selected genes, on the same splits and halves.

DATA are names of answers.py, or kinds of simulated studies (`SIMULATED`), of which `--sets` are
drawn: 1000 genes in blocks of ten (r .7), of which ten differ by 1.2 standard deviations. Default:
golub, alon, singh and all kinds. Outer splits: 5 folds, 2 repeats (simulated: 1).

It prints for each: E(t) by both at the thresholds of the training sets with selected genes (the
smallest t with q <= .1 by the shared E), the standard error of the shared E, and the share of
training sets in which the shared E is smaller; genes with q <= .1 by both and their mean Jaccard
index; balanced error of the model of the FDR-selected genes by both, on held-out samples; and, if
the truth is known, the true genes and the mean share of false genes of both.
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
from fdr_selected_genes import BLOCK_SIZE, N_GENES, N_TRUE, are_true
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
    """Results of a training set by one E(t)."""

    expected: Array  # E(t), by t
    genes: Array  # numbers of the FDR-selected genes
    scores: Array  # of the test samples


class Fold(NamedTuple):
    """Results of an outer split by both E(t)."""

    counts: Array  # (d,): number of half-sample lists with each gene
    test: Array  # rows
    shared: SelectedGenes
    nested: SelectedGenes


def draw_study(n: int, share: float, seed: int, **design: Any) -> Dataset:
    """Return a study of two classes with a share of ill samples.

    design: fields of `Design`; "group" adds patients, "batch" adds two batches.
    """
    rng = np.random.default_rng((seed, n, int(100 * share)))
    is_ill = rng.permutation(np.arange(n) < share * n)
    obs = {"state": np.where(is_ill, "ill", "well")}
    X = np.sqrt(0.7) * np.repeat(rng.normal(size=(n, N_GENES // BLOCK_SIZE)), BLOCK_SIZE, axis=1)
    X += np.sqrt(0.3) * rng.normal(size=(n, N_GENES))
    X[:, : N_TRUE * BLOCK_SIZE : BLOCK_SIZE] += 1.2 * is_ill[:, None]
    if "group" in design:  # of 1 to 8 samples and one class, with a fifth of the variance
        sizes = rng.choice([1, 1, 2, 2, 3, 8], n)
        patient = np.empty(n, dtype=int)
        patient[np.argsort(is_ill, kind="stable")] = np.repeat(np.arange(n), sizes)[:n]
        patient += n * is_ill  # no patient has samples of both classes
        X += rng.normal(0, 0.5, (2 * n, N_GENES))[patient]
        obs["patient"] = np.array([f"p{number:03d}" for number in patient])
    if "batch" in design:  # b: 70 % of the ill samples, 30 % of the others; every gene is shifted
        is_batch_b = rng.random(n) < np.where(is_ill, 0.7, 0.3)
        X += np.outer(is_batch_b, rng.normal(0, 1, N_GENES))
        obs["batch"] = np.where(is_batch_b, "b", "a")
    samples = [f"S{k:03d}" for k in range(n)]
    genes = [f"g{k:04d}" for k in range(N_GENES)]
    design_settings = {"group": None, "pair": None, **design}
    return Dataset(
        X,
        pd.DataFrame(obs, index=samples),
        pd.DataFrame({"symbol": genes}, index=genes),
        Design("state", "classification", ("well", "ill"), **design_settings),
        {},
    )


SIMULATED: dict[str, dict[str, Any]] = {
    "even": {"n": 60, "share": 0.5},
    "80:20": {"n": 80, "share": 0.2},
    "groups": {"n": 90, "share": 0.5, "group": "patient"},
    "batch": {"n": 80, "share": 0.5, "batch": "batch"},
}


def config_of(dataset: Dataset, repeats: int) -> dict[str, Any]:
    """Return the default config, with ComBat if the design has batches."""
    scheme = "stratified_kfold" if dataset.design.group is None else "stratified_group_kfold"
    config = settings(
        {}, splits={"folds": 5, "repeats": repeats, "subsamples": 0, "scheme": scheme}
    )
    if dataset.design.batch is not None:
        folds = [{"step": "combat", "covariates": []}, *config["normalise"]["folds"]]
        config["normalise"]["folds"] = bind_steps(folds, dataset)
    return config


def nested_null_tails(
    dataset: Dataset, splits: Splits, split: Split, config: dict[str, Any], linear: LinearSettings
) -> NullTails:
    """Return E(t) of a training set and of its inner training sets, from its own samples alone."""
    rows = dataset.rows(split.train)
    training_data = replace(dataset, X=dataset.X[rows], obs=dataset.obs.iloc[rows])
    fold_steps = config["normalise"]["folds"]
    study = PreparedStudy(training_data, replace(splits, outer=()), fold_steps)
    permuted_sets = study.make_training_sets(
        [replace(split, test=())],
        range(1, config["signature"]["permutations"] + 1),
        half_counts=count_pairs(PAIRS_OF_TRAINING_SET, linear),
        stage=CHANCE,
    )
    outer_tails = []
    inner_tails = []
    for matrix in study.group_by_matrix(permuted_sets, 500):
        training_sets = matrix.training_sets
        sets = outer_elastic_nets(matrix, linear)
        outer_halves = [(k, training.halves) for k, training in enumerate(training_sets)]
        # Each permutation uses the halves of one inner training set, in turn.
        inner_halves = [
            (k, training.inner_halves[training.permutation % len(training.inner_halves)])
            for k, training in enumerate(training_sets)
        ]
        for tails, halves in ((outer_tails, outer_halves), (inner_tails, inner_halves)):
            lists = select_half_samples(sets, training_sets, halves, linear)
            tails += [count_tails(counts[None], lists.n_lists)[0] for counts in lists.counts()]
    return NullTails(expected_tails(np.array(outer_tails)), expected_tails(np.array(inner_tails)))


def compare_folds(
    dataset: Dataset, config: dict[str, Any], seed: int
) -> Iterator[tuple[Fold, HalfSampleStudy]]:
    """Yield the results of each outer split, with the half-sample study that has the shared E."""
    splits = splits_of(dataset, config, seed=seed)
    splits_by_name = {split.name: split for split in splits.outer}
    linear = LinearSettings(**linear_keywords(config))
    prepared_study = PreparedStudy(dataset, splits, config["normalise"]["folds"])
    study = study_half_samples(
        prepared_study, linear, permutations=config["signature"]["permutations"]
    )
    shared_tails = NullTails.from_study(study, "outer")
    assert shared_tails is not None
    outer_sets = prepared_study.make_training_sets(
        splits.outer, half_counts=count_pairs(PAIRS_OF_TRAINING_SET, linear)
    )
    for matrix in prepared_study.group_by_matrix(outer_sets, 1):
        (training,) = matrix.training_sets
        split = splits_by_name[training.split]
        sets = outer_elastic_nets(matrix, linear)
        inner = inner_elastic_nets([training], sets)
        halves = [(0, training.halves)]
        (counts,) = select_half_samples(sets, [training], halves, linear).counts()
        nested_tails = nested_null_tails(dataset, splits, split, config, linear)
        shared, nested = (
            _select_genes(matrix, sets, inner, counts, tails, linear)
            for tails in (shared_tails, nested_tails)
        )
        all_counts = np.zeros(len(dataset.genes), dtype=np.int64)
        all_counts[matrix.genes] = counts
        yield Fold(all_counts, training.test, shared, nested), study


def _select_genes(
    matrix: NormalisedMatrix,
    sets: Any,
    inner: Any,
    counts: Array,
    null_tails: NullTails,
    linear: LinearSettings,
) -> SelectedGenes:
    """Return the results of the one training set of a matrix by one E(t)."""
    training_sets = matrix.training_sets
    halves = HalfSelection.from_training_sets(training_sets, sets, linear)
    (model,), _, _ = fit_fdr_selected(training_sets, sets, inner, linear, null_tails, halves)
    selected = np.flatnonzero(selection_q(counts, null_tails.outer) <= linear.fdr)
    scores = model.scores(matrix.X, training_sets[0].test)
    return SelectedGenes(null_tails.outer, matrix.genes[selected], scores)


def summarise_study(
    dataset: Dataset, folds: list[Fold], study: HalfSampleStudy, has_truth: bool
) -> dict[str, Any]:
    """Return the row of a study: means over its outer splits (see above)."""
    at_threshold = []  # E by both, and t, of the folds with genes
    for fold in folds:
        if len(fold.shared.genes):
            t = int(fold.counts[fold.shared.genes].min())
            at_threshold.append((fold.shared.expected[t], fold.nested.expected[t], t))
    n_with_genes = len(at_threshold)
    shared, nested, threshold = np.array(at_threshold or [[np.nan] * 3]).T
    standard_error = np.nan
    if n_with_genes:  # of the mean over 100 permutations
        standard_error = study.outer[:, threshold.astype(int)].std(axis=0).mean() / 10
    y = dataset.response()
    y_test = np.concatenate([y[fold.test] for fold in folds])
    measures = {}
    for name in ("shared", "nested"):
        results: list[SelectedGenes] = [getattr(fold, name) for fold in folds]
        is_wrong = (np.concatenate([result.scores for result in results]) > 0) != (y_test > 0)
        measures[f"selected_{name}"] = np.mean([len(result.genes) for result in results])
        measures[f"error_{name}"] = np.mean([is_wrong[y_test == label].mean() for label in (-1, 1)])
        if has_truth:
            true = [are_true(result.genes) for result in results]
            measures[f"true_{name}"] = np.mean([mask.sum() for mask in true])
            measures[f"false_{name}"] = np.mean([np.mean(~t) if len(t) else 0 for t in true])
    gene_sets = [(set(fold.shared.genes), set(fold.nested.genes)) for fold in folds]
    jaccard_indices = [len(a & b) / len(a | b) for a, b in gene_sets if a | b]
    return {
        "splits": len(folds),
        "with_genes": n_with_genes,
        "t": np.mean(threshold),
        "expected_shared": np.mean(shared),
        "expected_nested": np.mean(nested),
        "standard_error": standard_error,
        "shared_smaller": np.mean(shared < nested),
        "jaccard": np.mean(jaccard_indices) if jaccard_indices else np.nan,
        **measures,
    }


def studies(name: str, sets: int) -> Iterator[tuple[Dataset, dict[str, Any]]]:
    """Yield data set and config of each study of a name."""
    if name in PUBLISHED or name in OTHER_SOURCES:
        dataset = Source.from_text(name).read()
        yield dataset, config_of(dataset, 2)
        return
    for seed in range(sets):
        dataset = draw_study(seed=seed, **SIMULATED[name])
        yield dataset, config_of(dataset, 1)


def main() -> None:
    """Compare the studies, print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", nargs="*", metavar="DATA")
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for name in options.data or (*PUBLISHED_DATA, *SIMULATED):
        for seed, (dataset, config) in enumerate(studies(name, options.sets)):
            dataset = normalise_samples(dataset, **config["normalise"])
            fold_results = list(compare_folds(dataset, config, seed))
            folds = [fold for fold, _ in fold_results]
            _, study = fold_results[0]
            row = summarise_study(dataset, folds, study, has_truth=name in SIMULATED)
            rows.append({"data": name, **row})
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    means = table.groupby("data", sort=False).mean(numeric_only=True)
    print(means.T.round(3).to_string())
    if options.out:
        table.to_csv(options.out, sep="\t", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
