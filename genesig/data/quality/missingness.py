"""Tests of missing values against the label; they have no influence on fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.imputation import exceeds_missing_share, missing_when_low
from genesig.data.steps.normalise import LOW_VALUE_STEPS
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.response.kinds import RESPONSES
from genesig.results import Design
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd


def q_values(p: Array) -> Array:
    """Return ``q_(i) = min_{j >= i} m p_(j) / j`` of m p-values, (m,) to (m,).

    The smallest false discovery rate at which a test is rejected: Benjamini and Hochberg 1995,
    theorem 1. Not from SciPy, whose statistics module every small job would have to import.
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)[::-1]
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    return np.minimum(q, 1.0)


PROBABILITY_ROUNDING = 1e-7  # relative difference below which probabilities of tables are equal
MAX_FALSE_DISCOVERY_RATE = 0.05  # largest false discovery rate of associated genes


@dataclass(frozen=True, eq=False)
class Missingness:
    """Missing values against the response."""

    genes: Array  # (m,) int: genes that only some of the samples have
    # (m,) float: Fisher's exact test of missing against class; for T > 2 classes T times the
    # smallest p of a class against the rest. For a number, the rank sum test of the samples without
    # the gene.
    p: Array
    # (T, m) float: share of each class, all of its samples, without each of the genes; T = 0
    # without classes
    by_class: Array
    # p of the samples' shares of missing values: Kruskal and Wallis' test for classes, Spearman's
    # for a number. NaN if all are equal.
    sample_p: float
    class_share: Array  # (T,) float: share of all values that each class misses

    @property
    def associated(self) -> Array:
        """Indices in `genes` of genes with a q of at most 5 %, the smallest p first.

        Benjamini and Hochberg, over the genes that are partly missing.
        """
        q = q_values(self.p)
        order = np.argsort(self.p, kind="stable")
        return np.asarray(order[q[order] <= MAX_FALSE_DISCOVERY_RATE])


def associate_missing_values(missing: Array, obs: pd.DataFrame, design: Design) -> Missingness:
    """Test the missing values of the samples in obs against their response.

    missing (n, d) bool: rows as in obs. Of samples of one group and one label only the first is
    tested, as these are not independent.
    """
    response_kind = RESPONSES[design.kind]
    response_number = response_kind.numeric_response(response_kind.read(obs, design))
    members = np.empty((0, len(obs)), bool)  # masks of the classes, (T, n)
    if design.classes is not None:
        members = _class_masks(response_number)
    distinct_samples = np.arange(len(obs))
    if design.group is not None:
        is_repeated = obs.duplicated([design.group, design.label]).to_numpy()
        distinct_samples = np.flatnonzero(~is_repeated)
    partly_missing = missing[distinct_samples].any(axis=0) & ~missing[distinct_samples].all(axis=0)
    genes = np.flatnonzero(partly_missing)
    missing_values = missing[distinct_samples][:, partly_missing]
    share = missing[distinct_samples].mean(axis=1)
    tested_members = members[:, distinct_samples]
    has_classes = len(members) > 0
    if has_classes:
        p = _fisher(missing_values, tested_members)
        sample_p = _kruskal(share, tested_members)
    else:
        p = _rank_sums(missing_values, response_number[distinct_samples])
        sample_p = _spearman(share, response_number[distinct_samples])
    by_class = [missing[in_class][:, genes].mean(axis=0) for in_class in members]
    return Missingness(
        genes=genes,
        p=p,
        by_class=np.array(by_class).reshape(-1, len(genes)),
        sample_p=sample_p,
        class_share=np.array([missing[in_class].mean() for in_class in members]),
    )


def _class_masks(response_number: Array) -> Array:
    """Return the mask of the samples of each class, (T, n).

    response_number: ±1 for two classes, (n,); else (n, T), above 0 in the column of the class.
    """
    if response_number.ndim > 1:
        return np.asarray(response_number.T > 0)
    return np.stack([response_number < 0, response_number > 0])


