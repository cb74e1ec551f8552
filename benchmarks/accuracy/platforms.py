"""A model trained on arrays, on RNA-seq of other patients: which steps carry it across, simulated.

    python benchmarks/accuracy/platforms.py [--seeds 20] [--offset 1.0]

One abundance, two curves: an array adds a background and saturates, RNA-seq draws counts in
proportion to length; each gene has an affinity and a length, both of standard deviation --offset in
log2, 0 for platforms that differ by their curves alone. 60 patients of each platform, 1000 genes,
20 of which differ between the classes. Models are trained on intensities; counts come per million.
Prints means over the seeds: AUC on other arrays and on RNA-seq, balanced accuracy at the threshold
of the model, and the share of models whose RNA-seq samples `genesig predict` refuses. The last row
moves the mean of each gene over the new samples to that of training, as no single sample can. The
row before has pairs of genes in place of genes: which of two is the larger, of the 40 genes that
differ most between the classes of the training samples (Geman et al. 2004; Afsari et al. 2014).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

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
N = 60
GENES = 1000
MARKERS = 20
LOG2 = {"step": "log2", "floor": 1.0, "ceiling": 1e6}
CHAINS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "log2": ([LOG2], MOMENTS),
    "log2, standardise_samples": ([LOG2, {"step": "standardise_samples"}], MOMENTS),
    "log2, quantile": ([LOG2], [{"step": "quantile"}, *MOMENTS]),
    "rank_samples": ([{"step": "rank_samples"}], MOMENTS),
}
MAX_PAIRED_GENES = 40
PAIRS = "pairs of genes"
CHAINS_OF_PAIRS = {PAIRS: ([], MOMENTS)}
LINEAR = settings.LINEAR | {"mu": [1.0], "list_mu": 1.0, "tau_count": 15}


class World:
    """Genes with a level, an affinity and a length; patients of two classes.

    Parameters
    ----------
    rng : Generator
    offset : float
        Standard deviation, in log2, of affinities and of lengths.
    """

    def __init__(self, rng: np.random.Generator, offset: float) -> None:
        self.rng = rng
        self.level = rng.normal(6, 2, GENES)
        self.affinity, self.length = rng.normal(0, offset, (2, GENES))
        self.effect = np.zeros(GENES)
        self.effect[:MARKERS] = rng.choice([-1, 1], MARKERS) * rng.uniform(0.3, 0.9, MARKERS)
        self.factors = rng.normal(0, 0.4, (5, GENES))

    def patients(self) -> tuple[Array, Array]:
        """Return log2 abundance (N, GENES) and the classes, 0 or 1."""
        y = self.rng.permutation(N) % 2
        shared = self.rng.normal(size=(N, 5)) @ self.factors
        noise = self.rng.normal(0, 0.6, (N, GENES))
        return self.level + np.outer(y - 0.5, self.effect) + shared + noise, y

    def arrays(self, abundance: Array) -> Array:
        """Return intensities of arrays: noise times ``g (b + c/(1 + c/k))``.

        c is abundance times affinity, g the gain of a scan, b = 20 the background, k = 2¹².
        """
        bound = 2 ** (abundance + self.affinity)
        light = bound / (1 + bound / 2**12)
        gain = 2 ** self.rng.normal(0, 0.3, (N, 1))
        return np.asarray(gain * (20 + light) * 2 ** self.rng.normal(0, 0.15, light.shape))

    def counts(self, abundance: Array) -> Array:
        """Return counts per million of negative binomial reads, one to three million a sample."""
        share = 2 ** (abundance + self.length)
        share /= share.sum(axis=1, keepdims=True)
        mean = share * self.rng.uniform(1e6, 3e6, (N, 1))
        reads = self.rng.poisson(self.rng.gamma(10, mean / 10))
        return np.asarray(1e6 * reads / reads.sum(axis=1, keepdims=True))


def model_of(X: Array, y: Array, chain: str) -> dict[str, Any]:
    """Return the final model of a study of X and y by the steps of a chain."""
    samples, folds = (CHAINS | CHAINS_OF_PAIRS)[chain]
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
    """Return the scores of new samples X, without the checks of their scale.

    centred: whether each gene of X gets its training mean first.
    """
    columns = [int(gene[1:]) for gene in model["training"]["genes"]]
    is_measured = np.ones((len(X), len(columns)), bool)
    filler = np.zeros(len(columns))
    values = apply_study_steps(
        model, apply_row_steps(model, X[:, columns], is_measured, filler), is_measured, filler
    )
    if centred:
        values = values - values.mean(axis=0) + np.array(model["training"]["means"])
    chosen = next(
        model_record for model_record in model["models"] if model_record["list"] == model["answer"]
    )
    return score_values(apply_learned_steps(model, chosen, values), chosen)


def is_refused(model: dict[str, Any], X: Array) -> bool:
    """Tell whether `genesig predict` refuses the new samples X."""
    names, genes = (
        tuple(f"{a}{k:04}" for k in range(many)) for a, many in (("n", N), ("g", GENES))
    )
    matrix = Matrix(names, genes, X, {}, tuple(range(N)))
    try:
        predict(model, matrix, "new.tsv", missing=0.0, mu=None)
    except InvalidInput:
        return True
    return False


def pairs_of(X: Array, y: Array) -> tuple[Array, Array]:
    """Return both columns of each pair of the genes of the largest |t| in training arrays."""
    L = np.log2(np.maximum(X, 1))
    ill = L[y == 1]
    well = L[y == 0]
    spread = np.sqrt(ill.var(axis=0, ddof=1) / len(ill) + well.var(axis=0, ddof=1) / len(well))
    t = np.abs(ill.mean(axis=0) - well.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    genes = np.sort(np.argsort(-t, kind="stable")[:MAX_PAIRED_GENES])
    first_gene, second_gene = np.triu_indices(MAX_PAIRED_GENES, 1)
    return genes[first_gene], genes[second_gene]


def measure_pairs(
    world_seen: tuple[Array, Array, Array], y: Array, z: Array, w: Array
) -> dict[str, Any]:
    """Return the row of a model of pairs: whether the first gene of a pair is above the second.

    world_seen: training arrays, new arrays and new RNA-seq; y, z, w: their classes.
    """
    first_gene, second_gene = pairs_of(world_seen[0], y)
    X, Y, Z = (
        (values[:, first_gene] > values[:, second_gene]).astype(float) for values in world_seen
    )
    model = model_of(X, y, PAIRS)
    results = compare_scores((z, score_model(model, Y)), (w, score_model(model, Z)))
    return {"steps": PAIRS, "refused": np.nan} | results


def measure_draw(seed: int, offset: float) -> list[dict[str, Any]]:
    """Return a row for each chain: errors of a model trained on arrays of one world."""
    world = World(np.random.default_rng(seed), offset)
    (A, y), (B, z), (C, w) = (world.patients() for _ in range(3))
    X = world.arrays(A)
    Y = world.arrays(B)
    Z = world.counts(C)
    rows = []
    for chain in CHAINS:
        model = model_of(X, y, chain)
        result_row = {"steps": chain, "refused": float(is_refused(model, Z))}
        rows.append(
            result_row | compare_scores((z, score_model(model, Y)), (w, score_model(model, Z)))
        )
    rows.append(measure_pairs((X, Y, Z), y, z, w))
    model = model_of(X, y, "log2")
    scored_worlds = (
        (z, score_model(model, Y, centred=True)),
        (w, score_model(model, Z, centred=True)),
    )
    return [
        *rows,
        {"steps": "log2, genes centred anew", "refused": np.nan} | compare_scores(*scored_worlds),
    ]


def compare_scores(*platforms: tuple[Array, Array]) -> dict[str, float]:
    """Return AUC and balanced accuracy of classes and scores, on arrays and on RNA-seq."""
    measures = {}
    for name, (y, score) in zip(("arrays", "RNA-seq"), platforms, strict=True):
        measures[f"AUC, {name}"] = float(roc_auc_score(y, score))
        measures[f"right, {name}"] = float(balanced_accuracy_score(y, score > 0))
    return measures


def main() -> None:
    """Print the means over seeds, and the standard error of the largest."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--offset", type=float, default=1.0)
    chosen = parser.parse_args()
    table = pd.DataFrame(
        [row for s in range(chosen.seeds) for row in measure_draw(s, chosen.offset)]
    )
    rows_by_steps = table.groupby("steps", sort=False)
    print(rows_by_steps.mean().round(2).to_string())
    print(
        f"standard error: at most {(rows_by_steps.std() / np.sqrt(chosen.seeds)).max().max():.2f}"
    )


if __name__ == "__main__":
    main()
