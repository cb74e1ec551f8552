"""Table of one data set from the records of its methods: errors, lengths of lists, stability."""

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

HEADLINE = ASSESSMENT_KINDS["classification"].headline  # the balanced error


def agreement(half_lists: Sequence[Sequence[int]], n_genes: int) -> tuple[float, float]:
    """Return the chance-corrected agreement Φ of complementary halves, and its standard error.

    Φ = 1 - (1/2) mean over pairs and genes of |z_a - z_b| / (p (1 - p)), with z the 0/1 lists of
    the two halves of a pair and p the mean share selected over all halves; NaN if all lists are
    empty. Only the halves of a pair have no sample in common. The error is a jackknife over pairs:
    of resampling these samples, not of drawing other samples. This implementation is apart from
    genesig's, to check it.
    """
    sets = [set(genes) for genes in half_lists]
    pairs = list(zip(sets[::2], sets[1::2], strict=True))
    n_differing = np.array([len(a ^ b) for a, b in pairs])
    n_selected = np.array([len(a) + len(b) for a, b in pairs])
    n = len(pairs)

    def phi(is_used: Array) -> float:
        """Return Φ of the pairs of a mask (n,)."""
        p = n_selected[is_used].mean() / 2 / n_genes
        if not 0 < p < 1:
            return np.nan
        return float(1 - n_differing[is_used].mean() / n_genes / 2 / (p * (1 - p)))

    jackknife = [phi(np.arange(n) != pair) for pair in range(n)] if n > 1 else [np.nan]
    return phi(np.ones(n, dtype=bool)), float(np.std(jackknife) * np.sqrt(max(n - 1, 1)))


def scores_of_record(study: Study, record: Record) -> HeldOutScores:
    """Return the held-out scores of a record, as genesig's assessment needs them."""
    row = np.array(record.row)
    split = np.array(record.split)
    scores = np.array(record.score)[:, None]
    permutation = np.zeros_like(row)  # labels as observed
    return complete_held_out(study.dataset, study.splits, row, split, scores, permutation)


def paired_error(scores: HeldOutScores, reference: HeldOutScores) -> tuple[float, float, float]:
    """Return error of `scores` - error of `reference`, and the ends of its 95 % interval.

    Both have the same samples. The interval is a t interval of the mean of d_i = n/(2 n_c) (l_i -
    r_i), with l_i and r_i the mean losses of sample i over repeats, and c its class.
    """
    mean_losses = []
    for compared in (scores, reference):
        loss = HEADLINE.loss(compared)[:, 0].astype(float)
        rows, sample, n_repeats = np.unique(compared.row, return_inverse=True, return_counts=True)
        mean_losses.append(np.bincount(sample, weights=loss) / n_repeats)
    y_of_row = dict(zip(scores.row.tolist(), scores.y.tolist(), strict=True))
    y = np.array([y_of_row[row] for row in rows.tolist()])
    _, class_of_sample, class_size = np.unique(y, return_inverse=True, return_counts=True)
    d = (mean_losses[0] - mean_losses[1]) * len(rows) / (2 * class_size[class_of_sample])
    mean = d.mean()
    standard_error = d.std(ddof=1) / np.sqrt(len(d))
    half_width = t.ppf(0.975, len(d) - 1) * standard_error
    return float(mean), float(mean - half_width), float(mean + half_width)


def method_table(name: str, study: Study, records: dict[str, Record]) -> pd.DataFrame:
    """Return a row of measures for each method; differences are to the first method."""
    reference = scores_of_record(study, next(iter(records.values())))
    n_samples, n_genes = study.dataset.X.shape
    rows = []
    for method, record in records.items():
        held_out = scores_of_record(study, record)
        assessment = assess(held_out, HEADLINE)[0]
        row = {"data": name, "method": method, "n_samples": n_samples, "n_genes": n_genes}
        row |= {"error": assessment.error, "auc": assessment.auc}
        difference = paired_error(held_out, reference)
        row |= dict(zip(("difference", "low", "high"), difference, strict=True))
        row |= {"genes": n_genes, "stability": np.nan, "stability_se": np.nan}
        if record.lists is not None:
            row["genes"] = float(np.median([len(genes) for genes in record.lists]))
        if record.half_lists is not None:
            row["stability"], row["stability_se"] = agreement(record.half_lists, n_genes)
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
    """Return the table of one data set as text with aligned columns."""
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
        stability = f"{row.stability:.2f} ± {row.stability_se:.2f}"
        lines.append(
            (
                row.method,
                f"{row.error:.3f}",
                f"{row.auc:.3f}",
                f"{row.difference:+.3f} [{row.low:+.3f}, {row.high:+.3f}]" if row.Index else "-",
                f"{row.genes:g}" if row.genes < row.n_genes else "all",
                "-" if np.isnan(row.stability) else stability,
                f"{row.seconds:.1f}",
                f"{row.warnings}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