def _fisher(missing_values: Array, members: Array) -> Array:
    """Return ``min(1, T min_c P(table at most as likely as that of class c))``, (m,).

    missing_values (n, m) bool: cells of the tested genes. members (T, n) bool. Of two classes the
    tables are the same, and T is 1. Genes with the same number of missing values share tables.
    """
    from scipy.stats import hypergeom

    n = len(missing_values)
    missing_totals = missing_values.sum(axis=0)
    p = np.ones((len(members) if len(members) > 2 else 1, missing_values.shape[1]))
    for row, member in zip(p, members, strict=False):  # one row of two classes
        class_size = int(member.sum())
        n_missing_in_class = missing_values[member].sum(axis=0)
        for n_missing in np.unique(missing_totals).tolist():
            # A table is given by the number of missing values in the class.
            pmf = hypergeom.pmf(np.arange(class_size + 1), n, class_size, n_missing)
            same_total = missing_totals == n_missing
            counts, count_index = np.unique(n_missing_in_class[same_total], return_inverse=True)
            is_at_most_as_likely = pmf <= pmf[counts, None] * (1 + PROBABILITY_ROUNDING)
            row[same_total] = (is_at_most_as_likely @ pmf)[count_index]
    return np.asarray(np.minimum(p.min(axis=0) * len(p), 1.0))


def _rank_sums(missing_values: Array, response_number: Array) -> Array:
    """Return the two-sided p of each gene's rank sum, by the normal distribution, (m,).

    missing_values (n, m) bool. response_number (n,) float.
    """
    from scipy.special import ndtr
    from scipy.stats import rankdata

    n = len(missing_values)
    ranks = rankdata(response_number)
    missing_totals = missing_values.sum(axis=0)
    spread = ranks.var() * missing_totals * (n - missing_totals) / (n - 1)
    rank_sum_shift = np.abs(ranks @ missing_values - missing_totals * ranks.mean())
    return np.asarray(2 * ndtr(-rank_sum_shift / np.sqrt(np.where(spread > 0, spread, np.inf))))


def _kruskal(share: Array, members: Array) -> float:
    """Return the p of Kruskal and Wallis' test of shares (n,) between classes; NaN if undefined."""
    from scipy.stats import kruskal

    shares_by_class = [share[member] for member in members if member.any()]
    return (
        float(kruskal(*shares_by_class).pvalue)
        if len(shares_by_class) > 1 and np.ptp(share) > 0
        else np.nan
    )


def _spearman(share: Array, response_number: Array) -> float:
    """Return the p of Spearman's correlation of two arrays (n,); NaN if one is constant."""
    from scipy.stats import spearmanr

    varies = np.ptp(share) > 0 and np.ptp(response_number) > 0
    return float(spearmanr(share, response_number).pvalue) if varies else np.nan


MAX_SAMPLE_P = 0.01  # p up to which the samples' missing shares are associated with the label


def check_missing(
    X: Array,
    genes: Sequence[str],
    sheet: Sheet,
    fold_steps: Sequence[Mapping[str, Any]],
    location: str,
    omics: Array | None = None,
) -> Iterator[Problem]:
    """Yield warnings of missing values associated with the label, and of genes left out for them.

    X (n, n_genes): rows as in `sheet`. fold_steps: ``normalise.folds`` of the config; a step that
    fills missing values in comes first. omics (n_genes,): omic of each gene, if there are several.
    """
    missing = np.isnan(X)
    if not missing.any():
        return
    associations = associate_missing_values(missing, sheet.obs, sheet.design)
    first_step: Mapping[str, Any] = next(iter(fold_steps), {"step": ""})
    findings = [*_gene_phrases(associations, genes, sheet), *_sample_phrases(associations, sheet)]
    if findings:
        advice = (
            f"{first_step['step']} {LOW_VALUES_ADVICE}"
            if first_step["step"] in LOW_VALUE_STEPS
            else NEIGHBOURS_ADVICE
        )
        advice = _omics_advice(missing, omics) or advice
        yield Problem(
            location,
            f"missing values are associated with the outcome: {'; '.join(findings)}. {advice}",
            "warning",
        )
    if first_step["step"] == "knn_impute" and missing_when_low(X):
        yield Problem(
            location,
            "values are missing where genes are low: too small to be "
            "measured rather than missing at random, which knn_impute takes them for; "
            "left_censored and half_minimum are for such values",
            "warning",
        )
    if "missing_most" in first_step:
        yield from _left_out_gene_warnings(X, genes, sheet, first_step["missing_most"], location)


