"""From the records of one data set to its table: errors, lengths of lists, stability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from answers_data import Study
from answers_runs import Record
from scipy.stats import t

from genesig.selection.assess.assessment import assess
from genesig.selection.assess.held_out import HeldOutScores, complete_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS

Array = np.ndarray[Any, Any]

HEADLINE = ASSESSMENT_KINDS["classification"].headline


def agreement(halves: Sequence[Sequence[int]], n_genes: int) -> tuple[float, float]:
    """Return the chance-corrected agreement of complementary halves and its standard error.

    Φ = 1 - (1/2) mean over pairs and genes of |z_a - z_b| / (p (1 - p)), with z the 0/1 lists of
    the two halves of a pair and p the mean share selected over all halves. Only the halves of one
    pair have no sample in common. The error is a jackknife over pairs: of resampling these
    samples, not of drawing other ones. Written apart from genesig's own, to be its referee.
    """
    sets = [set(genes) for genes in halves]
    list_distances = np.array([len(a ^ b) for a, b in zip(sets[::2], sets[1::2], strict=True)])
    size = np.array([len(a) + len(b) for a, b in zip(sets[::2], sets[1::2], strict=True)])
    n = len(list_distances)

    def index(is_used: Array) -> float:
        share = size[is_used].mean() / 2 / n_genes
        if not 0 < share < 1:
            return np.nan
        return float(1 - list_distances[is_used].mean() / n_genes / 2 / (share * (1 - share)))

    without = [index(np.arange(n) != pair) for pair in range(n)] if n > 1 else [np.nan]
    return index(np.ones(n, dtype=bool)), float(np.std(without) * np.sqrt(max(n - 1, 1)))


def scores_of_record(study: Study, record: Record) -> HeldOutScores:
    """Return the held-out scores of a record, as genesig's own assessment needs them."""
    row = np.array(record.row)
    split = np.array(record.split)
    scores = np.array(record.score)[:, None]
    return complete_held_out(study.dataset, study.splits, row, split, scores, np.zeros_like(row))


def paired_error(scores: HeldOutScores, reference: HeldOutScores) -> tuple[float, float, float]:
    """Return error of `scores` - error of `reference`, and the ends of its 95 % interval.

    The interval is that of t over d_i = n/(2 n_c) (mean over repeats of the loss of sample i, of
    `scores` minus of `reference`), c the class of sample i. Both have the same samples.
    """
    mean_losses = []
    for compared in (scores, reference):
        loss = HEADLINE.loss(compared)[:, 0].astype(float)
        rows, sample, times = np.unique(compared.row, return_inverse=True, return_counts=True)
        mean_losses.append(np.bincount(sample, weights=loss) / times)
    y = dict(zip(scores.row.tolist(), scores.y.tolist(), strict=True))
    responses = np.array([y[row] for row in rows.tolist()])
    _, class_of_sample, size = np.unique(responses, return_inverse=True, return_counts=True)
    difference = mean_losses[0] - mean_losses[1]
    influence = difference * len(rows) / (2 * size[class_of_sample])
    centre = influence.mean()
    error = influence.std(ddof=1) / np.sqrt(len(influence))
    half = t.ppf(0.975, len(influence) - 1) * error
    return float(centre), float(centre - half), float(centre + half)


def table(name: str, study: Study, records: dict[str, Record]) -> pd.DataFrame:
    """Return one row per method; differences are to the first one."""
    reference = scores_of_record(study, next(iter(records.values())))
    n_samples, n_genes = study.dataset.X.shape
    rows = []
    for method, record in records.items():
        decided_scores = scores_of_record(study, record)
        assessed = assess(decided_scores, HEADLINE)[0]
        row = {"data": name, "method": method, "n_samples": n_samples, "n_genes": n_genes}
        row |= {"error": assessed.error, "auc": assessed.auc}
        row |= dict(
            zip(("difference", "low", "high"), paired_error(decided_scores, reference), strict=True)
        )
        sizes = None if record.lists is None else [len(genes) for genes in record.lists]
        row["genes"] = n_genes if sizes is None else float(np.median(sizes))
        agreement_and_error = (
            (np.nan, np.nan) if record.again is None else agreement(record.again, n_genes)
        )
        row |= dict(zip(("stability", "stability_se"), agreement_and_error, strict=True))
        row |= {"seconds": record.seconds, "warnings": sum(record.warnings.values())}
        rows.append(row)
    return pd.DataFrame(rows)


def heading(study: Study) -> str:
    """Return a line about the size of a data set, its classes and its splits."""
    (n_samples, n_genes) = study.dataset.X.shape
    y = study.dataset.response()
    sizes = ", ".join(
        f"{np.sum(y == sign)} {label}"
        for sign, label in zip((-1, 1), study.dataset.design.classes, strict=True)
    )
    return (
        f"{n_samples} samples ({sizes}), {n_genes} genes; {len(study.splits.outer)} outer splits, "
        f"{len(study.splits.subsamples) // 2} pairs of halves"
    )


def format_table(rows: pd.DataFrame) -> str:
    """Return the table of one data set as lines of aligned cells."""
    head = (
        "method",
        "error",
        "AUC",
        "difference [95 %]",
        "genes",
        "stability",
        "seconds",
        "warnings",
    )
    lines = [head]
    for row in rows.itertuples():
        stability = row.stability
        error = row.stability_se
        lines.append(
            (
                row.method,
                f"{row.error:.3f}",
                f"{row.auc:.3f}",
                f"{row.difference:+.3f} [{row.low:+.3f}, {row.high:+.3f}]" if row.Index else "-",
                f"{row.genes:g}" if row.genes < row.n_genes else "all",
                "-" if np.isnan(stability) else f"{stability:.2f} ± {error:.2f}",
                f"{row.seconds:.1f}",
                f"{row.warnings}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
