"""Result tables of the study in report_study.py, with the words of the real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from genesig.results import Dataset, Fits, Splits

MU = (1e-6, 1e-3, 1e-2, 1e-1, 1.0)
SIZES = (14, 22, 34, 48, 70)


def make_tables(
    study: Any, dataset: Dataset, splits: Splits, fits: Fits, rng: np.random.Generator
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
        "lists": _lists(fits), "prototypes": _prototypes(blocks),
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
    words = ["block", "layer", "order", "gene", "symbol", "prototype", "r", "first_mu", "score"]
    table = pd.DataFrame(sorted(rows, key=lambda row: row[:2]), columns=words)
    table["order"] = np.arange(1, len(table) + 1)
    return table


def _lists(fits: Fits) -> pd.DataFrame:
    length = np.diff(fits.indptr).reshape(-1, len(MU))
    return pd.DataFrame({
        "mu": MU, "in_list": SIZES, "mean_size": length.mean(axis=0),
        "smallest": length.min(axis=0), "largest": length.max(axis=0),
        "nested": [np.nan, 100, 98.5, 100, 100], "nested_in_split": [np.nan, 99, 98, 97, 96],
    })  # fmt: skip


def _prototypes(blocks: pd.DataFrame) -> pd.DataFrame:
    table = blocks[blocks["gene"] == blocks["prototype"]]
    table = table[["gene", "symbol", "block", "score"]]
    return table.assign(coef=0.1, coef_from="final model", nearest=table["gene"],
                        nearest_symbol=table["symbol"], nearest_r=0.5, close=False)  # fmt: skip


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
    words = ["sample", "label", "repeat", "split", "mu", "score", "predicted", "wrong"]
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
    words = [
        "split",
        "repeat",
        "mu",
        "n_train",
        "n_test",
        "n_genes",
        "tau",
        "lam",
        "misclassification",
        "balanced_error",
        "squared_error",
        "auc",
    ]
    return pd.DataFrame(rows, columns=words)


def _stability(study: Any) -> pd.DataFrame:
    rows = [(mu, "outer_splits", 0.6 + 0.05 * j, 0.52 + 0.05 * j, 0.68 + 0.05 * j, 10, size)
            for j, (mu, size) in enumerate(zip(MU, SIZES, strict=True))]  # fmt: skip
    if study.subsamples:
        rows += [(mu, "half_subsamples", 0.3 + 0.07 * j, 0.2 + 0.07 * j, 0.4 + 0.07 * j, 6, size)
                 for j, (mu, size) in enumerate(zip(MU, SIZES, strict=True))]  # fmt: skip
    return pd.DataFrame(
        rows, columns=["mu", "source", "stability", "low", "high", "n_sets", "mean_size"]
    )


def _controls(study: Any, predictions: pd.DataFrame) -> pd.DataFrame:
    wrong = predictions.groupby("mu")["wrong"].mean().fillna(0.3)
    p = np.nan if study.permutations == 0 else 1 / (study.permutations + 1)
    rows = [("genesig", mu, e, max(e - 0.05, 0), e + 0.07, 1 - e, 0.9 - e, 1.0, p)
            for mu, e in wrong.items()]  # fmt: skip
    others = {"dummy": 0.5, "ridge": 0.04, "nearest_centroid": 0.06, "linear_svm": 0.05,
              "random_forest": 0.08}  # fmt: skip
    rows += [(name, np.nan, e, max(e - 0.03, 0), e + 0.06, 1 - e, 0.9 - e, 1.0, np.nan)
             for name, e in others.items()]  # fmt: skip
    words = ["model", "mu", "error", "low", "high", "auc", "auc_low", "auc_high", "p_value"]
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


def _curve(study: Any, frequency: Any) -> pd.DataFrame:
    share = np.linspace(0.05, 1, 20)
    rows = []
    for mu, mine in zip(MU, frequency, strict=True):
        for f in share:
            null = (len(mine) / 8 * np.exp(-6 * f) * k for k in (1, 0.4, 2))
            values = (np.nan,) * 3 if study.permutations == 0 else tuple(null)
            rows.append((mu, f, int((mine >= f - 1e-9).sum()), *values))
    words = ["mu", "frequency", "observed", "permuted_median", "permuted_low", "permuted_high"]
    return pd.DataFrame(rows, columns=words)
