"""Accuracy of models trained on arrays in RNA-seq of other patients, by step, in simulated data.

    python benchmarks/accuracy/platforms.py [--seeds 20] [--offset 1.0]

The platforms measure the same abundance with different curves: arrays add a background and
saturate, RNA-seq draws counts in proportion to length. Each gene has an affinity and a length, both
of standard deviation --offset in log2; with 0 only the curves differ. 60 patients of each platform,
1000 genes, 20 of which differ between the classes. Models are trained on intensities; counts are
per million. It prints means over the seeds: AUC on new arrays and on RNA-seq, balanced accuracy at
the model's threshold ("right"), and the share of models that `genesig predict` refuses to use on
RNA-seq. The last row moves the mean of each gene over the new samples to its training mean, which
needs many new samples. The row before has pairs of genes instead of genes, that is, which of two is
larger, of the 40 genes with the largest |t| in the training samples (Geman et al. 2004; Afsari et
al. 2014).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))

import settings
from linear_loops import fit_final_model
from settings import MOMENTS
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import normalise_samples
from genesig.errors import InvalidInput
from genesig.results import Dataset, Design
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict, score_values
from genesig.selection.model.shape import apply_learned_steps, apply_row_steps, apply_study_steps

Array = np.ndarray[Any, Any]
N = 60  # patients of each platform
N_GENES = 1000
MARKERS = 20
LOG2 = {"step": "log2", "floor": 1.0, "ceiling": 1e6}
# Name -> steps of single samples, steps of the folds.
CHAINS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "log2": ([LOG2], MOMENTS),
    "log2, standardise_samples": ([LOG2, {"step": "standardise_samples"}], MOMENTS),
    "log2, quantile": ([LOG2], [{"step": "quantile"}, *MOMENTS]),
    "rank_samples": ([{"step": "rank_samples"}], MOMENTS),
}
MAX_PAIRED_GENES = 40
PAIRS = "pairs of genes"
CHAINS_AND_PAIRS = CHAINS | {PAIRS: ([], MOMENTS)}
LINEAR = settings.LINEAR | {"mu": [1.0], "list_mu": 1.0, "tau_count": 15}


class Patients(NamedTuple):
    """Values (N, d) of patients on one platform, and their classes, 0 or 1."""

    X: Array
    y: Array


class World:
    """Genes with a level, an affinity and a length; patients of two classes.

    offset: standard deviation, in log2, of affinities and of lengths.
    """

    def __init__(self, rng: np.random.Generator, offset: float) -> None:
        self.rng = rng
        self.level = rng.normal(6, 2, N_GENES)
        self.affinity, self.length = rng.normal(0, offset, (2, N_GENES))
        self.effect = np.zeros(N_GENES)
        self.effect[:MARKERS] = rng.choice([-1, 1], MARKERS) * rng.uniform(0.3, 0.9, MARKERS)
        self.factors = rng.normal(0, 0.4, (5, N_GENES))

    def abundances(self) -> tuple[Array, Array]:
        """Return log2 abundances (N, N_GENES) of new patients, and their classes, 0 or 1."""
        y = self.rng.permutation(N) % 2
        shared = self.rng.normal(size=(N, 5)) @ self.factors
        noise = self.rng.normal(0, 0.6, (N, N_GENES))
        return self.level + np.outer(y - 0.5, self.effect) + shared + noise, y

    def arrays(self, abundance: Array) -> Array:
        """Return intensities of arrays: noise times ``g (b + c/(1 + c/k))``.

        c is abundance times affinity, g the gain of a scan, b = 20 the background, k = 2¹².
        """
        c = 2 ** (abundance + self.affinity)
        signal = c / (1 + c / 2**12)
        gain = 2 ** self.rng.normal(0, 0.3, (N, 1))
        return np.asarray(gain * (20 + signal) * 2 ** self.rng.normal(0, 0.15, signal.shape))

    def counts(self, abundance: Array) -> Array:
        """Return counts per million of negative binomial reads, one to three million a sample."""
        share = 2 ** (abundance + self.length)
        share /= share.sum(axis=1, keepdims=True)
        mean = share * self.rng.uniform(1e6, 3e6, (N, 1))
        reads = self.rng.poisson(self.rng.gamma(10, mean / 10))
        return np.asarray(1e6 * reads / reads.sum(axis=1, keepdims=True))


def fit_model(training: Patients, chain: str) -> dict[str, Any]:
    """Return the final model of a study of the training patients by the steps of a chain."""
    X, y = training
    samples, folds = CHAINS_AND_PAIRS[chain]
    names = [f"s{k:03}" for k in range(N)]
    obs = pd.DataFrame({"state": np.where(y, "case", "control")}, index=names)
    genes = [f"g{k:04}" for k in range(X.shape[1])]
    design = Design("state", "classification", ("control", "case"), None, None)
    var = pd.DataFrame({"symbol": genes}, index=genes)
    study = Dataset(X, obs, var, design, {"dropped": [], "steps": []})
    normalised = normalise_samples(study, samples=samples, folds=folds)
    splits = draw_splits(normalised, seed=1, **settings.SPLITS)
    return final_model(
        normalised,
        fit_final_model(normalised, splits, fold_steps=folds, **LINEAR),
        fold_steps=folds,
    )


def score_model(model: dict[str, Any], X: Array, *, centred: bool = False) -> Array:
    """Return the scores of new samples X, without checks of their scale.

    centred: the mean of each gene over X is first moved to its training mean.
    """
    columns = [int(gene[1:]) for gene in model["training"]["genes"]]
    is_measured = np.ones((len(X), len(columns)), bool)
    no_filler = np.zeros(len(columns))  # of genes that are not measured
    values = apply_row_steps(model, X[:, columns], is_measured, no_filler)
    values = apply_study_steps(model, values, is_measured, no_filler)
    if centred:
        values = values - values.mean(axis=0) + np.array(model["training"]["means"])
    answer = next(part for part in model["models"] if part["list"] == model["answer"])
    return score_values(apply_learned_steps(model, answer, values), answer)


def is_refused(model: dict[str, Any], X: Array) -> bool:
    """Return whether `genesig predict` refuses the new samples X."""
    names = tuple(f"n{k:04}" for k in range(N))
    genes = tuple(f"g{k:04}" for k in range(N_GENES))
    matrix = Matrix(names, genes, X, {}, tuple(range(N)))
    try:
        predict(model, matrix, "new.tsv", missing=0.0, mu=None)
    except InvalidInput:
        return True
    return False


def pairs_of(training: Patients) -> tuple[Array, Array]:
    """Return first and second columns of the pairs of the genes of the largest |t|."""
    log2_values = np.log2(np.maximum(training.X, 1))
    ill = log2_values[training.y == 1]
    well = log2_values[training.y == 0]
    spread = np.sqrt(ill.var(axis=0, ddof=1) / len(ill) + well.var(axis=0, ddof=1) / len(well))
    t = np.abs(ill.mean(axis=0) - well.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    genes = np.sort(np.argsort(-t, kind="stable")[:MAX_PAIRED_GENES])
    first_gene, second_gene = np.triu_indices(MAX_PAIRED_GENES, 1)
    return genes[first_gene], genes[second_gene]


def measure_draw(seed: int, offset: float) -> list[dict[str, Any]]:
    """Return a row for each chain: accuracy of a model trained on arrays of one world."""
    world = World(np.random.default_rng(seed), offset)
    (A, y), (A_arrays, y_arrays), (A_rnaseq, y_rnaseq) = (world.abundances() for _ in range(3))
    training = Patients(world.arrays(A), y)
    arrays = Patients(world.arrays(A_arrays), y_arrays)
    rnaseq = Patients(world.counts(A_rnaseq), y_rnaseq)
    rows = []
    for chain in CHAINS:
        model = fit_model(training, chain)
        row = {"steps": chain, "refused": float(is_refused(model, rnaseq.X))}
        rows.append(row | measure_model(model, arrays, rnaseq))
    first_gene, second_gene = pairs_of(training)
    training_pairs, array_pairs, rnaseq_pairs = (
        Patients((patients.X[:, first_gene] > patients.X[:, second_gene]).astype(float), patients.y)
        for patients in (training, arrays, rnaseq)
    )
    model = fit_model(training_pairs, PAIRS)
    row = {"steps": PAIRS, "refused": np.nan}
    rows.append(row | measure_model(model, array_pairs, rnaseq_pairs))
    model = fit_model(training, "log2")
    row = {"steps": "log2, training means", "refused": np.nan}
    return [*rows, row | measure_model(model, arrays, rnaseq, centred=True)]


def measure_model(
    model: dict[str, Any], arrays: Patients, rnaseq: Patients, *, centred: bool = False
) -> dict[str, float]:
    """Return AUC and balanced accuracy on new arrays and on RNA-seq; centred: see `score_model`."""
    measures = {}
    for name, (X, y) in (("arrays", arrays), ("RNA-seq", rnaseq)):
        scores = score_model(model, X, centred=centred)
        measures[f"AUC, {name}"] = float(roc_auc_score(y, scores))
        measures[f"right, {name}"] = float(balanced_accuracy_score(y, scores > 0))
    return measures


def main() -> None:
    """Print the means over seeds, and the largest standard error."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--offset", type=float, default=1.0)
    options = parser.parse_args()
    table = pd.DataFrame(
        [row for s in range(options.seeds) for row in measure_draw(s, options.offset)]
    )
    rows_by_steps = table.groupby("steps", sort=False)
    print(rows_by_steps.mean().round(2).to_string())
    print(
        f"standard error: at most {(rows_by_steps.std() / np.sqrt(options.seeds)).max().max():.2f}"
    )


if __name__ == "__main__":
    main()
