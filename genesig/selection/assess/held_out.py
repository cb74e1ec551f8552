"""Held-out scores of the fits, and the tables of scores and predictions made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array, row_entries
from genesig.optim.classes import line_for_shares
from genesig.results import Dataset, Fits, Splits
from genesig.results.model_fits import ModelFits
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores

if TYPE_CHECKING:
    import pandas as pd

# class shares for which probabilities are reported, as named by the config
STUDY_SHARES = "study"  # those of the samples of the study
EQUAL_SHARES = "equal"  # 1/T for each of T classes


def class_shares(y: Array) -> Array:
    """Return the share of each class among the samples, (T,), in the order of their numbers."""
    class_sizes = np.unique(y, return_counts=True)[1]
    return np.asarray(class_sizes / class_sizes.sum())


def requested_shares(request: str | Sequence[float], y: Array) -> Array:
    """Return the class shares for which probabilities are reported, (T,).

    request: `STUDY_SHARES`, those of the samples; `EQUAL_SHARES`; or the shares themselves. y (n,).
    """
    if not isinstance(request, str):
        return np.asarray(request, dtype=float)
    study_shares = class_shares(y)
    if request == STUDY_SHARES:
        return study_shares
    return np.full(len(study_shares), 1 / len(study_shares))


def collect_held_out(dataset: Dataset, splits: Splits, fits: Fits) -> HeldOutScores:
    """Return the held-out scores of all fits, less their thresholds, with the response of each."""
    split, permutation = _number_test_scores(splits, fits)
    n_test = np.diff(fits.test_indptr)
    # scores are (t, n_mu) or (t, n_mu, T), thresholds one for each fit
    threshold = np.repeat(fits.threshold, n_test)
    scores = (fits.scores.T - threshold).T
    return complete_held_out(dataset, splits, fits.test_rows, split, scores, permutation)


def _number_test_scores(splits: Splits, fits: Fits | ModelFits) -> tuple[Array, Array]:
    """Return the number of the split and of the permutation of each test score, (t,) each."""
    n_test = np.diff(fits.test_indptr)
    number_of_split = {split.name: number for number, split in enumerate(splits.outer)}
    split = np.array([number_of_split[str(name)] for name in fits.split], dtype=np.int64)
    _, permutation = np.unique(fits.permutation, return_inverse=True)
    return np.repeat(split, n_test), np.repeat(permutation, n_test)


def complete_held_out(
    dataset: Dataset, splits: Splits, rows: Array, split: Array, scores: Array, permutation: Array
) -> HeldOutScores:
    """Return the record of held-out scores, with response, repeat and group of each test sample.

    rows, split, permutation (t,) int, scores (t, m): as the fields of `HeldOutScores`.
    """
    groups = dataset.groups()
    _, repeat = np.unique([outer_split.repeat for outer_split in splits.outer], return_inverse=True)
    return HeldOutScores(
        y=dataset.response()[rows],
        row=rows,
        split=split,
        repeat=repeat[split],
        permutation=permutation,
        scores=scores,
        test_train_ratio=float(
            np.mean(
                [len(outer_split.test) / len(outer_split.train) for outer_split in splits.outer]
            )
        ),
        group=None if groups is None else np.unique(groups, return_inverse=True)[1][rows],
    )


def read_held_out(dataset: Dataset, splits: Splits, table: pd.DataFrame) -> HeldOutScores:
    """Return the held-out scores of one method, of observed labels, from rows with its predictions.

    table: rows of predictions.tsv or baselines.tsv, one for each held-out score.
    """
    split_number = {split.name: number for number, split in enumerate(splits.outer)}
    row = dataset.rows(table["sample"].tolist())
    split = table["split"].map(split_number).to_numpy()
    scores = ASSESSMENT_KINDS[dataset.design.kind].read_scores(table, dataset.design.classes)
    permutation = np.zeros(len(row), dtype=np.int64)  # 0: the observed labels
    return complete_held_out(dataset, splits, row, split, scores[:, None], permutation)


def scores_table(dataset: Dataset, splits: Splits, observed: Fits) -> pd.DataFrame:
    """Return scores.tsv: the errors of each split at each mu; the chosen list has no mu.

    The errors are those of the kind, empty if a test fold does not define them. They and n_genes
    are empty if a list was too long to be kept. tau is the chosen fraction of tau_max, lam in units
    of ||X'X||/n.
    """
    import pandas as pd

    y = dataset.response()
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    n_genes = observed.sizes()
    outer = {split.name: split for split in splits.outer}
    rows = []
    for fit, name in enumerate(map(str, observed.split)):
        test, scores = observed.test_scores(fit)
        tau, lam, _ = observed.choice[fit]
        settings = (observed.grid.tau[tau], observed.grid.lam[lam])
        split = outer[name]
        for column, mu in enumerate(observed.mu):
            margin = scores[:, column] - observed.threshold[fit]
            errors = kind.measure_split(y[test], margin)
            sizes = (len(split.train), len(split.test), n_genes[fit, column])
            rows.append((name, split.repeat, mu, *sizes, *settings, *errors))
    columns = ["split", "repeat", "mu", "n_train", "n_test", "n_genes", "tau", "lam", *kind.errors]
    return pd.DataFrame(rows, columns=columns).astype({"n_genes": "Int64"})


def predictions_table(
    dataset: Dataset,
    splits: Splits,
    observed: Fits,
    probabilities: str | Sequence[float] = STUDY_SHARES,
) -> pd.DataFrame:
    """Return predictions.tsv: the score of every test sample of every split at each mu.

    ``score`` is f less the threshold of the split's fit; ``predicted`` and ``wrong`` are those of
    the kind: for two classes the class of its sign (empty at 0, which counts as wrong), for
    regression the score and nothing. All of these are empty where a list was too long to be kept.
    Rows of the chosen list have no mu, and these alone have probabilities, by the line of the
    split's training set (`optim.classes`): of the positive of two classes, or of each, where the
    classes have the shares that `probabilities` asks for, see `requested_shares`.
    """
    import pandas as pd

    held_out = collect_held_out(dataset, splits, observed)
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    split_names = np.array([split.name for split in splits.outer], dtype=object)
    repeats = np.array([split.repeat for split in splits.outer])
    label = dataset.response_kind.label_cells(dataset.obs, dataset.design)
    lines = _probability_lines(dataset, observed, probabilities)
    tables = [
        pd.DataFrame(
            {
                "sample": np.array(dataset.samples, dtype=object)[held_out.row],
                "label": label[held_out.row],
                "repeat": repeats[held_out.split],
                "split": split_names[held_out.split],
                "mu": mu,
                **decision_columns(dataset, held_out.y, held_out.scores[:, column]),
                **kind.probability_columns(
                    held_out.scores[:, column],
                    lines if np.isnan(mu) else np.full_like(lines, np.nan),
                    dataset.design.classes,
                ),
            }
        )
        for column, mu in enumerate(observed.mu)
    ]
    return pd.concat(tables, ignore_index=True)


def _probability_lines(dataset: Dataset, observed: Fits, request: str | Sequence[float]) -> Array:
    """Return the line of the probabilities of each test score, (t, T + 1); NaN without any."""
    n_test = np.diff(observed.test_indptr)
    if observed.line is None or dataset.design.classes is None:
        return np.full((n_test.sum(), 1 + len(dataset.design.classes or ())), np.nan)
    y = dataset.response()
    return np.repeat(
        line_for_shares(observed.line, class_shares(y), requested_shares(request, y)),
        n_test,
        axis=0,
    )


def model_scores(dataset: Dataset, splits: Splits, fits: ModelFits, scores: Array) -> HeldOutScores:
    """Return the record of test scores (t,) of models, with response, split and permutation.

    scores: `fits.scores`, or others of the same test rows.
    """
    split, permutation = _number_test_scores(splits, fits)
    return complete_held_out(dataset, splits, fits.test_rows, split, scores[:, None], permutation)


def model_errors(dataset: Dataset, splits: Splits, fits: ModelFits) -> pd.DataFrame:
    """Return a table of the training and test sizes of each split and the errors of its model."""
    import pandas as pd

    y = dataset.response()
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    rows = []
    for fit, split in enumerate(splits.outer):
        test = row_entries(fits.test_indptr, fit)
        errors = kind.measure_split(y[fits.test_rows[test]], fits.scores[test])
        rows.append((split.name, split.repeat, len(split.train), len(split.test), *errors))
    return pd.DataFrame(rows, columns=["split", "repeat", "n_train", "n_test", *kind.errors])


def model_predictions(
    dataset: Dataset, splits: Splits, held_out_by_model: Mapping[str, HeldOutScores]
) -> pd.DataFrame:
    """Return the predictions of models, by name, with the columns of baselines.tsv."""
    import pandas as pd

    split_names = np.array([split.name for split in splits.outer], dtype=object)
    repeats = np.array([split.repeat for split in splits.outer])
    samples = np.array(dataset.samples, dtype=object)
    tables = [
        pd.DataFrame(
            {
                "model": model,
                "split": split_names[held_out.split],
                "repeat": repeats[held_out.split],
                "sample": samples[held_out.row],
                **decision_columns(dataset, held_out.y, held_out.scores[:, 0]),
            }
        )
        for model, held_out in held_out_by_model.items()
    ]
    return pd.concat(tables, ignore_index=True)


def decision_columns(dataset: Dataset, y: Array, f: Array) -> dict[str, Array]:
    """Return the columns score, predicted and wrong of held-out samples.

    With several classes there is a score of each, and the largest is the prediction.
    """
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    classes = dataset.design.classes
    return {**kind.score_columns(f, classes), **kind.decision_columns(y, f, classes)}
