"""Records of a study as gathering sees them, and the results folder of a finished study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genesig.results import (
    CrossValidation,
    Dataset,
    Design,
    Fits,
    Split,
    Splits,
    load_table,
    save_arrays,
    save_json,
    save_tables,
    save_text,
)
from genesig.results.fits import GridSearch
from genesig.results.splits import HalfSampleStudy
from genesig.selection.gather import LinearResults, gather
from genesig.selection.genes.export import save_signature, signature_annotated
from genesig.selection.genes.frequency import count_tails

# A record of selection frequencies made from how many halves list each gene.

Array = np.ndarray[Any, Any]


def chance_of(observed: Array, permuted: Array, max_genes: int = 10) -> HalfSampleStudy:
    """Return the record of so many of `max_genes` halves listing each gene, observed and permuted.

    A gene is in the first lists.
    """
    permuted = np.asarray(permuted)
    all_scores = [np.asarray(observed), *permuted]
    lists = [np.flatnonzero(times > half) for times in all_scores for half in range(max_genes)]
    tail = count_tails(permuted, max_genes)
    return HalfSampleStudy(
        number=np.arange(1, len(permuted) + 1),
        outer=tail,
        inner=tail,
        final=tail,
        final_inner=tail,
        half=tail,
        half_inner=tail,
        indptr=np.cumsum([0, *map(len, lists)]),
        indices=np.concatenate(lists),
        lists=np.array(max_genes),
        strength=np.asarray(observed, dtype=float),
    )


# Records of a study as gathering sees them: random supports, weights and scores.

MU = np.array([1e-6, 1e-2, 1.0])


def make_dataset(X, y, task="classification", group=None):
    """Return a data set with genes g0, g1, .. and samples s0, s1, ..; y is ±1 or real."""
    classes = ("healthy", "ill") if task == "classification" else None
    label = (
        np.where(np.asarray(y) > 0, "ill", "healthy") if classes else [repr(float(v)) for v in y]
    )
    obs = pd.DataFrame({"label": label}, index=[f"s{i}" for i in range(len(y))])
    if group is not None:
        obs["pair"] = [str(patient) for patient in group]
    genes = [f"g{j}" for j in range(X.shape[1])]
    var = pd.DataFrame({"symbol": [f"SYM{j}" for j in range(len(genes))]}, index=genes)
    column = None if group is None else "pair"
    design = Design("label", task, classes, column, column)
    return Dataset(np.asarray(X, dtype=float), obs, var, design, {"steps": []})


def make_splits(dataset, folds, repeats, seed=0):
    """Return k-fold splits, stratified by the response, and two pairs of halves a repeat."""
    rng = np.random.default_rng(seed)
    names = np.array(dataset.samples, dtype=object)
    order = np.argsort(dataset.response(), kind="stable")
    outer = []
    for repeat in range(1, repeats + 1):
        shuffled = order[np.lexsort((rng.random(len(order)), dataset.response()[order]))]
        for fold in range(folds):
            test = np.sort(shuffled[fold::folds])
            train = np.setdiff1d(np.arange(len(names)), test)
            inner = tuple(tuple(names[train[k::3]]) for k in range(3))
            seeds = (1, 0, repeat, fold)
            outer.append(
                Split(
                    f"r{repeat}f{fold + 1}",
                    repeat,
                    fold + 1,
                    tuple(names[train]),
                    tuple(names[test]),
                    inner,
                    seeds,
                )
            )
    final = Split("final", 0, 0, tuple(names), (), (), (1,))
    halves = []
    for pair in range(1, 2 * repeats + 1):
        shuffled = rng.permutation(len(names))
        halves += [
            Split(
                f"s{pair}{'ab'[k]}",
                pair,
                k + 1,
                tuple(names[np.sort(shuffled[k::2])]),
                (),
                (),
                (3, 0, pair, 0),
            )
            for k in range(2)
        ]
    return Splits("stratified_kfold", "stratified_kfold", seed, tuple(outer), final, tuple(halves))


def make_fits(dataset, splits, seed=0, permutations=(0,), signal=0.0):
    """Return fits whose supports grow with mu; scores are noise plus `signal` times y.

    Each is cut at a threshold of its own, and chooses a list of its own.
    """
    rng = np.random.default_rng(seed)
    tests = [dataset.rows(split.test) for split in splits] * len(permutations)
    m = len(tests)
    n_mu = len(MU)
    y = dataset.response()
    supports = []
    for _ in range(m):
        order = rng.permutation(len(dataset.genes))
        sizes = np.sort(rng.integers(0, len(order), n_mu))
        supports += [np.sort(order[:size]) for size in sizes]
    rows = np.concatenate(tests) if tests else np.zeros(0, dtype=int)
    indptr = np.concatenate([[0], np.cumsum([len(s) for s in supports])])
    return Fits(
        split=np.array([split.name for split in splits] * len(permutations)),
        permutation=np.repeat(np.array(permutations, dtype=int), len(splits)),
        grid=GridSearch(
            tau=np.array([0.5, 0.1]),
            lam=np.array([0.01, 0.1]),
            searched=MU[:2],
            tau_max=rng.random(m),
            norm=rng.random(m),
            error=rng.random((m, 2, 2, 2)),
            standard_error=rng.random((m, 2, 2, 2)),
            n_genes=rng.random((m, 2, 2)),
            agreement=rng.random((m, 2, 2)),
        ),
        mu=MU,
        choice=rng.integers(0, [2, 2, n_mu], (m, 3)),
        threshold=np.zeros(m) if dataset.design.classes is None else rng.normal(0, 0.2, m),
        indptr=indptr,
        indices=np.concatenate(supports).astype(int),
        values=rng.standard_normal(indptr[-1]),
        intercept=rng.standard_normal((m, n_mu)),
        gap=np.zeros((m, n_mu)),
        test_indptr=np.concatenate([[0], np.cumsum([len(t) for t in tests])]).astype(int),
        test_rows=rows,
        scores=rng.standard_normal((len(rows), n_mu)) + signal * y[rows][:, None],
    )


def make_study(seed=0, n=24, genes=15, folds=4, repeats=2, task="classification", signal=0.5):
    """Return (dataset, splits, observed, final)."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) < n // 3, 1.0, -1.0))
    y = y if task == "classification" else rng.standard_normal(n)
    dataset = make_dataset(rng.standard_normal((n, genes)), y, task)
    splits = make_splits(dataset, folds, repeats, seed)
    observed = make_fits(dataset, splits.outer, seed, signal=signal)
    return dataset, splits, observed, make_fits(dataset, [splits.final], seed + 1)


