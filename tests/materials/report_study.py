"""A study in a moment: a screen by correlation stands in for the protocol.

It gives the arguments of `collect` with the shapes and the kind of values of a real run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from report_nonlinear import CONFIG, with_nonlinear
from report_tables import MU, SIZES, make_tables

from genesig.data.quality.overview import quality
from genesig.results import Dataset, Design, Fits, Split, Splits

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "a_very_long_gene_name_" + "x" * 300,
    "βγ-グロビン-🧬",
    "$\\alpha$ {{ 7*7 }} {% raw %}",
    "</svg></style></script>",
    "tab\tand\x07bell",
)


@dataclass(frozen=True)
class Study:
    samples: int = 30
    genes: int = 120
    regression: bool = False
    signal: float = 1.5
    folds: int = 5
    repeats: int = 2
    subsamples: int = 6
    permutations: int = 9
    names: Sequence[str] = ()
    empty: bool = False
    nonlinear: bool = True


def arguments(study: Study, dataset: Dataset | None = None) -> dict[str, Any]:
    """Return the keyword arguments of `collect`."""
    rng = np.random.default_rng(7)
    dataset = dataset or make_dataset(study, rng)
    splits = make_splits(study, dataset, rng)
    observed = make_fits(dataset, splits.outer, rng)
    tables = make_tables(study, dataset, splits, observed, rng)
    config = {
        "label": dataset.design.label, "seed": 0, "expression": "expression.tsv",
        "samples": "samples.tsv",
        "data": {"task": dataset.design.task, "classes": None, "group": None, "pair": None},
        "normalise": {"samples": [], "folds": [{"step": "centre"}, {"step": "unit_variance"}]},
        "splits": {"scheme": "stratified_kfold", "folds": study.folds, "repeats": study.repeats,
                   "inner_scheme": "stratified_kfold", "inner_folds": 5,
                   "subsamples": study.subsamples, "file": None},
        "linear": {"tau_min": 0.005, "tau_count": 12, "lam": [1e-4, 1e-3, 1e-2, 1e-1],
                   "mu": list(MU), "criterion": "squared_error", "one_standard_error": False,
                   "solver": "landweber-newton", "tolerance": 1e-9},
        "signature": {"frequency": 0.75, "mu": None},
        "clusters": {"warn_above": 0.9, "merge_above": None},
        "controls": {"permutations": study.permutations, "baselines": ["ridge"], "fdr": 0.05},
        "report": {"title": "A study", "top_genes": 12, "table_rows": 500},
    }  # fmt: skip
    if study.nonlinear:
        tables = with_nonlinear(tables, dataset, splits, observed)
    config["nonlinear"] = {**CONFIG, "enabled": study.nonlinear}
    return {
        "dataset": dataset,
        "splits": splits,
        "observed": observed,
        "final": make_fits(dataset, [splits.final], rng),
        "seen": quality(dataset, dataset, folds=config["normalise"]["folds"]),
        "tables": tables,
        "null": {"error": rng.normal(0.5, 0.08, (study.permutations, len(MU)))},
        "config": config,
        "run": {"version": 1, "seed": 0, "config": config, "inputs": dataset.provenance["inputs"],
                "versions": {"genesig": "0.1.0", "python": "3.12"}},
    }  # fmt: skip


def make_dataset(study: Study, rng: np.random.Generator) -> Dataset:
    hidden = rng.normal(size=(study.samples, 4))
    loads = rng.normal(size=(4, study.genes)) * (rng.random((4, study.genes)) < 0.2)
    response = hidden[:, 0] + 0.3 * rng.normal(size=study.samples)
    X = hidden @ loads * study.signal + rng.normal(size=(study.samples, study.genes))
    genes = [f"g{j:04d}_at" for j in range(study.genes)]
    genes[: len(study.names)] = study.names
    order = np.argsort(-np.abs(X.T @ (response - response.mean())))
    X = X[:, order]  # the hostile names come first, so they are selected
    labels = response.round(3).astype(str)
    if not study.regression:
        labels = np.where(response > np.median(response), "tumour", "normal")
    samples = [f"S{i:02d}" for i in range(study.samples)]
    samples[: len(study.names)] = [f"s-{name}" for name in study.names]
    symbols = [f"SYM{j}" for j in range(study.genes)]
    symbols[: len(study.names)] = study.names
    return Dataset(
        X=X,
        obs=pd.DataFrame({"class": labels}, index=pd.Index(samples)),
        var=pd.DataFrame({"symbol": symbols}, index=pd.Index(genes)),
        design=Design(
            "class", "regression" if study.regression else "classification",
            None if study.regression else ("normal", "tumour"), None, None,
        ),
        provenance={
            "dropped": [{"kind": "gene", "name": "g9", "reason": "constant"},
                        {"kind": "sample", "name": "<b>x</b>", "reason": "no label"}],
            "steps": [], "inputs": {"expression.tsv": "0" * 64}, "warnings": [],
        },
    )  # fmt: skip


def make_splits(study: Study, dataset: Dataset, rng: np.random.Generator) -> Splits:
    names, rank = np.array(dataset.samples), np.argsort(dataset.response(), kind="stable")

    def split(name: str, repeat: int, fold: int, test: Any) -> Split:
        train = tuple(n for n in dataset.samples if n not in set(test))
        return Split(name, repeat, fold, train, tuple(test), tuple((n,) for n in train[:5]), (1,))

    outer = []
    for repeat in range(1, study.repeats + 1):
        fold_of = np.empty(len(names), int)
        fold_of[rank] = np.arange(len(names)) % study.folds
        fold_of = rng.permutation(fold_of) if repeat > 1 else fold_of
        wanted = 1 if study.folds == 1 else study.folds
        for fold in range(wanted):
            test = names[fold_of == fold] if wanted > 1 else names[::3]
            outer.append(split(f"r{repeat}f{fold + 1}", repeat, fold + 1, test))
    drawn = [rng.permutation(names) for _ in range(study.subsamples // 2)]
    return Splits(
        "stratified_kfold", "stratified_kfold", 0, tuple(outer), split("final", 0, 0, ()),
        tuple(split(f"s{i:02d}{'ab'[k]}", i, k + 1, order[k::2])
              for i, order in enumerate(drawn, 1) for k in range(2)),
    )  # fmt: skip


def screen(dataset: Dataset, train: Sequence[str], size: int) -> tuple[Any, Any, float]:
    """Choose genes by correlation; ridge on them. Returns (genes, weights, intercept)."""
    rows = dataset.rows(train)
    X, y = dataset.X[rows], dataset.response()[rows]
    mean, Xc, yc = X.mean(axis=0), X - X.mean(axis=0), y - y.mean()
    r = np.abs(Xc.T @ yc) / (Xc.std(axis=0) + 1e-9)
    genes = np.sort(np.argsort(-r, kind="stable")[:size])
    A = Xc[:, genes]
    w = np.linalg.solve(A.T @ A + 0.3 * len(rows) * np.eye(len(genes)), A.T @ yc)
    return genes, w, float(y.mean() - mean[genes] @ w)


def make_fits(dataset: Dataset, outer: Sequence[Split], rng: np.random.Generator) -> Fits:
    tau, lam = np.geomspace(1, 0.005, 13)[1:], np.array([1e-4, 1e-3, 1e-2, 1e-1])
    base = 0.3 + 0.4 * (np.log10(tau) + 1.1)[:, None] ** 2 + 0.03 * (np.log10(lam) + 2)[None] ** 2
    error = np.stack([base + rng.normal(0, 0.03, base.shape) for _ in outer])
    best = [np.unravel_index(e.argmin(), e.shape) for e in error]
    fits = [
        screen(dataset, s.train, max(1, size + int(rng.integers(-2, 3))))
        for s in outer
        for size in SIZES
    ]
    tests = [dataset.rows(s.test) for s in outer]
    scores = [
        dataset.X[tests[i // len(MU)]][:, g] @ w + b for i, (g, w, b) in enumerate(fits)
    ]  # fmt: skip
    m = len(outer)
    return Fits(
        split=np.array([s.name for s in outer]), permutation=np.zeros(m, int), tau=tau, lam=lam,
        mu=np.array(MU), tau_max=np.ones(m), norm=np.ones(m), cv_error=error,
        cv_se=error * 0.1, cv_size=np.tile(np.linspace(1, 40, 12), (m, 1)),
        choice=np.array(best), indptr=np.append(0, np.cumsum([len(g) for g, _, _ in fits])),
        indices=np.concatenate([g for g, _, _ in fits]),
        values=np.concatenate([w for _, w, _ in fits]),
        intercept=np.array([b for _, _, b in fits]).reshape(m, -1), gap=np.full((m, 5), 1e-10),
        test_indptr=np.append(0, np.cumsum([len(t) for t in tests])),
        test_rows=np.concatenate(tests) if tests else np.zeros(0, int),
        scores=np.concatenate(
            [np.stack(scores[i * 5 : i * 5 + 5], axis=1) for i in range(m)]
        ),
    )  # fmt: skip
