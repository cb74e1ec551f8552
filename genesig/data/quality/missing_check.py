"""What missing values say of the label, in words for who starts the study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from genesig.data.quality.missingness import Missingness, missingness
from genesig.data.steps.imputation import left_out
from genesig.data.steps.left_censored import of_low_genes
from genesig.data.steps.normalise import AS_LOW
from genesig.data.study.sheet_check import Sheet
from genesig.errors import Problem
from genesig.response.known import RESPONSES
from genesig.words import counted, listing

Array = np.ndarray[Any, Any]
UNEQUAL = 0.01
"""Largest p at which the samples' shares of missing values are said to go with the label."""


def check_missing(X: Array, genes: Sequence[str], sheet: Sheet,
                  folds: Sequence[Mapping[str, Any]], where: str) -> Iterator[Problem]:  # fmt: skip
    """Warn where missing values go with the label, and of genes that are left out for theirs."""
    missing = np.isnan(X)
    if not missing.any():
        return
    found = missingness(missing, sheet.obs, sheet.design)
    first: Mapping[str, Any] = next(iter(folds), {"step": ""})
    words = [*_by_gene(found, genes, sheet), *_by_sample(found, sheet)]
    if words:
        how = f"{first['step']} {LOW}" if first["step"] in AS_LOW else FROM_OTHERS
        yield Problem(where, f"missing values go with the label: {'; '.join(words)}. "
                      f"{how}", "warning")  # fmt: skip
    if first["step"] == "knn_impute" and of_low_genes(X):
        yield Problem(where, "values are missing where genes are low: too small to be "
                      "measured rather than missing at random, which knn_impute takes them for; "
                      "left_censored and half_minimum are for such values", "warning")  # fmt: skip
    if "missing_most" in first:
        yield from _left_out(X, genes, sheet, first["missing_most"], where)


LOW = "takes a missing value for a low one: make sure that all were measured alike"
FROM_OTHERS = (
    "If a value is missing because it was too small to be measured, {step: left_censored} takes it"
    " for a low one; if some samples were measured otherwise, leave the genes or the samples out"
)


def _by_gene(found: Missingness, genes: Sequence[str], sheet: Sheet) -> Iterator[str]:
    named, classes = found.named, sheet.design.classes
    if not len(named):
        return
    words = f"{counted(len(named), 'gene')} of {len(found.genes)} with missing values (false "
    words += "discovery rate 5 %)"
    shares = found.by_class[:, named[0]]
    of = [f"{100 * s:.0f} % of '{c}'" for s, c in zip(shares, classes or (), strict=False)]
    first = f"'{genes[int(found.genes[named[0]])]}'"
    yield f"{words}, such as {first}" + (f", which {_some(of)} lack" if of else "")


def _by_sample(found: Missingness, sheet: Sheet) -> Iterator[str]:
    if not found.sample_p <= UNEQUAL:
        return
    shares = zip(found.class_share, sheet.design.classes or (), strict=False)
    of = [f"{100 * share:.2g} % of the values of '{name}'" for share, name in shares]
    told = f"{_some(of)} are missing" if of else "samples miss more at one end of the label"
    yield f"{told} (p {found.sample_p:.2g})"


def _some(words: Sequence[str]) -> str:
    return " and ".join(words[:3]) + ", ..." * (len(words) > 3)


def _left_out(X: Array, genes: Sequence[str], sheet: Sheet, most: float,
              where: str) -> Iterator[Problem]:  # fmt: skip
    design = sheet.design
    y = None if design.classes is None else RESPONSES[design.kind].read(sheet.obs, design)
    names = [genes[k] for k in np.flatnonzero(left_out(X, most, y)).tolist()]
    if names:
        whom = "the samples" if y is None else "a class"
        what = "left out by knn_impute, in each training set anew: "
        what += f"{counted(len(names), 'gene')} that more than {100 * most:g} % of {whom} lack, "
        what += listing(names)
        yield Problem(where, what, "warning")
