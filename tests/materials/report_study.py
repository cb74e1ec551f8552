"""A study in a moment: a screen by correlation stands in for the protocol.

It gives the arguments of `collect` with the shapes and the kind of values of a real run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from kept import kept
from report_enrichment import enriched
from report_evidence import FDR, PERMUTATIONS
from report_nonlinear import CONFIG, with_nonlinear
from report_sets import CONFIG as STRUCTURED
from report_sets import with_sets
from report_tables import CLUSTERS, MU, SIZES, make_tables

from genesig.data.quality.overview import quality
from genesig.report.collect import collect
from genesig.results import Dataset, Design, Fits, Split, Splits
from genesig.selection.genes.export import stretches_table

TAU, LAM = np.geomspace(1, 0.005, 13)[1:], (1e-4, 1e-3, 1e-2, 1e-1)

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
    sets: bool = False
    minimal: bool = False
    longest: int = 1000
    placed: bool = False
    enriched: bool = False
    named: int | None = 3
    beside: int = 0


def arguments(study: Study, dataset: Dataset | None = None) -> dict[str, Any]:
    """Return the keyword arguments of `collect`, which may be changed."""
    return _of_one(study) if dataset is None else _arguments(study, dataset)


@kept
def collected(study: Study) -> Any:
    """Return what is collected of a study."""
    return collect(**arguments(study))


@kept
def _of_one(study: Study) -> dict[str, Any]:
    return _arguments(study, None)


def _arguments(study: Study, dataset: Dataset | None) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    dataset = dataset or make_dataset(study, rng)
    splits = make_splits(study, dataset, rng)
    observed = make_fits(study, dataset, splits.outer, rng)
    final = make_fits(study, dataset, [splits.final], rng)
    tables = make_tables(study, dataset, splits, observed, final)
    config = {
        "label": dataset.design.label, "seed": 0, "probabilities": "study",
        "expression": "expression.tsv",
        "samples": "samples.tsv",
        "data": {"task": dataset.design.task, "classes": None, "group": None, "pair": None,
                 "prior_weights": None, "omics": None, "omic": None, "covariates": [],
                 "covariate_words": {}, "missing_covariates": "refuse",
                 "covariate_shape": "splines", "weights": None,
                 "chromosome": None, "position": None},
        "normalise": {"samples": [], "folds": [{"step": "centre"}, {"step": "unit_variance"}]},
        "splits": {"scheme": "stratified_kfold", "folds": study.folds, "repeats": study.repeats,
                   "inner_scheme": "stratified_kfold", "inner_folds": 5,
                   "subsamples": study.subsamples, "file": None},
        "linear": {"list": "minimal" if study.minimal else "stable", "penalty": "l1",
                   "jump": 2.0, "tau_min": 0.005,
                   "tau_count": 12, "lam": list(LAM), "mu": list(MU), "mu_choice": None,
                   "longest": study.longest, "criterion": "squared_error",
                   "one_standard_error": False, "threshold": "midpoint",
                   "solver": "landweber-newton", "tolerance": 1e-9},
        "signature": {"most": 100, "frequency": 0.75, "mu": None, "fdr": FDR, "least": 5,
                      "size": None, "permutations": 0 if study.named is None else PERMUTATIONS},
        "clusters": CLUSTERS,
        "controls": {"permutations": study.permutations, "baselines": ["ridge"], "fdr": 0.05},
        "report": {"title": "A study", "top_genes": 12, "table_rows": 500},
    }  # fmt: skip
    if study.nonlinear:
        tables = with_nonlinear(tables, dataset, splits, observed)
    config["nonlinear"] = {**CONFIG, "enabled": study.nonlinear}
    config["structured"] = {**STRUCTURED, **({} if study.sets else {"sets": None})}
    if study.placed:
        tables["stretches"] = stretches_table(dataset, tables["nested_lists"], final)
        config["data"] |= {"chromosome": "chr", "position": "start"}
        config["linear"]["penalty"] = "fused"
    config["enrichment"] = {"sets": None, "smallest": 2, "largest": 500}
    if study.enriched:
        config["enrichment"]["sets"] = "data/<b>pathways</b>.gmt"
        tables |= enriched(tables, dataset, splits, observed, study.names)
    if study.sets:
        tables = with_sets(tables, dataset, splits, observed, study.names, study.empty)
    return {
        "dataset": dataset,
        "splits": splits,
        "observed": observed,
        "final": final,
        "seen": quality(dataset, dataset, folds=config["normalise"]["folds"]),
        "tables": tables,
        "halves": halves(study, dataset, splits),
        "null": {"error": rng.normal(0.5, 0.08, (study.permutations, len(MU) + 1))},
        "config": config,
        "run": {"version": 1, "seed": 0, "config": config, "inputs": dataset.provenance["inputs"],
                "versions": {"genesig": "0.1.0", "python": "3.12"}},
    }  # fmt: skip


def halves(study: Study, dataset: Dataset, splits: Splits) -> Fits | None:
    """Return the fits of the halves, drawn apart from all that is drawn in `arguments`."""
    if not splits.subsamples:
        return None
    return make_fits(study, dataset, splits.subsamples, np.random.default_rng(13))


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
    var = pd.DataFrame({"symbol": symbols}, index=pd.Index(genes))
    if study.placed:
        number = np.arange(study.genes) % 24 + 1
        var["chromosome"] = ["chrX" if k == 23 else f"chr{k}" if k < 24 else "" for k in number]
        var["position"] = np.where(number < 24, 1e6 * (1 + np.arange(study.genes) // 24), np.nan)
    return Dataset(
        X=X,
        obs=pd.DataFrame({"class": labels}, index=pd.Index(samples)),
        var=var,
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


def make_fits(
    study: Study, dataset: Dataset, splits: Sequence[Split], rng: np.random.Generator
) -> Fits:
    """Choose among the lists of the first three mu, of the first one in a study by list minimal."""
    m, searched = len(splits), np.array(MU[: 1 if study.minimal else 3])
    base = 0.3 + 0.4 * (np.log10(TAU) + 1.1)[:, None] ** 2 + 0.03 * (np.log10(LAM) + 2)[None] ** 2
    error = base + rng.normal(0, 0.03, (m, len(searched), *base.shape))
    best = np.array([np.unravel_index(one.argmin(), one.shape) for one in error])
    sizes = np.maximum(1, np.tile(SIZES, m) + rng.integers(-2, 3, m * len(SIZES)))
    kept = np.where(study.empty | (sizes > study.longest), 0, sizes)
    fits = [
        screen(dataset, split.train, size)
        for split, row in zip(splits, kept.reshape(m, -1), strict=True) for size in row
    ]  # fmt: skip
    tests = [dataset.rows(split.test) for split in splits]
    scores = [
        np.column_stack([dataset.X[test][:, g] @ w + b for g, w, b in fits[i * 5 : i * 5 + 5]])
        for i, test in enumerate(tests)
    ]
    long = (sizes > study.longest).reshape(m, -1)
    times = [len(test) for test in tests]
    return Fits(
        split=np.array([s.name for s in splits]), permutation=np.zeros(m, int), tau=TAU,
        lam=np.array(LAM), mu=np.array(MU), searched=searched, tau_max=np.ones(m), norm=np.ones(m),
        cv_error=error, cv_se=error * 0.1,
        cv_size=np.tile(np.linspace(1, 40, 12), (m, len(searched), 1)),
        cv_agreement=np.full(error.shape[:3], 0.5), choice=best[:, [1, 2, 0]],
        threshold=rng.normal(0, 0.0 if study.regression else 0.1, m),
        indptr=np.append(0, np.cumsum([len(g) for g, _, _ in fits])),
        indices=np.concatenate([g for g, _, _ in fits]),
        values=np.concatenate([w for _, w, _ in fits]),
        intercept=np.array([b for _, _, b in fits]).reshape(m, -1),
        gap=np.where(long, np.nan, 1e-10), test_indptr=np.append(0, np.cumsum(times)),
        test_rows=np.concatenate(tests),
        scores=np.where(np.repeat(long, times, axis=0), np.nan, np.concatenate(scores)),
        line=None if study.regression else np.tile([0.0, 0.1, 2.5], (m, 1)),
    )  # fmt: skip
