"""A study in a moment: a screen by correlation stands in for the protocol.

It gives the arguments of `collect` with the shapes and the kind of values of a real run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

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
MU = (1e-6, 1e-3, 1e-2, 1e-1, 1.0)
SIZES = (7, 12, 20, 32, 45)


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
    return {
        "dataset": dataset,
        "splits": splits,
        "observed": observed,
        "final": make_fits(dataset, [splits.final], rng),
        "tables": tables,
        "null": {"error": rng.normal(0.5, 0.08, (study.permutations, len(MU)))},
        "config": config,
        "run": {"seed": 0, "versions": {"genesig": "0.1.0", "python": "3.12"},
                "inputs": dataset.provenance["inputs"], "times": {"started": "2026-01-01T00:00Z"}},
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
        fold_of[rank] = (np.arange(len(names)) + rng.integers(0, 99, len(names)) * 0) % study.folds
        fold_of = rng.permutation(fold_of) if repeat > 1 else fold_of
        wanted = 1 if study.folds == 1 else study.folds
        for fold in range(wanted):
            test = names[fold_of == fold] if wanted > 1 else names[::3]
            outer.append(split(f"r{repeat}f{fold + 1}", repeat, fold + 1, test))
    halves = [rng.permutation(names)[::2] for _ in range(study.subsamples)]
    return Splits(
        "stratified_kfold", "stratified_kfold", 0, tuple(outer), split("final", 0, 0, ()),
        tuple(split(f"s{i:02d}a", 0, i, half) for i, half in enumerate(halves)),
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


def make_tables(
    study: Study, dataset: Dataset, splits: Splits, fits: Fits, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    symbols = dataset.var["symbol"].astype(str).to_dict()
    frequency = np.zeros((len(MU), dataset.X.shape[1]))
    for i in range(len(fits)):
        for j in range(len(MU)):
            frequency[j, fits.coef(i, j)[0]] += 1 / len(fits)
    nested = _nested(dataset, symbols, frequency, 2.0 if study.empty else 0.75)
    signature, blocks = _signature(dataset, nested, rng), _blocks(dataset, nested)
    place = blocks.set_index("gene")["block"]
    signature["block"] = [place.get(gene, np.nan) for gene in signature["gene"]]
    predictions = _predictions(dataset, splits, fits)
    return {
        "signature": signature, "nested_lists": nested, "blocks": blocks,
        "predictions": predictions, "scores": _scores(dataset, splits, fits, predictions),
        "stability": _stability(study), "controls": _controls(study, predictions),
        "univariate": _univariate(dataset, symbols), "frequency_curve": _curve(study, frequency),
    }  # fmt: skip


def _nested(
    dataset: Dataset, symbols: dict[str, str], frequency: Any, threshold: float
) -> pd.DataFrame:
    rows = [
        (mu, dataset.genes[g], symbols[dataset.genes[g]], frequency[j, g], 0.1, 1.0,
         int(frequency[j, g] >= threshold))
        for j, mu in enumerate(MU) for g in np.argsort(-frequency[j], kind="stable")
        if frequency[j, g] > 0
    ]  # fmt: skip
    return pd.DataFrame(
        rows, columns=["mu", "gene", "symbol", "frequency", "mean_coef", "sign_consistency",
                       "in_list"],
    )  # fmt: skip


def _signature(dataset: Dataset, nested: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    table = nested[(nested["mu"] == MU[0]) & (nested["in_list"] == 1)].reset_index(drop=True)
    table = table[["gene", "symbol", "frequency", "mean_coef", "sign_consistency"]]
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    table["first_mu"] = MU[0]
    table["coef"] = rng.normal(0, 0.2, len(table))
    table["p_value"] = 10.0 ** -rng.uniform(3, 9, len(table))
    table["q_value"] = table["p_value"] * 50
    return table


def _blocks(dataset: Dataset, nested: pd.DataFrame) -> pd.DataFrame:
    lists = [list(nested[(nested["mu"] == mu) & (nested["in_list"] == 1)]["gene"]) for mu in MU]
    first: dict[str, int] = {}
    for j, genes in enumerate(lists):
        for gene in genes:
            first.setdefault(gene, j)
    columns = {gene: j for j, gene in enumerate(dataset.genes)}
    rows = []
    r = np.corrcoef(dataset.X[:, [columns[g] for g in first]].T) if first else np.zeros((0, 0))
    r, names = np.atleast_2d(r), list(first)
    lead = list(range(len(lists[0])))
    for i, gene in enumerate(names):
        block = i if i in lead else lead[int(np.abs(r[i, lead]).argmax())]
        rows.append((block + 1, first[gene] + 1, 0, gene, f"SYM-{gene[:20]}", names[block],
                     r[i, block], MU[first[gene]], 9 - block))  # fmt: skip
    words = "block layer order gene symbol prototype r first_mu score".split()
    table = pd.DataFrame(sorted(rows, key=lambda row: row[:2]), columns=words)
    table["order"] = np.arange(1, len(table) + 1)
    return table


def _predictions(dataset: Dataset, splits: Splits, fits: Fits) -> pd.DataFrame:
    y, classes, rows = dataset.response(), dataset.design.classes, []
    for i, split in enumerate(splits.outer):
        test, scores = fits.test(i)
        for row, mine in zip(test, scores, strict=True):
            for mu, score in zip(MU, mine, strict=True):
                said = score if classes is None else classes[int(score > 0)]
                label = y[row] if classes is None else classes[int(y[row] > 0)]
                wrong = np.nan if classes is None else int(score * y[row] <= 0)
                rows.append(
                    (dataset.samples[row], label, split.repeat, split.name, mu, score, said, wrong)
                )
    words = "sample label repeat split mu score predicted wrong".split()
    return pd.DataFrame(rows, columns=words)


def _scores(dataset: Dataset, splits: Splits, fits: Fits, table: pd.DataFrame) -> pd.DataFrame:
    y = dict(zip(dataset.samples, dataset.response(), strict=True))
    rows = []
    for (name, mu), mine in table.groupby(["split", "mu"], sort=False):
        i = list(fits.split).index(name)
        truth = mine["sample"].map(y).astype(float)
        error = float(((mine["score"] - truth) ** 2).mean())
        wrong = float(mine["wrong"].astype(float).mean())
        rows.append((name, splits.outer[i].repeat, mu, len(splits.outer[i].train), len(mine),
                     len(fits.coef(i, MU.index(float(mu)))[0]), fits.tau[fits.choice[i, 0]],
                     fits.lam[fits.choice[i, 1]], wrong, wrong, error, np.nan))  # fmt: skip
    words = (
        "split repeat mu n_train n_test n_genes tau lam misclassification balanced_error"
        " squared_error auc"
    ).split()
    return pd.DataFrame(rows, columns=words)


def _stability(study: Study) -> pd.DataFrame:
    rows = [(mu, "outer_splits", 0.6 + 0.05 * j, 0.52 + 0.05 * j, 0.68 + 0.05 * j, 10, size)
            for j, (mu, size) in enumerate(zip(MU, SIZES, strict=True))]  # fmt: skip
    if study.subsamples:
        rows += [(mu, "half_subsamples", 0.3 + 0.07 * j, 0.2 + 0.07 * j, 0.4 + 0.07 * j, 6, size)
                 for j, (mu, size) in enumerate(zip(MU, SIZES, strict=True))]  # fmt: skip
    return pd.DataFrame(rows, columns="mu source stability low high n_sets mean_size".split())


def _controls(study: Study, predictions: pd.DataFrame) -> pd.DataFrame:
    wrong = predictions.groupby("mu")["wrong"].mean().fillna(0.3)
    p = np.nan if study.permutations == 0 else 1 / (study.permutations + 1)
    rows = [("genesig", mu, e, max(e - 0.05, 0), e + 0.07, 1 - e, 0.9 - e, 1.0, p)
            for mu, e in wrong.items()]  # fmt: skip
    others = {"dummy": 0.5, "ridge": 0.04, "nearest_centroid": 0.06, "linear_svm": 0.05,
              "random_forest": 0.08}  # fmt: skip
    rows += [(name, np.nan, e, max(e - 0.03, 0), e + 0.06, 1 - e, 0.9 - e, 1.0, np.nan)
             for name, e in others.items()]  # fmt: skip
    words = "model mu error low high auc auc_low auc_high p_value".split()
    return pd.DataFrame(rows, columns=words)


def _univariate(dataset: Dataset, symbols: dict[str, str]) -> pd.DataFrame:
    from scipy.stats import false_discovery_control, pearsonr

    result = pearsonr(dataset.X, dataset.response()[:, None])
    table = pd.DataFrame({
        "gene": dataset.genes, "symbol": [symbols[g] for g in dataset.genes],
        "statistic": result.statistic * 10, "p_value": result.pvalue,
        "q_value": false_discovery_control(result.pvalue),
    })  # fmt: skip
    return table.sort_values("p_value").reset_index(drop=True)


def _curve(study: Study, frequency: Any) -> pd.DataFrame:
    share = np.linspace(0.05, 1, 20)
    rows = []
    for mu, mine in zip(MU, frequency, strict=True):
        for f in share:
            null = (len(mine) / 8 * np.exp(-6 * f) * k for k in (1, 0.4, 2))
            values = (np.nan,) * 3 if study.permutations == 0 else tuple(null)
            rows.append((mu, f, int((mine >= f - 1e-9).sum()), *values))
    words = "mu frequency observed permuted_median permuted_low permuted_high".split()
    return pd.DataFrame(rows, columns=words)


def changed(study: Study, **changes: Any) -> Study:
    return replace(study, **changes)


Check = Callable[[dict[str, Any]], None]