LOW_VALUES_ADVICE = "takes a missing value for a low one: make sure that all were measured alike"
NEIGHBOURS_ADVICE = (
    "If a value is missing because it was too small to be measured, {step: left_censored} takes it"
    " for a low one; if some samples were measured otherwise, leave the genes or the samples out"
)


def _omics_advice(missing: Array, omics: Array | None) -> str:
    """Return advice if more than half of the missing values are of omics a sample lacks; or ''.

    missing (n, d) bool. omics (d,) str.
    """
    if omics is None:
        return ""
    missing_of_omic = {name: missing[:, omics == name] for name in sorted(set(omics))}
    lost_values = {
        name: int(is_missing.all(axis=1).sum()) * is_missing.shape[1]
        for name, is_missing in missing_of_omic.items()
    }
    if 2 * sum(lost_values.values()) <= missing.sum():
        return ""
    names = listing(name for name, values in lost_values.items() if values)
    return (
        f"Some samples lack {names} as a whole, which is no low value: find out why, and leave the "
        "omic or the samples out unless the reason has nothing to do with the outcome"
    )


def _gene_phrases(associations: Missingness, genes: Sequence[str], sheet: Sheet) -> Iterator[str]:
    """Yield a phrase about the genes whose missing values are associated with the label, if any.

    genes: names; `associations.genes` are indices of them.
    """
    associated = associations.associated
    classes = sheet.design.classes
    if not len(associated):
        return
    sentence = f"{counted(len(associated), 'gene')} of {len(associations.genes)} with missing "
    sentence += "values (false discovery rate 5%)"
    shares = associations.by_class[:, associated[0]]
    class_shares = [
        f"{100 * share:.0f} % of '{label}'"
        for share, label in zip(shares, classes or (), strict=False)
    ]
    example = f"'{genes[int(associations.genes[associated[0]])]}'"
    yield f"{sentence}, such as {example}" + (
        f", which {_join_phrases(class_shares)} lack" if class_shares else ""
    )


def _sample_phrases(associations: Missingness, sheet: Sheet) -> Iterator[str]:
    """Yield a phrase if the samples' shares of missing values are associated with the label."""
    if not associations.sample_p <= MAX_SAMPLE_P:  # above, or NaN
        return
    shares = zip(associations.class_share, sheet.design.classes or (), strict=False)
    class_shares = [f"{100 * share:.2g} % of the values of '{name}'" for share, name in shares]
    sentence = (
        f"{_join_phrases(class_shares)} are missing"
        if class_shares
        else "samples miss more at one end of the label"
    )
    yield f"{sentence} (p {associations.sample_p:.2g})"


def _join_phrases(phrases: Sequence[str]) -> str:
    """Return the first three phrases, with dots for more."""
    return " and ".join(phrases[:3]) + ", ..." * (len(phrases) > 3)


def _left_out_gene_warnings(
    X: Array, genes: Sequence[str], sheet: Sheet, max_share: float, location: str
) -> Iterator[Problem]:
    """Yield a warning of the genes that knn_impute leaves out for their missing values."""
    design = sheet.design
    classes = None if design.classes is None else RESPONSES[design.kind].read(sheet.obs, design)
    names = [
        genes[gene]
        for gene in np.flatnonzero(exceeds_missing_share(X, max_share, classes)).tolist()
    ]
    if names:
        denominator = "the samples" if classes is None else "a class"
        message = (
            f"left out by knn_impute in each training set: {counted(len(names), 'gene')} that more "
            f"than {100 * max_share:g} % of {denominator} lack, {listing(names)}"
        )
        yield Problem(location, message, "warning")
