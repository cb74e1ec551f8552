"""Error of genesig and of other methods in left-out studies.

    python benchmarks/accuracy/studies.py [--data NAME ...] [--peers NAME ...] [--draws 3]

Real: stem cells (four studies, three classes), rheumatoid arthritis (two series of GEO), leukemia
(two chips, by symbol). Simulated: prostate samples cut into four studies, each with a different
gain and offset for every gene, --draws times. Every method gets the training studies with their
labels and all of the left-out study without labels, and chooses its settings by leaving out
training studies (with one training study, by five stratified folds). It prints for every method the
means over the studies of balanced error and AUC (of several classes, each against the rest), and
balanced error of all left-out samples, in which a study counts by its samples.
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
    """Values (n, d) of several studies, the class and the study of each sample."""

    X: Array
    label: Array
    study: Array


def stem_cells(_: int) -> Data:
    """Return fibroblasts, embryonic and induced stem cells (Rohart et al. 2017)."""
    table = pd.read_csv(SHARED / "studies/stemcells.tsv.gz", sep="\t", index_col=0)
    samples = pd.read_csv(SHARED / "studies/stemcells.samples.tsv", sep="\t", index_col=0)
    X = table[samples.index].to_numpy().T
    return Data(X, samples["cell"].to_numpy(), samples["study"].to_numpy())


def prostate_in_four(seed: int) -> Data:
    """Return prostate samples in four studies of unlike chips; 2000 genes of largest variance."""
    rng = np.random.default_rng(seed)
    table = pd.read_csv(SHARED / "singh_2002_expression.tsv.gz", sep="\t", index_col=0)
    samples = pd.read_csv(SHARED / "singh_2002_samples.tsv", sep="\t", index_col=0)
    X = np.log2(np.clip(table[samples.index].to_numpy().T, 16, 16000))
    X = X[:, np.argsort(-X.var(axis=0))[:2000]]
    study = rng.permutation(np.arange(len(X)) % 4)
    d = X.shape[1]
    for k in range(4):
        mean = X[study == k].mean(axis=0)
        offset = rng.normal(0, 0.7, d)
        gain = np.exp(rng.normal(0, 0.3, d))
        X[study == k] = mean + offset + gain * (X[study == k] - mean)
    return Data(X, samples.iloc[:, 0].to_numpy(), np.array([f"part{k}" for k in study]))


def arthritis(_: int) -> Data:
    """Return synovial tissue of two centres: rheumatoid arthritis and healthy, on one chip."""
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
    """Return lymphoblastic and myeloid leukemia on Hu6800 and HG-U95Av2, by common symbols."""
    samples = pd.read_csv(SHARED / "golub_1999_samples.tsv", sep="\t", index_col=0)
    first = pd.read_csv(SHARED / "golub_1999_expression.tsv.gz", sep="\t", index_col=0)
    features = pd.read_csv(SHARED / "golub_multtest/golub_features.tsv.gz", sep="\t", index_col=0)
    symbol = features["description"].str.split().str[0]
    second = pd.read_csv(
        SHARED / "gct/Leukemia_hgu95av2.trim.gct", sep="\t", skiprows=2, index_col=0
    )
    second = second.drop(columns="Description")
    first = first.loc[first.index.isin(symbol.index), samples.index]
    first = first.assign(mean=first.mean(axis=1), symbol=symbol.reindex(first.index))
    # Of several probe sets of a symbol the one of largest mean.
    first = first.sort_values("mean").drop_duplicates("symbol", keep="last").set_index("symbol")
    tables = [first.drop(columns="mean").T, second[~second.index.duplicated()].T]
    labels = [*samples.iloc[:, 0], *(name.split("_")[0] for name in second.columns)]
    studies = ["Hu6800"] * len(samples) + ["U95"] * second.shape[1]
    return keep_largest_variance(tables, labels, studies)


def keep_largest_variance(
    tables: list[pd.DataFrame], labels: list[str], studies: list[str]
) -> Data:
    """Return log2 values of the 2000 common genes of the largest mean variance within studies.

    tables: a table (samples × genes) of each study; labels, studies: of the samples in that order.
    """
    common = sorted(set.intersection(*(set(map(str, table.columns)) for table in tables)))
    parts = [np.log2(np.clip(table[common].to_numpy(dtype=float), 16, None)) for table in tables]
    variance = np.mean([part.var(axis=0) for part in parts], axis=0)
    genes = np.sort(np.argsort(-variance, kind="stable")[:2000])
    return Data(np.vstack(parts)[:, genes], np.array(labels), np.array(studies))


# Name -> function of a seed, which only simulated data use.
DATA = {
    "stem cells": stem_cells,
    "prostate in four": prostate_in_four,
    "arthritis": arthritis,
    "leukemia": leukemia,
}
SIMULATED = ("prostate in four",)


def genesig_scores(data: Data, align: str) -> Array:
    """Return the held-out scores (n, T) of the classes by the chosen lists at default settings."""
    dataset = pool_studies(data, align)
    splits, fits = observed_fits(dataset)
    table = predictions_table(dataset, splits, fits.with_chosen())
    table = table[table["mu"].isna()].set_index("sample").loc[dataset.samples]
    scores = ASSESSMENT_KINDS[dataset.design.kind].read_scores(table, dataset.design.classes)
    return scores if scores.ndim > 1 else np.column_stack([np.zeros(len(scores)), scores])


def pool_studies(data: Data, align: str) -> Dataset:
    """Return studies as one data set with equal weights of studies; align: `across.align`."""
    names = [f"s{i:04d}" for i in range(len(data.label))]
    studies, study_of_sample, sizes = np.unique(data.study, return_inverse=True, return_counts=True)
    weight = len(names) / (len(studies) * sizes[study_of_sample])
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
    """Return the splits that leave out studies, and the fits of their nested cross-validation.

    changes: of `LinearSettings`.
    """
    study = PreparedStudy(dataset, splits_of(dataset), settings()["normalise"]["folds"])
    linear_settings = LinearSettings(**{**linear(), **changes})
    return study.splits, nested_cross_validation(
        study, linear_settings, labels=labels, batch="1of1"
    )


def splits_of(dataset: Dataset) -> Splits:
    """Return the default splits of several studies, without halves."""
    return draw_splits(dataset, seed=0, **{**settings()["splits"], "subsamples": 0})


def linear() -> dict[str, Any]:
    """Return the fields of `LinearSettings` by the default config."""
    return linear_keywords(settings())


@cache
def settings() -> dict[str, Any]:
    """Return the default config of several studies."""
    items = [{"name": k, "expression": f"{k}.tsv", "samples": f"{k}s.tsv"} for k in "ab"]
    return study_config({"studies": items, "label": "label"}, load_schema(), source="defaults")


def peer_scores(data: Data, name: str) -> Array:
    """Return the scores (n, T) of each sample by a peer trained on the other studies."""
    _, y = np.unique(data.label, return_inverse=True)
    scores = np.zeros((len(y), int(y.max()) + 1))
    for study in np.unique(data.study):
        test = data.study == study
        train = ~test
        scores[test] = PEERS[name](data.X[train], y[train], data.study[train], data.X[test])
    return scores


def measure_method(data: Data, scores: Array) -> tuple[float, float, float]:
    """Return the means over studies of balanced error and AUC, and the error of all samples.

    scores (n, T): of the classes in ascending order.
    """
    _, y = np.unique(data.label, return_inverse=True)
    predicted = np.argmax(scores, axis=1)
    errors = []
    areas = []
    for study in np.unique(data.study):
        is_study = data.study == study
        errors.append(1 - balanced_accuracy_score(y[is_study], predicted[is_study]))
        study_scores = scores[is_study]
        class_scores = dict(enumerate(study_scores.T))
        if len(class_scores) == 2:
            class_scores = {1: study_scores[:, 1] - study_scores[:, 0]}
        areas.append(np.mean([roc_auc_score(y[is_study] == k, f) for k, f in class_scores.items()]))
    return float(np.mean(errors)), float(np.mean(areas)), 1 - balanced_accuracy_score(y, predicted)


def table_rows(data: str, peers: list[str], draws: int) -> Iterator[str]:
    """Yield a line of Markdown for each method on one data set; no peers: all methods."""
    draws_of_data = [DATA[data](seed) for seed in range(draws if data in SIMULATED else 1)]
    alignments = (AUTO, *STUDYWISE_ALIGNMENTS, *LEARNED_ALIGNMENTS)
    align_of = {f"genesig, {align}": align for align in alignments}
    for name in [method for method in (*align_of, *PEERS) if not peers or method in peers]:
        measures = []
        for draw in draws_of_data:
            is_genesig = name in align_of
            scores = genesig_scores(draw, align_of[name]) if is_genesig else peer_scores(draw, name)
            measures.append(measure_method(draw, scores))
        error, area, pooled_error = np.mean(measures, axis=0)
        yield f"| {data} | {name} | {error:.3f} | {area:.3f} | {pooled_error:.3f} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--peers", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # saga may not converge at weak penalties
    print("| data | method | balanced error | AUC | error over all samples |")
    print("| --- | --- | --- | --- | --- |")
    for data in options.data:
        for row in table_rows(data, options.peers, options.draws):
            print(row, flush=True)
