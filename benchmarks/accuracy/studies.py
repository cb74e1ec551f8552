"""genesig and its peers in studies that were left out whole.

    python benchmarks/accuracy/studies.py [--data NAME ...] [--peers NAME ...] [--draws 3]

Real: stem cells (four studies, three classes), rheumatoid arthritis (two series of GEO), leukemia
(two chips, by symbol). Simulated: prostate samples cut in four, each with a gain and an offset of
its own for every gene, --draws times. Every method is given the training studies with their labels
and the left-out study without them, all of it at once, and chooses its settings by leaving out
training studies (of one, by five stratified folds). Prints for every method the mean over the
studies of the balanced error and of the AUC (of more than two classes that of each against the
rest), and the balanced error over all left-out samples, in which a study counts by its samples.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))

from places import SHARED
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from studies_peers import PEERS

from genesig.data.files.readers import load_schema, read_matrix, read_samples
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.alignment import AUTO, LEARNED_ALIGNMENTS, STUDYWISE_ALIGNMENTS
from genesig.data.steps.normalise import normalise_samples
from genesig.data.validate import study_config
from genesig.results import Dataset, Design, Fits, Splits
from genesig.selection.assess.held_out import predictions_table
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.linear.nested_cross_validation import nested_cross_validation
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy, linear_keywords

Array = np.ndarray[Any, Any]


class Data(NamedTuple):
    """Samples × genes, the class and the study of each sample."""

    X: Array
    label: Array
    study: Array


def stem_cells(_: int) -> Data:
    """Fibroblasts, embryonic and induced stem cells (Rohart et al. 2017)."""
    table = pd.read_csv(SHARED / "studies/stemcells.tsv.gz", sep="\t", index_col=0)
    about = pd.read_csv(SHARED / "studies/stemcells.samples.tsv", sep="\t", index_col=0)
    return Data(
        table[about.index].to_numpy().T, about["cell"].to_numpy(), about["study"].to_numpy()
    )


def prostate_in_four(seed: int) -> Data:
    """Prostate samples, the 2000 genes of largest variance, in four studies of unlike chips."""
    rng = np.random.default_rng(seed)
    table = pd.read_csv(SHARED / "singh_2002_expression.tsv.gz", sep="\t", index_col=0)
    about = pd.read_csv(SHARED / "singh_2002_samples.tsv", sep="\t", index_col=0)
    X = np.log2(np.clip(table[about.index].to_numpy().T, 16, 16000))
    X = X[:, np.argsort(-X.var(axis=0))[:2000]]
    study = rng.permutation(np.arange(len(X)) % 4)
    for k in range(4):
        study_values = X[study == k]
        d = X.shape[1]
        mean = study_values.mean(axis=0)
        study_values = (
            mean + rng.normal(0, 0.7, d) + np.exp(rng.normal(0, 0.3, d)) * (study_values - mean)
        )
        X[study == k] = study_values
    return Data(X, about.iloc[:, 0].to_numpy(), np.array([f"part{k}" for k in study]))


def arthritis(_: int) -> Data:
    """Synovial tissue of two centres: rheumatoid arthritis against healthy, on one chip."""
    tables = []
    labels = []
    names = []
    for name, key in (("GSE55235", "disease state"), ("GSE55457", "clinical status")):
        path = SHARED / f"geo/{name}_series_matrix.txt.gz"
        matrix = read_matrix(path)
        label = read_samples(path, None, None)[key].str.replace("normal ", "healthy ")
        study_samples = label.index[label.isin(["healthy control", "rheumatoid arthritis"])]
        table = pd.DataFrame(matrix.cells, matrix.rows, matrix.columns, dtype=float)
        tables.append(table[list(study_samples)].T)
        labels += label[study_samples].tolist()
        names += [name] * len(study_samples)
    return keep_largest_variance(tables, labels, names)


def leukemia(_: int) -> Data:
    """Lymphoblastic and myeloid leukemia on Hu6800 and HG-U95Av2, by the symbols of both."""
    about = pd.read_csv(SHARED / "golub_1999_samples.tsv", sep="\t", index_col=0)
    expression = pd.read_csv(SHARED / "golub_1999_expression.tsv.gz", sep="\t", index_col=0)
    features = pd.read_csv(SHARED / "golub_multtest/golub_features.tsv.gz", sep="\t", index_col=0)
    symbol = features["description"].str.split().str[0]
    second = pd.read_csv(
        SHARED / "gct/Leukemia_hgu95av2.trim.gct", sep="\t", skiprows=2, index_col=0
    )
    second = second.drop(columns="Description")
    expression = expression.loc[expression.index.isin(symbol.index), about.index]
    expression = expression.assign(
        mean=expression.mean(axis=1), symbol=symbol.reindex(expression.index)
    )
    expression = (
        expression.sort_values("mean").drop_duplicates("symbol", keep="last").set_index("symbol")
    )
    tables = [expression.drop(columns="mean").T, second[~second.index.duplicated()].T]
    labels = [*about.iloc[:, 0], *(name.split("_")[0] for name in second.columns)]
    return keep_largest_variance(
        tables, labels, ["Hu6800"] * len(about) + ["U95"] * second.shape[1]
    )


def keep_largest_variance(tables: list[pd.DataFrame], labels: list[str], names: list[str]) -> Data:
    """Return logarithms of the common genes, the 2000 of the largest mean variance in a study."""
    common = sorted(set.intersection(*(set(map(str, table.columns)) for table in tables)))
    parts = [np.log2(np.clip(table[common].to_numpy(dtype=float), 16, None)) for table in tables]
    largest_variance = np.argsort(
        -np.mean([part.var(axis=0) for part in parts], axis=0), kind="stable"
    )[:2000]
    return Data(np.vstack(parts)[:, np.sort(largest_variance)], np.array(labels), np.array(names))


DATA = {
    "stem cells": stem_cells,
    "prostate in four": prostate_in_four,
    "arthritis": arthritis,
    "leukemia": leukemia,
}
DRAWN = ("prostate in four",)


def genesig_scores(data: Data, align: str) -> Array:
    """Return the held-out score of each sample for each class, at the default settings."""
    dataset = pool_studies(data, align)
    splits, fits = observed_fits(dataset)
    table = predictions_table(dataset, splits, fits.with_chosen())
    table = table[table["mu"].isna()].set_index("sample").loc[dataset.samples]
    scores = ASSESSMENT_KINDS[dataset.design.kind].read_scores(table, dataset.design.classes)
    return scores if scores.ndim > 1 else np.column_stack([np.zeros(len(scores)), scores])


def pool_studies(data: Data, align: str) -> Dataset:
    """Return studies as one data set, in which each weighs alike, aligned."""
    names = [f"s{i:04d}" for i in range(len(data.label))]
    size = pd.Series(data.study).map(pd.Series(data.study).value_counts()).to_numpy()
    weight = len(names) / (len(np.unique(data.study)) * size)
    obs = pd.DataFrame(
        {"label": data.label, "study": data.study, "weight": [repr(float(w)) for w in weight]},
        names,
    )
    var = pd.DataFrame({"symbol": [f"g{j:05d}" for j in range(data.X.shape[1])]})
    design = Design(
        "label",
        "classification",
        tuple(np.unique(data.label)),
        None,
        None,
        "study",
        studies=True,
        weights="weight",
    )
    dataset = Dataset(data.X, obs, var.set_index("symbol", drop=False), design, {})
    return normalise_samples(dataset, align, **settings()["normalise"])


def observed_fits(
    dataset: Dataset, changes: Mapping[str, Any] = MappingProxyType({}), labels: str = "observed"
) -> tuple[Splits, Fits]:
    """Return the splits that leave out studies, and the double loop over them."""
    study = PreparedStudy(dataset, splits_of(dataset), settings()["normalise"]["folds"])
    linear_settings = LinearSettings(**{**linear(), **changes})
    return study.splits, nested_cross_validation(
        study, linear_settings, labels=labels, batch="1of1"
    )


def splits_of(dataset: Dataset) -> Splits:
    """Draw the default splits of several studies; no halves, which are not asked about here."""
    return draw_splits(dataset, seed=0, **{**settings()["splits"], "subsamples": 0})


def linear() -> dict[str, Any]:
    """Return what the default config tells the double loop."""
    return linear_keywords(settings())


@cache
def settings() -> dict[str, Any]:
    """Return the default config of several studies."""
    items = [{"name": k, "expression": f"{k}.tsv", "samples": f"{k}s.tsv"} for k in "ab"]
    return study_config({"studies": items, "label": "label"}, load_schema(), source="defaults")


def peer_scores(data: Data, name: str) -> Array:
    """Return the score of each sample by a model of the other studies."""
    _, y = np.unique(data.label, return_inverse=True)
    out = np.zeros((len(y), int(y.max()) + 1))
    for study in np.unique(data.study):
        test = data.study == study
        training_rows = ~test
        out[test] = PEERS[name](
            data.X[training_rows], y[training_rows], data.study[training_rows], data.X[test]
        )
    return out


def measure_method(data: Data, scores: Array) -> tuple[float, float, float]:
    """Return the means over the studies of balanced error and AUC, and the error of all samples."""
    _, y = np.unique(data.label, return_inverse=True)
    called = np.argmax(scores, axis=1)
    errors = []
    areas = []
    for study in np.unique(data.study):
        is_study = data.study == study
        errors.append(1 - balanced_accuracy_score(y[is_study], called[is_study]))
        f = (
            scores[is_study]
            if y.max() > 1
            else (scores[is_study, 1] - scores[is_study, 0])[:, None]
        )
        ks = range(f.shape[1]) if y.max() > 1 else [1]
        areas.append(
            np.mean([roc_auc_score(y[is_study] == k, f[:, at]) for at, k in enumerate(ks)])
        )
    return float(np.mean(errors)), float(np.mean(areas)), 1 - balanced_accuracy_score(y, called)


def table_rows(data: str, peers: list[str], draws: int) -> Iterator[str]:
    """Yield a line for each method."""
    drawn = [DATA[data](seed) for seed in range(draws if data in DRAWN else 1)]
    ways = [f"genesig, {align}" for align in (AUTO, *STUDYWISE_ALIGNMENTS, *LEARNED_ALIGNMENTS)]
    for name in [method for method in (*ways, *PEERS) if not peers or method in peers]:
        draw_measures = []
        for draw in drawn:
            is_genesig = name.startswith("genesig, ")
            scores = genesig_scores(draw, name[9:]) if is_genesig else peer_scores(draw, name)
            draw_measures.append(measure_method(draw, scores))
        error, area, pooled_error = np.mean(draw_measures, axis=0)
        yield f"| {data} | {name} | {error:.3f} | {area:.3f} | {pooled_error:.3f} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--peers", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # saga may not converge at weak penalties
    print("| data | method | balanced error | AUC | error over all samples |")
    print("| --- | --- | --- | --- | --- |")
    for data in given.data:
        for row in table_rows(data, given.peers, given.draws):
            print(row, flush=True)