# The folder of results of a finished study, in a moment: what a notebook reads of it.

CLUSTERS = {"least": 0.5, "warn_above": 0.9, "merge_above": None}
ERRORS = [("genesig", 0.2), ("genesig", 0.15), ("ridge", 0.25), ("dummy", np.nan)]


def controls() -> pd.DataFrame:
    """Return chosen lists, one mu, and two others of which one has no error."""
    rows = [
        {
            "model": model,
            "mu": 1.0 if k == 1 else None,
            "error": error,
            "low": error - 0.1,
            "high": error + 0.1,
        }
        for k, (model, error) in enumerate(ERRORS)
    ]
    return pd.DataFrame(rows)


def evidence(n_genes: int, permutations: int = 19, max_genes: int = 20) -> HalfSampleStudy:
    """Return selection frequencies of which three are never reached by chance."""
    rng = np.random.default_rng(5)
    null = rng.integers(0, 8, (permutations, n_genes))
    observed = rng.integers(0, 8, n_genes)
    observed[[1, 4, 7]] = max_genes
    return chance_of(observed, null, max_genes)


def write_results(
    folder: Path, task: str = "classification", chance: HalfSampleStudy | None = None
) -> Path:
    """Write the tables, the signature and the marks of a finished study; return the folder."""
    dataset, splits, observed, final = make_study(task=task)
    halves = make_fits(dataset, splits.subsamples)
    tables = gather(
        LinearResults(
            CrossValidation.from_batches(dataset, splits, [observed]),
            final,
            halves,
            chance or HalfSampleStudy.none(),
        ),
        cv_frequency=0.5,
        fdr=0.1,
        clusters=CLUSTERS,
    )
    save_tables({name: folder / f"{name}.tsv" for name in tables}, tables)
    save_tables({"controls": folder / "controls.tsv"}, {"controls": controls()})
    save_tables({"jobs": folder / "times/jobs.tsv"}, {"jobs": pd.DataFrame({"seconds": [1.0]})})
    signature = load_table(folder / "signature.tsv", ("gene", "symbol"))
    nested = load_table(folder / "nested_lists.tsv", ("gene", "symbol"))
    settings = {"config": {"label": "label"}, "versions": {"genesig": "0"}}
    data = signature_annotated(dataset, signature, nested, settings)
    save_signature(folder / "signature.h5ad", data)
    save_arrays(folder / "null.npz", {"error": np.linspace(0.3, 0.6, 20).reshape(10, 2)})
    classes = dataset.design.classes
    class_names = (
        None if classes is None else dict(zip(("negative", "positive"), classes, strict=True))
    )
    save_json(
        folder / "model.json",
        {"task": dataset.design.kind, "classes": class_names, "training": {"genes": dataset.genes}},
    )
    save_json(folder / "run.json", {"config": {"label": "label"}, "seed": 0})
    save_text(folder / "report.html", "<!doctype html><title>A & B</title>")
    return folder
