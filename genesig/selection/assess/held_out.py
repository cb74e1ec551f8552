"""Held-out scores of all splits, and the predictions that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.optim.class_line import line_for_shares
from genesig.results import Dataset, Fits, Splits
from genesig.results.model_fits import ModelFits
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import HeldOut

if TYPE_CHECKING:
    import pandas as pd

STUDY, EQUAL = "study", "equal"


def class_shares(y: Array) -> Array:
    """Return the share of each class among the samples, (T,), in the order of their numbers."""
    size = np.unique(y, return_counts=True)[1]
    return np.asarray(size / size.sum())


def asked_shares(asked: str | Sequence[float], y: Array) -> Array:
    """Return the shares that are asked for, (T,).

    Parameters
    ----------
    asked : str or sequence of float
        `STUDY`, those of the samples; `EQUAL`; or the shares themselves.
    y : (n,) array
    """
    known = class_shares(y)
    if isinstance(asked, str):
        return known if asked == STUDY else np.full(len(known), 1 / len(known))
    return np.asarray(asked, dtype=float)


def held_out(dataset: Dataset, splits: Splits, fits: Fits) -> HeldOut:
    """Look up the response, split, repeat and permutation of every test score."""
    place = {split.name: number for number, split in enumerate(splits.outer)}
    number = np.array([place[str(name)] for name in fits.split], dtype=np.int64)
    _, permutation = np.unique(fits.permutation, return_inverse=True)
    times = np.diff(fits.test_indptr)
    return arrange(
        dataset, splits, fits.test_rows, np.repeat(number, times),
        fits.scores - np.repeat(fits.threshold, times).reshape(-1, *[1] * (fits.scores.ndim - 1)),
        np.repeat(permutation, times),
    )  # fmt: skip


def arrange(
    dataset: Dataset, splits: Splits, row: Array, split: Array, scores: Array, permutation: Array
) -> HeldOut:
    """Complete the record from the row and the split number of every score."""
    groups = dataset.groups()
    _, repeat = np.unique([each.repeat for each in splits.outer], return_inverse=True)
    return HeldOut(
        y=dataset.response()[row],
        row=row,
        split=split,
        repeat=repeat[split],
        permutation=permutation,
        scores=scores,
        ratio=float(np.mean([len(each.test) / len(each.train) for each in splits.outer])),
        group=None if groups is None else np.unique(groups, return_inverse=True)[1][row],
    )


def scores_table(dataset: Dataset, splits: Splits, observed: Fits) -> pd.DataFrame:
    """Return scores.tsv: the errors of each split at each mu; that of the chosen list has none.

    The errors are those of the kind, empty where a test fold does not define them; they and n_genes
    are, where a list was too long to be kept. tau is the chosen fraction of tau_max, lam in units
    of ||X'X||/n.
    """
    import pandas as pd

    y, kind = dataset.response(), ASSESSED[dataset.design.kind]
    size = observed.sizes()
    outer = {split.name: split for split in splits.outer}
    rows = []
    for fit, name in enumerate(map(str, observed.split)):
        test, scores = observed.test(fit)
        tau, lam, _ = observed.choice[fit]
        split = outer[name]
        for at, mu in enumerate(observed.mu):
            margin = scores[:, at] - observed.threshold[fit]
            errors = kind.of_split(y[test], margin)
            rows.append(
                (name, split.repeat, mu, len(split.train), len(split.test), size[fit, at],
                 observed.tau[tau], observed.lam[lam], *errors)
            )  # fmt: skip
    columns = [
        "split", "repeat", "mu", "n_train", "n_test", "n_genes", "tau", "lam", *kind.errors,
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).astype({"n_genes": "Int64"})


def predictions_table(
    dataset: Dataset, splits: Splits, observed: Fits, probabilities: str | Sequence[float] = STUDY
) -> pd.DataFrame:
    """Return predictions.tsv: the score of every test sample of every split at each mu.

    ``score`` is f less the threshold of the split's fit; ``predicted`` and ``wrong`` are those of
    the kind: for two classes the class of its sign (empty at 0, which counts as wrong), for
    regression the score and nothing. All of these are empty where a list was too long to be kept.
    Rows of the chosen list have no mu, and these alone have probabilities, by the line of the
    split's training set (`class_line`): of the positive of two classes, or of each, where the
    classes have the shares that `probabilities` asks for, see `asked_shares`.
    """
    import pandas as pd

    found, kind = held_out(dataset, splits, observed), ASSESSED[dataset.design.kind]
    names = np.array([split.name for split in splits.outer], dtype=object)
    repeats = np.array([split.repeat for split in splits.outer])
    label = dataset.kind.label_cells(dataset.obs, dataset.design)
    lines = _lines(dataset, observed, probabilities)
    tables = [
        pd.DataFrame(
            {
                "sample": np.array(dataset.samples, dtype=object)[found.row],
                "label": label[found.row],
                "repeat": repeats[found.split],
                "split": names[found.split],
                "mu": mu,
                **decisions(dataset, found.y, found.scores[:, at]),
                **kind.told(
                    found.scores[:, at],
                    lines if np.isnan(mu) else np.full_like(lines, np.nan),
                    dataset.design.classes,
                ),
            }
        )
        for at, mu in enumerate(observed.mu)
    ]
    return pd.concat(tables, ignore_index=True)


def _lines(dataset: Dataset, observed: Fits, asked: str | Sequence[float]) -> Array:
    """Return the line of the probabilities of each test score, (t, T + 1); NaN without any."""
    times = np.diff(observed.test_indptr)
    if observed.line is None or dataset.design.classes is None:
        return np.full((times.sum(), 1 + len(dataset.design.classes or ())), np.nan)
    y = dataset.response()
    return np.repeat(
        line_for_shares(observed.line, class_shares(y), asked_shares(asked, y)), times, axis=0
    )


def model_scores(dataset: Dataset, splits: Splits, fits: ModelFits, scores: Array) -> HeldOut:
    """Look up response, split, repeat and permutation of the test scores (t,) of some models."""
    times = np.diff(fits.test_indptr)
    place = {split.name: number for number, split in enumerate(splits.outer)}
    split = np.repeat(np.array([place[str(name)] for name in fits.split], dtype=np.int64), times)
    _, number = np.unique(fits.permutation, return_inverse=True)
    return arrange(dataset, splits, fits.test_rows, split, scores[:, None],
                   np.repeat(number, times))  # fmt: skip


def model_errors(dataset: Dataset, splits: Splits, fits: ModelFits) -> pd.DataFrame:
    """Return the sizes of each split and the errors of its model."""
    import pandas as pd

    y, kind, rows = dataset.response(), ASSESSED[dataset.design.kind], []
    for fit, split in enumerate(splits.outer):
        part = slice(*fits.test_indptr[fit:][:2])
        errors = kind.of_split(y[fits.test_rows[part]], fits.scores[part])
        rows.append((split.name, split.repeat, len(split.train), len(split.test), *errors))
    return pd.DataFrame(rows, columns=["split", "repeat", "n_train", "n_test", *kind.errors])


def model_predictions(
    dataset: Dataset, splits: Splits, known: Mapping[str, HeldOut]
) -> pd.DataFrame:
    """Return the predictions of some models by name, in the form of baselines.tsv."""
    import pandas as pd

    names = np.array([split.name for split in splits.outer], dtype=object)
    repeats = np.array([split.repeat for split in splits.outer])
    samples = np.array(dataset.samples, dtype=object)
    tables = [
        pd.DataFrame({"model": model, "split": names[found.split], "repeat": repeats[found.split],
                      "sample": samples[found.row],
                      **decisions(dataset, found.y, found.scores[:, 0])})
        for model, found in known.items()
    ]  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def decisions(dataset: Dataset, y: Array, f: Array) -> dict[str, Array]:
    """Return the columns score, predicted and wrong of held-out samples.

    With several classes there is a score of each, and the largest is the prediction.
    """
    kind, classes = ASSESSED[dataset.design.kind], dataset.design.classes
    return {**kind.columns(f, classes), **kind.decided(y, f, classes)}
